/* Scoped threads of Rust, anew for each round, and one beside them that lives on.
 *
 * EXPECT instances=20 rows=P kind=join cause=branch */
mod idiom;
use idiom::{arguments, dealt, refine, work};

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
    std::thread::spawn(|| loop {
        std::thread::sleep(std::time::Duration::from_millis(2));
    });
    let mut sum = 0u64;
    for round in 0..ROUNDS {
        let mut results = vec![0u64; s.threads];
        std::thread::scope(|scope| { /* SECTION */
            for (id, result) in results.iter_mut().enumerate() {
                scope.spawn(move || *result = share(s.threads, id, round, each));
            }
        });
        sum = results.iter().fold(sum, |a, b| a.wrapping_add(*b));
    }
    println!("checksum {:016x}", sum);
}
