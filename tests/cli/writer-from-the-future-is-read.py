# SPDX-License-Identifier: Apache-2.0
"""What docs/format.md lets a later Sonde add to version 1 is no damage: blocks, records, fields, types, states and bytes that this one does not know are
skipped, metadata and metrics that it has never heard of are shown and exported, and a copy for others holds nothing of which nobody knows whether it
is private. A file of version 2 gives one sentence."""
import csv
import json
import os
import pathlib
import random
import subprocess

import recording_format as f
from patience import patience

SONDE = os.environ["SONDE"]
MONO, UTC, SECOND = 5_000_000_000, 1_760_000_000_000_000_000, 1_000_000_000
LATER_UNIT, LATER_TYPE, LATER_STATE = 77, 9, 9
PRIVATE = random.Random(5).randbytes(20000)  # it stays as it is when it is compressed


def sonde(*words):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, check=False, timeout=patience(60))


def unknown_records():
    return b"".join((
        f.record(99, name=PRIVATE),
        f.record(20, id=1, last=b"a kind between those that are known"),
        f.record(f.STACKS, id=1, count=1, later=b"a field before one that is known", items=f.items([(0, 1, 0)])),
        f.record(f.SAMPLES, parent=1, count=1, items=f.items([(1, 1, 1)]), last=b"a field behind it"),
        f.record(f.META, name="job.of_a_later_type", meta_type=LATER_TYPE, text="x"),
        f.record(f.STATE, id=1, state=LATER_STATE, text="dormant"),
    ))


def events():
    return unknown_records() + b"".join((
        f.record(f.META, name="job.command", text="simulate", later=b"appended field"),
        f.record(f.META, name="job.exit_code", meta_type=1),
        f.record(f.META, name="job.wall_ns", meta_type=1, value=3 * SECOND),
        f.record(f.META, name="job.cpu_ns", meta_type=1, value=2 * SECOND),
        f.record(f.META, name="job.complete", meta_type=3, value=1),
        f.record(f.META, name="quantum.flavour", text="strange"),
        f.record(f.CATALOGUE, count=4, metric=1, rows=f.metric("job.cpu_seconds", unit=3) + f.metric("flux.muons", "flux", label="muons")
                 + f.metric("flux.spin", "flux", unit=LATER_UNIT) + f.metric("flux.depth", unit=4, kind=1)),
        f.record(f.INSTANCE, id=1, domain="flux", name="ring0", t0=MONO),
        f.record(f.LABEL, id=1, name="colour", text="red"),
        f.record(f.SERIES, id=1, count=1, metric=1),
        f.record(f.SERIES, id=2, count=2, metric=2, parent=1),
        f.record(f.SERIES, id=4, count=1, metric=4),
        f.record(f.MARK, t0=MONO + SECOND, name="warp", text="factor=9"),
    )) + unknown_records()


def recording(path, version=1):
    times = [(MONO + i * SECOND, UTC + i * SECOND) for i in range(4)]
    columns = {1: [0, 1, 1, 2], 2: [10, 30, 60, 100], 3: [1, 2, 3, 4], 4: [7, 7, 7, 7]}
    parts = [(f.HEAD, f.head("vega", UTC, MONO, "9.9.9", b"more of a head" * 20)), (200, b"a later kind of block"),
             (f.EVENTS, f.varint(1) + f.section(events())), (201, PRIVATE),
             (f.CHUNK, f.chunk(1, times, columns)), (f.END, b"\1" + f.varint(1) + f.varint(4) + b"and more")]
    os.makedirs(path)
    pathlib.Path(path, "node-vega.sonde").write_bytes(b"".join(f.block(kind, i, body, version) for i, (kind, body) in enumerate(parts)))
    pathlib.Path(path, "node-vega.tail").write_bytes(b"")


recording("later")
ended = sonde("show", "--json", "later")
shown = json.loads(ended.stdout)
# The only loss: values whose unit means nothing here.
assert [place["what"] for place in shown["damaged_places"]] == ["a metric has a unit or kind that is not known here",
                                                                "values of series that are declared nowhere"], shown["damaged_places"]
job, node = shown["job"], shown["nodes"][0]
assert (job["command"], job["exit_code"], job["wall_seconds"], job["cpu_seconds"], job["complete"]) == ("simulate", 0, 3, 2, True), job
assert node["metadata"]["quantum.flavour"] == "strange" and "job.of_a_later_type" not in node["metadata"], node
assert shown["marks"][0]["name"] == "warp", shown["marks"]

ended = sonde("export", "--raw", "-o", "-", "later")
values = {}
for row in csv.DictReader(ended.stdout.splitlines()):
    values.setdefault((row["metric"], row["instance"]), []).append(float(row["value"]))
assert values == {("job.cpu_seconds", ""): [0, 1, 1, 2], ("flux.muons", "ring0"): [10, 30, 60, 100], ("flux.depth", ""): [7] * 4}, values
for words in (["show", "--all"], ["report", "-o", "page"], ["export", "-o", "tables", "--to", "csv,json,parquet"], ["phases"], ["top", "--once"]):
    ended = sonde(*words, "later")
    assert ended.returncode in (0, 1) and "malformed" not in ended.stderr + ended.stdout, (words, ended)

# A copy for others has what is known, and nothing else; a copy for oneself has all.
for options, private in (([], True), (["--without-environment"], False)):
    ended = sonde("recover", "-o", f"copy{private}", *options, "later")
    assert ended.returncode == 0, ended
    copied = pathlib.Path(f"copy{private}", "node-vega.sonde").read_bytes()
    assert copied.count(PRIVATE[1000:1100]) == 2 * private + private, (options, private)
    assert json.loads(sonde("show", "--json", f"copy{private}").stdout)["nodes"][0]["metadata"]["quantum.flavour"] == "strange"

# All of it of a later version: one sentence. So does each command that reads.
recording("version2", version=2)
for words in (["show"], ["export"], ["report"], ["phases"], ["recover", "-o", "none"], ["compare", "version2"]):
    ended = sonde(*words, "version2")
    assert ended.returncode != 0 and ended.stderr.count("\n") == 1, (words, ended)
    assert "was written by a later version of Sonde, in version 2 of the format" in ended.stderr, (words, ended)
