# SPDX-License-Identifier: Apache-2.0
# plain
# limit: 300
"""kill -9 of a rank, at any moment: each span and mark that it had made is in the recording, up to the moment of its death, and the one that
was open ends with it and says so. What a rank had made is known from memory that it shares with the test, which it writes after each span. The
other rank goes on."""
import csv
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import time

from patience import patience

SONDE, PYTHON = os.environ["SONDE"], os.environ["PYTHON"]
RANK = """
import mmap, os, struct, sys, time
import sonde
rank, path = os.environ["PMIX_RANK"], sys.argv[1]
with open(path, "r+b") as f:
    told = mmap.mmap(f.fileno(), 4096)
count = 0
with sonde.span("run"):
    while not os.path.exists("stop") or rank != "1":
        with sonde.span("step"):
            begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        ended = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        count += 1
        if count == 1:
            told[16:24] = struct.pack("=q", begin)
        told[8:16] = struct.pack("=q", ended)
        told[0:8] = struct.pack("=q", count)
        sonde.mark("stepped")
        time.sleep(0.0005)
"""
LOST_NS = 50_000_000  # at most


def rank_start(rank, path):
    with open(path, "wb") as f:
        f.truncate(4096)
    return subprocess.Popen([PYTHON, "rank.py", path], env={**os.environ, "PMIX_RANK": str(rank)})


def told(path):
    with open(path, "r+b") as f, mmap.mmap(f.fileno(), 4096) as memory:
        return struct.unpack("=qqq", memory[:24])


def wait_for_spans(path, n):
    until = time.monotonic() + patience(60)
    while told(path)[0] < n:
        if time.monotonic() > until:
            sys.exit(f"{path}: {told(path)[0]} spans in 60 s")
        time.sleep(0.005)


def job():
    """Within sonde run: the first rank is killed, a new one comes in its place and is killed, and so on; the second goes on."""
    moments = random.Random(5)
    second = rank_start(1, "told.1")
    for turn in range(5):
        path = f"told.0.{turn}"
        rank = rank_start(0, path)
        wait_for_spans(path, 20)
        time.sleep(moments.random() * 0.3)
        rank.send_signal(signal.SIGKILL)
        rank.wait()
        with open("pids", "a", encoding="ascii") as f:
            print(rank.pid, file=f)
    wait_for_spans("told.1", told("told.1")[0] + 20)
    open("stop", "x", encoding="ascii").close()
    sys.exit(second.wait())


def table(name):
    with open(f"csv/{name}.csv", newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def main():
    with open("rank.py", "w", encoding="ascii") as f:
        f.write(RANK)
    os.environ["SONDE_LIBRARY"] = os.environ["BUILD"] + "/libsonde.so.0"
    os.environ["PYTHONPATH"] = f"{os.environ['TOP']}/python:{os.environ.get('PYTHONPATH', '')}"
    subprocess.run([SONDE, "run", "--quiet", "-i", "1s", "-o", "out", "--", PYTHON, __file__, "job"], check=True)
    subprocess.run([SONDE, "export", "--to", "csv", "-o", "csv", "out"], check=True)
    spans, marks, wrong = table("spans"), table("marks"), []
    with open("pids", encoding="ascii") as f:
        pids = f.read().split()
    assert len(pids) == 5, pids
    for turn, pid in enumerate(pids):
        count, ended, begun = told(f"told.0.{turn}")
        mine = [s for s in spans if s["track"].startswith("rank 0 ") and s["track"].endswith(" " + pid)]
        steps = [s for s in mine if s["name"] == "step" and s["end_seconds"] and "cut" not in s["detail"]]
        stepped = [m for m in marks if m["instance"].endswith(" " + pid)] if "instance" in marks[0] else None
        recorded = (float(steps[-1]["end_seconds"]) - float(steps[0]["begin_seconds"])) * 1e9
        lost = (ended - begun) - recorded
        print(f"rank 0, {turn}: {count} spans made, {len(steps)} recorded, the last {lost / 1e6:.3f} ms before the last that was made")
        if len(steps) not in (count, count + 1) or lost > LOST_NS:
            wrong.append(f"process {pid}: {count} spans, {len(steps)} recorded, {lost} ns lost")
        if stepped is not None and len(stepped) not in (count - 1, count):
            wrong.append(f"process {pid}: {count} spans, {len(stepped)} marks")
        cut = [s for s in mine if s["name"] == "run" and "cut: its process ended" in s["detail"]]
        if len(cut) != 1:
            wrong.append(f"process {pid}: the span that was open: {[s for s in mine if s['name'] == 'run']}")
    whole = [s for s in spans if s["track"].startswith("rank 1 ") and s["name"] == "step"]
    if len(whole) != told("told.1")[0]:
        wrong.append(f"rank 1: {told('told.1')[0]} spans, {len(whole)} recorded")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    job() if sys.argv[1:] == ["job"] else main()
