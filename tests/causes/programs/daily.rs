// SPDX-License-Identifier: Apache-2.0
// daily THREADS SECONDS: threads with equal shares of the same work.
use std::time::{Duration, Instant};

fn compute(seconds: f64) -> u32 {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut x: u32 = 1;
    while Instant::now() < end {
        for i in 0..100_000u32 {
            x = x.wrapping_mul(1664525).wrapping_add(i ^ 1013904223);
        }
    }
    x
}

fn main() {
    let n: Vec<f64> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let threads: Vec<_> = (0..n[0] as usize).map(|_| { let s = n[1]; std::thread::spawn(move || compute(s)) }).collect();
    println!("{}", threads.into_iter().map(|t| t.join().unwrap() % 10).sum::<u32>());
}
