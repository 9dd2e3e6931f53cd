# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""Successive halving: all combinations get a few trials, the better half more, until one is left; the budget is kept; an interrupted
sweep decides the same again, and what the store has is not run twice."""
import json
import os
import sqlite3
import subprocess
import sys

import built
import jsonschema
from patience import patience

from schemas import strict

SONDE = os.environ["SONDE"]
faults = []
built.need(("database", "libsqlite3-dev"), ("yaml", "libyaml-dev"))
with open(os.path.join(os.environ["TOP"], "docs/schema/bench-sweep.json")) as f:
    schema = strict(json.load(f))
LOG = os.path.abspath("log")


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {str(detail)[:1500]}")


def sweep(name, decision, *options, code=0, count=8):
    with open(f"{name}.json", "w") as f:
        json.dump({"script": "far.sh", "environment": {"LOG": LOG}, "decision": decision,
                   "matrix": {"parameters": {"X": [str(i) for i in range(count)]}}}, f)
    p = subprocess.run([SONDE, "bench", "sweep", "--store", "s.sqlite", *options, f"{name}.json"], capture_output=True, text=True, timeout=patience(100),
                       check=False)
    check(f"status of {name}", p.returncode == code, f"{p.returncode}: {p.stderr}{p.stdout}")
    if "--json" in options and p.stdout:
        jsonschema.validate(json.loads(p.stdout), schema)
        return json.loads(p.stdout)
    return p


def ran():
    with open(LOG) as f:
        return len(f.readlines())


def of_each(report):
    return {int(r["parameters"]["X"]): r["trials"] for r in report["responses"]}


# Best at X = 5; at 7 it fails.
with open("far.sh", "w") as f:
    f.write("""#!/bin/sh
echo "$X" >>"$LOG"
[ "$X" = 7 ] && exit 3
printf '{"name": "PiFar", "component": "sh", "@parameters": {"x": %s}, "@result": {"n": 1}, "overall_score": %s}' "$X" "-$(((X - 5) * (X - 5)))"
""")
os.chmod("far.sh", 0o755)
HALVING = {"type": "successive-halving", "minimum": 1}
p = sweep("plan", HALVING, "--dry-run")
check("the plan", "8 of 8 combinations, 0 excluded; 24 trials in 3 rounds: 8 x 1, 4 x 2, 2 x 4" in p.stdout and not os.path.exists("s.sqlite"),
      p.stdout)
report = sweep("all", HALVING, "--json", "-q", code=1)
check("trials of each", of_each(report) == {0: 1, 1: 1, 2: 1, 3: 3, 4: 7, 5: 7, 6: 3, 7: 1} and ran() == 24, report)
check("the best", report["best"] == 6 and report["rounds"] == [{"combinations": 8, "trials": 1}, {"combinations": 4, "trials": 3},
                                                               {"combinations": 2, "trials": 7}], report)
check("none is missing", [r["missing"] for r in report["responses"]] == 8 * [0] and [r["failed"] for r in report["responses"]] == 7 * [0] + [1],
      report)
p = sweep("all", HALVING, code=1)
check("the table", "best        bench:6, host, plain: X=5" in p.stdout and "round 3 of 3: 2 combinations, 7 trials of each" in p.stderr,
      p.stdout + p.stderr)

# A larger budget adds trials to those that are there.
more = sweep("more", {**HALVING, "budget": 50}, "--json", "-q", code=1)
check("a larger budget", of_each(more) == {0: 2, 1: 2, 2: 2, 3: 6, 4: 14, 5: 14, 6: 6, 7: 2} and ran() == 48, (of_each(more), ran()))

# What decides a round are the trials up to its own: what later ones say changes nothing. Of what is lost, that runs again which is needed.
with sqlite3.connect("s.sqlite") as db:
    db.execute("UPDATE trials SET score = -99, overall_score = -99 WHERE number > 3")
    db.execute("DELETE FROM trials WHERE number = 2")
again = sweep("all", HALVING, "--json", "-q", code=1)
check("it decides the same again", of_each(again) == {0: 1, 1: 1, 2: 1, 3: 6, 4: 14, 5: 14, 6: 6, 7: 1} and ran() == 52, (of_each(again), ran()))

# Chance draws some to begin with; another eta, another result.
few = sweep("few", {**HALVING, "count": 4, "seed": 3, "eta": 4}, "--json", "-q", "--dry-run")
check("some to begin with", len(few["would_run"]) == 4 and few["rounds"] == [{"combinations": 4, "trials": 1}], few)
less = sweep("less", {**HALVING, "result": "duration_seconds", "better": "less"}, "--json", "-q", code=1)
check("another result", sum(of_each(less).values()) >= 24 and less["best"] != 8, less)

p = sweep("small", {"type": "successive-halving", "budget": 71}, code=2)
check("too small a budget", p.stderr.count("\n") == 1 and
      "71 trials are too few for 8 combinations with at least 3 trials: give at least 72" in p.stderr, p.stderr)
print("\n".join(faults))
sys.exit(bool(faults))
