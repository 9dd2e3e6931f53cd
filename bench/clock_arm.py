# SPDX-License-Identifier: Apache-2.0
"""clock_arm.py SONDE PID INTERVAL_SECONDS SECONDS DIRECTORY [OPTION...]

Attaches Sonde to the process, with these options, and prints, separated by spaces:
- the share of one core that it and its helpers took, in per cent, seen from outside and without the first second;
- samples that began more than a tenth of the interval late or not at all, in per cent of all that were due;
- samples that were due, were not taken and were not said to be skipped;
- how long after its time a sample began, median and 99th percentile, in microseconds;
- how that changed from the first to the last tenth, in millionths of the time between.
"""
import csv
import io
import subprocess
import sys
import time

from clock_cpu import cpu_seconds, family

sonde, pid, interval, seconds, directory = sys.argv[1], sys.argv[2], *map(float, sys.argv[3:5]), sys.argv[5]

attach = subprocess.Popen(
    [sonde, "attach", "-q", "-p", pid, "-i", f"{round(interval * 1e6)}us", "-o", directory]
    + ["--duration", f"{round(seconds * 1000)}ms", *sys.argv[6:]]
)
time.sleep(1)
recorder = family(attach.pid)
cpu0, time0 = cpu_seconds(recorder), time.monotonic()
time.sleep(seconds - 1.5)
core = (cpu_seconds(recorder) - cpu0) / (time.monotonic() - time0) * 100
if attach.wait():
    sys.exit("clock_arm: sonde attach failed")

table = subprocess.run(
    [sonde, "export", "-o", "-", "--raw", "--wide", "--metrics", "monitor.*", directory],
    check=True, capture_output=True, text=True,
).stdout
rows = list(csv.DictReader(io.StringIO(table)))[:-1]  # the last one is taken at the end, not at its time
times = [float(row["seconds"]) for row in rows]
late = int(rows[-1]["monitor.late_samples"])
skipped = [int(row["monitor.skipped_samples"]) for row in rows]
due = len(rows) - 1 + skipped[-1]

# How long after its time each began, when all that were skipped are as recorded.
phase = [t - times[0] - (i + skipped[i]) * interval for i, t in enumerate(times)]
lost = round(min(phase[-max(10, len(phase) // 10):]) / interval)


def middle(values, share=0.5):
    return sorted(values)[int(len(values) * share)]


tenth = len(phase) // 10 or 1
drift = middle(phase[-tenth:]) - middle(phase[1 : tenth + 1])
drift /= middle(times[-tenth:]) - middle(times[1 : tenth + 1])
print(
    f"{core:.3f} {(late + skipped[-1]) / due * 100:.3f} {abs(lost)}",
    f"{middle(phase) * 1e6:.0f} {middle(phase, 0.99) * 1e6:.0f} {abs(drift) * 1e6:.3f}",
)
