# SPDX-License-Identifier: Apache-2.0
"""Chrome's JSON and Perfetto's protobuf hold each span, process, mark and value of the recording once, at its time; rows never cross."""
import collections
import csv
import datetime
import gzip
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile

SONDE, TOP = os.environ["SONDE"], os.environ["TOP"]
NS = 1_000_000_000
faults = []


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what} {detail}")


def trace(name, *options, status=0):
    done = subprocess.run([SONDE, "trace", "two", "-o", name, *options], capture_output=True, text=True)
    check(f"trace {name} {options}", done.returncode == status, f"{done.returncode}: {done.stderr}")
    return done.stderr


def table(name):
    with open(f"tables/{name}.csv", encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def utc_ns(text):
    whole, fraction = re.fullmatch(r"([^.Z]*)(?:\.(\d+))?Z", text).groups()
    seconds = datetime.datetime.fromisoformat(whole + "+00:00").timestamp()
    return int(seconds) * NS + int((fraction or "0").ljust(9, "0"))


def ns(us):
    return round(us * 1000)


class Trace:
    """slices: (group, row, name, begin, end, category); marks: (group, name, at); values: {(group, name): [(at, value)]}"""

    def __init__(self):
        self.groups, self.rows, self.slices, self.marks = {}, {}, [], []
        self.values, self.begin = collections.defaultdict(list), None


def read_chrome(text):
    t = Trace()
    data = json.loads(text, parse_constant=lambda name: check("JSON", False, f"has {name}"))
    t.begin = utc_ns(data["otherData"]["begin_time"])
    for e in data["traceEvents"]:
        pid, tid = e["pid"], e["tid"]
        if e["ph"] == "M":
            if e["name"] == "process_name":
                check("a group", pid not in t.groups, "is named twice")
                t.groups[pid] = e["args"]["name"]
            elif e["name"] == "thread_name":
                t.rows[pid, tid] = e["args"]["name"]
        elif e["ph"] == "X":
            t.slices.append((t.groups[pid], t.rows[pid, tid], e["name"], ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["cat"]))
        elif e["ph"] == "i":
            check("a mark's row", t.rows[pid, tid] == "marks")
            t.marks.append((t.groups[pid], e["name"], ns(e["ts"])))
        else:
            check("an event", e["ph"] == "C", e)
            t.values[t.groups[pid], e["name"]].append((ns(e["ts"]), e["args"]["value"]))
    return t


def parse(lines):
    """protoc's text as {field: [values]}."""
    out = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            return out
        if line.endswith("{"):
            out[line[:-2]].append(parse(lines))
        else:
            key, value = line.split(": ", 1)
            check("a field", not key.isdigit(), f"{key} is unknown")
            out[key].append(bytes(value[1:-1], "ascii").decode("unicode_escape").encode("latin-1").decode("utf-8")
                            if value[0] == '"' else value)
    return out


def read_perfetto(path):
    t, names, tracks, open_slices = Trace(), {}, {}, collections.defaultdict(list)
    with open(path, "rb") as f:
        done = subprocess.run(["protoc", "--decode=Trace", f"-I{TOP}/tests", "trace.proto"], stdin=f, capture_output=True, text=True)
    check("protoc", done.returncode == 0, done.stderr)
    packets = parse(iter(done.stdout.splitlines()))["packet"]
    t.begin = next(int(c["timestamp"][0]) for c in packets[0]["clock_snapshot"][0]["clocks"] if c["clock_id"] == ["1"])
    events = []
    for p in packets[1:]:
        check("a sequence", p["trusted_packet_sequence_id"] == ["1"])
        for d in p["track_descriptor"]:
            uuid = d["uuid"][0]
            check("a track", uuid not in tracks, "is told twice")
            group = tracks[d["parent_uuid"][0]][0] if d["parent_uuid"] else d["process"][0]["process_name"][0]
            tracks[uuid] = (group, (d["name"] or [None])[0])
        if p["sequence_flags"] and int(p["sequence_flags"][0]) & 1:
            names = {}
        for i in p["interned_data"]:
            names.update((n["iid"][0], n["name"][0]) for n in i["event_names"])
        for e in p["track_event"]:
            name = names[e["name_iid"][0]] if e["name_iid"] else None
            events.append((int(p["timestamp"][0]), e, name))
    events.sort(key=lambda event: event[0])  # as the viewer does: what comes at one time stays in order
    for at, e, name in events:
        track, kind = tracks[e["track_uuid"][0]], e["type"][0]
        if kind == "SLICE_BEGIN":
            open_slices[e["track_uuid"][0]].append((at, name, e["categories"][0]))
        elif kind == "SLICE_END":
            begin, name, category = open_slices[e["track_uuid"][0]].pop()
            t.slices.append((*track, name, begin, at, category))
        elif kind == "INSTANT":
            t.marks.append((track[0], name, at))
        else:
            t.values[track].append((at, float(e["double_counter_value"][0])))
    check("a slice", not any(open_slices.values()), "is left open")
    return t


def base(row):
    return re.sub(r" \(\d+\)$", "", row)


def judge(what, t):
    """Against the tables of the recording."""
    wanted = collections.Counter()
    last = {node: max(utc_ns(r["time"]) for r in table("series") if r["node"] == node) for node in ("alpha", "beta")}
    for s in table("spans"):
        begin = utc_ns(s["begin_time"])
        end = utc_ns(s["end_time"]) if s["end_time"] else last[s["node"]]
        group, row = (s["node"] + " thread", s["track"]) if s["track"] else (s["node"], "spans")
        wanted[group, plain(row), plain(s["name"]), begin - t.begin, end - t.begin] += 1
    got = collections.Counter((g, plain(base(r)), plain(n), b, e) for g, r, n, b, e, c in t.slices if c == "span")
    check(f"{what}: spans", wanted == got and len(wanted) > 1000,
          f"{sum(wanted.values())} {sum(got.values())} {list((wanted - got).items())[:3]} {list((got - wanted).items())[:3]}")
    wanted, first = collections.Counter(), {n: min(utc_ns(r["time"]) for r in table("series") if r["node"] == n) for n in last}
    for p in table("processes"):
        end = utc_ns(p["end_time"]) if p["end_time"] else last[p["node"]]
        begin = max(utc_ns(p["birth_time"]), first[p["node"]])
        wanted[p["node"] + " process", plain(f"{p['name']} {p['pid']}"), begin - t.begin, end - t.begin] += 1
    got = collections.Counter((g, plain(n), b, e) for g, r, n, b, e, c in t.slices if c == "process")
    check(f"{what}: processes", wanted == got and len(wanted) == 22, f"{wanted - got} {got - wanted}")
    wanted = collections.Counter((m["node"], plain(m["name"]), utc_ns(m["time"]) - t.begin) for m in table("marks"))
    check(f"{what}: marks", wanted == collections.Counter((g, plain(n), at) for g, n, at in t.marks) and len(wanted) == 22)
    judge_values(what, t)
    judge_rows(what, t)


def plain(text):
    """As a table for people has it, too: there, what no text may begin with has a mark before it."""
    return re.sub(r"[^\x20-\x7e]+", "?", text.removeprefix("'"))


def judge_values(what, t):
    wanted = collections.defaultdict(list)
    for r in table("series"):
        if r["metric"].startswith("process."):
            continue
        group = f"{r['node']} gpu" if r["instance"] else r["node"]
        wanted[group, f"{r['instance']} {r['metric']}".strip()].append(float(r["value"]))
    got = {key: [v for _, v in values] for key, values in t.values.items()}
    check(f"{what}: values", dict(wanted) == got and len(got) == 6, f"{wanted} {got}")
    rates = t.values["alpha", "job.cpu_cores"]
    run = first_sample - t.begin
    # Of the second after it, and of the two around the sample that has no value.
    check(f"{what}: rates", rates[:5] == [(run, 1), (run + NS, 3), (run + 2 * NS, 5), (run + 3 * NS, 8), (run + 5 * NS, 11)], rates)


def judge_rows(what, t):
    rows = collections.defaultdict(list)
    for group, row, _, begin, end, _ in t.slices:
        rows[group, row].append((begin, -end))
    for key, slices in rows.items():
        ends = []
        for begin, end in sorted(slices):
            while ends and ends[-1] <= begin:
                ends.pop()
            check(f"{what}: row {key}", not ends or (-end <= ends[-1] and key[1][:9] != "processes"), f"{begin} {end} {ends}")
            ends.append(-end)
    check(f"{what}: rows", len(rows) < 200, len(rows))


def window():
    """Slices are cut at its edges, values and marks are those within."""
    whole = read_chrome(open("t.json").read())
    run, part = first_sample - whole.begin, read_chrome_of("part.json", "--from", "2s", "--to", "5500ms")
    low, high = run + 2 * NS, run + 5 * NS + NS // 2
    wanted = collections.Counter((g, base(r), n, max(b, low), min(e, high)) for g, r, n, b, e, c in whole.slices
                                 if b < high and e >= low)
    check("window", wanted == collections.Counter((g, base(r), n, b, e) for g, r, n, b, e, c in part.slices),
          f"{sum(wanted.values())} {len(part.slices)}")
    check("window: marks", [m for m in whole.marks if low <= m[2] < high] == part.marks)
    check("window: values", all(low <= at < high for values in part.values.values() for at, _ in values))
    long = read_chrome_of("long.json", "--min-duration", "20ms")
    check("long", collections.Counter((s[0], base(s[1]), *s[2:]) for s in whole.slices if s[4] - s[3] >= 20_000_000) ==
          collections.Counter((s[0], base(s[1]), *s[2:]) for s in long.slices))


def read_chrome_of(path, *options):
    trace(path, *options)
    with open(path, encoding="utf-8") as f:
        return read_chrome(f.read())


os.mkdir("two")
subprocess.run([os.environ["PROGRAMS"] + "/traced_nodes", "two", "2000"], check=True)
subprocess.run([SONDE, "export", "two", "-o", "tables", "--to", "csv"], check=True, stderr=subprocess.DEVNULL)
first_sample = min(utc_ns(r["time"]) for r in table("series"))

for name in "t.json", "t.trace", "t.json.gz", "t.tar.gz", "t.pftrace":
    trace(name)
    check(name, stat.S_IMODE(os.stat(name).st_mode) == 0o600, "is not private")
with open("t.json", encoding="utf-8") as f:
    text = f.read()
judge("JSON", read_chrome(text))
check("t.trace", open("t.trace", encoding="utf-8").read() == text, "differs")
check("t.json.gz", gzip.open("t.json.gz", "rt", encoding="utf-8").read() == text, "differs")
with tarfile.open("t.tar.gz") as archive:
    check("t.tar.gz", archive.getnames() == ["t.trace"] and archive.extractfile("t.trace").read().decode() == text, "differs")
if shutil.which("protoc"):
    judge("protobuf", read_perfetto("t.pftrace"))
window()
check("the folder", sorted(set(os.listdir(".")) - {"output.log"}) == ["long.json", "part.json", "t.json", "t.json.gz", "t.pftrace", "t.tar.gz",
                                                "t.trace", "tables", "two"], os.listdir("."))

sys.exit("\n".join(faults) or 0)
