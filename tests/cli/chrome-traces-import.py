# SPDX-License-Identifier: Apache-2.0
# limit: 600
"""import chrome-trace takes each event with its exact time, compressed or not, beside the recording of the same job; what is bad is counted and costs nothing else."""
import collections
import datetime
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess

import timelines
from timelines import importer, ns, rows, sonde

SONDE = os.environ["SONDE"]
imported = importer("chrome-trace")
rng = random.Random(29)


def put(name, what, pack=None):
    text = what if isinstance(what, str) else json.dumps(what)
    data = text.encode("utf-8", "surrogatepass")
    pathlib.Path(name).write_bytes(pack(data) if pack else data)
    return name


def spans(rec="rec"):
    """[(track, name, begin in ns since 1970, ns or None, detail)]"""
    return [(track, name, begin, None if end is None else end - begin, detail) for track, name, begin, end, detail in timelines.spans(rec)]


def x(name, ts, dur, tid=2, pid=1, **more):
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, **more}


BASE = 1_700_000_000_123_456_789
META = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "prog"}}, {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "main"}}]


def document(events, **more):
    return {"traceEvents": events, "baseTimeNanoseconds": BASE, **more}


# Every kind of event, names behind what they name, each time to 1 ns; in both forms.
EVENTS = [
    x("whole", 5000000000, 20), x("digits", 5000000001.123, 0.877, args={"n": 1, "deep": {"a": [1]}, "t": "x y", "none": None}),
    {"ph": "B", "name": "outer", "pid": 1, "tid": 2, "ts": 5000000100, "args": {"a": 1}},
    {"ph": "B", "name": "inner", "pid": 1, "tid": 2, "ts": 5000000110.5},
    {"ph": "E", "pid": 1, "tid": 2, "ts": 5000000120.5}, {"ph": "E", "name": "outer", "pid": 1, "tid": 2, "ts": 5000000200.001},
    {"ph": "b", "cat": "c", "id": "0x1", "name": "load", "pid": 1, "tid": 2, "ts": 5000000101},
    {"ph": "b", "cat": "c", "id": "0x2", "name": "load", "pid": 1, "tid": 2, "ts": 5000000102},
    {"ph": "n", "cat": "c", "id": "0x2", "name": "half", "pid": 1, "tid": 2, "ts": 5000000102.5},
    {"ph": "e", "cat": "c", "id": "0x1", "name": "load", "pid": 1, "tid": 2, "ts": 5000000103},
    {"ph": "e", "cat": "c", "id": "0x2", "name": "load", "pid": 1, "tid": 2, "ts": 5000000105},
    {"ph": "i", "name": "now", "pid": 1, "tid": 2, "ts": 5000000105.5, "s": "t", "args": {"why": "so"}},
    {"ph": "C", "name": "mem", "pid": 1, "ts": 5000000100, "args": {"used": 5, "free": 2.5}},
    {"ph": "C", "name": "mem", "pid": 1, "ts": 5000000110, "args": {"used": 6, "free": 1.5}},
    {"ph": "C", "name": "load", "pid": 1, "ts": 5000000110, "args": {"value": 7}},
    {"ph": "s", "name": "arrow", "pid": 1, "tid": 2, "ts": 5000000101, "id": 1}, {"ph": "f", "name": "arrow", "pid": 1, "tid": 2, "ts": 5000000103, "id": 1},
]
T = BASE + 5_000_000_000 * 1000
WANTED = [("main 2", "whole", T, 20000, ""), ("main 2", "digits", T + 1123, 877, 'n=1 deep=... "t=x y" none=null'), ("main 2", "outer", T + 100000, 100001, "a=1 flow_out=ID"),
          ("async 1", "load", T + 101000, 2000, "category=c"), ("async 2", "load", T + 102000, 3000, "category=c"), ("main 2", "inner", T + 110500, 10000, "flow_in=ID")]
said = imported(put("all.json", document(EVENTS + META)))
assert "baseTimeNanoseconds (to 1 ns)" in said and "arrows" not in said and said.count("\n") == 2, said


def numbered():
    """The arrows of spans(), whose numbers are Sonde's own, and the spans with ID in place of each."""
    arrows, out = [], []
    for *span, detail in spans():
        arrows += [(span[1], *arrow) for arrow in re.findall(r"flow_(in|out)=([0-9a-f]+)", detail)]
        out.append((*span, re.sub(r"(flow_\w+)=[0-9a-f]+", r"\1=ID", detail)))
    return arrows, out


