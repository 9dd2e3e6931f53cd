// SPDX-License-Identifier: Apache-2.0
// Two threads, each of which looks for primes in every other number: ninth LIMIT.
use std::thread;

fn prime(n: u64) -> bool {
    (2..).take_while(|d| d * d <= n).all(|d| n % d != 0)
}

fn main() {
    let limit: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1000) * 1000;
    let threads: Vec<_> = (0..2)
        .map(|k| thread::spawn(move || (0..limit).filter(|i| i / 2 % 2 == k && prime(i + 1)).count()))
        .collect();
    println!("{}", threads.into_iter().map(|t| t.join().unwrap()).sum::<usize>());
}
