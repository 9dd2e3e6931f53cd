# SPDX-License-Identifier: Apache-2.0
# limit: 300
# quiet
"""kill -9 of the recorder at 50 random moments: the job never notices, and all but the last sample is there. How long the machine, as where a
hypervisor takes it away, keeps any process from running meanwhile is measured beside it, and is nobody's fault."""
import concurrent.futures
import csv
import datetime
import json
import os
import random
import signal
import subprocess
import sys
import time

import processes

SONDE = os.environ["SONDE"]
JOB = "i=0; while [ $i -lt 40 ]; do echo $i; sleep 0.05; i=$((i + 1)); done; exit 42"
SAID = "".join(f"{i}\n" for i in range(40))
INTERVAL_S = 0.020
# The sample being written may be lost, so the last one kept is up to two intervals old; the rest is for a busy machine.
OLDEST_S = 2 * INTERVAL_S + 0.030


BEAT_S = 0.005


def beat(path, parent):
    """Writes when, and for how long, a process that does nothing else was kept from running, until its parent ends it or has ended."""
    with open(path, "a", encoding="ascii") as f:
        while os.getppid() == parent:
            slept = time.time()
            time.sleep(BEAT_S)
            late = time.time() - slept - BEAT_S
            if late > BEAT_S:
                f.write(f"{slept} {late}\n")
                f.flush()


def paused(path, begin, end):
    """For how many seconds, of those."""
    with open(path, encoding="ascii") as f:
        pauses = [tuple(map(float, line.split())) for line in f.read().splitlines()]
    return sum(min(at + BEAT_S + late, end) - max(at, begin) for at, late in pauses if at + late > begin and at < end)


def last_sample(table):
    with open(table, newline="", encoding="utf-8") as f:
        last = max(row["time"] for row in csv.DictReader(f))
    # ISO 8601 with nanoseconds; datetime takes microseconds.
    return datetime.datetime.fromisoformat(last[:26].rstrip("Z") + "+00:00").timestamp()


def kill_once(number, after_s):
    out = f"out{number}"
    job = subprocess.Popen([SONDE, "run", "--quiet", "-i", f"{INTERVAL_S}", "-o", out, "--", "sh", "-c", JOB],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    recorder = processes.recorder_of(out)
    time.sleep(after_s)
    os.kill(recorder, signal.SIGKILL)
    killed = time.time()
    said, complained = job.communicate()
    shown = json.loads(subprocess.run([SONDE, "show", "--json", out], check=True, capture_output=True).stdout)
    subprocess.run([SONDE, "export", out, "--to", "csv", "--wide", "-o", out], check=True, capture_output=True)
    last = last_sample(out + "/series.csv")
    gap = killed - last - paused("beats", last, killed)
    wrong = []
    lost = f"sonde: recording: the recorder ended, or did not answer, before it was done; what it recorded is in {out}\n"
    if (job.returncode, said, complained) != (42, SAID, lost):
        wrong.append(f"the job ended with {job.returncode}, said {said!r} and {complained!r}")
    if shown["nodes"][0]["complete"] or shown["damages"]:
        wrong.append(f"the recording is {shown['nodes'][0]}, damage {shown['damages']}")
    if gap > OLDEST_S:
        wrong.append(f"the last sample is {gap * 1000:.1f} ms older than the kill, pauses of the machine left out")
    return [f"round {number}, {after_s:.3f} s: {w}" for w in wrong], gap


def main():
    parent = os.getpid()
    open("beats", "x", encoding="ascii").close()
    metronome = os.fork()
    if not metronome:
        beat("beats", parent)
        os._exit(0)
    try:
        kill_often()
    finally:
        os.kill(metronome, signal.SIGKILL)
        os.waitpid(metronome, 0)


def kill_often():
    moments = random.Random(7)
    with concurrent.futures.ThreadPoolExecutor(4) as lanes:
        rounds = [lanes.submit(kill_once, i, moments.uniform(0, 1.2)) for i in range(50)]
        results = [r.result() for r in rounds]
    faults = [w for wrong, _ in results for w in wrong]
    print(f"the oldest last sample: {max(gap for _, gap in results) * 1000:.1f} ms before the kill")
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
