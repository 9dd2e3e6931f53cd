# SPDX-License-Identifier: Apache-2.0
"""Processes that wait for the lock of one SQLite database, with a rollback journal or a log (WAL), are a verdict with its file and who has the lock; one that writes alone, beside another that
has the database open and sleeps for itself, is none."""
# limit: 200
import json
import os
import subprocess
import sys

from patience import patience

SONDE = os.environ["SONDE"]
PROGRAM = """import multiprocessing, sqlite3, sys, time
def write(k, seconds):
    db, end = sqlite3.connect("rows.db", timeout=60, isolation_level=None), time.monotonic() + seconds
    while time.monotonic() < end:
        db.execute("begin immediate")
        db.execute("insert into t values (?)", (k,))
        time.sleep(0.02)
        db.execute("commit")
def look(_, seconds):
    db, end = sqlite3.connect("rows.db", timeout=60), time.monotonic() + seconds
    db.execute("select count(*) from t").fetchall()
    while time.monotonic() < end:
        time.sleep(0.05)
db = sqlite3.connect("rows.db")
db.execute("pragma journal_mode=" + sys.argv[3])
db.execute("create table if not exists t(a)")
db.commit()
db.close()
kinds = [write] * int(sys.argv[1]) + [look] * int(sys.argv[2])
processes = [multiprocessing.Process(target=one, args=(k, float(sys.argv[4]))) for k, one in enumerate(kinds)]
[p.start() for p in processes]
[p.join() for p in processes]
"""
with open("program.py", "w", encoding="utf-8") as f:
    f.write(PROGRAM)


def verdicts(name, writers, sleepers, journal, seconds):
    command = [sys.executable, "program.py", str(writers), str(sleepers), journal, str(seconds)]
    subprocess.run([SONDE, "run", "-q", "-o", name, "--", *command], check=True, timeout=patience(90))
    shown = json.loads(subprocess.run([SONDE, "show", "--json", name], check=True, capture_output=True, text=True).stdout)
    return {one["rule"]: one["sentence"] for one in shown["verdicts"]}


for journal in ("delete", "wal"):
    alone = verdicts("alone-" + journal, 1, 1, journal, 4)
    assert "database-lock" not in alone, alone
    several = verdicts("several-" + journal, 4, 0, journal, 12)  # what waits is looked at once a second: on a busy machine some looks find nothing
    said = several["database-lock"]
    assert "/rows.db, held by python3 (pid " in said and " at a time: " in said, said
    assert not set(several) & {"takes-turns", "single-core", "single-core-then-idle", "cores-unused", "polling", "idle-throughout"}, several
    os.remove("rows.db")
