# SPDX-License-Identifier: Apache-2.0
# limit: 3600
"""import scanner takes every interval and counter of a job, names what is damaged with its offset, and keeps the rest; show --spans adds them up, as
docs/schema/spans.json says, and phases tells each."""
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess

import jsonschema
import scanner_profiles as made
import schemas
from patience import patience

SONDE = os.environ["SONDE"]
with open(os.environ["TOP"] + "/docs/schema/spans.json", encoding="utf-8") as f:
    VALIDATOR = jsonschema.Draft202012Validator(schemas.strict(json.load(f)), format_checker=jsonschema.FormatChecker())
LABELS = {"io_read": "scanner.read_bytes", "io_write": "scanner.written_bytes", "frames_used": "scanner.used_frames",
          "frames_decoded": "scanner.decoded_frames", "frames_fed": "scanner.fed_frames",
          "max_memory_used": "scanner.memory_max_bytes", "current_memory_used": "scanner.memory_bytes"}
rng = random.Random(8)


def sonde(*words):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, errors="replace", check=False, timeout=patience(300))


def imported(db, job, where, *options, code=0):
    shutil.rmtree(where, ignore_errors=True)
    ended = sonde("import", "scanner", db, *job, "-o", where, *options)
    assert ended.returncode == code, ended
    return ended.stderr


def shown(where):
    ended = sonde("show", "--spans", "--json", where)
    assert ended.returncode == 0 and not ended.stderr, ended
    said = json.loads(ended.stdout)
    VALIDATOR.validate(said)
    return said


def phases_hold(where, profiles):
    """Each interval is a phase of its name, on its thread's node, when it was; show says how many it does not list."""
    ended = sonde("phases", "--json", where)
    assert ended.returncode == 0 and not ended.stderr, ended
    wanted, told = [], json.loads(ended.stdout)
    first = min(p.begin for p in profiles)
    for p in profiles:
        host = "master" if p.number is None else f"worker-{p.number}"
        wanted += [(key, host, begin, end) for t in p.threads() for key, begin, end in t.intervals]
    found = [(x["name"], x["node"], *(round(x[k] * 1e9) for k in ("begin_seconds", "end_seconds"))) for x in told["phases"]]
    assert sorted(found) == sorted(wanted) and told["metered"], (first, sorted(found)[:3], sorted(wanted)[:3])
    ended = sonde("show", "--json", where)
    assert ended.returncode == 0, ended
    said = json.loads(ended.stdout)
    assert said["spans"] == [] and said["spans_in_bulk"] == len(wanted), said["spans_in_bulk"]


def holds(where, profiles):
    said = shown(where)
    assert said["schema"] == "sonde/spans/1" and said["damages"] == 0, said
    spans, counters = made.totals(profiles)
    found = {k["kind"]: {s["name"]: (s["count"], round(s["seconds"] * 1e9)) for s in k["spans"]} for k in said["kinds"]}
    assert {kind: keys for kind, keys in found.items() if keys} == spans, (found, spans)
    found = {k["kind"]: {c["name"]: c["value"] for c in k["counters"]} for k in said["kinds"] if k["counters"]}
    wanted = {kind: {LABELS.get(n, n): v for n, v in c.items()} for kind, c in counters.items() if c}
    assert found == wanted, (found, wanted)
    assert said["spans"] == sum(c for keys in spans.values() for c, _ in keys.values()), said["spans"]
    seconds = {n["node"]: n["total_seconds"] for n in said["nodes"]}
    width = len(str(max((p.number for p in profiles if p.number is not None), default=0)))
    for p in profiles:
        host = "master" if p.number is None else f"worker-{p.number:0{width}}"
        assert abs(seconds.pop(host) - (p.end - p.begin) / 1e9) < 1e-8, (host, said["nodes"])
    assert not seconds, seconds
    return said


# Two jobs, one of them by its id, by its name, and as the newest.
jobs = {3: ("old", made.make_job(rng, 2)), 11: ("faces", made.make_job(rng, 12))}
made.write_database("db", jobs)
for job, number in (("3", 3), ("old", 3), ("faces", 11), (None, 11)):
    assert imported("db", [job] if job else [], "rec").count("\n") == 1
    holds("rec", jobs[number][1])
ended = sonde("import", "scanner", "db", "none", "-o", "no")
assert ended.returncode == 1 and "no job none" in ended.stderr and not os.path.exists("no"), ended
assert sonde("import", "perfmon", "db", "3", "-o", "no").returncode == 2
assert sonde("import", "perfmon", "db", "--subsample", "2", "-o", "no").returncode == 2 and not os.path.exists("no")
text = sonde("show", "--spans", "rec").stdout
assert "worker-03" in text and "caf\u00e9 \u00fc" in text and "of a kind of its own" in text, text
text = sonde("show", "--all", "rec").stdout
most = max((s["seconds"], f"{k['kind']}: {s['name']}") for k in shown("rec")["kinds"] for s in k["spans"])[1]
assert text[text.index("\nspans by"):].splitlines()[3].endswith("  " + most), (most, text)

imported("db", ["3"], "rec")
phases_hold("rec", jobs[3][1])

