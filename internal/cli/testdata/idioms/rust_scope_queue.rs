/* Scoped threads that take what is next from a vector under a mutex. One piece is
 * huge; FIXED cuts it. Optimisers put the scope into main, which calls what waits through
 * a register that it has loaded long before.
 *
 * EXPECT cores=P least=4 most=8 percent=10 scheduled=self instances=10 kind=join cause=branch gain=any */
mod idiom;
use idiom::{arguments, work, FIXED};
use std::sync::Mutex;

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
    let mut sum = 0u64;
    for round in 0..ROUNDS {
        let (queue, total) = (Mutex::new((0..items).collect::<Vec<usize>>()), Mutex::new(0u64));
        std::thread::scope(|scope| { /* SECTION */
            for _ in 0..s.threads {
                scope.spawn(|| loop {
                    let next = queue.lock().unwrap().pop();
                    let Some(i) = next else { break };
                    let x = piece(round * items + i, items, each);
                    let mut t = total.lock().unwrap();
                    *t = t.wrapping_add(x);
                });
            }
        });
        sum = sum.wrapping_add(total.into_inner().unwrap());
    }
    println!("checksum {:016x}", sum);
}
