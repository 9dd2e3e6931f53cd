# SPDX-License-Identifier: Apache-2.0
"""How far the shares of a program's parts are from those by its own clock.

stacks_shares.py of RECORDING: the program's output, "NAME SECONDS" a line, on standard input; one line with the samples, the percentage of
stacks that are whole and, of each part, its name, its share of the samples and its true share.
stacks_shares.py sum: such lines on standard input. Prints the largest error of a run in points and what chance allows for the largest of so many; the
least percentage of whole stacks; the largest error of a part's mean over all runs and what chance allows for that; the median number of
samples. What chance allows: the standard error of a share p of n independent samples is sqrt(p (1 - p) / n); times the quantile that the
largest of k normal errors stays below in 95 of 100 cases."""
import math
import statistics
import sys


def allowed(errors):
    """Of standard errors, what the largest deviation stays below in 95 of 100 cases, each deviation at the same number of them."""
    return statistics.NormalDist().inv_cdf(0.5 + 0.95 ** (1 / len(errors)) / 2) * max(errors)


def one(recording):
    from stacks import Stacks
    found = Stacks(recording)
    clock = {name: float(v) for name, v in map(str.split, sys.stdin)}
    whole = sum(n for name, n in found.ends().items() if not name.startswith("("))
    n, total = found.total(), sum(clock.values())
    print(n, 100 * whole / max(1, n), *(f"{name} {found.share(name)} {v / total}" for name, v in clock.items()))


def together():
    runs = []
    for line in sys.stdin:
        n, whole, *rest = line.split()
        parts = {rest[i]: (float(rest[i + 1]), float(rest[i + 2])) for i in range(0, len(rest), 3)}
        runs.append((int(n), float(whole), parts))
    error = [100 * abs(a - b) for _, _, parts in runs for a, b in parts.values()]
    of_error = [100 * math.sqrt(b * (1 - b) / n) for n, _, parts in runs for _, b in parts.values()]
    means, of_means = [], []
    n = sum(run[0] for run in runs)
    for name in runs[0][2]:
        each = [run[2][name] for run in runs]
        means.append(100 * abs(statistics.fmean(a - b for a, b in each)))
        p = statistics.fmean(b for _, b in each)
        of_means.append(100 * math.sqrt(p * (1 - p) / n))
    print(f"{max(error):.2f} {allowed(of_error):.2f} {min(run[1] for run in runs):.2f} {max(means):.2f} {allowed(of_means):.2f} "
          f"{statistics.median(run[0] for run in runs):.0f}")


if sys.argv[1] == "of":
    one(sys.argv[2])
else:
    together()
