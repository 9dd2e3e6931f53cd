# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""What threads waited for is exported for viewers of profiles, beside the samples of code and never mixed with them; the sums are those of
`sonde show --waits`, which has a table of functions and objects together, too."""
import gzip
import json
import os
import subprocess

from ordinary_user import need_unwind
from patience import patience

SONDE, PROGRAMS = os.environ["SONDE"], os.environ["PROGRAMS"]
need_unwind()


def sonde(*words, status=0):
    ended = subprocess.run([SONDE, *words], capture_output=True, text=True, check=False, timeout=patience(60))
    assert ended.returncode == status, (words, ended)
    return ended


sonde("run", "-q", "--waits", "--stacks=off", "-o", "job", "--", PROGRAMS + "/hold_up", "convoy", "4")
sonde("export", "--what", "waits", "--to", "folded,pprof,speedscope", "-o", "out", "job")
assert sorted(os.listdir("out")) == ["waits.folded", "waits.pb.gz", "waits.speedscope.json"], os.listdir("out")
wall = json.loads(sonde("show", "--waits", "--json", "job").stdout)["wall_seconds"]

with open("out/waits.folded", encoding="utf-8") as f:
    lines = [line.rstrip("\n").rsplit(" ", 1) for line in f]
assert abs(sum(int(us) for _, us in lines) / 1e6 - wall) < 1e-3 + 1e-6 * len(lines), (wall, lines)
stacks = [stack for stack, _ in lines]
assert any(";take_the_lock;pthread_mutex_lock" in s and ";waits for a mutex;at 0x" in s for s in stacks), stacks
assert "hold_up;on a CPU" in stacks, stacks

with open("out/waits.speedscope.json", encoding="utf-8") as f:
    document = json.load(f)
assert abs(sum(sum(p["weights"]) for p in document["profiles"]) - wall) < 1e-3, (wall, document["profiles"])
assert "waits for a mutex" in [frame["name"] for frame in document["shared"]["frames"]]
with gzip.open("out/waits.pb.gz") as f:
    profile = f.read()
assert b"wall" in profile and b"waits for a mutex" in profile and b"cpu" not in profile

# ---- functions and objects together ----
place = sonde("show", "--by", "place", "job").stdout
assert place.startswith("Waits by place\n"), place
assert any("waits for a mutex: at 0x" in line and "take_the_lock (hold_up.c:" in line for line in place.splitlines()), place

# ---- what does not suit ----
assert "job has no stacks; record them with --stacks" in sonde("export", "--to", "folded", "-o", "out", "job", status=1).stderr
assert "--what is cpu, waits or memory, of folded, pprof and speedscope" in sonde("export", "--what", "waits", "-o", "out", "job", status=2).stderr
assert "--what is cpu, waits or memory" in sonde("export", "--what", "wait", "--to", "folded", "-o", "out", "job", status=2).stderr
sonde("run", "-q", "--stacks=off", "-o", "without", "--", "true")
assert "without has no waits; record them with --waits" in sonde("export", "--what", "waits", "--to", "folded", "-o", "out", "without", status=1).stderr