# Jobs of any size, against the second reader: sums and each interval to 1 ns, and the slices of the trace, which count in us.
several = random.Random(29)
for i in range(200 if os.environ.get("LONG") else 8):
    job = made.make_job(several, several.randrange(1, 9))
    if not any(t.intervals for p in job for t in p.threads()):
        continue
    shutil.rmtree("any", ignore_errors=True)
    made.write_database("any", {i + 1: (f"job {i}", job)})
    imported("any", [], "rec")
    holds("rec", job)
    phases_hold("rec", job)
    assert sonde("trace", "rec", "-o", "any.json").returncode == 0
    with open("any.json", encoding="utf-8") as f:
        slices = sorted((e["name"], e["ts"], e["dur"]) for e in json.load(f)["traceEvents"] if e["ph"] == "X" and e["cat"] in made.KEYS)
    first = min(begin for p in job for t in p.threads() for _, begin, _ in t.intervals)
    wanted = sorted((key, begin, end - begin) for p in job for t in p.threads() for key, begin, end in t.intervals)
    base = min(ts for _, ts, _ in slices) if slices else 0
    assert sorted((n, round((ts - base) * 1000), round(dur * 1000)) for n, ts, dur in slices) == sorted((k, b - first, d) for k, b, d in wanted), i

# More phases than figures are made of: they are told without, and it is said.
many = made.Profile(0, 0, 10**10)
many.loop.intervals = [("io", i * 1000, i * 1000 + 500) for i in range(50_001)]
made.write_database("many", {1: ("many", [many])})
imported("many", [], "rec")
ended = sonde("phases", "rec")
assert ended.returncode == 0 and "no metrics for more than 50000 phases" in ended.stdout, ended
assert ended.stdout.splitlines()[1].split()[:2] == ["io", "50001"], ended.stdout
ended = sonde("phases", "--metrics", "*", "rec")
assert ended.returncode == 1 and "choose some by name" in ended.stderr, ended

# Some of the workers keep their numbers; a worker that died is said, not an error.
said = imported("db", [], "some", "--subsample", "3", "-j", "1")
assert "chosen: 3 of 12" in said, said
assert [n["node"] for n in shown("some")["nodes"]] == ["master", "worker-0", "worker-4", "worker-8"], shown("some")["nodes"]
os.unlink("db/jobs/11/profile_5.bin")
assert "workers without a profile: 1 of 12" in imported("db", [], "rec")
holds("rec", [p for p in jobs[11][1] if p.number != 5])

# Damage: each file is named with the offset, the others come whole.
job = made.make_job(rng, 6)
for p in job:
    while not p.loop.intervals or not (p.number is None or (p.load and p.save and p.load[0].intervals)):
        p.__dict__.update(made.make_profile(rng, p.number, job[0].begin).__dict__)
made.write_database("bad", {1: ("j", job)})
folder = pathlib.Path("bad/jobs/1")


def damage(name, change):
    path = folder / name
    whole = path.read_bytes()
    path.write_bytes(change(whole))
    return whole


damage("profile_0.bin", lambda b: b[: len(b) // 2])
damage("profile_1.bin", lambda b: b"")
damage("profile_2.bin", lambda b: b + b"more")
damage("profile_3.bin", lambda b: bytes(rng.randrange(256) for _ in range(3000)))
loop = job[5].loop.encode()
first = 16 + loop.index(struct.pack("<q", len(job[5].loop.intervals)), 40) + 8
damage("profile_4.bin", lambda b: b)
damage("profile_5.bin", lambda b: b[: first + 9] + struct.pack("<q", -5) + b[first + 17:])
said = imported("bad", [], "rec", code=1)
for name, what in (("0", "what is behind is left out"), ("1", "truncated"), ("2", "bytes behind the end: 4"), ("3", ""), ("5", "left out: 1, the first one here")):
    assert [line for line in said.splitlines() if f"profile_{name}.bin at byte " in line and what in line], (name, said)
assert f"profile_5.bin at byte {first}:" in said and "profile_4" not in said and "master" not in said, said
said = shown("rec")
assert {n["node"] for n in said["nodes"]} >= {"master", "worker-2", "worker-4", "worker-5"}, said["nodes"]

# A thread that went on while it was written: more intervals than were counted, then counters. They are found and it is said.
job = made.make_job(rng, 1)
for p in job:
    while len(p.loop.intervals) < 5:
        p.loop = made.make_profile(rng, p.number, job[0].begin).loop
for p in job:
    made.write_database("live", {1: ("j", job)})
    path = pathlib.Path("live/jobs/1") / made.file_name(p)
    whole = path.read_bytes()
    path.write_bytes(whole[:16] + p.loop.encode(declared=len(p.loop.intervals) - 3) + whole[16 + len(p.loop.encode()):])
    said = imported("live", [], "rec")
    assert "3 more intervals than counted" in said and path.name in said, said
    holds("rec", job)

# A number of counters that cannot be, and nothing that fits behind it: intervals stay, exit code 1.
made.write_database("live", {1: ("j", job)})
path = pathlib.Path("live/jobs/1/profile_master.bin")
path.write_bytes(path.read_bytes()[:-8] + struct.pack("<q", 1 << 40))
said = imported("live", [], "rec", code=1)
assert "number of counters is corrupt" in said, said
holds("rec", job)

# Descriptors that are damaged or not there cost their names only.
made.write_database("names", {1: ("j", job)})
pathlib.Path("names/jobs/1/descriptor.bin").write_bytes(b"\x0a\xff\xff")
assert "descriptor.bin at byte" in imported("names", [], "rec", code=1)
holds("rec", job)
os.unlink("names/jobs/1/descriptor.bin")
os.unlink("names/db_metadata.bin")
assert "names no job" in imported("names", [], "rec", code=1) and not os.path.exists("rec")
imported("names", ["1"], "rec")
holds("rec", job)
