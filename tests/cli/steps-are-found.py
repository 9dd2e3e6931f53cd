# SPDX-License-Identifier: Apache-2.0
"""sonde show --steps names the steps of a job: marks that repeat, whatever number is in them, else what repeats in its samples. compare has a gate on
the time of a step, and the page shows them. A job that does one thing has none. How well steps are found in samples: bench/steps.sh."""
import json
import os
import subprocess

SONDE = os.environ["SONDE"]


def sonde(*words, status=0):
    ended = subprocess.run([SONDE, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == status, (words, ended)
    return ended


def record(name, seconds, marked=True):
    mark = f"'{SONDE}' mark \"epoch $i\"" if marked else ":"
    sonde("run", "-q", "-i", "20ms", "-o", name, "--", "sh", "-c", f"for i in 1 2 3 4 5 6 7 8; do {mark}; sleep {seconds}; done")
    return json.loads(sonde("show", "--steps", "--json", name).stdout)


for i in "123":
    found = record("quick" + i, 0.1)
    assert found["found_in"] == "marks" and found["name"] == "epoch #" and len(found["steps"]) == 7, found
    assert sum(found["counts"].values()) == 7, found
    assert record("slow" + i, 0.5)["mean_seconds"] > found["mean_seconds"] > 0.1
text = sonde("show", "--steps", "--all", "quick1").stdout
assert "7 steps. From mark to mark: epoch #" in text, text
assert "\nsteps " in sonde("show", "quick1").stdout
figures = json.loads(sonde("show", "--json", "quick1").stdout)["job"]
assert figures["steps"] == 7 and figures["step_seconds"] > 0.1, figures

pair = "quick1,quick2,quick3", "slow1,slow2,slow3"
worse = sonde("compare", "--fail-if", "step_seconds>+50%", *pair, status=1).stdout
assert "step_seconds" in worse, worse
sonde("compare", "--fail-if", "step_seconds>+50%", *reversed(pair))
sonde("report", "--only", "html", "quick1")
with open("quick1/report.html", encoding="utf-8") as f:
    assert 'id="h-steps"' in f.read()

sonde("run", "-q", "-i", "20ms", "-o", "one", "--", "sleep", "1.5")
none = sonde("show", "--steps", "one")
assert "no steps in one" in none.stderr and not none.stdout, none
assert json.loads(sonde("show", "--json", "one").stdout)["job"]["step_seconds"] is None
assert "steps" not in sonde("show", "one").stdout.split()
sonde("show", "--steps", "--path", "one", status=2)
