# SPDX-License-Identifier: Apache-2.0
"""slowdown_of.py ALONE WITH: the ns of CPU of each turn of a job alone and of one that is recorded, which took turns. Prints in percent how much
more the latter took in its first turns; after these, with the ends of the 95 % interval; and in a job of ten times the first turns."""
import sys

from estimate import estimate

FIRST = 20
alone, recorded = ([float(line) for line in open(path, encoding="ascii")] for path in sys.argv[1:])
ratios = [100 * (b / a - 1) for a, b in zip(alone, recorded, strict=True)]
first = 100 * (sum(recorded[:FIRST]) / sum(alone[:FIRST]) - 1)
later = estimate(ratios[FIRST:], 1.96)
print(" ".join(f"{v:.2f}" for v in (first, *later, first / 10 + later[0] * 0.9, first / 10 + later[1] * 0.9)))
