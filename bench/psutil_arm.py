# SPDX-License-Identifier: Apache-2.0
"""The peer: what a careful user of psutil writes to sample a process tree and its node.

psutil_arm.py [--uss] PID SAMPLES INTERVAL prints the CPU seconds of one sample, the mean over SAMPLES, the
wake-up included. The fields are pinned here: oneshot(), cached Process objects, no USS. With --uss: what is
written without much thought, new objects in each sample and memory_full_info(). The first sample is left out.
"""
import sys
import time

import psutil

PROCESS_FIELDS = ["ppid", "name", "cpu_times", "memory_info", "num_threads", "num_fds", "io_counters"]
NODE_FIELDS = [
    lambda: psutil.cpu_times(percpu=True),
    psutil.virtual_memory,
    psutil.swap_memory,
    lambda: psutil.disk_io_counters(perdisk=True),
    lambda: psutil.net_io_counters(pernic=True),
    psutil.getloadavg,
]


def sample(root, known, fields):
    rows = []
    for process in [root] + root.children(recursive=True):
        if known is not None:
            process = known.setdefault(process.pid, process)
        try:
            with process.oneshot():
                rows.append([getattr(process, field)() for field in fields])
        except psutil.NoSuchProcess:
            if known is not None:
                known.pop(process.pid)
    return rows, [read() for read in NODE_FIELDS]


def main():
    uss = sys.argv[1] == "--uss"
    pid, samples, interval = int(sys.argv[1 + uss]), int(sys.argv[2 + uss]), float(sys.argv[3 + uss])
    root = psutil.Process(pid)
    known = None if uss else {pid: root}
    fields = [field.replace("memory_info", "memory_full_info") for field in PROCESS_FIELDS] if uss else PROCESS_FIELDS
    sample(root, known, fields)
    deadline, before = time.monotonic(), time.process_time()
    for _ in range(samples):
        deadline += interval
        time.sleep(max(0.0, deadline - time.monotonic()))
        sample(root, known, fields)
    print(f"{(time.process_time() - before) / samples:.9f}")


main()
