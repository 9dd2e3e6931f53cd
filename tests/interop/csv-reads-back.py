# SPDX-License-Identifier: Apache-2.0
"""pandas, DuckDB and polars read from CSV what JSON has, cell by cell: random tables of absent cells, extremes and odd texts, and every table of a
recording. What is absent is an empty cell; a text that a spreadsheet would take for a formula has a ' before it."""
import json
import os
import random
import subprocess
import sys

import readers

readers.enter()
import duckdb
import pandas
import polars

SONDE, BUILD = os.environ["SONDE"], os.environ["BUILD"]
TABLES = ["series", "processes", "commands", "marks", "spans", "counters", "states"]
faults = []


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {detail}")


def with_pandas(path):
    frame = pandas.read_csv(path, dtype=str, keep_default_na=False)
    return list(frame.columns), frame.values.tolist()


def with_duckdb(path):
    with duckdb.connect() as base:
        found = base.execute(f"SELECT * FROM read_csv('{path}', header=true, all_varchar=true, delim=',', quote='\"', escape='\"')")
        return [d[0] for d in found.description], found.fetchall()


def with_polars(path):
    frame = polars.read_csv(path, infer_schema=False)
    return frame.columns, frame.rows()


def same(kind, cell, text):
    if cell is None or cell == "":
        return text in (None, "")
    if text is None:
        return False
    return float(text) == cell if kind in ("real", "integer") else text in (cell, "'" + cell)


def compare(folder, table):
    with open(f"{folder}/{table}.json") as f:
        want = json.load(f)
    kinds = [c["type"] for c in want["columns"]]
    for reader in (with_pandas, with_duckdb, with_polars):
        what = f"{folder} {table} {reader.__name__}"
        names, rows = reader(f"{folder}/{table}.csv")
        check(what, names == [c["name"] for c in want["columns"]], names)
        check(what, len(rows) == len(want["rows"]), f"{len(rows)} rows, not {len(want['rows'])}")
        for n, (cells, texts) in enumerate(zip(want["rows"], rows)):
            if len(texts) != len(cells) or not all(map(same, kinds, cells, texts)):
                check(what, False, f"row {n}: {texts}, not {cells}")
                break
    return want


for rows in (1, 4096, 20000):
    seed = random.randrange(1, 10**9)
    folder = f"random{rows}.{seed}"
    os.mkdir(folder)
    for kind in ("csv", "json"):
        subprocess.run([f"{BUILD}/bench/table_of", kind, f"{folder}/series.{kind}", str(rows), str(seed)], check=True)
    check(folder, len(compare(folder, "series")["rows"]) == rows)

subprocess.run([SONDE, "run", "--quiet", "-i", "50ms", "-o", "out", "--", "sh", "-c", "sleep 0.3; dd if=/dev/zero of=file bs=64k count=99 2>/dev/null"],
               check=True)
for where, options in (("tidy", []), ("raw", ["--raw"]), ("windows", ["--every", "200ms"]), ("wide", ["--wide"])):
    subprocess.run([SONDE, "export", "out", "-o", where, "--to", "csv,json", *options], check=True)
    for table in TABLES:
        compare(where, table)

# Without a word about types they find numbers and times.
frame = pandas.read_csv("tidy/series.csv", parse_dates=["time"])
check("types", str(frame["value"].dtype) == "float64" and str(frame["time"].dtype).startswith("datetime64"), frame.dtypes)
with open("tidy/series.json") as f:
    check("values", list(frame["value"]) == [r[5] for r in json.load(f)["rows"]])

for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
