// What every idiom in Rust shares: arguments and work that takes time.
#![allow(dead_code)]
use std::env::args;

/// FIXED says whether the work is dealt evenly.
pub const FIXED: bool = cfg!(feature = "fixed");

#[derive(Clone, Copy)]
pub struct Setting {
    pub threads: usize,
    pub budget: u64, // steps of work, all threads together
}

pub fn arguments() -> Setting {
    let number = |n: usize, usual: u64| args().nth(n).map_or(usual, |a| a.parse().unwrap());
    Setting { threads: number(1, 8) as usize, budget: number(2, 100) * 4_000_000 }
}

/// work takes n steps. Kept out of line: it is "the computation".
#[inline(never)]
pub fn work(mut x: u64, n: u64) -> u64 {
    x |= 1;
    for _ in 0..n {
        x ^= x >> 29;
        x = x.wrapping_mul(0x9e3779b97f4a7c15);
    }
    x
}

/// refine takes n steps of another kind.
#[inline(never)]
pub fn refine(mut x: u64, n: u64) -> u64 {
    x |= 1;
    for _ in 0..n {
        x ^= x >> 31;
        x = x.wrapping_mul(0xbf58476d1ce4e5b9);
    }
    x
}

/// dealt is the k-th of the items of a thread: those that stand together; FIXED one by
/// one to the threads, forwards and then backwards.
pub fn dealt(threads: usize, id: usize, k: usize, each: usize) -> usize {
    if FIXED {
        k * threads + if k % 2 == 0 { id } else { threads - 1 - id }
    } else {
        id * each + k
    }
}
