# SPDX-License-Identifier: Apache-2.0
"""trials_compare.py STORE ROUNDS: `sonde compare` of two batches of a store, and the same rows by one bare query of each batch, in turns.
Prints the seconds of the first and the quotient of both, in the median round."""
import os
import sqlite3
import statistics
import subprocess
import sys
import time

SONDE, STORE, ROUNDS = os.path.abspath(os.environ["SONDE"]), sys.argv[1], int(sys.argv[2])
# What compare looks at: how it ended, the indicator's own figures and parameters, what the machine was asked for.
QUERY = """SELECT t.number, t.start_ns, t.exit_code, t.signal, t.reason, t.document, t.path, t.environment_id, t.host, t.state, x.*, t.score,
    t.duration_seconds, t.ru_utime, t.ru_stime, t.ru_maxrss, t.ru_minflt, t.ru_majflt, t.ru_inblock, t.ru_oublock, t.ru_nvcsw, t.ru_nivcsw,
    t.peak_memory_bytes, t.energy_joules, t.energy_apportioned_joules
    FROM trials t LEFT JOIN %s x ON x.trial_id = t.id WHERE t.batch_id = ? ORDER BY t.number"""


def own():
    began = time.monotonic()
    subprocess.run([SONDE, "compare", "--store", STORE, "bench:1", "bench:2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - began


def bare():
    began = time.monotonic()
    with sqlite3.connect(STORE) as db:
        table = db.execute("SELECT table_name FROM indicators").fetchone()[0]
        for batch in (1, 2):
            if not db.execute(QUERY % table, (batch,)).fetchall():
                sys.exit("a batch is empty")
    return time.monotonic() - began


own(), bare()
pairs = [(own(), bare()) for _ in range(ROUNDS)]
print(f"{statistics.median(a for a, _ in pairs):.3f} {statistics.median(a / b for a, b in pairs):.2f}")
