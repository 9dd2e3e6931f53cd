# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""`sonde bench export` writes every table of benchmarks in every format, with types and nulls as the store has them, and only of batches
that are named."""
import csv
import io
import json
import os
import sqlite3
import threading
import time

from patience import patience
from trials import check, database, end, script, sonde

VALUES = [(1, "it's \"x\",\n$1 <b>", True, 1.5, None), (2, None, False, 0.1, 7), (3, "", None, 1e300, -0.0)]
for i, (n, text, fine, real, late) in enumerate(VALUES):
    said = {"name": "PiSome", "component": "x", "@parameters": {"n": n, "text": text, "fine": fine}, "@result": {"real": real, "late_ns": late}}
    sonde("bench", "run", "-q", "--tag", f"t{i}", "-o", f"d{i}", script("script", f"#!/bin/sh\ncat <<'END'\n{json.dumps(said)}\nEND\n"))
sonde("bench", "run", "-q", "-o", "d_bad", script("bad", "#!/bin/sh\nexit 3\n"), code=1)

check("a directory that is there", "existing directories are not changed" in sonde("bench", "run", "-q", "-o", "d_bad", "./bad", code=1).stderr and len(database("SELECT * FROM batches")) == 4)

# Every format has every table.
FORMATS = {"csv": "csv", "json": "json", "parquet": "parquet", "feather": "feather", "orc": "orc", "pickle": "pkl", "sqlite": "sqlite"}
p = sonde("bench", "export", "--to", ",".join(FORMATS), "-o", "out", "--json")
TABLES = ["batches", "trials", "environments", "environment_facts", "indicators", "indicator_columns", "batch_tags", "trials_pi_some"]
files = json.loads(p.stdout)
check("what was written", files["schema"] == "sonde/bench-export/1" and sorted(files["files"]) == sorted(f"out/{t}.{e}" for t in TABLES for e in FORMATS.values()), files)
check("private", {os.stat(f).st_mode & 0o77 for f in files["files"]} == {0})
for table in TABLES:
    have = database(f'SELECT * FROM "{table}" ORDER BY 1, 2')
    names = list(have[0].keys())
    with sqlite3.connect(f"out/{table}.sqlite") as db:
        got = db.execute(f'SELECT * FROM "{table}"')
        check(f"{table} in SQLite", [c[0] for c in got.description] == names and got.fetchall() == [tuple(r) for r in have], names)
    with open(f"out/{table}.csv", newline="") as f:
        lines = list(csv.reader(f))
    check(f"{table} as CSV", lines[0] == names and len(lines) == 1 + len(have), lines[:2])
    with open(f"out/{table}.json") as f:
        check(f"{table} as JSON", table in f.read(4096) and f.seek(0) == 0 and json.load(f))
with sqlite3.connect("out/trials_pi_some.sqlite") as db:
    types = dict(db.execute("SELECT name, type FROM pragma_table_info('trials_pi_some')"))
check("types", types == {"trial_id": "INTEGER", "n": "INTEGER", "text": "TEXT", "fine": "INTEGER", "real": "REAL", "late_ns": "REAL"}, types)

# One table, of one batch, to standard output.
rows = list(csv.DictReader(io.StringIO(sonde("bench", "export", "-o", "-", "--table", "trials_pi_some", "bench:2").stdout)))
check("one batch", [(r["n"], r["text"], r["late_ns"]) for r in rows] == [("2", "", "7")], rows)
rows = list(csv.DictReader(io.StringIO(sonde("bench", "export", "-o", "-", "--table", "trials", "bench:1", "bench:4").stdout)))
check("two batches", [(r["batch_id"], r["state"]) for r in rows] == [("1", "ok"), ("4", "failed")] and rows[1]["component"] == "" and
      rows[1]["reason"] == "it ended with exit code 3", rows)
check("times", rows[0]["start_ns"][:2] == "20" and rows[0]["start_ns"].endswith("Z"), rows[0]["start_ns"])

# However many write meanwhile: all tables are of one moment.
writing = threading.Event()


def write():
    with sqlite3.connect("s.sqlite", timeout=patience(60), isolation_level=None) as db:
        for number in range(1000, 1000000):
            if writing.is_set():
                return
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO trials (batch_id, number, indicator_id, state) VALUES (1, ?, 1, 'ok')", (number,))
            db.execute("INSERT INTO trials_pi_some (trial_id, n) VALUES (last_insert_rowid(), 1)")
            db.execute("COMMIT")
            time.sleep(0.005)  # others have a turn


writer = threading.Thread(target=write)
writer.start()
try:
    for _ in range(8):
        sonde("bench", "export", "-o", "moment", "--table", "trials,environment_facts,trials_pi_some")
        ids = []
        for name, column in (("trials", "id"), ("trials_pi_some", "trial_id")):
            with open(f"moment/{name}.csv", newline="") as f:
                ids.append([r[column] for r in csv.DictReader(f) if name != "trials" or r["state"] == "ok"])
        check("one moment", ids[0] == ids[1], (ids[0][-3:], ids[1][-3:]))
finally:
    writing.set()
    writer.join()

# What cannot be is said.
for words, sentence in ((["--to", "xls"], "the formats are"), (["--to", "openmetrics"], "the formats are"), (["--table", "none"], "there is no table"),
                        (["-o", "-"], "takes one table"), (["bench:x"], "is not a batch")):
    check(f"{words}", sentence in sonde("bench", "export", *words, code=2).stderr, words)
check("no such batch", "there is no bench:9999" in sonde("bench", "export", "-o", "none", "bench:1", "bench:9999", code=1).stderr and not os.path.exists("none"))
end()
