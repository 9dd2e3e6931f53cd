# SPDX-License-Identifier: Apache-2.0
"""The lines of docs/lake.md give what CSV says, and a file of the lake is sorted, is the job's whole series, and is the same when written again."""
import csv
import json
import os
import re
import subprocess
import sys

import grafana
import readers

readers.enter()
import chdb
import duckdb
import pandas
import pyarrow.parquet

SONDE = os.environ["SONDE"]
faults = []


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {detail}")


def export(*options):
    subprocess.run([SONDE, "export", *options], check=True, stderr=subprocess.DEVNULL)


def read_csv(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def order(row):
    """Bytes, and nothing before something."""
    return [row[c].encode() for c in ("metric", "node")] + [row["instance"] is not None, (row["instance"] or "").encode(), row["time"]]


def check_file(path, job, table):
    file = pyarrow.parquet.ParquetFile(path)
    rows = file.read().to_pylist()
    summary = json.loads(file.metadata.metadata[b"sonde_run"])
    check(path, summary["job_id"] == (job if job.isdigit() else None) and summary["figures"]["cpu_seconds"] >= 0, summary)
    check(path, set(rows[0]) == {"job", "metric", "node", "instance", "time", "value", "unit", "kind"}, rows[0])
    check(path, {r["job"] for r in rows} == {job}, "has another job")
    check(path, {r["instance"] for r in rows} >= {None} and "" not in {r["instance"] for r in rows}, "has no instance that is nothing")
    keys = [order(r) for r in rows]
    check(path, keys == sorted(keys), "is not sorted")
    want = sorted((r["metric"], r["node"], r["instance"], r["time"][:19], float(r["value"]), r["unit"], r["kind"]) for r in table)
    given = sorted((r["metric"], r["node"], r["instance"] or "", r["time"].strftime("%Y-%m-%dT%H:%M:%S"), r["value"], r["unit"], r["kind"])
                   for r in rows)
    check(path, want == given, f"{len(given)} rows, not {len(want)}; {[p for p in zip(want, given) if p[0] != p[1]][:1]}")


want, paths = {}, []
for job, variables in (("4711", {"SLURM_JOB_ID": "4711", "SLURM_CLUSTER_NAME": "al/pha"}), ("4712", {"SLURM_JOB_ID": "4712"}), ("mine", {})):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SLURM")}
    subprocess.run([SONDE, "run", "--quiet", "-i", "20ms", "-o", "mine" if job == "mine" else f"run{job}", "--", "sleep", "0.3"], check=True,
                   env={**environment, **variables})
    directory = "mine" if job == "mine" else f"run{job}"
    export(directory, "-o", f"csv{job}", "--table", "series")
    table = read_csv(f"csv{job}/series.csv")
    export(directory, "--lake", "lake")
    cluster = "al_pha" if job == "4711" else "unknown"
    date = min(r["time"] for r in table)[:10]
    path = f"lake/cluster={cluster}/date={date}/{job}.parquet"
    check_file(path, job, table)
    with open(path, "rb") as f:
        before = f.read()
    p = subprocess.run([SONDE, "export", directory, "--lake", "lake", "--json"], check=True, capture_output=True, text=True)
    check(path, json.loads(p.stdout)["files"] == [path], p.stdout)
    with open(path, "rb") as f:
        check(path, before == f.read(), "is another when written again")
    paths.append(path)
    for r in table:
        if r["metric"] == "node.load_1min":
            key = job, r["node"]
            want[key] = max(want.get(key, 0), float(r["value"]))
found = sorted(os.path.join(d, f) for d, _, files in os.walk("lake") for f in files)
check("the lake", found == sorted(paths), found)

with open(os.environ["TOP"] + "/docs/lake.md") as f:
    lines = re.findall(r"```python\n(.*?)\n```", f.read())
check("docs/lake.md", len(lines) == 3, f"has {len(lines)} lines of Python")
for line in lines:
    answer = eval(line)
    if isinstance(answer, list):
        given = {(r[0], r[1]): r[2] for r in answer}
    elif isinstance(answer, pandas.Series):
        given = {k: v for k, v in answer.items()}
    else:
        given = {(r[0], r[1]): float(r[2]) for r in csv.reader(str(answer).splitlines())}
    check(line[:20], given == want and len(want) == 3, f"{given}, not {want}")

# Another reader finds the summaries, too; usage is of them.
pairs = duckdb.sql("SELECT decode(value) FROM parquet_kv_metadata('lake/*/*/*.parquet') WHERE decode(key) = 'sonde_run'").fetchall()
check("the summaries as DuckDB reads them", len(pairs) == 3 and {json.loads(p[0])["job_id"] for p in pairs} == {"4711", "4712", None}, pairs)
p = subprocess.run([SONDE, "usage", "--lake", "lake", "--json"], check=True, capture_output=True, text=True)
check("usage", [(g["name"], g["runs"]) for g in json.loads(p.stdout)["groups"]] == [("sleep", 3)], p.stdout)

# The dashboard over the lake, as ClickHouse answers it.
board = grafana.boards()["jobs-in-a-lake.json"]
macros = [(r"\$__timeFilter\((\w+)\)", r"\1 >= toDateTime('2020-01-01')"), (r"\$__timeInterval\((\w+)\)", r"toStartOfInterval(toDateTime(\1), INTERVAL 1 second)")]
answers = {}
for title, query in [(t, q["rawSql"]) for t, q in grafana.targets(board)] + [(v["name"], v["query"]) for v in board["templating"]["list"] if v["type"] == "query"]:
    text = str(chdb.query(grafana.expand(query, {"lake": "lake/*/*/*.parquet", "job": "4711"}, macros), "JSON"))
    answers.setdefault(title, []).extend(json.loads(text)["data"])
check("each query gives rows", len(answers) >= 6 and all(answers.values()), {t: len(a) for t, a in answers.items()})
check("the jobs of the lake", {r["job"] for r in answers["Jobs"]} == {"4711", "4712", "mine"} == {r["job"] for r in answers["job"]}, answers["Jobs"])

for options in (["--wide"], ["--every", "1s"], ["-o", "x"], ["--to", "json"], ["--table", "series"]):
    p = subprocess.run([SONDE, "export", "mine", "--lake", "other", *options], capture_output=True, text=True)
    check("refusal", p.returncode == 2 and "--lake" in p.stderr and not os.path.exists("other"), (options, p.returncode, p.stderr))

for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
