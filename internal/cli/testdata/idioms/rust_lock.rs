/* A lock of Rust's own, which waits by itself: all threads read, and one also writes,
 * for long. They meet only where they are joined. In the other program each writes its
 * part.
 *
 * EXPECT instances=1 rows=P kind=join cause=branch wait=lock */
mod idiom;
use idiom::{arguments, work, FIXED};
use std::hint::black_box;
use std::sync::{Arc, RwLock};
use std::thread;

const ROUNDS: usize = 8;
const PIECES: usize = 4;

#[inline(never)]
fn update(shared: &RwLock<u64>, round: usize, pieces: std::ops::Range<usize>, each: u64) {
    let mut all = shared.write().unwrap(); /* WAIT */
    for i in pieces {
        *all = all.wrapping_add(work((round * 1000 + i) as u64, each));
    }
}

fn share(shared: &RwLock<u64>, threads: usize, id: usize, each: u64) -> u64 {
    let mut sum = 0u64;
    for round in 0..ROUNDS {
        {
            let _seen = shared.read().unwrap(); /* WAIT */
            sum = sum.wrapping_add(work((round * 777 + id) as u64, PIECES as u64 * each));
        }
        if FIXED {
            update(shared, round, id * PIECES..(id + 1) * PIECES, each);
        } else if black_box(id) == 0 { /* PLANTED */
            update(shared, round, 0..threads * PIECES, each);
        }
    }
    sum
}

fn main() {
    let s = arguments();
    let each = s.budget / (ROUNDS * 2 * PIECES * s.threads) as u64;
    let shared = Arc::new(RwLock::new(0u64));
    let mut workers = vec![];
    for id in 0..s.threads {
        let shared = shared.clone();
        workers.push(thread::spawn(move || share(&shared, s.threads, id, each)));
    }
    let mut sum = 0u64;
    for w in workers {
        sum = sum.wrapping_add(w.join().unwrap()); /* SECTION */
    }
    println!("checksum {:016x}", sum.wrapping_add(*shared.read().unwrap()));
}
