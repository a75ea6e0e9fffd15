/* Workers that wait at a condition of parking_lot's for the next round, and say when
 * they have done theirs.
 *
 * EXPECT rows=P kind=join cause=branch */
mod idiom;
use idiom::{arguments, dealt, refine, work};
use parking_lot::{Condvar, Mutex};
use std::thread;

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
    let (state, go, done) = (Mutex::new((0, 0, 0u64)), Condvar::new(), Condvar::new());
    thread::scope(|scope| {
        for id in 0..s.threads {
            let (state, go, done) = (&state, &go, &done);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let mut now = state.lock();
                    while now.0 <= round {
                        go.wait(&mut now);
                    }
                    drop(now);
                    let x = share(s.threads, id, round, each);
                    let mut now = state.lock();
                    *now = (now.0, now.1 + 1, now.2.wrapping_add(x));
                    if now.1 == s.threads {
                        done.notify_one();
                    }
                }
            });
        }
        for round in 1..=ROUNDS {
            let mut now = state.lock();
            *now = (round, 0, now.2);
            go.notify_all();
            while now.1 < s.threads {
                done.wait(&mut now); /* SECTION */
            }
        }
    });
    let sum = state.into_inner().2;
    println!("checksum {:016x}", sum);
}
