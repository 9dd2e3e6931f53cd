# SPDX-License-Identifier: Apache-2.0
"""A trace of Scanner's profiles holds each interval once, in rows in the order event loop, readers, pipelines stage by stage, writers; slices of
a row lie beside or inside each other, also where a track fills many blocks. A name that says no format is refused before anything is written."""
import collections
import gzip
import json
import os
import random
import shutil
import subprocess
import tarfile

import scanner_profiles as made
import traces
from patience import patience

SONDE = os.environ["SONDE"]
BASE = 1_700_000_000_000_000_000
rng = random.Random(4)


def sonde(*words, code=0):
    ended = subprocess.run([SONDE, *words], capture_output=True, text=True, check=False, timeout=patience(300))
    assert ended.returncode == code, ended
    return ended


def worker(number):
    p = made.Profile(number, BASE, BASE + 10**9)
    p.load = [made.Thread(number, "load", "", i) for i in range(3)]
    p.eval = [made.Thread(number, "eval", tag, i) for i in range(2) for tag in ("pre", "eval", "post")]
    p.save = [made.Thread(number, "save", "", i) for i in range(2)]
    for t in p.threads():
        while not t.intervals:
            t.fill(rng, 10_000)
    return p


master = made.make_profile(rng, None, BASE)
while not master.loop.intervals:
    master = made.make_profile(rng, None, BASE)
job = [master] + [worker(n) for n in range(11)]
# One that did nothing, between others.
job[2].load[1].intervals = []
# One that holds 40,000 others, and comes behind them; and groups of a thousand, which lie across the blocks.
long, at = job[1].load[0], 1000
long.intervals = []
for _ in range(40):
    first = at
    for _ in range(1000):
        long.intervals.append(("io", at, at := at + rng.randrange(1, 900)))
        at += rng.randrange(3)
    long.intervals.append(("Process Packet", first, at))
    at += 1
long.intervals.append(("load_worker:read_sources", 500, at + 10))
made.write_database("db", {1: ("j", job)})
sonde("import", "scanner", "db", "-o", "rec")
for name in ("t.json", "t.trace", "t.json.gz", "t.tar.gz"):
    sonde("trace", "rec", "-o", name)
with open("t.json", "rb") as f:
    plain = f.read()
with gzip.open("t.json.gz") as f:
    assert f.read() == plain
with tarfile.open("t.tar.gz") as t:
    assert t.getnames() == ["t.trace"] and t.extractfile("t.trace").read() == plain
before = sorted(os.listdir())
for name in ("t.txt", "t", "./x.y/z", "t.gz"):
    assert "ends with" in sonde("trace", "rec", "-o", name, code=2).stderr and sorted(os.listdir()) == before

events = json.loads(plain)["traceEvents"]
groups = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
order = {(e["pid"], e["tid"]): e["args"]["sort_index"] for e in events if e["name"] == "thread_sort_index"}
assert [groups[pid] for pid in sorted(groups)] == ["master scanner"] + [f"worker-{n:02} scanner" for n in range(11)], groups
wanted = (["EventLoop"] + [f"Reader[{i}]" for i in range(3)] +
          [f"Pipeline[{p}]:{s}" for p in range(2) for s in ("DecodeVideo", "Ops[0]", "EncodeVideo")] + [f"Writer[{i}]" for i in range(2)])
slices, greys = collections.defaultdict(list), 0
for e in events:
    if e["ph"] == "X":
        # As Scanner's own writer has it: the kind of a thread, and waits in grey.
        kind = rows[e["pid"], e["tid"]].split("[")[0]
        kind = {"EventLoop": "master" if groups[e["pid"]].startswith("master") else "process_job", "Reader": "load", "Writer": "save", "Pipeline": "eval"}[kind]
        assert e["cat"] == kind, e
        assert e.get("cname") == ("grey" if e["name"] in ("Wait on Input Queue", "Wait on Output Queue") else None), e
        greys += "cname" in e
        slices[e["pid"], e["tid"]].append((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000), e["name"]))
assert greys > 10, "waits"
for pid, profile in zip(sorted(groups), job):
    named = [rows[pid, tid] for pid_, tid in sorted(order, key=order.get) if pid_ == pid]
    assert [n for n in named if " (" not in n] == (wanted if profile.number is not None else ["EventLoop"]), named
    for label, thread in zip(wanted, profile.threads()):
        found = [s for (p, tid), list_ in slices.items() if p == pid and rows[p, tid].split(" (")[0] == label for s in list_]
        assert sorted(found) == sorted((b, e, k) for k, b, e in thread.intervals), (groups[pid], label)
for (pid, tid), list_ in slices.items():
    open_until = []
    for begin, end, _ in sorted(list_, key=lambda s: (s[0], -s[1])):
        while open_until and open_until[-1] <= begin:
            open_until.pop()
        assert not open_until or end <= open_until[-1], (groups[pid], rows[pid, tid])
        open_until.append(end)
assert rows[[pid for pid in groups if groups[pid] == "worker-00 scanner"][0], 2] == "Reader[0]"
assert sum(1 for r in rows.values() if r.startswith("Reader[0] (")) == 0, rows

# Perfetto's protobuf, of which protoc knows every field, holds the same.
if shutil.which("protoc"):
    sonde("trace", "rec", "-o", "t.pftrace")
    in_json, in_protobuf = traces.read_chrome(plain), traces.read_perfetto("t.pftrace")
    assert in_json.begin == in_protobuf.begin and collections.Counter(in_json.slices) == collections.Counter(in_protobuf.slices)
    assert not traces.faults, traces.faults

# A window and a shortest length leave out the same as counting does.
begun = min(b for p in job for t in p.threads() for _, b, _ in t.intervals)
sonde("trace", "rec", "-o", "w.json", "--min-duration", "500us")
with open("w.json", encoding="utf-8") as f:
    kept = sum(e["ph"] == "X" for e in json.load(f)["traceEvents"])
assert kept == sum(e - b >= 500_000 for p in job for t in p.threads() for _, b, e in t.intervals), (kept, begun)
