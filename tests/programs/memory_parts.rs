// SPDX-License-Identifier: Apache-2.0
// memory_parts.rs - touches so many MB in each of two functions, and holds them for two seconds: memory_parts INDEX TABLE.
#[inline(never)]
fn load_index(mb: usize) -> Vec<u8> {
    vec![1u8; mb << 20]
}

#[inline(never)]
fn load_table(mb: usize) -> Vec<u64> {
    let mut v = Vec::new();
    v.reserve_exact(mb << 17);
    for i in 0..mb << 17 {
        v.push(i as u64);
    }
    v
}

fn main() {
    let mb: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (a, b) = (load_index(mb[0]), load_table(mb[1]));
    std::thread::sleep(std::time::Duration::from_secs(2));
    std::process::exit((a[7] as u64 + b[9]) as i32 - 10);
}
