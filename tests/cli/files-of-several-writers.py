# SPDX-License-Identifier: Apache-2.0
# quiet
"""Verdicts of files that several processes use (run --files): blocks that ranks write next to each other's into one file, and one process that writes for
all while the others wait. Processes that write long pieces into one file, or a file each, or go on meanwhile, are not blamed. An ordinary user records it."""
# limit: 200
import json
import os
import subprocess

from ordinary_user import USER, enter_room
from patience import patience

SONDE = os.environ["SONDE"]
holder = enter_room()
os.environ["XDG_CACHE_HOME"] = holder.name

JOB = """
import os, sys, time
kind = sys.argv[1]

def work(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass

def blocks(rank, size, apart):
    f = os.open("shared", os.O_RDWR | os.O_CREAT, 0o644)
    for i in range(400):
        os.pwrite(f, b"x" * size, (i * 4 + rank) * size if apart else (rank * 400 + i) * size)

def write(name, go_on):
    f = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_SYNC, 0o644)
    piece = b"y" * 65536
    while time.monotonic() < end:
        for _ in range(64):
            os.pwrite(f, piece, 0)
        if go_on:
            work(0.02)

pids = []
for rank in range(4):
    pid = os.fork()
    if not pid:
        work(0.2)
        end = time.monotonic() + 3  # what it takes beside others to work before is no part of it
        if kind in ("strided", "contiguous"):
            blocks(rank, 4096, kind == "strided")
        elif kind == "each" or (kind in ("single", "beside") and rank == 0):
            write(f"out{rank}", kind == "each")
        while time.monotonic() < end:
            if kind == "beside":
                work(0.02)
            time.sleep(0 if kind == "beside" else 0.02)
        os._exit(0)
    pids.append(pid)
for pid in pids:
    os.waitpid(pid, 0)
"""


def verdicts(kind):
    subprocess.run([*USER, SONDE, "run", "-q", "-i", "100ms", "--stacks=off", "--files", "-o", kind, "--", "/usr/bin/python3", "-c", JOB, kind], check=True, timeout=patience(100))
    if USER:
        subprocess.run(["chmod", "-R", "a+rX", kind], check=True)
    document = json.loads(subprocess.run([SONDE, "show", "--json", kind], capture_output=True, text=True, check=True).stdout)
    if kind == "strided":
        listed = json.loads(subprocess.run([SONDE, "show", "--files", "--json", kind], capture_output=True, text=True, check=True).stdout)
        if listed["by"] != "calls":
            print("tracepoints may not be opened here:", listed["note"], listed["not_recorded"])
            raise SystemExit(77)
    went = document["where_time_went"]
    taken = sum(p["seconds"] or 0 for p in went["parts"] if p["part"] == "waiting_others")
    return {v["rule"]: v["sentence"] for v in document["verdicts"]}, taken >= .05 * went["wall_seconds"]


MINE = {"shared-file-blocks", "single-writer"}
found, _ = verdicts("strided")
assert MINE & set(found) == {"shared-file-blocks"}, found
assert "4 processes wrote 1600 pieces of 4.0 KiB to " in found["shared-file-blocks"] and "/shared, " in found["shared-file-blocks"], found
found, crowded = verdicts("single")
assert MINE & set(found) == {"single-writer"} or crowded and not MINE & set(found), found  # others' load is no waiting for the writer
for quiet in ("contiguous", "each", "beside"):
    found, _ = verdicts(quiet)
    assert not MINE & set(found), (quiet, found)