arrows, found = numbered()
assert found == WANTED, found
assert [a[:2] for a in arrows] == [("outer", "out"), ("inner", "in")] and len({a[2] for a in arrows}) == 1, arrows
marks = [(r["name"], ns(r["time"]), r["message"], r["instance"]) for r in rows("marks")]
assert marks == [("half", T + 102500, "category=c", "async 2"), ("now", T + 105500, "why=so", "main 2")], marks
counters = {(r["name"], round(float(r["value"]), 6)) for r in rows("counters")}
assert counters == {("mem used", 5), ("mem used", 6), ("mem free", 2.5), ("mem free", 1.5), ("load", 7)}, counters

# Arrows by chance, between spans of two threads that nest, complete ones and pairs: as a search through all spans has them.
events, at = [], [0, 0]
for i in range(400):
    tid = rng.randrange(2)
    at[tid] += rng.randrange(50)
    depth = rng.randrange(1, 4)
    for level in range(depth):
        begin, end = at[tid] + 10 * level, at[tid] + 100 - 10 * level
        span = x(f"n{i}.{level}", begin, end - begin, tid=tid)
        events += [span] if i % 3 else [{**span, "ph": "B", "dur": 0}]
    for level in reversed(range(depth) if i % 3 == 0 else ()):
        events.append({"ph": "E", "pid": 1, "tid": tid, "ts": at[tid] + 100 - 10 * level})
    at[tid] += 100
ends = [{"ph": rng.choice("stf"), "cat": "c", "name": "a", "id": rng.randrange(60), "pid": 1, "tid": rng.randrange(2), "ts": rng.randrange(max(at)), **rng.choice(({}, {"bp": "e"}))}
        for _ in range(300)]
said = imported(put("chance.json", document(events + ends)))
wanted = timelines.arrows(events + ends)
ids, have = {}, []
for _, name, _, _, detail in spans():
    have += [(name, way, ids.setdefault(number, len(ids))) for way, number in re.findall(r"flow_(in|out)=([0-9a-f]+)", detail)]
kept = {e["id"] for _, _, e in wanted}
assert len(have) == len(wanted) > 250 and len(ids) == len(kept) > 40, (len(have), len(wanted), len(ids), len(kept))
assert collections.Counter(one[:2] for one in have) == collections.Counter(one[:2] for one in wanted), (have, wanted)
groups = [collections.defaultdict(set), collections.defaultdict(set)]
for name, way, number in have:
    groups[0][number].add((name, way))
for name, way, e in wanted:
    groups[1][e["id"]].add((name, way))
assert sorted(map(sorted, groups[0].values())) == sorted(map(sorted, groups[1].values()))
lost = sum(1 + (e["ph"] == "t") for e in ends) - len(wanted)
assert ("arrows" in said) == (lost > 0), (said, lost)

# Back out: the same spans at the same distances, and in again, at the same times.
imported("all.json")
assert sonde("trace", "rec", "-o", "out.json").returncode == 0
with open("out.json", encoding="utf-8") as out:
    out = json.load(out)["traceEvents"]
