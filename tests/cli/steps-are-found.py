# SPDX-License-Identifier: Apache-2.0
"""sonde show --steps names the steps of a job: marks that repeat, whatever number is in them, else processes that start, else what repeats in its samples. compare has a gate on
the time of a step, and the page shows them. A job that does one thing has none. How well steps are found in samples: bench/steps.sh."""
import json
import os
import subprocess

import explained

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

# A script that marks nothing: by the starts of a program, exactly, though there are few samples. Some wait for a core.
sonde("run", "-q", "-i", "2s", "-o", "script", "--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.7; done")
script = json.loads(sonde("show", "--steps", "--json", "script").stdout)
assert script["found_in"] == "starts" and script["name"] == "sleep" and script["metric"] is None and len(script["steps"]) == 9, script
assert 0.7 < script["median_seconds"] < 1, script
assert "9 steps. From start to start of a process: sleep\n" in sonde("show", "--steps", "script").stdout
assert explained.finding(explained.explain("script"), "steps")["confidence"] == "medium"

# What grew in slow steps of 5 s instead of 2 s: 2 s of solve and a wait of 3 s in load instead of 1 s each; not the thread that waits all the time.
subprocess.run([os.environ["PROGRAMS"] + "/stepped_run", "known"], check=True)
known = json.loads(sonde("show", "--steps", "--json", "known").stdout)
grew = {g["kind"]: g for g in known["grew"]}
assert known["counts"]["slow"] == 2 and list(grew) == ["code", "wait"] and len(known["grew"]) == 2, known["grew"]
for g, function, seconds in (grew["code"], "solve&", 2), (grew["wait"], "load", 3):
    assert g["in"] == "slow" and g["function"].startswith(function), g
    assert abs(g["seconds"] - seconds) < 0.01 and abs(g["usual_seconds"] - 1) < 0.01, g
assert [i + 1 for i, step in enumerate(known["steps"]) if step["grew"]] == [8, 15], known
text = sonde("show", "--steps", "known").stdout
assert "idle" not in text, text
text += sonde("show", "known").stdout
assert "CPU time in solve&\\x1bpwned (app)" in text and "usually 1.00 s" in text and "\033" not in text, text
told = explained.explain("known")
slowest = explained.finding(told, "steps")
assert "the slowest, step 8 at" in slowest["claim"] and slowest["evidence"]["from_seconds"] == known["steps"][7]["from_seconds"], slowest
sonde("report", "--only", "html", "known")
with open("known/report.html", encoding="utf-8") as f:
    page = f.read()
assert "Code and waits that took longer than in plain steps" in page and "in solve&amp;" in page and "\033" not in page

sonde("run", "-q", "-i", "20ms", "-o", "one", "--", "sleep", "1.5")
none = sonde("show", "--steps", "one")
assert "no steps in one" in none.stderr and not none.stdout, none
assert json.loads(sonde("show", "--json", "one").stdout)["job"]["step_seconds"] is None
assert "steps" not in sonde("show", "one").stdout.split()
sonde("show", "--steps", "--path", "one", status=2)
