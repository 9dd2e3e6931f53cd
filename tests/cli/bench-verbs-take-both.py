# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""Each verb takes a batch and an indicator: stats, show, export and compare an indicator, history, advise, report and query a batch."""
import csv
import json

from trials import check, end, script, sonde

script("matmul.sh", """#!/bin/sh
echo '{"name": "PiMatmul", "component": "x", "@parameters": {"device": "cpu", "dtype": "f", "matrix_size": '$1', "reps": 1}, "@result": {"elapsed": '$2', "rate": 1}}'
""")
script("other.sh", """#!/bin/sh
echo '{"name": "PiOther", "component": "x", "@parameters": {}, "@result": {"n": 1}}'
""")
for size, elapsed in ((64, 5), (64, 7), (128, 11)):
    sonde("bench", "run", "-q", "-n", "3", "./matmul.sh", str(size), str(elapsed))
sonde("bench", "run", "-q", "./other.sh")


def of(*words):
    return json.loads(sonde("bench", *words, "--json").stdout)


check("stats", [b["batch"] for b in of("stats", "PiMatmul")["batches"]] == [1, 2, 3], of("stats", "PiMatmul"))
check("stats of both", [b["batch"] for b in of("stats", "bench:2", "bench:PiOther")["batches"]] == [2, 4])
check("show the newest", of("show", "PiMatmul")["batch"] == 3)
sonde("bench", "export", "--to", "csv", "--table", "trials", "-o", "out", "PiMatmul")
with open("out/trials.csv") as f:
    rows = list(csv.reader(f))
check("export", len(rows) == 10, (len(rows), rows[:2]))
compared = json.loads(sonde("compare", "--json", "bench:1", "bench:PiMatmul", code=3).stdout)
check("compare", (len(compared["runs_a"]), len(compared["runs_b"])) == (3, 9), compared)
history = of("history", "bench:2", "-c", "elapsed")
check("history", history["indicator"] == "PiMatmul" and '"batch": 1' not in json.dumps(history) and '"batch": 2' in json.dumps(history), history)
advice = of("advise", "bench:3", "-c", "elapsed")
check("advise", advice["indicator"] == "PiMatmul" and "64" not in json.dumps(advice.get("best")), advice)
sonde("bench", "report", "bench:2", "-o", "batch.html")
with open("batch.html") as f:
    page = f.read()
check("report", "PiMatmul" in page and "bench:3" not in page)
check("query", [t["batch"] for t in of("query", "bench:2", "best")["trials"]] == [2, 2, 2], of("query", "bench:2", "best"))
for verb in ("stats", "show", "export"):
    check(f"{verb} of neither", "is not a batch, nor an indicator" in sonde("bench", verb, "PiNone", code=2).stderr)
# What stats, show, export and compare take, the others take, too.
for verb in ("history", "advise"):
    check(f"{verb} of bench:NAME", of(verb, "bench:PiMatmul", "-c", "elapsed") == of(verb, "PiMatmul", "-c", "elapsed"))
check("query of bench:NAME", of("query", "bench:PiMatmul", "best") == of("query", "PiMatmul", "best"))
sonde("bench", "report", "bench:PiMatmul", "-o", "named.html")
with open("named.html") as f:
    check("report of bench:NAME", f.read().count('<tr id="g') == 3)
for verb in ("history", "advise", "report"):
    check(f"{verb} of no batch", "bench:99" in sonde("bench", verb, "bench:99", code=1).stderr)
end()
