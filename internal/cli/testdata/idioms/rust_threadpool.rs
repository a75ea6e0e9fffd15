/* The crate threadpool, whose workers share a receiver. One piece is huge; FIXED cuts
 * it.
 *
 * EXPECT cores=P least=4 most=8 percent=10 scheduled=self kind=join cause=branch gain=any */
mod idiom;
use idiom::{arguments, work, FIXED};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use threadpool::ThreadPool;

const ROUNDS: usize = 10;
const EACH: usize = 16;

fn piece(i: usize, items: usize, each: u64) -> u64 {
    let mut x = work(i as u64, each);
    if FIXED {
        x = x.wrapping_add(work(i as u64, 2 * each));
    } else if i % items == items / 2 { /* PLANTED */
        for other in i - items / 2..i + items / 2 {
            x = x.wrapping_add(work(other as u64, 2 * each));
        }
    }
    x
}

fn main() {
    let s = arguments();
    let items = EACH * s.threads;
    let each = s.budget / (ROUNDS * 3 * items) as u64;
    let pool = ThreadPool::new(s.threads);
    let total = Arc::new(AtomicU64::new(0));
    for round in 0..ROUNDS {
        for i in 0..items {
            let total = total.clone();
            pool.execute(move || {
                total.fetch_add(piece(round * items + i, items, each), Ordering::Relaxed);
            });
        }
        pool.join(); /* SECTION */
    }
    let sum = total.load(Ordering::Relaxed);
    println!("checksum {:016x}", sum);
}
