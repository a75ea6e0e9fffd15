/* A pool that shares the receiver of a channel, under a mutex: whoever has it receives
 * the next piece. One piece is huge; FIXED cuts it.
 *
 * EXPECT cores=P least=4 most=8 percent=10 scheduled=self instances=10 kind=join cause=branch gain=any */
mod idiom;
use idiom::{arguments, work, FIXED};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

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
    let (job, jobs) = channel::<usize>();
    let jobs = Arc::new(Mutex::new(jobs));
    let (answer, answers) = channel::<u64>();
    let mut workers = vec![];
    for _ in 0..s.threads {
        let (jobs, answer) = (jobs.clone(), answer.clone());
        workers.push(thread::spawn(move || loop {
            let next = jobs.lock().unwrap().recv();
            let Ok(i) = next else { break };
            answer.send(piece(i, items, each)).unwrap();
        }));
    }
    let mut sum = 0u64;
    for round in 0..ROUNDS {
        for i in 0..items {
            job.send(round * items + i).unwrap();
        }
        for _ in 0..items {
            sum = sum.wrapping_add(answers.recv().unwrap()); /* SECTION */
        }
    }
    drop(job);
    for w in workers {
        w.join().unwrap();
    }
    println!("checksum {:016x}", sum);
}
