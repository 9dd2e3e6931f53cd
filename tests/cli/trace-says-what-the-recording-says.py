# SPDX-License-Identifier: Apache-2.0
"""Chrome's JSON and Perfetto's protobuf hold each span, process, mark and value of the recording once, at its time; rows never cross."""
import collections
import csv
import gzip
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile

from traces import NS, check, faults, read_chrome, read_perfetto, utc_ns

SONDE = os.environ["SONDE"]


def trace(name, *options, status=0):
    done = subprocess.run([SONDE, "trace", "two", "-o", name, *options], capture_output=True, text=True)
    check(f"trace {name} {options}", done.returncode == status, f"{done.returncode}: {done.stderr}")
    return done.stderr


def table(name):
    with open(f"tables/{name}.csv", encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


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
