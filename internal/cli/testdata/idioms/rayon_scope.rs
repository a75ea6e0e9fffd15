/* A scope of rayon's, with a task for each piece. One piece is huge; FIXED cuts it.
 *
 * EXPECT cores=P least=4 most=8 percent=10 scheduled=self instances=10 kind=join cause=branch gain=any */
mod idiom;
use idiom::{arguments, work, FIXED};

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
    rayon::ThreadPoolBuilder::new().num_threads(s.threads).build_global().unwrap();
    let mut all = vec![0u64; items];
    for round in 0..ROUNDS {
        rayon::scope(|scope| { /* SECTION */
            for (i, x) in all.iter_mut().enumerate() {
                scope.spawn(move |_| *x = x.wrapping_add(piece(round * items + i, items, each)));
            }
        });
    }
    println!("checksum {:016x}", all.iter().fold(0u64, |a, b| a.wrapping_add(*b)));
}
