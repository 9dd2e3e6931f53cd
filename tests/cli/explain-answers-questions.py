# SPDX-License-Identifier: Apache-2.0
# limit: 180
"""30 questions about 10 recordings, whose answers are known from what was started, are answered by the JSON of sonde explain alone."""
import glob
import os
import subprocess

import explained

SONDE = os.environ["SONDE"]
SPIN = os.environ["PROGRAMS"] + "/spin"
PYTHON = os.environ["PYTHON"]
MIB = 1 << 20


def record(directory, *command, options=(), env=None):
    subprocess.run([SONDE, "run", "-q", "-i", "50ms", *options, "-o", directory, "--", *command], check=False,
                   env={**os.environ, **(env or {})})


# ---- what a reader of the document does: it looks at findings and figures, and at nothing else ----

def job(name):
    return lambda told: told["job"][name]


def claim(about):
    return lambda told: explained.finding(told, about)["claim"]


def number(about, name):
    return lambda told: next((n["value"] for n in (explained.finding(told, about) or {"numbers": []})["numbers"] if n["name"] == name), None)


def settle(about):
    return lambda told: explained.finding(told, about)["settle"]


def innermost(told):
    return explained.finding(told, "code")["evidence"]["stack"].split(";")


def severities(told):
    return [f["severity"] for f in told["findings"]]


# ---- recordings, each with three questions: what is asked, how the document answers, whether that is true ----

record("spins", SPIN, "1200000", options=["--stacks"])
record("sleeps", "sleep", "1.5", options=["--waits"])
record("fails", "sh", "-c", "sleep 0.3; exit 3")
record("is-killed", "sh", "-c", "sleep 0.3; kill -TERM $$")
record("holds", PYTHON, "-c", f"import time; b = bytearray(b'x' * {200 * MIB}); time.sleep(1)")
record("writes", "dd", "if=/dev/urandom", "of=written", "bs=64k", "count=1024")
record("storms", "sh", "-c", "end=$(($(date +%s) + 4)); while [ $(date +%s) -lt $end ]; do for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done; done")
record("asks", "sleep", "0.5", env={"SLURM_JOB_ID": "4711", "SLURM_JOB_NAME": "train", "SLURM_CPUS_ON_NODE": "2", "SLURM_CLUSTER_NAME": "c"})
record("is-cut", "sh", "-c", f"{SPIN} 300000; sleep 0.5")
explained.settled("is-cut")
for tail in glob.glob("is-cut/*.tail"):
    os.unlink(tail)
[path] = glob.glob("is-cut/*.sonde")
os.truncate(path, os.path.getsize(path) // 2)
record("twice", "sh", "-c", f"{SPIN} 400000")
record("changed", "sh", "-c", f"{SPIN} 1200000")

QUESTIONS = {
    ("spins",): [
        ("Which command used the CPU?", lambda told: explained.finding(told, "commands")["numbers"][0]["name"], lambda a: a == "spin"),
        ("How much CPU time did it use?", job("cpu_seconds"), lambda a: 1.1 < a < 2),
        ("Which program's code was it called from?", innermost, lambda a: "main" in a)],
    ("sleeps",): [
        ("What did it do most of the time?", number("time", "idle"), lambda a: a > 0.9),
        ("What did its threads wait for?", claim("waits"), lambda a: "timer" in a or "sleep" in a),
        ("How long did it take?", job("wall_seconds"), lambda a: 1.5 <= a < 4)],
    ("fails",): [
        ("With which exit code did it end?", job("exit_code"), lambda a: a == 3),
        ("Is that the worst of it?", lambda told: severities(told)[0], lambda a: a == "bad"),
        ("How can one learn which functions ran?", settle("code"), lambda a: a.startswith("sonde run --stacks"))],
    ("is-killed",): [
        ("Which signal ended it?", job("signal"), lambda a: a == 15),
        ("Has it an exit code?", job("exit_code"), lambda a: a is None),
        ("In words?", job("ended"), lambda a: "SIGTERM" in a)],
    ("holds",): [
        ("How much memory did it hold?", job("peak_memory_bytes"), lambda a: 200 * MIB <= a < 480 * MIB),
        ("Which process held it?", claim("memory"), lambda a: "python3" in a),
        ("How much was that process resident?", number("memory", "peak_resident_bytes of it"), lambda a: 200 * MIB <= a < 480 * MIB)],
    ("writes",): [
        ("How much did it write?", job("written_bytes"), lambda a: 64 * MIB <= a < 65 * MIB),
        ("Which process wrote it?", claim("io"), lambda a: "dd" in a),
        ("How sure is that?", lambda told: explained.finding(told, "io")["confidence"], lambda a: a == "high")],
    ("storms",): [
        ("What is wrong with it?", lambda told: [f["about"] for f in told["findings"][:4]], lambda a: "process-storm" in a or "repeated-starts" in a),
        ("How many processes did it start?", job("processes_started"), lambda a: a > 100),
        ("What is to be done?", lambda told: [f.get("next", "") for f in told["findings"][:4]], lambda a: any("Run the loop" in x or "Start it once" in x for x in a))],
    ("asks",): [
        ("Which batch job was it?", job("id"), lambda a: a == "4711"),
        ("Was it complete?", job("complete"), lambda a: a is True),
        ("What did it run?", job("command"), lambda a: a == "sleep 0.5")],
    ("is-cut",): [
        ("Was it complete?", job("complete"), lambda a: a is False),
        ("Is it known how it ended?", job("exit_code"), lambda a: a is None),
        ("Is that said?", lambda told: [f["about"] for f in told["findings"]], lambda a: "recording-incomplete" in a)],
    ("twice", "changed"): [
        ("How much more CPU time does the second take?", number("gate", "cpu_seconds"), lambda a: 1.2 < a < 3),
        ("Is it known to be slower for certain?", lambda told: explained.finding(told, "gate")["severity"], lambda a: a == "cannot-tell"),
        ("What would settle it?", lambda told: explained.finding(told, "gate").get("next", ""), lambda a: "runs each" in a)],
}

asked, wrong = 0, []
for runs, questions in QUESTIONS.items():
    try:
        told = explained.explain(*runs)
    except AssertionError as fault:
        raise AssertionError(f"{runs}: {fault}") from fault
    for question, answer, is_true in questions:
        asked += 1
        try:
            given = answer(told)
            right = is_true(given)
        except (TypeError, KeyError, StopIteration) as fault:
            given, right = repr(fault), False
        if not right:
            wrong.append((runs, question, given))
assert asked == 30, asked
assert not wrong, wrong
