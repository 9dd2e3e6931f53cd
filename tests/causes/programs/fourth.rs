// SPDX-License-Identifier: Apache-2.0
// A job of fourth.py: the sample that is asked for is not in the list.
use std::time::{Duration, Instant};

fn main() {
    let seconds: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(5);
    let end = Instant::now() + Duration::from_secs(seconds);
    let samples: Vec<u64> = (0..1000).collect();
    let mut sum = 0u64;
    while Instant::now() < end {
        for s in &samples {
            sum = sum.wrapping_mul(31).wrapping_add(*s);
        }
    }
    let wanted = samples.iter().find(|s| **s == 2000 + sum % 2).unwrap();
    println!("{}", wanted);
}
