mod work;

use std::thread;

fn main() {
    let threads: Vec<_> = (0..4).map(|me| thread::spawn(move || work::work(1500 * (me + 1)))).collect();
    let mut sum = 0.0;
    for t in threads {
        sum += t.join().unwrap();
    }
    println!("{}", sum);
}
