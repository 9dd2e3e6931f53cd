# SPDX-License-Identifier: Apache-2.0
# quiet
"""Two processes spin on one CPU for a while: they waited for all time that was not their CPU time. Then they rest, so that they are
sampled once more. The interpreter that starts them also waits on a busy machine; the kernel itself reports that time. The bound is
extended by the time in /proc/stat that interrupts and a hypervisor took meanwhile, which is neither."""
import statistics
import sys

import accuracy

SECONDS, SPINNERS, LOOK = 5, 2, 2.6
WORK = f"""
import os, sys, time
os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})
r, w = os.pipe()
for i in range({SPINNERS}):
    if os.fork() == 0:
        before = time.perf_counter() - time.process_time()
        until = time.perf_counter() + {SECONDS}
        while time.perf_counter() < until:
            pass
        os.write(w, f"{{os.getpid()}} {{time.perf_counter() - time.process_time() - before}}\\n".encode())
        time.sleep({LOOK})
        os._exit(0)
os.close(w)
for i in range({SPINNERS}):
    os.wait()
sys.stdout.write(os.fdopen(r).read())
with open("/proc/self/schedstat") as f:
    print(os.getpid(), int(f.read().split()[1]) / 1e9)
"""

table = accuracy.Comparison("Scheduling")
stolen = accuracy.taken()[0]
said, recording = accuracy.record("spinners", sys.executable, "-c", WORK)
stolen = accuracy.taken()[0] - stolen
waited = {pid: float(seconds) for pid, seconds in (line.split() for line in said.splitlines())}
of_spinners = list(waited)[:SPINNERS]
spun = sum(waited[pid] for pid in of_spinners)
rows = {row["pid"]: float(row["process.run_queue_seconds"]) for row in recording.table("processes") if row["process.run_queue_seconds"]}
table.row("process.run_queue_seconds", "wall time without CPU time, of two processes spinning on one CPU", sum(rows[pid] for pid in of_spinners),
          spun, apart=0.03 * spun + 0.1 + stolen)
risen = recording.risen("job.run_queue_cores", "job.threads_age_seconds")
table.row("job.run_queue_seconds", "the same, and the kernel's figure for the process that started them", risen, sum(waited.values()),
          apart=0.03 * spun + 0.1 + stolen)


def while_spinning(metric):
    return statistics.median(value for at, value in recording.series(metric) if 1 < at < SECONDS)


table.row("job.threads_running_count", "the spinning processes", while_spinning("job.threads_running_count"), SPINNERS, apart=0)
table.row("job.threads_sleeping_count", "the process that waits for them", while_spinning("job.threads_sleeping_count"), 1, apart=0)
table.row("job.affinity_cpus_count", "the CPU they were bound to", while_spinning("job.affinity_cpus_count"), 1, apart=0)
table.end()
