# SPDX-License-Identifier: Apache-2.0
# alone
"""Two processes spin on one CPU for a while: what was not CPU time of theirs they waited. Then they rest, so that they are looked at once more."""
import os
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
        os.write(w, f"{{time.perf_counter() - time.process_time() - before}}\\n".encode())
        time.sleep({LOOK})
        os._exit(0)
os.close(w)
for i in range({SPINNERS}):
    os.wait()
sys.stdout.write(os.fdopen(r).read())
"""

table = accuracy.Comparison("Scheduling")
said, recording = accuracy.record("spinners", sys.executable, "-c", WORK)
waited = [float(line) for line in said.split()]
name = os.path.basename(sys.executable)
table.row("process.run_queue_seconds", "wall time without CPU time, of two that spin on one CPU", recording.finals(name)["process.run_queue_seconds"],
          sum(waited), share=0.03, slack=0.1)
risen = recording.risen("job.run_queue_cores", "job.threads_age_seconds")
table.row("job.run_queue_seconds", "wall time without CPU time, of two that spin on one CPU", risen, sum(waited), share=0.03, slack=0.1)


def while_spinning(metric):
    return statistics.median(value for at, value in recording.series(metric) if 1 < at < SECONDS)


table.row("job.threads_running_count", "those that spin", while_spinning("job.threads_running_count"), SPINNERS, apart=0)
table.row("job.threads_sleeping_count", "the one that waits for them", while_spinning("job.threads_sleeping_count"), 1, apart=0)
table.row("job.affinity_cpus_count", "the CPU they were bound to", while_spinning("job.affinity_cpus_count"), 1, apart=0)
table.end()
