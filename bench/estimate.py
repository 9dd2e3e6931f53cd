# SPDX-License-Identifier: Apache-2.0
"""Estimates of what is noisy. On its own, estimate.py: of the numbers on standard input, with the ends of the 95 % interval."""
import math
import statistics
import sys


def estimate(values, z):
    """That of Hodges and Lehmann (the median of all means of two of them), of what lies symmetrically around it, whatever its tails; and the ends
    of its interval, that of Wilcoxon's signed ranks."""
    n = len(values)
    means = sorted((values[i] + values[k]) / 2 for i in range(n) for k in range(i, n))
    out = max(math.floor(len(means) / 2 - z * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)), 0)
    return statistics.median(means), means[out], means[-1 - out]


if __name__ == "__main__":
    print(" ".join(f"{v:.3f}" for v in estimate([float(line) for line in sys.stdin], 1.96)))
