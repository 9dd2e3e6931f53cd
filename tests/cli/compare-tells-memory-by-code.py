# SPDX-License-Identifier: Apache-2.0
"""sonde compare of runs with --memory: what each function had touched of the memory of the peak, in A and in B, and a gate on one function. A function that
only B has is 0 in A; runs without --memory say nothing of it."""
# limit: 200
import json
import os
import subprocess

from patience import patience

SONDE, PROGRAMS = os.environ["SONDE"], os.environ["PROGRAMS"]
MB = 1 << 20


def record(name, *parts, options=("--memory",)):
    subprocess.run([SONDE, "run", "-q", "--stacks=off", *options, "-o", name, "--", PROGRAMS + "/memory_parts", *parts], check=True, timeout=patience(100), stdout=subprocess.DEVNULL)


def compare(*words):
    return subprocess.run([SONDE, "compare", *words], capture_output=True, text=True, check=False)


for i in range(2):
    record(f"a{i}", "200", "100", "0", "1")
    record(f"b{i}", "200", "160", "40", "1")
record("plain", "20", "10", "0", "1", options=())
memory = json.loads(subprocess.run([SONDE, "show", "--memory", "--json", "a0"], check=True, capture_output=True, text=True).stdout)
if memory["not_recorded"]:
    print("page faults may not be sampled here:", memory["not_recorded"])
    raise SystemExit(77)
document = json.loads(compare("--json", "a0,a1", "b0,b1").stdout)
found = {f["name"]: f for f in document["figures"] if f["name"].startswith("memory(")}
for name, a, b in (("load_index", 200, 200), ("load_table", 100, 160), ("write_log", 0, 40)):
    row = found[f"memory({name})"]
    assert row["unit"] == "bytes" and abs(row["a"] - a * MB) < 12 * MB and abs(row["b"] - b * MB) < 12 * MB, row
text = compare("a0,a1", "b0,b1").stdout
assert "\nmemory(load_table)" in text, text
GATE = "memory(load_table)>+20%"
failed, passed = compare("--fail-if", GATE, "a0,a1", "b0,b1"), compare("--fail-if", GATE, "a0", "a0")
assert failed.returncode in (1, 3) and "memory(load_table) +" in failed.stdout, failed
assert passed.returncode != 1, passed
document = json.loads(compare("--json", "plain", "plain").stdout)
assert not [f for f in document["figures"] if f["name"].startswith("memory(")], document
