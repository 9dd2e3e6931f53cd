# SPDX-License-Identifier: Apache-2.0
"""A trace, as JSON and as protobuf, has a track for each phase that marks make: as many as `sonde phases` counts, from and to the same times, that add up to
the same. What did not end says so."""
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess

import cascade_pools as made
import traces
from patience import patience

SONDE = os.environ["SONDE"]
RULES = "rule: whole\nphase: whole\nstart: nodeprep:start\nend: cascade:gr-done\nseveral: first\nwithin: node\n"


def sonde(*words, code=0):
    ended = subprocess.run([SONDE, *words], capture_output=True, text=True, check=False, timeout=patience(120))
    assert ended.returncode == code, ended
    return ended.stdout


def record(nodes, to):
    pathlib.Path("dump.json").write_text(json.dumps(made.entities(partition, nodes)), encoding="utf-8")
    sonde("import", "cascade", "dump.json", "-o", to)


def wanted(words):
    """{(group, name, begin, end)} of what ended, how many did not, and the sums by name."""
    told = json.loads(sonde("phases", "--json", *words))
    ended, open_ = collections.Counter(), 0
    for p in told["phases"]:
        name = " ".join([p["name"], p["key"]] if p["key"] else [p["name"]])
        if p["duration_seconds"] is None:
            open_ += 1
            continue
        begin = traces.utc_ns(p["begin_time"])
        ended[f"{p['node']} phase", name, begin, begin + round(p["duration_seconds"] * traces.NS)] += 1
    sums = {t["name"]: t["total_seconds"] for t in told["totals"] if not t["key"] and not t["node"]}
    return ended, open_, sums


def judge(t, words):
    ended, open_, sums = wanted(words)
    slices = [s for s in t.slices if s[5] == "phase"]
    found = collections.Counter((g, n, t.begin + b, t.begin + e) for g, _, n, b, e, _ in slices)
    assert ended and not ended - found, list((ended - found).items())[:3]
    assert len(slices) == sum(ended.values()) + open_, (len(slices), sum(ended.values()), open_)
    for name, seconds in sums.items():
        total = sum(e - b for _, n, b, e in (found & ended).elements() if n.split(" ")[0] == name)
        assert abs(total - seconds * traces.NS) <= 1 + 1e-6 * total, (name, total, seconds)
    rows = collections.defaultdict(list)
    for group, row, name, begin, end, _ in slices:
        assert name.startswith(row.split(" (")[0]), (row, name)
        rows[group, row].append((begin, -end))
    for key, spans in rows.items():
        ends = []
        for begin, end in sorted(spans):
            while ends and ends[-1] <= begin:
                ends.pop()
            assert not ends or -end <= ends[-1], key
            ends.append(-end)


partition, nodes = made.make_pool(random.Random(5), 6)
record(nodes, "whole")
del nodes[2].events[len(nodes[2].events) // 2:]
nodes[4].events = [e for e in nodes[4].events if e[1] != "nodeprep:end"]
record(nodes, "lacking")
pathlib.Path("own.phases").write_text(RULES, encoding="utf-8")
for words in (["whole"], ["lacking"], ["whole", "--rules", "own.phases"]):
    sonde("trace", *words, "-o", "t.json")
    judge(traces.read_chrome(pathlib.Path("t.json").read_text(encoding="utf-8")), words)
    if shutil.which("protoc"):
        sonde("trace", *words, "-o", "t.pftrace")
        judge(traces.read_perfetto("t.pftrace"), words)
    assert not traces.faults, traces.faults
sonde("trace", "lacking", "-o", "t.json")
open_ = [e for e in json.loads(pathlib.Path("t.json").read_text(encoding="utf-8"))["traceEvents"] if e.get("cat") == "phase" and e.get("args", {}).get("end") == "not seen"]
assert len(open_) == wanted(["lacking"])[1] > 0, len(open_)
sonde("trace", "whole", "--rules", "none", "-o", "none.json", code=1)
pathlib.Path("bad.phases").write_text("start: x\n", encoding="utf-8")
sonde("trace", "whole", "--rules", "bad.phases", "-o", "none.json", code=2)
assert not os.path.exists("none.json")
