/* A barrier that is made by hand, of Rust's Mutex and Condvar.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch */
mod idiom;
use idiom::{arguments, dealt, refine, work};
use std::sync::{Condvar, Mutex};
use std::thread;

const ROUNDS: usize = 20;
const EACH: usize = 8;

struct Gate {
    state: Mutex<(usize, usize)>, // who is here, and how often all were
    all: Condvar,
    threads: usize,
}

impl Gate {
    fn pass(&self) {
        let mut s = self.state.lock().unwrap();
        let before = s.1;
        s.0 += 1;
        if s.0 == self.threads {
            *s = (0, before + 1);
            self.all.notify_all();
        } else {
            while s.1 == before {
                s = self.all.wait(s).unwrap();
            }
        }
    }
}

#[inline(never)]
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
    let gate = Gate { state: Mutex::new((0, 0)), all: Condvar::new(), threads: s.threads };
    let total = Mutex::new(0u64);
    thread::scope(|scope| {
        for id in 0..s.threads {
            let (gate, total) = (&gate, &total);
            scope.spawn(move || {
                let mut sum = 0u64;
                for round in 0..ROUNDS {
                    sum = sum.wrapping_add(share(s.threads, id, round, each));
                    gate.pass(); /* SECTION */
                }
                let mut t = total.lock().unwrap();
                *t = t.wrapping_add(sum);
            });
        }
    });
    println!("checksum {:016x}", total.into_inner().unwrap());
}
