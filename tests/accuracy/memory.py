# SPDX-License-Identifier: Apache-2.0
# quiet
"""Two processes share memory, one has its own; every page is touched. While they hold it, this program adds up their smaps, page table
entry by page table entry as the kernel prints them, and compares the sums with what was sampled at the same time."""
import os
import re
import statistics
import subprocess
import time

import accuracy
from patience import patience

SHARED_MIB, PRIVATE_MIB = 48, 16
table = accuracy.Comparison("Memory")


def mem_processes(count):
    """Pids of the program mem, once there are so many."""
    end = time.monotonic() + patience(30)
    while time.monotonic() < end:
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
                    name = f.read()
                if name == "mem\n" and os.readlink(f"/proc/{pid}/cwd") == os.getcwd():
                    found.append(pid)
            except OSError:
                pass  # it has ended since
        if len(found) == count:
            return found
        time.sleep(0.01)
    raise TimeoutError(f"there are never {count} processes")


def add_up(pids):
    """{field: bytes} of all mappings of all processes."""
    sums = {}
    for pid in pids:
        with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as f:
            for field, kib in re.findall(r"^(\w+): +(\d+) kB$", f.read(), re.M):
                sums[field] = sums.get(field, 0) + 1024 * int(kib)
    return sums


def once_held(pids):
    """Their sums, when they are all that they are going to hold: as much as is known, and the same again a moment later."""
    end = time.monotonic() + patience(60)
    before = {}
    while time.monotonic() < end:
        sums = add_up(pids)
        if sums["Rss"] >= (2 * SHARED_MIB + PRIVATE_MIB) * mib and sums == before:
            return sums
        before = sums
        time.sleep(0.2)
    raise TimeoutError("their memory never stands still")


mib = 1 << 20
mem = accuracy.program("mem")
script = f"exec 3<&0; {mem} shared {SHARED_MIB} 0 <&3 & {mem} private {PRIVATE_MIB} 0 <&3 & exec 1>&- 0<&- 3<&-; wait"
started = time.monotonic()
with accuracy.begin("out", "sh", "-c", script, options=("--pss", "always"), stdin=subprocess.PIPE) as job:
    pids = mem_processes(3)
    sums = once_held(pids)
    # Most samples are of the time in which they hold it, however long a busy machine took until then.
    time.sleep(1 + 1.5 * (time.monotonic() - started))
    job.stdin.close()
    job.wait()
recording = accuracy.Recording("out")


def usual(metric, instance=""):
    return statistics.median(value for _, value in recording.series(metric, instance))


def of_mem(metric):
    return sum(usual(metric, row["instance"]) for row in recording.table("processes") if row["name"] == "mem")


table.row("process.pss_bytes", "sum of Pss in smaps, 3 processes", of_mem("process.pss_bytes"), sums["Pss"], share=0.02)
table.row("process.uss_bytes", "sum of Private_Clean and Private_Dirty in smaps", of_mem("process.uss_bytes"),
          sums["Private_Clean"] + sums["Private_Dirty"], share=0.02)
table.row("process.resident_bytes", "sum of Rss in smaps", of_mem("process.resident_bytes"), sums["Rss"], share=0.05)
table.row("job.pss_bytes", "what was allocated, and 3 MiB for programs", usual("job.pss_bytes"), (SHARED_MIB + PRIVATE_MIB) * mib,
          above=3 * mib)
table.row("job.resident_bytes", "the same with shared pages twice, and 9 MiB for programs", usual("job.resident_bytes"),
          (2 * SHARED_MIB + PRIVATE_MIB) * mib, above=9 * mib)
if recording.job["peak_memory_kind"] == "pss":
    table.row("peak_memory_bytes", "what was allocated, and 3 MiB for programs", recording.job["peak_memory_bytes"],
              (SHARED_MIB + PRIVATE_MIB) * mib, above=3 * mib)
table.end()
