# SPDX-License-Identifier: Apache-2.0
"""What the tests of accuracy share: recording work whose size is known, and holding the recording against it.

Each row says what was compared with what, both figures, and the bound, which is asserted. With ACCURACY=FILE in the environment the rows
are added to FILE as well: bench/accuracy.py makes docs/accuracy.md of them.
"""
import csv
import json
import os
import subprocess
import sys
from collections import defaultdict

SONDE = os.environ["SONDE"]
PROGRAMS = os.environ["PROGRAMS"]


class Comparison:
    """A table of comparisons under one heading."""

    def __init__(self, heading):
        self.heading = heading
        self.rows = []

    def row(self, metric, reference, measured, wanted, *, share=None, apart=None, above=None, slack=0.0):
        """measured is to be wanted within a share of it, or `apart` from it at most, or at least it and `above` more at most.
        A share may be exceeded by `slack`."""
        if share is not None:
            low, high, bound = wanted * (1 - share), wanted * (1 + share) + slack, f"{100 * share:g} %"
            bound += f" + {slack:.3g}" if slack else ""
        elif apart is not None:
            low, high, bound = wanted - apart, wanted + apart, f"{apart:,.6g}" if apart else "exact"
        else:
            low, high, bound = wanted, wanted + above, f"0 to {above:,.0f} more" if above < 1e9 else "at least"
        good = measured is not None and low <= measured <= high
        self.rows.append((metric, reference, measured, wanted, bound, good))
        print(f"{'good' if good else 'BAD '} {metric}: {measured} against {wanted} ({reference}); bound: {bound}")

    def lower_bound(self, metric, reference, measured, wanted, says, share=0.02):
        """measured is to be at most wanted, and to say that it may have been more."""
        good = says and measured is not None and 0 <= measured <= wanted * (1 + share)
        self.rows.append((metric, reference, measured, wanted, "a lower bound, which says so", good))
        print(f"{'good' if good else 'BAD '} {metric}: {measured}{' at least' if says else ''} against {wanted} ({reference})")

    def left_out(self, metric, why):
        self.rows.append((metric, why, None, None, None, None))
        print(f"left out: {metric}: {why}")

    def end(self):
        path = os.environ.get("ACCURACY")
        if path:
            with open(path, "a", encoding="utf-8") as f:
                for row in self.rows:
                    print(json.dumps([self.heading, *row]), file=f)
        wrong = [row for row in self.rows if row[-1] is False]
        for metric, reference, measured, wanted, bound, _ in wrong:
            print(f"not held: {metric}: {measured} against {wanted} ({reference}); bound: {bound}")
        sys.exit(1 if wrong else 0)


class Recording:
    """A directory that sonde made, and its tables."""

    def __init__(self, directory):
        self.directory = directory
        self._tables = {}
        self._raw = None
        shown = subprocess.run([SONDE, "show", "--json", directory], check=True, capture_output=True)
        self.summary = json.loads(shown.stdout)
        self.job = self.summary["job"]

    def table(self, name):
        if not self._tables:
            folder = self.directory + "-tables"
            subprocess.run([SONDE, "export", self.directory, "--to", "csv", "-o", folder], check=True, capture_output=True)
            for file in os.listdir(folder):
                with open(os.path.join(folder, file), newline="", encoding="utf-8") as f:
                    self._tables[file[:-len(".csv")]] = list(csv.DictReader(f))
        return self._tables[name]

    def series(self, metric, instance=""):
        """[(seconds, value)] of one metric."""
        return [(float(r["seconds"]), float(r["value"])) for r in self.table("series") if r["metric"] == metric and r["instance"] == instance]

    def risen(self, rate, clock, instance=""):
        """By how much a counter rose: its rate over the times of `clock`, a gauge that is read together with it."""
        times = [at for at, _ in self.series(clock)]
        before = dict(zip(times[1:], times))
        return sum(value * (at - before[at]) for at, value in self.series(rate, instance))

    def raw(self, metric, instance=""):
        """[(seconds, value)] of one metric as it was stored: of a counter, how it stood."""
        if self._raw is None:
            text = subprocess.run([SONDE, "export", self.directory, "--raw", "-o", "-"], check=True, capture_output=True, text=True).stdout
            self._raw = list(csv.DictReader(text.splitlines()))
        return [(float(r["seconds"]), float(r["value"])) for r in self._raw if r["metric"] == metric and r["instance"] == instance]

    def between(self, metric, instance=""):
        """By how much a counter rose from its first value to its last; None when it has none, or fell."""
        values = [value for _, value in self.raw(metric, instance)]
        return values[-1] - values[0] if values and values == sorted(values) else None

    def finals(self, name):
        """{metric: sum} over processes of that name, of what was read of each last."""
        sums = defaultdict(float)
        for row in self.table("processes"):
            for key, value in row.items():
                if row["name"] == name and "." in key and value:
                    sums[key] += float(value)
        return sums


def taken():
    """Seconds that interrupts and the hypervisor had of all cores, and how many of these ever had any."""
    with open("/proc/stat", encoding="ascii") as f:
        ticks = [int(x) for x in f.readline().split()[6:9]]
    return sum(ticks) / os.sysconf("SC_CLK_TCK"), sum(x > 0 for x in ticks)


def begin(directory, *command, interval="100ms", options=(), **popen):
    """Start recording a command, of which a pipe is left in the caller's hands."""
    return subprocess.Popen([SONDE, "run", "-q", "-i", interval, "-o", directory, *options, "--", *command], text=True, **popen)


def record(directory, *command, interval="100ms", options=()):
    """(its standard output, the recording)"""
    with begin(directory, *command, interval=interval, options=options, stdout=subprocess.PIPE) as job:
        said = job.communicate()[0]
    if job.returncode:
        sys.exit(f"FAIL: {command} ended with {job.returncode}")
    return said, Recording(directory)


# Each way of --process-events, and what the recording calls it where it is permitted.
WAYS = {"perf": "exit records", "connector": "connector", "polling": "new pids at each sample"}


def ways(table, metric):
    """Those that are permitted here; the others are left out of the table."""
    for way, words in WAYS.items():
        _, recording = record("way-" + way, "true", options=("--process-events", way))
        if words in recording.job["mechanisms"]:
            yield way
        else:
            table.left_out(metric, f"process starts by {way}: not permitted here")


def program(name):
    return os.path.join(PROGRAMS, name)
