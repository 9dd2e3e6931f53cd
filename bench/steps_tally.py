# SPDX-License-Identifier: Apache-2.0
"""What the families of real programs of bench/steps.sh have in common: how they are judged, the tally, and a folder for the recordings.

A program that iterates writes its own steps into truth, a line for each, of its kind, if it is not plain: LENGTH [KIND], or BEGIN END KIND in seconds of the epoch. Of two loops, one behind or within the other, the second is in truth2: either counts."""
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile

NEAR, WRONG, MOVED = 0.02, 0.1, 0.15  # of the median; of a begin, as a part of a step


def show(folder, *words):
    return json.loads(subprocess.run([os.environ["SONDE"], "show", *words, "--json", f"{folder}/rec"], check=True, capture_output=True, text=True).stdout)


def read_truth(path):
    """The median of plain steps, and where each step begins and the last one ends, if that is known."""
    with open(path, encoding="utf-8") as f:
        rows = [line.split() for line in f]
    told = len(rows[0]) == 3
    plain = [float(x[1]) - float(x[0]) if told else float(x[0]) for x in rows if x[-1] == "plain" or len(x) == 1]
    return statistics.median(plain), [float(x[0]) for x in rows] + [float(rows[-1][1])] if told else []


def away(of, there):
    """How far from each of these times the next of those is."""
    return [min((y - x for y in there), key=abs) for x in of]


def matched(of, there, within):
    """The part of these times near which there is one, if all are moved alike: what is the begin of a loop is a matter of taste."""
    by = statistics.median(away(of, there))
    return sum(abs(d) <= within for d in away([x + by for x in of], there)) / len(of)


def judge(folder, name):
    """What is right and what is not, of a job that was recorded: pairs of what and how much of it."""
    found = show(folder, "--steps")
    n, median, where = len(found["steps"]), found["median_seconds"], f"{found['found_in']} {found['name'] or found['metric']}"
    truths = [read_truth(f"{folder}/{t}") for t in ("truth", "truth2") if os.path.exists(f"{folder}/{t}")]
    if not truths:
        print(f"{name}: no steps, found {n} of {median} in {where}", file=sys.stderr)
        yield "invented", n > 0
        return
    truth, begins = min(truths, key=lambda x: abs(median / x[0] - 1)) if n else truths[0]
    off = median / truth - 1 if n else None
    yield "found", n > 0
    yield "median", n > 0 and abs(off) <= NEAR
    yield "wrong", n > 0 and abs(off) > WRONG
    line = f"{name}: {' or '.join(f'{truth:.3f}' for truth, _ in truths)}, found {n}" + (f" of {median:.3f} ({100 * off:+.1f} %) in {where}" if n else "")
    if begins and n:
        start = datetime.datetime.fromisoformat(show(folder)["job"]["start"][:26] + "+00:00").timestamp()
        at = [start + s["from_seconds"] for s in found["steps"]] + [start + found["steps"][-1]["to_seconds"]]
        right, real = matched(begins, at, MOVED * truth), matched(at, begins, MOVED * truth)
        yield "begins", right
        yield "real", real
        line += f"; {100 * right:.0f} % of {len(begins)} begins found, {100 * real:.0f} % of {len(at)} are some"
    print(line, file=sys.stderr)


def print_tally(judged):
    """Columns of (what, how much of it was right, from 0 to 1): what and percent."""
    tally = {}
    for what, good in judged:
        tally.setdefault(what, []).append(good)
    for what, all_of in tally.items():
        print(f"{what}\t{100 * sum(all_of) / len(all_of):.1f}")


def main(run):
    """run(FAMILY, folder) with the words of the command line, FAMILY [FOLDER]."""
    if sys.argv[2:]:
        run(sys.argv[1], os.path.abspath(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            run(sys.argv[1], temporary)
