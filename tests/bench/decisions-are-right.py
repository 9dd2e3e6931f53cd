# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""What Sonde says of benchmarks is right as often as docs/performance.md says, on few of the simulated series of bench/decisions.sh: sweeps in rounds name
the winner, short series tell their steps and no others, and advice never contradicts the medians."""
import os
import subprocess
import sys

from patience import patience

BENCH = os.environ["BUILD"] + "/bench/"
SLACK = 5  # percent: few series
faults = []


def lines(program, n):
    p = subprocess.run([BENCH + program, str(n)], capture_output=True, text=True, check=True, timeout=patience(200))
    return [line.split("\t") for line in p.stdout.splitlines()]


def check(what, good):
    if not good:
        faults.append(str(what))


rows = lines("sweep_winners", 150)
for order, drift, named, wrong in rows:
    check((order, drift, named, wrong), float(wrong) <= 2 and (float(named) >= 95 - SLACK if order == "rounds" else float(named) < 80))
check("all orders and drifts", len(rows) == 8)
for row in lines("history_steps", 15):
    if row[1] not in ("gaussian", "heavy-tailed"):
        continue
    if row[0] == "step" and row[2] in ("8+8", "10+10", "12+12"):
        check(row, float(row[4]) >= 95 - 2 * SLACK)
    elif row[0] == "none":
        check(row, float(row[4]) <= 2 + SLACK)
rows = lines("advice_truth", 300)
for row in rows:
    check(row, float(row[3]) <= 5 and float(row[4]) == 0 and row[5:] == ["0", "0"])
check("somebody wins", all(float(row[2]) > 2 for row in rows))
print("\n".join(faults))
sys.exit(bool(faults))
