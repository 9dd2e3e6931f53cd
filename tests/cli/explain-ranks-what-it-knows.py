# SPDX-License-Identifier: Apache-2.0
"""sonde explain: every number is show's, waits' or compare's; bounded, the same bytes each time, whatever names hold."""
import json
import os
import subprocess

import explained

SONDE = os.environ["SONDE"]
SPIN = os.environ["PROGRAMS"] + "/spin"


def record(directory, *command, options=()):
    subprocess.run([SONDE, "run", "-q", "-i", "50ms", *options, "-o", directory, "--", *command], check=False)


record("busy", "sh", "-c", f"{SPIN} 600000; sleep 0.4", options=["--stacks", "--waits"])
record("other", "sh", "-c", f"{SPIN} 900000; sleep 0.4", options=["--stacks", "--waits"])
record("plain", "sh", "-c", "exit 3")

# One run: what wrong went first, and the proof of each kind of finding.
told = explained.explain("busy")
assert told["left_out"] == 0 or len(json.dumps(told)) > 6000, told
ranks = {"bad": 0, "warn": 1}
order = [ranks.get(f["severity"], 2) for f in told["findings"]]
assert order == sorted(order), order
time = explained.finding(told, "time")
assert time and time["topic"] == "where" and sum(n["value"] for n in time["numbers"]) <= 1.0001, time
commands = explained.finding(told, "commands")
assert commands["numbers"][0]["name"] == "spin", commands
waits = explained.finding(told, "waits")
assert waits["settle"] in ("sonde show --waits busy", "sonde run --waits -- COMMAND"), waits
failed = explained.explain("plain")
assert failed["findings"][0]["severity"] == "bad" and failed["job"]["exit_code"] == 3, failed["findings"][0]
assert "--stacks" in explained.finding(failed, "code")["settle"], failed

# The error that was printed belongs to what was found, not to what to do.
with open("printed.err", "w", encoding="utf-8") as file:
    subprocess.run([SONDE, "run", "-q", "-o", "printed", "--", "python3", "-c", "open('/nowhere/data')"], stderr=file, check=False)
first = explained.explain("printed")["findings"][0]
assert first["claim"].endswith("No such file or directory: '/nowhere/data'.") and first["next"].startswith("Check the path"), first

# A topic is a part of the whole: the same findings, in the same order.
for ask in ("where", "memory", "io", "wait", "next"):
    part = explained.explain("busy", ask=ask)
    assert part["ask"] == ask
    for f in part["findings"]:
        assert f["topic"] == ask or (ask == "next" and f["next"]), (ask, f)
assert explained.explain("busy", ask="memory")["findings"][0]["about"] == "memory"

# Two runs: the gate, the figures that differ, the code.
both = explained.explain("busy", "other")
assert explained.finding(both, "gate"), both
assert explained.finding(both, "blame"), both
assert "job" not in both and both["changed"] == "other", both
assert explained.explain("busy", "other", ask="diff")["findings"] == both["findings"]

# Hostile and endless names take room from findings, never beyond the bound.
name = "\x1b]0;x\x07<script>\"\\é" * 40
os.mkdir("deep")
with open("deep/" + name[:80].replace("/", ""), "w", encoding="utf-8") as file:
    file.write(f"#!/bin/sh\nexec {SPIN} 300000\n")
program = "deep/" + os.listdir("deep")[0]
os.chmod(program, 0o755)
record("hostile", program, *[name] * 30)
explained.explain("hostile")
printed = explained.output("explain", "hostile")
assert b"\x1b" not in printed and b"\x07" not in printed and len(printed) < explained.MOST_BYTES * 2, printed
os.makedirs("y" * 200)
record("y" * 200 + "/run", "true")
long = explained.explain("y" * 200 + "/run")
assert all("y" * 9 not in f.get("settle", "") for f in long["findings"]), "a long path takes the room of findings"

# A terminal is 80 columns wide, and what is typed wrong is said.
assert max(len(line) for line in explained.output("explain", "busy").decode().splitlines() if ";" not in line) <= 80
for words in (["explain", "--ask", "diff", "busy"], ["explain", "a", "b", "c"], ["explain", "--ask", "all of it", "busy"]):
    assert subprocess.run([SONDE, *words], capture_output=True, check=False).returncode == 2, words
ended = subprocess.run([SONDE, "explain", "--json", "nowhere"], capture_output=True, text=True, check=False)
assert ended.returncode == 1 and json.loads(ended.stdout)["schema"] == "sonde/error/1", ended
# Damage is counted, and what is left is explained.
[path] = [f"busy/{n}" for n in os.listdir("busy") if n.endswith(".sonde")]
with open(path, "r+b") as file:
    file.seek(300)
    file.write(b"\xff\xff\xff\xff")
ended = subprocess.run([SONDE, "explain", "--json", "busy"], capture_output=True, text=True, check=False)
assert ended.returncode == 1 and json.loads(ended.stdout)["damages"] >= 1, ended
