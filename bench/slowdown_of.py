# SPDX-License-Identifier: Apache-2.0
"""slowdown_of.py ALONE WITH: the ns of CPU and of time of each turn of a job alone and of one that is recorded, which took turns. Prints in
percent how much more CPU the latter took in its first turns; after these, with the ends of the 95 % interval; how much more time; and how much
more CPU in a job of ten times the first turns, with the lower end."""
import sys

from estimate import estimate

FIRST = 20


def turns_of(path):
    """The CPU of each turn, and the time."""
    with open(path, encoding="ascii") as f:
        return zip(*([float(word) for word in line.split()] for line in f))


def more(alone, recorded):
    """Of the first turns together; of the later pairs, and the ends of the interval."""
    ratios = [100 * (b / a - 1) for a, b in zip(alone, recorded, strict=True)]
    return [100 * (sum(recorded[:FIRST]) / sum(alone[:FIRST]) - 1), *estimate(ratios[FIRST:], 1.96)]


cpu, time = (more(*pair) for pair in zip(*(turns_of(path) for path in sys.argv[1:])))
in_all = [cpu[0] / 10 + later * 0.9 for later in cpu[1:3]]
print(" ".join(f"{v:.2f}" for v in (*cpu, *time[1:], *in_all)))
