use std::collections::HashMap;

struct Grid {
    v: Vec<f64>,
}

impl Grid {
    #[inline(never)]
    fn relax(&mut self, n: usize) -> f64 {
        let mut s = 0.0;
        for i in 0..n {
            let k = i % self.v.len();
            self.v[k] += (i as f64).sqrt();
            s += self.v[k];
        }
        s
    }
}

fn main() {
    let mut g = Grid { v: vec![1.0; 16] };
    let mut h = HashMap::new();
    for i in 0..100usize {
        h.insert(i, g.relax(i));
    }
    println!("{}", h.values().sum::<f64>());
}
