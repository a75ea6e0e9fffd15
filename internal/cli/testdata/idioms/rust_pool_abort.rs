/* A pool whose threads take boxed closures from a queue under a mutex, and wait for more at
 * a condition, all inlined into one loop with several ways in: what is built for release with
 * lto = "fat" and panic = "abort".
 *
 * EXPECT instances=10 silent=yes scheduled=self lto=fat panic=abort */
mod idiom;
use idiom::{arguments, work};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const ROUNDS: usize = 10;
const EACH: usize = 16;

struct Tasks {
    queue: VecDeque<Box<dyn FnOnce() + Send>>,
    pending: usize,
    ending: bool,
}

struct Pool {
    tasks: Mutex<Tasks>,
    more: Condvar,
    all: Condvar,
}

fn serve(pool: &Pool) {
    loop {
        let mut tasks = pool.tasks.lock().unwrap();
        let task = loop {
            if let Some(task) = tasks.queue.pop_front() {
                break task;
            }
            if tasks.ending {
                return;
            }
            tasks = pool.more.wait(tasks).unwrap();
        };
        drop(tasks);
        task();
        let mut tasks = pool.tasks.lock().unwrap();
        tasks.pending -= 1;
        if tasks.pending == 0 {
            pool.all.notify_all();
        }
    }
}

fn main() {
    let setting = arguments();
    let n = setting.threads * EACH;
    let each = setting.budget / (ROUNDS * n) as u64;
    let tasks = Tasks { queue: VecDeque::new(), pending: 0, ending: false };
    let pool = Arc::new(Pool { tasks: Mutex::new(tasks), more: Condvar::new(), all: Condvar::new() });
    let threads: Vec<_> = (0..setting.threads)
        .map(|_| {
            let pool = pool.clone();
            thread::spawn(move || serve(&pool))
        })
        .collect();
    let sum = Arc::new(Mutex::new(0u64));
    for round in 0..ROUNDS {
        let mut tasks = pool.tasks.lock().unwrap();
        tasks.pending = n;
        for i in 0..n {
            let sum = sum.clone();
            tasks.queue.push_back(Box::new(move || {
                let x = work((round * n + i) as u64, each);
                let mut sum = sum.lock().unwrap();
                *sum = sum.wrapping_add(x);
            }));
        }
        pool.more.notify_all();
        while tasks.pending > 0 {
            tasks = pool.all.wait(tasks).unwrap(); /* SECTION */
        }
    }
    pool.tasks.lock().unwrap().ending = true;
    pool.more.notify_all();
    for t in threads {
        t.join().unwrap();
    }
    println!("checksum {:016x}", *sum.lock().unwrap());
}
