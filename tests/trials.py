# SPDX-License-Identifier: Apache-2.0
"""What tests of benchmarks have in common: scripts that say something, the verbs of `sonde bench`, and the rows they leave in s.sqlite."""
import os
import sqlite3
import subprocess
import sys

from patience import patience

SONDE = os.environ["SONDE"]
faults = []
if not os.path.exists(os.path.join(os.path.dirname(os.path.realpath(SONDE)), "libexec/sonde/sonde-database")):
    print("sonde-database was not built: libsqlite3-dev is not installed")
    sys.exit(77)


class Row(tuple):
    """A row of a database, by place and by the name of a column."""
    names = ()

    def keys(self):
        return self.names

    def __getitem__(self, key):
        return super().__getitem__(self.names.index(key) if isinstance(key, str) else key)


def row_of(cursor, values):
    row = Row(values)
    row.names = [column[0] for column in cursor.description]
    return row


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {str(detail)[:600]}")


def sonde(*words, code=0, **variables):
    p = subprocess.run([SONDE, *words], capture_output=True, text=True, errors="replace", timeout=patience(200),
                       env={**os.environ, "SONDE_STORE": "s.sqlite", **variables})
    check(f"status of {words}", p.returncode == code, f"{p.returncode}, wanted {code}: {p.stderr}{p.stdout}")
    return p


def script(name, text):
    with open(name, "w") as f:
        f.write(text)
    os.chmod(name, 0o755)
    return "./" + name


def database(sql, *values):
    with sqlite3.connect("s.sqlite") as db:
        db.row_factory = row_of
        return db.execute(sql, values).fetchall()


def end():
    print("\n".join(faults))
    sys.exit(bool(faults))
