/* Tasks of Tokio's, each of which is awaited. One is huge; FIXED cuts it.
 *
 * EXPECT cores=P least=4 most=8 percent=10 scheduled=self kind=join cause=branch gain=any */
mod idiom;
use idiom::{arguments, work, FIXED};
use tokio::runtime::Builder;

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
    let runtime = Builder::new_multi_thread().worker_threads(s.threads).build().unwrap();
    let sum = runtime.block_on(async move { /* SECTION */
        let mut sum = 0u64;
        for round in 0..ROUNDS {
            let tasks: Vec<_> = (0..items).map(|i| tokio::spawn(async move { piece(round * items + i, items, each) })).collect();
            for t in tasks {
                sum = sum.wrapping_add(t.await.unwrap());
            }
        }
        sum
    });
    println!("checksum {:016x}", sum);
}
