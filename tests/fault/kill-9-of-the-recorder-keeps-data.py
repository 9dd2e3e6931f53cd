# SPDX-License-Identifier: Apache-2.0
# limit: 300
# quiet
"""kill -9 of the recorder at 50 random moments: the job never notices, and all but the last sample is there: the recorder has used no more CPU time
since that sample than the one takes that it was about to write. By the clock a sample may be older: a busy machine keeps a recorder from running."""
import concurrent.futures
import csv
import datetime
import json
import os
import random
import signal
import statistics
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


def ran_s(pid):
    """The CPU time of a process, to the nanosecond."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total / 1e9


def used_by_samples(table):
    """The CPU seconds that the recorder had used by each."""
    with open(table, newline="", encoding="utf-8") as f:
        return [float(row["monitor.cpu_seconds"]) for row in csv.DictReader(f) if row["monitor.cpu_seconds"]]


def most_unwritten_s(used):
    """The CPU time that goes into less than three samples."""
    each = [after - before for before, after in zip(used, used[1:])]
    return 2 * statistics.median(each) + max(each[1:]) if len(each) > 2 else 0.005


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
    ran = ran_s(recorder)
    os.kill(recorder, signal.SIGKILL)
    killed = time.time()
    said, complained = job.communicate()
    shown = json.loads(subprocess.run([SONDE, "show", "--json", out], check=True, capture_output=True).stdout)
    subprocess.run([SONDE, "export", out, "--to", "csv", "--wide", "--raw", "-o", out], check=True, capture_output=True)
    last = last_sample(out + "/series.csv")
    used = used_by_samples(out + "/series.csv")
    gap, since = killed - last, ran - used[-1]
    wrong = []
    lost = f"sonde: recording: the recorder ended, or did not answer, before it was done; what it recorded is in {out}\n"
    if (job.returncode, said, complained) != (42, SAID, lost):
        wrong.append(f"the job ended with {job.returncode}, said {said!r} and {complained!r}")
    if shown["nodes"][0]["complete"] or shown["damages"]:
        wrong.append(f"the recording is {shown['nodes'][0]}, damage {shown['damages']}")
    if gap > OLDEST_S and since > most_unwritten_s(used):
        wrong.append(f"the last sample is {gap * 1000:.1f} ms older than the kill, and the recorder used {since * 1000:.2f} ms of CPU time since: "
                     f"more than {most_unwritten_s(used) * 1000:.2f} ms, which three samples take")
    return [f"round {number}, {after_s:.3f} s: {w}" for w in wrong], gap


def main():
    moments = random.Random(7)
    with concurrent.futures.ThreadPoolExecutor(4) as lanes:
        rounds = [lanes.submit(kill_once, i, moments.uniform(0, 1.2)) for i in range(50)]
        results = [r.result() for r in rounds]
    faults = [w for wrong, _ in results for w in wrong]
    print(f"the oldest last sample: {max(gap for _, gap in results) * 1000:.1f} ms before the kill")
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
