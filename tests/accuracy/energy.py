# SPDX-License-Identifier: Apache-2.0
# alone
"""A program writes the files of RAPL (/sys/class/powercap) as a kernel would: the counters of two packages, of a memory and of the
platform advance by given joules and wrap while they are sampled. Each reading must equal the energy used, to one step of the counter per
wrap. The summary must count each joule of packages and memory once, and not add the platform's, which includes them. The job's share is
compared with its own CPU time as a share of the CPU time used in /proc/stat, in steps of half a second."""
import os
import sys
import time

import accuracy

RANGE_UJ, LIMIT_UW = 16_000_000_000, 2_000_000_000  # of power: believed up to twice that
ZONES = {  # name: directory, joules a step, whether totals have it
    "package-0": ("intel-rapl:0", 300, True),
    "package-0/dram": ("intel-rapl:0:0", 50, True),
    "package-1": ("intel-rapl:1", 225, True),
    "psys": ("intel-rapl:2", 290, False),
}
PARTS = sum(joules for _, joules, summed in ZONES.values() if summed)
STEPS, START_UJ = 100, RANGE_UJ - 1_000_000_000


def put(zone, name, value):
    """In place, and always as long: whoever reads meanwhile finds a whole number."""
    path = f"sys/class/powercap/{zone}/{name}"
    with open(path, "r+" if os.path.exists(path) else "w", encoding="ascii") as f:
        f.write(f"{value:012}\n" if name == "energy_uj" else f"{value}\n")


def advance(step):
    for zone, joules, _ in ZONES.values():
        put(zone, "energy_uj", (START_UJ + step * joules * 1_000_000) % (RANGE_UJ + 1))


def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def work():
    """Prints the job's share in joules."""
    spin(0.5)
    share, own, node = 0.0, time.process_time(), used()
    for step in range(1, STEPS + 1):
        advance(step)
        spin(0.05)
        if step % 10 == 0:
            share += 10 * PARTS * (time.process_time() - own) / (used() - node)
            own, node = time.process_time(), used()
    print(share)
    spin(0.5)


def used():
    """CPU seconds of the node: user, nice, system, interrupts."""
    with open("/proc/stat", encoding="ascii") as f:
        ticks = [int(x) for x in f.readline().split()[1:]]
    return sum(ticks[:3] + ticks[5:7]) / os.sysconf("SC_CLK_TCK")


def make():
    for name, (zone, _, _) in ZONES.items():
        os.makedirs(f"sys/class/powercap/{zone}")
        put(zone, "name", name.rsplit("/", maxsplit=1)[-1])
        put(zone, "max_energy_range_uj", RANGE_UJ)
        put(zone, "constraint_0_max_power_uw", LIMIT_UW if zone != "intel-rapl:0:0" else LIMIT_UW // 4)
    advance(0)


def compare():
    table = accuracy.Comparison("Energy")
    said, recording = accuracy.record("out", sys.executable, __file__, "work", options=("--sysfs", "sys"))
    for name, (_, joules, _) in ZONES.items():
        rounds = (START_UJ + STEPS * joules * 1_000_000) // (RANGE_UJ + 1)
        table.row("energy.consumed_joules", f"{name}: joules added to its counter, which wrapped {rounds} times",
                  recording.between("energy.consumed_joules", name), STEPS * joules, apart=1e-6 * (rounds + 1))
    table.row("energy_joules", "packages and memory, each joule once", recording.job["energy_joules"], STEPS * PARTS, apart=1e-5)
    table.row("energy_apportioned_joules", "the job's part by CPU time", recording.job["energy_apportioned_joules"], float(said), share=0.1)
    table.end()


if sys.argv[1:] == ["work"]:
    work()
else:
    make()
    compare()