back = sorted((e["name"], round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in out if e["ph"] == "X" and e["cat"] in ("span", "c"))
assert back == sorted((name, begin - T, length) for _, name, begin, length, _ in WANTED), back
imported("out.json")
assert [s[1:4] for s in spans()] == [s[1:4] for s in WANTED], spans()

# The list alone, its end missing as Chrome allows; compressed; with much between.
LIST = ",\n".join(json.dumps(e) for e in META + EVENTS)
ways = {"list.json": put("list.json", f"[{LIST}]"), "open.json": put("open.json", f"[{LIST},\n"), "bare.json": put("bare.json", f"[{LIST}")}
for level in (0, 1, 6, 9):
    ways[level] = put(f"l{level}.json.gz", f"[{LIST}]", lambda data, at=level: gzip.compress(data, at))
ways["members"] = put("members.gz", f"[{LIST}]", lambda data: gzip.compress(data[:700]) + gzip.compress(data[700:]))
if shutil.which("zstd"):
    subprocess.run(["zstd", "-q", "list.json", "-o", "list.json.zst"], check=True)
    ways["zstd"] = "list.json.zst"
for way, path in ways.items():
    said = imported(path)
    assert "does not say when" in said and "left out" not in said, (way, said)
    assert [(s[1], s[3]) for s in spans()] == [(s[1], s[3]) for s in WANTED], way

# What states the time.
for more, begin in (({"beginningOfTime": 1_700_000_000_000_001}, 1_700_000_000_000_001_000), ({"otherData": {"profile_start_ts": 1_700_000_000_001}}, 1_700_000_000_001_000_000),
                    ({"otherData": {"begin_time": "2023-11-14T22:13:20.000000007Z"}}, 1_700_000_000_000_000_007)):
    for events_first in (True, False):
        doc = {"traceEvents": [x("a", 3, 1)], **more} if events_first else {**more, "traceEvents": [x("a", 3, 1)]}
        imported(put("when.json", doc))
        assert [s[2] for s in spans()] == [begin + 3000], more
late = json.dumps([x("a", "AT", 1), x("b", 5, 1), x("c", 1_700_000_000_000_001, 1)]).replace('"AT"', "1700000000000000.257")
said = imported(put("epoch.json", late), code=1)
assert "count from 1970" in said and "years away from the others: 1" in said, said
assert [s[1:3] for s in spans()] == [("a", 1_700_000_000_000_000_257), ("c", 1_700_000_000_000_001_000)], spans()
put("changed.json", [x("a", 7, 1)])
os.utime("changed.json", ns=(BASE, BASE))
imported("changed.json")
assert [s[2] for s in spans()] == [BASE - 1000], spans()

# Into the recording of the same job: by the time that is stated, by the machine's clock, by a mark; the rest of the recording says what it said.
program = """
import json, os, subprocess, sys, time
def event(name, ts): return {"ph": "X", "name": name, "pid": os.getpid(), "tid": 1, "ts": ts, "dur": 1000}
utc, mono = time.time_ns(), time.monotonic_ns()
subprocess.run([os.environ["SONDE"], "mark", "here"], check=True)
time.sleep(0.3)
json.dump({"traceEvents": [event("stated", 0)], "baseTimeNanoseconds": utc}, open("stated.json", "w"))
json.dump([event("boot", mono / 1000)], open("boot.json", "w"))
json.dump([event("first", 10), event("here", 1e6 + 10)], open("mark.json", "w"))
json.dump([event("alone", 4e6)], open("alone.json", "w"))
print(utc)
"""
shutil.rmtree("job", ignore_errors=True)
ran = sonde("run", "-q", "-o", "job", "--", "python3", "-c", program)
assert ran.returncode == 0, ran
utc = int(ran.stdout.split()[0])
before, shown = sonde("show", "job"), json.loads(sonde("show", "--json", "job").stdout)
assert "baseTimeNanoseconds" in imported("stated.json", "--into", "job", "--rank", "3", to=None)
assert "from the machine's boot" in imported("boot.json", "--into", "job", to=None)
assert "aligned by here" in imported("mark.json", "--into", "job", "--align", "here", to=None)
assert "not aligned" in imported("alone.json", "--into", "job", "--node", shown["nodes"][0]["host"], to=None)
assert len([f for f in os.listdir("job") if f.endswith(".sonde")]) == 5
into = {s[1]: s for s in spans("job")}
here = [ns(r["time"]) for r in rows("marks", "job") if r["name"] == "here"]
assert into["stated"][0].startswith("rank 3 ") and abs(into["stated"][2] - utc) <= 1000, (into, utc)
assert abs(into["boot"][2] - utc) < 10**7 and into["here"][2] == here[0] and here[0] - into["first"][2] == 10**9, (into, utc, here)
after, now = sonde("show", "job"), json.loads(sonde("show", "--json", "job").stdout)
assert now["nodes"][0]["host"] == shown["nodes"][0]["host"] and len(now["nodes"]) == 1, now["nodes"]
for figure in ("run", "job", "where_time_went", "nodes_in_detail"):
    assert now.get(figure) == shown.get(figure), figure
assert sonde("trace", "job", "-o", "job.json").returncode == 0
with open("job.json", encoding="utf-8") as out:
    assert {e["args"]["name"] for e in json.load(out)["traceEvents"] if e["name"] == "thread_name"} >= {"rank 3 thread 1"}
# What is of another time, and what names nothing, is refused and leaves nothing.
files = sorted(os.listdir("job"))
put("old.json", document([x("old", 1, 1)]))
assert "of another time" in imported("old.json", "--into", "job", to=None, code=1)
assert "has no mark named never" in imported("mark.json", "--into", "job", "--align", "never", to=None, code=1)
assert "has no event named here" in imported("alone.json", "--into", "job", "--align", "here", to=None, code=1)
assert "has no node nowhere" in imported("alone.json", "--into", "job", "--node", "nowhere", to=None, code=1)
assert sorted(os.listdir("job")) == files
for words in (["-o", "new", "--into", "job"], ["--align", "here"], ["--rank", "x"], ["--rank", "-1"]):
    assert sonde("import", "chrome-trace", "alone.json", *words).returncode == 2, words
assert sonde("import", "perfmon", ".", "--into", "job").returncode == 2
# Without the file whose node it is, a timeline is a recording of its own.
os.mkdir("other")
shutil.copy("job/" + [f for f in files if f.endswith(".timeline.sonde")][0], "other/")
assert [s[1] for s in spans("other")] == ["stated"]

# Of several nodes, that with the rank, or the one that is named.
os.mkdir("two")
for rank, host in enumerate(("a", "b")):
    imported(put("own.json", document([x("own", 1, 100)], distributedInfo={"rank": rank})), "--node", host)
    assert spans()[0][0] == f"rank {rank} thread 2"
    shutil.copy(f"rec/node-{host}.sonde", "two/")
put("more.json", document([x("more", 2, 1)]))
assert "several nodes" in imported("more.json", "--into", "two", to=None, code=1)
imported("more.json", "--into", "two", "--rank", "1", to=None)
imported("more.json", "--into", "two", "--node", "a", to=None)
assert sorted((r["node"], r["track"], r["name"], ns(r["begin_time"]) - BASE) for r in rows("spans", "two")) == [
    ("a", "rank 0 thread 2", "own", 1000), ("a", "thread 2", "more", 2000), ("b", "rank 1 thread 2", "more", 2000), ("b", "rank 1 thread 2", "own", 1000)]

# What is wrong is counted, and the rest comes.
BAD = [{"ph": "E", "pid": 1, "tid": 2, "ts": 4999999999}, {"ph": "X", "name": "back", "pid": 1, "tid": 2, "ts": 5000000001, "dur": -1},
       {"ph": "X", "name": "when", "pid": 1, "tid": 2, "ts": "soon", "dur": 1}, {"ph": "X", "name": "no time", "pid": 1, "tid": 2, "dur": 1},
       {"ph": "B", "name": "ends before", "pid": 1, "tid": 9, "ts": 5000000050}, {"ph": "E", "pid": 1, "tid": 9, "ts": 5000000049},
       {"ph": "X", "name": "inf", "pid": 1, "tid": 2, "ts": 1e300, "dur": 1}, 7, "text", [1], {"name": "no phase", "ts": 1}, {"ph": "XX", "ts": 1}, {}]
said = imported(put("bad.json", document(META + BAD[:6] + EVENTS + BAD[6:])), code=1)
for words in ("ends of spans that had not begun: 1", "end before they begin: 2", "without a valid time: 3", "entries that are not events: 5"):
    assert words in said, (words, said)
assert numbered()[1] == WANTED, spans()
said = imported(put("more.json", document(EVENTS + META + [{"ph": "B", "name": "open", "pid": 1, "tid": 2, "ts": 5000000300}, {"ph": "P", "name": "sample", "ts": 5000000001}])))
assert "spans without an end: 1" in said and "type P, which are not spans: 1" in said
assert numbered()[1] == WANTED + [("main 2", "open", T + 300000, None, "")], spans()

# Truncated anywhere: what is before is kept, and said.
whole = json.dumps(document(META + EVENTS)).encode()
for at in [rng.randrange(1, len(whole)) for _ in range(25)]:
    pathlib.Path("cut.json").write_bytes(whole[:at])
    shutil.rmtree("rec", ignore_errors=True)
    ended = sonde("import", "chrome-trace", "cut.json", "-o", "rec")
    assert ended.returncode == 1 and "cut.json" in ended.stderr, (at, ended)
    assert os.path.exists("rec") == ("the events before are kept" in ended.stderr), (at, ended)
packed = gzip.compress(json.dumps(META + EVENTS * 400).encode())
pathlib.Path("cut.gz").write_bytes(packed[:len(packed) // 2])
assert "ends too early; the events before are kept" in imported("cut.gz", code=1)
pathlib.Path("sum.gz").write_bytes(packed[:-6] + bytes([packed[-6] ^ 1]) + packed[-5:])
assert "its checksum is wrong" in imported("sum.gz", code=1)
assert "something behind its end" in imported(put("behind.json", json.dumps(EVENTS) + "x"), code=1)

# Foreign and empty files.
os.mkdir("folder")
os.mkfifo("fifo")
for path, words in ((put("none.json", "{}"), "no event of a trace"), (put("empty.json", ""), "no event"), (put("list0.json", "[]"), "no event"), (put("n.json", "17"), "no event"),
                    (put("b.bin", "\x7fELF\x00\x01"), "not JSON"), ("folder", "not a regular file"), ("fifo", "not a regular file"), ("missing", "cannot open"),
                    (put("meta.json", META), "no event"), (put("zip.gz", "\x1f"), "no event")):
    said = imported(path, code=1)
    assert words in said and not os.path.exists("rec"), (path, said)

# Deep, long and many.
said = imported(put("deep.json", "[" + json.dumps(x("a", 1, 1)) + ',{"args":' + "[" * 100_000), code=1)
assert "more than 64 levels" in said and [s[1] for s in spans()] == ["a"], said
NEST = 100_000
said = imported(put("nest.json", [{"ph": "B", "name": f"n{i % 7}", "pid": 1, "tid": 1, "ts": i} for i in range(NEST)] +
                    [{"ph": "E", "pid": 1, "tid": 1, "ts": NEST + i} for i in range(NEST)]))
lengths = collections.Counter((s[1], s[3]) for s in spans())
assert lengths == collections.Counter((f"n{i % 7}", (2 * (NEST - i) - 1) * 1000) for i in range(NEST))
long = ["a" * 10**6, "b" * 10**6, "a" * 2000 + "b", "a" * 2000 + "c", "ü" * 1000]
said = imported(put("long.json", [x(name, i, 1) for i, name in enumerate(long)] + [x("w", 9, 1, args={str(i): "v" * 900 for i in range(30)})]))
names = [s[1] for s in spans()]
assert len(set(names)) == 6 and all(len(n.encode()) <= 1000 for n in names) and "shortened name: 5" in said, (said, names)
assert len(spans()[-1][4].encode()) <= 500 and spans()[-1][4].endswith("..."), spans()[-1]
said = imported(put("control.json", [x("\x1b[31m\u202e\ud800", 1, 1, pid="a\x1b", tid="\n")]))
shown = sonde("show", "--spans", "rec")
assert shown.returncode == 0 and "\x1b" not in shown.stdout and len(spans()) == 1

# Many threads and names, in no order, are what they were.
many = [(f"name {rng.randrange(3000)}", rng.randrange(10**9), rng.randrange(10**6), rng.randrange(500)) for _ in range(200_000)]
imported(put("many.json", document([x(name, begin / 1000, length / 1000, tid=tid) for name, begin, length, tid in many])))
assert collections.Counter((f"thread {tid}", name, BASE + begin, length) for name, begin, length, tid in many) == collections.Counter(s[:4] for s in spans())

# clang writes such a file; its times are inside of those when it ran.
if shutil.which("clang"):
    put("a.c", "int main(void) { return 0; }")
    begin = datetime.datetime.now().timestamp() * 1e9
    subprocess.run(["clang", "-c", "-ftime-trace", "-ftime-trace-granularity=0", "a.c"], check=True)
    end = datetime.datetime.now().timestamp() * 1e9
    with open("a.json", encoding="utf-8") as made:
        made = [e for e in json.load(made)["traceEvents"] if e["ph"] == "X"]
    imported("a.json")
    found = spans()
    assert collections.Counter((e["name"], e["dur"] * 1000) for e in made) == collections.Counter((s[1], s[3]) for s in found)
    assert all(begin - 10**6 <= s[2] and s[2] + s[3] <= end + 10**6 for s in found if not s[1].startswith("Total")), (begin, end, found[:3])
