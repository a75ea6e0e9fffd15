/* Workers that have a channel each, and answer on one that all share: who hands
 * the work out waits for as many answers.
 *
 * EXPECT instances=20 rows=P kind=join cause=branch */
mod idiom;
use idiom::{arguments, dealt, refine, work};
use std::sync::mpsc::channel;
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
    let (answer, answers) = channel::<u64>();
    let (mut rounds, mut workers) = (vec![], vec![]);
    for id in 0..s.threads {
        let (next, mine) = channel::<usize>();
        let answer = answer.clone();
        rounds.push(next);
        workers.push(thread::spawn(move || {
            for round in mine {
                answer.send(share(s.threads, id, round, each)).unwrap();
            }
        }));
    }
    let mut sum = 0u64;
    for round in 0..ROUNDS {
        for next in &rounds {
            next.send(round).unwrap();
        }
        for _ in 0..s.threads {
            sum = sum.wrapping_add(answers.recv().unwrap()); /* SECTION */
        }
    }
    drop(rounds);
    for w in workers {
        w.join().unwrap();
    }
    println!("checksum {:016x}", sum);
}
