# SPDX-License-Identifier: Apache-2.0
"""What core/ computes of random data is what SciPy and NumPy compute, to 1e-9."""
import os
import random
import subprocess
import sys

import readers

readers.enter()
import numpy
import scipy.stats

TOLERANCE = 1e-9
random.seed(20261122)


def numbers(values):
    return " ".join(f"{v:.17g}" for v in values)


def group(n):
    kind = random.choice(["gaussian", "heavy", "skewed", "tied"])
    scale = 10 ** random.uniform(-6, 9)
    made = {"gaussian": lambda: random.gauss(10, 1), "heavy": lambda: 10 + numpy.tan(random.uniform(-1.5, 1.5)),
            "skewed": lambda: random.lognormvariate(0, 1), "tied": lambda: random.randint(3, 6)}[kind]
    return [float(made()) * scale for _ in range(n)], scale


def described(v):
    q1, median, q3 = numpy.percentile(v, [25, 50, 75])
    sd = numpy.std(v, ddof=1)
    return [numpy.mean(v), median, sd, scipy.stats.sem(v), q1, q3, q3 - q1, sd / numpy.mean(v), (q3 - q1) / median,
            scipy.stats.skew(v, bias=False)]


def cut(n):
    """How many values compare_groups trims at each end."""
    return n // 5 if n >= 8 else 0


def compared(a, b):
    # SciPy trims one share of both groups: each gets as many values as the share cuts from it.
    share = cut(len(a)) / len(a)
    test = scipy.stats.ttest_ind(b, a, equal_var=False, trim=share)
    span = test.confidence_interval(0.95)
    difference = scipy.stats.trim_mean(b, share) - scipy.stats.trim_mean(a, share)
    # Exact where Sonde is: up to 20 values each, none of them twice.
    exact = len(set(a + b)) == len(a) + len(b) and max(len(a), len(b)) <= 20
    ranks = scipy.stats.mannwhitneyu(b, a, method="exact" if exact else "asymptotic")
    return [difference, span.low, span.high, test.pvalue, min(1, ranks.pvalue), ranks.statistic,
            2 * ranks.statistic / len(a) / len(b) - 1]


def questions():
    for _ in range(2000):
        t, df = random.choice([-1, 1]) * 10 ** random.uniform(-4, 3), 10 ** random.uniform(0, 6)
        yield f"student {t!r} {df!r}", [2 * scipy.stats.t.sf(abs(t), df)], 1e-300
        p = 10 ** random.uniform(-10, -0.31)
        yield f"quantile {p!r} {df!r}", [scipy.stats.t.isf(p, df)], 1e-12
    for _ in range(500):
        v, scale = group(random.randint(3, 200))
        if min(v) == max(v):
            continue
        yield f"describe {len(v)} {numbers(v)}", described(v), 1e-3 * scale
    # Values that are the same have no skew, however their mean is rounded.
    yield "describe 3 0.1 0.1 0.1", [0.1, 0.1, 0, 0, 0.1, 0.1, 0, 0, 0, numpy.nan], 1
    for _ in range(500):
        n = random.choice([2, 3, 5, 7, 10, 15, 20, 40])
        (a, _), (b, _) = group(n), group(n)
        if min(a) == max(a) or min(b) == max(b) or (cut(n) and len(set(a)) < n / 2):
            continue
        yield f"compare {n} {numbers(a)} {n} {numbers(b)}", compared(a, b), 1e-3 * max(map(abs, a + b))


def main():
    asked = list(questions())
    answers = subprocess.run([os.environ["PROGRAMS"] + "/statistics"], input="\n".join(q for q, _, _ in asked) + "\n",
                             capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(answers) == len(asked), (len(answers), len(asked))
    worst = 0
    for (question, wanted, scale), line in zip(asked, answers):
        for i, (want, got) in enumerate(zip(wanted, map(float, line.split()), strict=True)):
            if numpy.isnan(want) and numpy.isnan(got):
                continue
            error = abs(got - want) / max(abs(want), scale if i < 3 else 1e-3 if "compare" in question or "describe" in question else 0, 1e-300)
            worst = max(worst, error)
            assert error <= TOLERANCE, (question[:300], i, want, got, error)
    print(f"{len(asked)} questions, largest error {worst:.1e}")


main()
sys.exit(0)
