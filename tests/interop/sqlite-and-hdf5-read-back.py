# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""sqlite3, PyTables, h5py and pandas 1.5, 2 and 3 read from SQLite and HDF5 what JSON has, cell by cell: random tables of absent cells, extremes and odd
texts, and every table of a recording. What is absent is NULL, NaN, NaT or no category; units and kinds are in the file."""
import datetime
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import warnings

import readers

readers.enter()
import h5py
import pandas
import tables

import hdf5

SONDE, BUILD = os.environ["SONDE"], os.environ["BUILD"]
EPOCH = datetime.datetime(1970, 1, 1)
TABLES = ["series", "processes", "commands", "marks", "spans", "counters", "states"]
warnings.simplefilter("ignore", tables.NaturalNameWarning)
faults, read = [], []


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {detail}")


def ns_of(iso):
    whole, _, fraction = iso.rstrip("Z").partition(".")
    return (datetime.datetime.fromisoformat(whole) - EPOCH) // datetime.timedelta(seconds=1) * 10**9 + int(fraction.ljust(9, "0"))


def read_json(path):
    with open(path) as f:
        data = json.load(f)
    rows = data["rows"]
    for i, column in enumerate(data["columns"]):
        if column["type"] == "time":
            for row in rows:
                row[i] = None if row[i] is None else ns_of(row[i])
        elif column["type"] == "real":
            for row in rows:
                row[i] = None if row[i] is None else float(row[i])
    return data["columns"], [tuple(row) for row in rows]


def read_sqlite(path, table):
    with sqlite3.connect(path) as db:
        check(path, db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "is broken")
        cursor = db.execute(f'SELECT * FROM "{table}"')
        names = [d[0] for d in cursor.description]
        told = db.execute("SELECT name, unit, kind, help FROM sonde_columns WHERE table_name = ? ORDER BY position", (table,)).fetchall()
        metrics = db.execute("SELECT name, unit, kind, help FROM sonde_metrics WHERE table_name = ?", (table,)).fetchall()
        return names, cursor.fetchall(), told, metrics


def description(path, key):
    with h5py.File(path) as f:
        return json.loads(f[key]["sonde"][()])


def same(what, want, given):
    check(what, len(want) == len(given), f"{len(given)} rows, not {len(want)}")
    for n, (a, b) in enumerate(zip(want, given)):
        if tuple(a) != tuple(b):
            check(what, False, f"row {n}: {b}, not {a}")
            return


def compare(where, table, folder):
    columns, want = read_json(f"{folder}/{table}.json")
    names = [c["name"] for c in columns]
    given_names, given, told, metrics = read_sqlite(f"{folder}/{table}.sqlite", table)
    same(f"{where} {table} SQLite", want, given)
    check(f"{where} {table} SQLite", given_names == names, given_names)
    for c, (name, unit, kind, text) in zip(columns, told):
        unit_known = c["type"] == "time" or unit == c["unit"]
        check(f"{where} {table} SQLite", (name, kind or "", text) == (c["name"], c.get("kind", ""), c["help"]) and unit_known, (c, name, unit))
    check(f"{where} {table} SQLite", len(told) == len(columns), told)
    safe = [re.sub(r"/", "|", re.sub(r"[^ -~]|\\", "?", n)) for n in names]
    for reader in (hdf5.with_pandas, hdf5.with_h5py, hdf5.with_pytables):
        given_names, given = reader(f"{folder}/{table}.h5", table)
        same(f"{where} {table} {reader.__name__}", want, given)
        check(f"{where} {table} {reader.__name__}", given_names == safe, given_names)
    read.append((f"{where} {table}", f"{folder}/{table}.h5", table, safe, want))
    described = description(f"{folder}/{table}.h5", table)
    check(f"{where} {table} HDF5", described["schema"] == "sonde/columns/1" and
          [(c["name"], c["unit"], c.get("kind", "")) for c in described["columns"]] == [(c["name"], c["unit"], c.get("kind", "")) for c in columns],
          described["columns"])
    check(f"{where} {table} HDF5", [(m["name"], m.get("unit", ""), m.get("kind", ""), m.get("help", "")) for m in described["metrics"]]
          == [tuple(x or "" for x in m) for m in metrics],
          "tells of other metrics than SQLite")
    return columns, want, metrics


for rows in (0, 1, 4096, 30000):
    seed = random.randrange(1, 10**9)
    folder = f"random{rows}"
    os.mkdir(folder)
    for kind, extension in (("json", "json"), ("sqlite", "sqlite"), ("hdf5", "h5")):
        subprocess.run([f"{BUILD}/bench/table_of", kind, f"{folder}/series.{extension}", str(rows), str(seed)], check=True)
    _, want, _ = compare(f"seed {seed}, {rows} rows", "series", folder)
    check(folder, len(want) == rows, len(want))
    check(folder, rows < 4096 or all(any(r[c] is None for r in want) for c in range(6)), "has nothing absent")

job = "for i in 1 2 3; do dd if=/dev/zero of=file bs=64k count=100 2>/dev/null; sleep 0.1; done"
subprocess.run([SONDE, "run", "--quiet", "-i", "50ms", "-o", "out", "--", "sh", "-c", job], check=True)
for where, options in (("tidy", []), ("raw", ["--raw"]), ("windows", ["--every", "200ms"]), ("wide", ["--wide"])):
    subprocess.run([SONDE, "export", "out", "-o", where, "--to", "json,sqlite,hdf5", *options], check=True)
    for table in TABLES:
        columns, want, metrics = compare(where, table, where)
        kinds = {c.get("kind") for c in columns}
        if table == "series" and where != "wide":
            check(where, {m[0] for m in metrics} >= {r[1] for r in want}, "has metrics without a description")
            check(where, {m[2] for m in metrics} >= ({"counter", "gauge"} if where == "raw" else {"gauge"}), "has other kinds")
        check(where, table not in ("processes", "commands") or kinds & {"counter", "total"}, f"{table} has the kinds {kinds}")

# The same files with older versions of pandas.
missing = []
for venv in ("venv-pandas1", "venv-pandas2"):
    if not os.path.exists(f"{BUILD}/{venv}/requirements.txt"):
        missing.append(venv)
        continue
    p = subprocess.run([f"{BUILD}/{venv}/bin/python", f"{os.environ['TOP']}/tests/hdf5.py", *(w for r in read for w in r[1:3])],
                       capture_output=True, text=True, check=False)
    check(venv, p.returncode == 0 and p.stdout.count("\n") == len(read), p.stderr[-500:])
    for (where, _, _, names, want), line in zip(read, p.stdout.splitlines()):
        given_names, given = json.loads(line)
        same(f"{venv} {where}", want, given)
        check(f"{venv} {where}", given_names == names, given_names)

frame = pandas.read_hdf("tidy/series.h5", "series", where='metric == "node.load_1min"')
check("a query", len(frame) > 0 and set(frame["metric"]) == {"node.load_1min"}, len(frame))

for fault in faults:
    print(fault, file=sys.stderr)
if not faults and missing:
    print(f"not all readers were asked: {', '.join(missing)} is not there (tests/readers/venv.sh makes it with what PyPI has)")
    sys.exit(77)
sys.exit(bool(faults))
