# SPDX-License-Identifier: Apache-2.0
"""trials_arm.py FROM TO PER-TRANSACTION: the rows that trials put into FROM, bare: read before, and inserted into tables of the same schema
in TO, in transactions of as many. Prints how many seconds the inserts took."""
import sqlite3
import sys
import time

source, target, each = sqlite3.connect(sys.argv[1]), sqlite3.connect(sys.argv[2], isolation_level=None), int(sys.argv[3])
for (sql,) in source.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"):
    target.execute(sql)
target.execute("PRAGMA journal_mode = DELETE")
target.execute("PRAGMA synchronous = FULL")
for table in ("batches", "indicators"):
    for row in source.execute(f"SELECT * FROM {table}"):
        target.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
typed = source.execute("SELECT table_name FROM indicators").fetchone()[0]
rows = list(zip(source.execute("SELECT * FROM trials ORDER BY id").fetchall(), source.execute(f"SELECT * FROM {typed} ORDER BY trial_id").fetchall()))
first, second = (f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})" for table, row in (("trials", rows[0][0]), (typed, rows[0][1])))
began = time.monotonic()
for at in range(0, len(rows), each):
    target.execute("BEGIN IMMEDIATE")
    for trial, values in rows[at:at + each]:
        target.execute(first, trial)
        target.execute(second, values)
    target.execute("COMMIT")
print(f"{time.monotonic() - began:.6f}")
