// SPDX-License-Identifier: Apache-2.0
// Five kinds of work in rounds of different length, SECONDS of CPU time in all, each measured with the thread's own clock. Prints the seconds of each.
use std::collections::HashMap;
use std::hint::black_box;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, out: *mut Timespec) -> i32;
}

fn cpu() -> f64 {
    let mut t = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(3, &mut t) };
    t.seconds as f64 + t.nanoseconds as f64 * 1e-9
}

struct Room {
    numbers: Vec<u32>,
    copied: Vec<u8>,
    names: HashMap<u32, u32>,
    state: u64,
}

#[inline(never)]
fn part_sort(r: &mut Room) {
    for (i, n) in r.numbers.iter_mut().enumerate() {
        *n = (i as u32).wrapping_mul(2654435761);
    }
    r.numbers.sort_by(|a, b| b.cmp(a));
    black_box(r.numbers[1]);
}

#[inline(never)]
fn part_map(r: &mut Room) {
    for i in 0..400_000u32 {
        *r.names.entry(i.wrapping_mul(2654435761) % 4096).or_insert(0) += i & 1;
    }
    black_box(r.names.len());
}

#[inline(never)]
fn part_loop(r: &mut Room) {
    let mut x = black_box(1u32);
    for _ in 0..12_000_000 {
        x = black_box(x.wrapping_mul(1664525).wrapping_add(1013904223));
    }
    r.state ^= (x as u64) & 1;
}

#[inline(never)]
fn part_copy(r: &mut Room) {
    for i in 0..200 {
        let (from, to) = r.copied.split_at_mut(1 << 20);
        to.copy_from_slice(black_box(from));
        from[i] = to[i + 1];
    }
}

#[inline(never)]
fn part_random(r: &mut Room) {
    for _ in 0..10_000_000 {
        r.state ^= r.state << 13;
        r.state ^= r.state >> 7;
        r.state ^= r.state << 17;
    }
    black_box(r.state);
}

fn main() {
    let mut room = Room { numbers: vec![0; 1 << 18], copied: vec![1; 2 << 20], names: HashMap::new(), state: 26 };
    let wanted: f64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let parts: [(&str, fn(&mut Room)); 5] =
        [("part_sort", part_sort), ("part_map", part_map), ("part_loop", part_loop), ("part_copy", part_copy), ("part_random", part_random)];
    let mut seconds = [0.0; 5];
    let end = cpu() + wanted;
    let mut round = 0;
    while cpu() < end {
        round += 1;
        for (i, (_, part)) in parts.iter().enumerate() {
            let from = cpu();
            for _ in 0..1 + round % 7 {
                part(&mut room);
            }
            seconds[i] += cpu() - from;
        }
    }
    for (i, (name, _)) in parts.iter().enumerate() {
        println!("{} {:.6}", name, seconds[i]);
    }
}
