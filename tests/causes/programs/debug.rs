// SPDX-License-Identifier: Apache-2.0
// Counts and adds in loops for so many seconds.
fn count(n: u64, by: u64) -> u64 {
    let mut sum = 0u64;
    for i in 0..n {
        if i % by == 0 {
            sum = sum.wrapping_add(i * i);
        }
    }
    sum
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(5.0);
    let begin = std::time::Instant::now();
    let values: Vec<u64> = (0..1000).collect();
    let (mut all, mut by) = (0u64, 2u64);
    while begin.elapsed().as_secs_f64() < seconds {
        all = all.wrapping_add(count(100_000 + (all & 1), by));
        for i in 0..values.len() {
            all = all.wrapping_add(values[i] * by);
        }
        by = 2 + by % 7;
    }
    println!("{all}");
}
