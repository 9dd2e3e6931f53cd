# SPDX-License-Identifier: Apache-2.0
"""Two versions of a script with spans, of which one takes longer in the second: compare names that phase and not the one that is as before; the
parts, with what is outside of phases, add up to the wall time of each run. Runs without phases are refused by a sentence; single runs blame nothing.
explain, Markdown and the page say the same; jobs without phases say nothing of them."""
# limit: 300
import json
import os
import subprocess

from patience import patience

SONDE = os.environ["SONDE"]
os.environ["SONDE_HISTORY"] = "off"
RUNS = 4


def sonde(*words, status=(0, 1, 3)):
    done = subprocess.run([SONDE, *words], stdout=subprocess.PIPE, check=False, timeout=patience(120), text=True)
    assert done.returncode in status, (words, done.returncode, done.stdout)
    return done.stdout


def record(name, script):
    sonde("run", "-q", "-o", name, "--", "sh", "-c", script, status=(0,))
    return name


def job(solve):
    return f"{SONDE} span load -- sleep 0.4; {SONDE} span solve -- sleep {solve}; sleep 0.2"


pairs = [(record(f"old{i}", job(0.3)), record(f"new{i}", job(1.3))) for i in range(RUNS)]
a, b = (",".join(names) for names in zip(*pairs))
found = json.loads(sonde("compare", "--json", a, b))["blame_wall"]
parts = {part["name"]: part for part in found["phase"]}
assert parts["solve"]["blamed"] and not parts["load"]["blamed"], found["sentence"]
assert "solve +" in found["sentence"] and "wall time" in found["sentence"], found["sentence"]
assert all(part["counted_low_seconds"] is None and part["samples_a"] is None for part in found["phase"]), found["phase"]
assert 0.8 < parts["solve"]["difference_seconds"] < 1.2, parts["solve"]
assert parts["outside of phases"]["kind"] == "outside of phases" and parts["outside of phases"]["a_seconds"] > 0.2, parts
for side in "ab":
    for i, whole in enumerate(found["whole"][f"values_{side}"]):
        parts_of_run = sum(part[f"values_{side}"][i] for part in found["phase"])
        assert abs(parts_of_run - whole) < 1e-6, (side, i, parts_of_run, whole)

text = sonde("compare", a, b)
assert "wall time: solve +" in text and "by phase" in text and "all wall time" in text, text
assert "Where the difference in wall time lies" in sonde("compare", "--markdown", a, b)
sonde("compare", "--html", "page.html", a, b)
with open("page.html", encoding="utf-8") as f:
    assert "<h2>Wall time by phase</h2>" in f.read()
claims = [finding["claim"] for finding in json.loads(sonde("explain", "--json", a, b))["findings"]]
assert any("wall time: solve +" in claim for claim in claims), claims

single = json.loads(sonde("compare", "--json", "old0", "new0"))["blame_wall"]
assert "no phase is blamed" in single["sentence"] and not any(part["blamed"] for part in single["phase"]), single["sentence"]

record("bare", "sleep 0.5")
refused = json.loads(sonde("compare", "--json", a, "bare"))["blame_wall"]
assert refused["refused"] == "no phase is blamed, since the runs of B have no phases: record both sides with spans or marks", refused["refused"]
assert json.loads(sonde("compare", "--json", "bare", "bare"))["blame_wall"] is None
print(found["sentence"])
