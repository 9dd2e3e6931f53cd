# SPDX-License-Identifier: Apache-2.0
"""Memory by code of a program in Python with NumPy (tests/programs/numpy_parts.py): the functions and lines of the script that first touched what
is resident at the peak, each within three points of what they asked for, also where pages are huge."""
# limit: 200
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.environ["TOP"] + "/tests")
from readers import enter

enter()
SONDE, TOP = os.environ["SONDE"], os.environ["TOP"]
MB, POINTS = 1 << 20, 0.03
PARTS = {"load_index": 400, "load_table": 200, "read_texts": 100}
program = TOP + "/tests/programs/numpy_parts.py"
room = tempfile.mkdtemp(dir=".")

subprocess.run([SONDE, "run", "-q", "--stacks=off", "--memory", "-o", room + "/run", "--", sys.executable, program, *map(str, PARTS.values())], check=True, timeout=100)
document = json.loads(subprocess.run([SONDE, "show", "--memory", "--json", room + "/run"], check=True, capture_output=True, text=True).stdout)
if document["not_recorded"]:
    print("page faults cannot be sampled here:", document["not_recorded"])
    sys.exit(77)
rows = {row["name"]: row for row in document["owner"]}
print([(name, round(row["peak_bytes"] / MB)) for name, row in rows.items() if row["peak_bytes"] > MB], document["samples"], document["missing"])
for function, mb in PARTS.items():
    row = rows[function]
    assert abs(row["peak_bytes"] - mb * MB) <= POINTS * document["peak_bytes"], (function, row["peak_bytes"] / MB, mb)
    assert row["file"].endswith("numpy_parts.py") and row["module"] == "[python]", row
lines = {(row["name"], row["line"]) for row in document["owner"]}
source = open(program, encoding="utf-8").read().splitlines()
assert "np.ones(10" in source[rows["load_index"]["line"] - 1] and "table[row] = " in source[rows["load_table"]["line"] - 1], lines
assert document["grows"] is None, document["grows"]
