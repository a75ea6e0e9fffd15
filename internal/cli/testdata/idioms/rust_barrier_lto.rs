/* std::sync::Barrier of Rust, inlined with its lock and its condition: what is built for
 * release with lto = true.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch lto=fat */
mod idiom;
use idiom::{arguments, dealt, refine, work};
use std::sync::Barrier;

const ROUNDS: usize = 20;
const EACH: usize = 8;

fn share(threads: usize, id: usize, round: usize, each: u64) -> u64 {
    let mut sum = 0u64;
    for k in 0..EACH {
        let i = dealt(threads, id, k, EACH);
        let mut x = work((round * 1000 + i) as u64, each);
        if i >= threads * EACH * 3 / 4 { /* PLANTED */
            x = refine(x, 8 * each);
        }
        sum = sum.wrapping_add(x);
    }
    sum
}

fn main() {
    let s = arguments();
    let each = s.budget / ROUNDS as u64 / (s.threads * EACH * 3) as u64;
    let barrier = Barrier::new(s.threads);
    let mut results = vec![0u64; s.threads];
    std::thread::scope(|scope| {
        for (id, result) in results.iter_mut().enumerate() {
            let barrier = &barrier;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    *result = result.wrapping_add(share(s.threads, id, round, each));
                    barrier.wait(); /* SECTION */
                }
            });
        }
    });
    println!("checksum {:016x}", results.iter().fold(0u64, |a, b| a.wrapping_add(*b)));
}
