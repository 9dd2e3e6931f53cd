# SPDX-License-Identifier: Apache-2.0
# alone
"""Two processes share memory, one has its own; every page is touched. While they hold it, their smaps are added up by this program,
page table entry by page table entry as the kernel prints them, and held against what was sampled at the same time."""
import os
import re
import statistics
import time

import accuracy

SHARED_MIB, PRIVATE_MIB = 48, 16
table = accuracy.Comparison("Memory")


def mem_processes(count):
    """Pids of the program mem, once there are so many."""
    end = time.monotonic() + 30
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


script = (f"{accuracy.program('mem')} shared {SHARED_MIB} 2500 & {accuracy.program('mem')} private {PRIVATE_MIB} 2500 & "
          "exec 1>&-; wait")
with accuracy.begin("out", "sh", "-c", script, options=("--pss", "always")) as job:
    pids = mem_processes(3)
    time.sleep(1)
    sums = add_up(pids)
    job.wait()
recording = accuracy.Recording("out")


def at_most(metric):
    return max(value for _, value in recording.series(metric))


def of_mem(metric):
    """The sum over the processes of what most samples say of each: they hold it longer than they take to touch it."""
    names = [row["instance"] for row in recording.table("processes") if row["name"] == "mem"]
    return sum(statistics.median(value for _, value in recording.series(metric, name)) for name in names)


mib = 1 << 20
table.row("process.pss_bytes", "sum of Pss in smaps, 3 processes", of_mem("process.pss_bytes"), sums["Pss"], share=0.02)
table.row("process.uss_bytes", "sum of Private_Clean and Private_Dirty in smaps", of_mem("process.uss_bytes"),
          sums["Private_Clean"] + sums["Private_Dirty"], share=0.02)
table.row("process.resident_bytes", "sum of Rss in smaps", of_mem("process.resident_bytes"), sums["Rss"], share=0.05)
table.row("job.pss_bytes", "what was allocated, and 3 MiB for programs", at_most("job.pss_bytes"), (SHARED_MIB + PRIVATE_MIB) * mib,
          above=3 * mib)
table.row("job.resident_bytes", "the same with shared pages twice, and 9 MiB for programs", at_most("job.resident_bytes"),
          (2 * SHARED_MIB + PRIVATE_MIB) * mib, above=9 * mib)
if recording.job["peak_memory_kind"] == "pss":
    table.row("peak_memory_bytes", "what was allocated, and 3 MiB for programs", recording.job["peak_memory_bytes"],
              (SHARED_MIB + PRIVATE_MIB) * mib, above=3 * mib)
table.end()
