pub fn work(n: u64) -> f64 {
    let mut s = 0.0;
    for i in 0..n {
        for j in 0..i {
            s += 1.0 / ((i + j + 1) as f64);
        }
    }
    s
}
