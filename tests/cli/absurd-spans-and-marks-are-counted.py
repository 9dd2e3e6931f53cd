# SPDX-License-Identifier: Apache-2.0
# plain
"""Spans nested 100,000 deep, ends without begins, names of 1 MB and more names than there is room for; in the file of marks 100,000 begins within each other,
ends of nothing, a line of 1 MB and a clock that goes back: the job ends as it would, what is kept and what is counted are all, and every reader answers."""
import collections
import csv
import json
import os
import subprocess
import sys

from patience import patience

SONDE, TOP, BUILD = os.environ["SONDE"], os.environ["TOP"], os.environ["BUILD"]
os.environ |= {"SONDE_HISTORY": "off", "SONDE_LIBRARY": BUILD + "/libsonde.so.0", "PYTHONPATH": TOP + "/python:" + os.environ.get("PYTHONPATH", "")}
DEEP, KEPT_DEEP, NAMES, LINES = 100000, 64, 20000, 100000
PROGRAM = f"""
import ctypes, os
from sonde import _library
lib = _library.library()
def one(name):
    lib.sonde_begin(lib.sonde_name(name))
    lib.sonde_end()
deep = lib.sonde_name(b"deep")
for i in range({DEEP}):
    lib.sonde_begin(deep)
for i in range(2 * {DEEP}):
    lib.sonde_end()
one(b"n" * 2**20 + b"a")
one(b"n" * 2**20 + b"b")
for i in range({NAMES}):
    one(b"many %d" % i)
lib.sonde_span_end(ctypes.c_uint64(2**63 + 12345))
lib.sonde_span_end(ctypes.c_uint64(99))
with open(os.environ["SONDE_MARKS"], "a") as f:
    f.write("B nest\\n" * {LINES})
    f.write("E nest\\n" * {LINES})
    f.write("E never\\n" * 1000)
    f.write("M " + "x" * 2**20 + "\\n")
    f.write("M@5,5,3 back\\n")
"""


def run(*command):
    return subprocess.run(command, check=True, timeout=patience(120), capture_output=True, text=True).stdout


run(SONDE, "run", "--quiet", "-o", "out", "--", sys.executable, "-c", PROGRAM)
run(SONDE, "export", "--to", "csv", "-o", "csv", "out")
with open("csv/spans.csv", encoding="utf-8") as rows:
    spans = collections.Counter(row["name"] for row in csv.DictReader(rows))
found = json.loads(run(SONDE, "show", "--json", "out"))["nodes"][0]["metadata"]
assert spans["deep"] == KEPT_DEEP and found["spans.left_out"] == DEEP - KEPT_DEEP, (spans["deep"], found)
assert found["spans.wrong_order"] == DEEP + 2, found
long = [name for name in spans if name.startswith("n" * 200)]
assert len(long) == 2 and all(len(name) <= 255 for name in long), long
many = sum(n for name, n in spans.items() if name.startswith("many "))
assert many + spans["(other names)"] == NAMES and spans["(other names)"] == found["spans.nameless"] > 0, (many, found)
assert found["marks.left_out_lines"] > 0 and found["marks.unclear_lines"] >= 1, found
for answer in (("show", "--all"), ("phases",), ("show", "--spans"), ("trace", "-o", "out.pftrace"), ("report",)):
    run(SONDE, *answer, "out")
