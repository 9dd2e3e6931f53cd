# SPDX-License-Identifier: Apache-2.0
"""Memory by code of a program in Python with NumPy (tests/programs/numpy_parts.py): the functions and lines of the script that first touched what
is resident at the peak, each within three points of what they asked for, also where pages are huge."""
# limit: 200
import json
import os
import subprocess
import sys
import tempfile

from patience import patience

sys.path.insert(0, os.environ["TOP"] + "/tests")
from readers import enter

enter()
SONDE, TOP = os.environ["SONDE"], os.environ["TOP"]
MB, POINTS = 1 << 20, 0.03
PARTS = {"load_index": 400, "load_table": 200, "read_texts": 100}
program = TOP + "/tests/programs/numpy_parts.py"
room = tempfile.mkdtemp(dir=".")


def record(name):
    """What show --memory has of a run of the program; None where another function than that which touched it is named, as a busy machine may have it."""
    subprocess.run([SONDE, "run", "-q", "--stacks=off", "--memory", "-o", name, "--", sys.executable, program, *map(str, PARTS.values())],
                   check=True, timeout=patience(100))
    found = json.loads(subprocess.run([SONDE, "show", "--memory", "--json", name], check=True, capture_output=True, text=True).stdout)
    if found["not_recorded"]:
        print("page faults cannot be sampled here:", found["not_recorded"])
        sys.exit(77)
    shares = {row["name"]: row["peak_bytes"] for row in found["owner"]}
    print([(row, round(size / MB)) for row, size in shares.items() if size > MB], found["samples"], found["missing"])
    return found if all(abs(shares.get(row, 0) - mb * MB) <= POINTS * found["peak_bytes"] for row, mb in PARTS.items()) else None


document = next((found for found in (record(f"{room}/run{i}") for i in range(3)) if found), None)
assert document, "none of three runs has the functions right"
rows = {row["name"]: row for row in document["owner"]}
for function in PARTS:
    row = rows[function]
    assert row["file"].endswith("numpy_parts.py") and row["module"] == "[python]", row
lines = {(row["name"], row["line"]) for row in document["owner"]}
source = open(program, encoding="utf-8").read().splitlines()
assert "np.ones(10" in source[rows["load_index"]["line"] - 1] and "table[row] = " in source[rows["load_table"]["line"] - 1], lines
assert document["grows"] is None, document["grows"]
