# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""Compare blames the right function as often as docs/compare.md says, on few of the simulated runs of bench/blame.sh: the slowed function is named
first, of runs that are alike nothing is blamed, and the parts add up to the whole."""
import os
import subprocess
import sys

from patience import patience

SLACK = 5  # percent: few pairs
p = subprocess.run([os.environ["BUILD"] + "/bench/blame", "10", "60"], capture_output=True, text=True, check=True, timeout=patience(100))
rows = [line.split("\t") for line in p.stdout.splitlines()]
faults = []
for kind, named, wrong, quiet, sums, whole, parts in rows:
    alternating = "one after the other" not in kind
    good = float(wrong) <= 1 + SLACK and float(quiet) >= 98 - SLACK and float(sums) == 100 and float(parts) >= 99 - SLACK
    good = good and (not alternating or (float(named) >= 95 - SLACK and float(whole) >= 95 - SLACK - 1))
    if not good:
        faults.append(str((kind, named, wrong, quiet, sums, whole, parts)))
if len(rows) != 5:
    faults.append("all kinds of noise")
print("\n".join(faults))
sys.exit(bool(faults))
