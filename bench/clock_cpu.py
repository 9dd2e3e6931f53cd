# SPDX-License-Identifier: Apache-2.0
"""What a process and its descendants use, seen from outside: CPU time by their CPU clocks, memory.

As a program: clock_cpu.py SECONDS PID prints, after so many seconds, the CPU seconds they used a second, and their
resident bytes."""
import os
import sys
import time

TICK = os.sysconf("SC_CLK_TCK")


def family(pid):
    """The process and all its living descendants."""
    parents = {}
    for other in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{other}/stat", encoding="utf-8", errors="replace") as f:
                parents[int(other)] = int(f.read().rpartition(")")[2].split()[1])
        except OSError:
            pass  # it has ended since
    pids = [pid]
    for one in pids:
        pids += [child for child, parent in parents.items() if parent == one]
    return pids


def cpu_seconds(pids):
    """What they used, and what children they have waited for used (that in whole ticks)."""
    total = 0.0
    for pid in pids:
        try:
            total += time.clock_gettime(~pid << 3 | 2)
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                fields = f.read().rpartition(")")[2].split()
            total += (int(fields[13]) + int(fields[14])) / TICK
        except OSError:
            pass
    return total


def resident_bytes(pids):
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", encoding="ascii") as f:
                total += int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")
        except OSError:
            pass
    return total


def cost(roots, seconds):
    """CPU seconds a second, and resident bytes, of the processes and their descendants."""
    pids = [pid for root in roots for pid in family(root)]
    cpu, begin = cpu_seconds(pids), time.monotonic()
    time.sleep(seconds)
    share = (cpu_seconds(pids) - cpu) / (time.monotonic() - begin)
    return share, resident_bytes(pids)


if __name__ == "__main__":
    print(*cost([int(sys.argv[2])], float(sys.argv[1])))
