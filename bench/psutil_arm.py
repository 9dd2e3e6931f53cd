# SPDX-License-Identifier: Apache-2.0
"""The peer: what a careful user of psutil writes to sample a process tree and its node.

psutil_arm.py PID SAMPLES INTERVAL prints the CPU seconds of one sample, the mean over SAMPLES.
The fields are pinned here: oneshot(), cached Process objects, no USS. The first sample, which makes
the objects, is left out.
"""
import sys
import time

import psutil

PROCESS_FIELDS = ["pid", "ppid", "name", "cpu_times", "memory_info", "num_threads", "num_fds", "io_counters"]
NODE_FIELDS = [
    lambda: psutil.cpu_times(percpu=True),
    psutil.virtual_memory,
    psutil.swap_memory,
    lambda: psutil.disk_io_counters(perdisk=True),
    lambda: psutil.net_io_counters(pernic=True),
    psutil.getloadavg,
]


def sample(root, known):
    tree = {p.pid: p for p in [root] + root.children(recursive=True)}
    rows = []
    for pid in tree:
        process = known.setdefault(pid, tree[pid])
        try:
            with process.oneshot():
                rows.append([getattr(process, field) if field == "pid" else getattr(process, field)()
                             for field in PROCESS_FIELDS])
        except psutil.NoSuchProcess:
            known.pop(pid)
    return rows, [read() for read in NODE_FIELDS]


def main():
    root = psutil.Process(int(sys.argv[1]))
    samples, interval = int(sys.argv[2]), float(sys.argv[3])
    known = {root.pid: root}
    sample(root, known)
    deadline, spent = time.monotonic(), 0.0
    for _ in range(samples):
        deadline += interval
        time.sleep(max(0.0, deadline - time.monotonic()))
        before = time.process_time()
        sample(root, known)
        spent += time.process_time() - before
    print(f"{spent / samples:.9f}")


main()
