# SPDX-License-Identifier: Apache-2.0
# plain
"""sonde.Profile gives of a job of Scanner what Scanner's own class gives, summed over all workers; damage is told and costs only itself."""
import os
import random
import sys

import scanner_profiles as made

BUILD, TOP = os.environ["BUILD"], os.environ["TOP"]
os.environ["SONDE_LIBRARY"] = f"{BUILD}/libsonde.so.0"
sys.path.insert(0, f"{TOP}/python")
import sonde  # noqa: E402 (its place is known only here)

rng = random.Random(5)
job = made.make_job(rng, 12)
made.write_database("db", {4: ("faces", job)})


def agrees(profile, profiles):
    workers = [p for p in profiles if p.number is not None]
    spans, counters = made.totals(workers)
    wanted = {kind: {key: f"{ns / 1e9:f}" for key, (_, ns) in keys.items()} for kind, keys in spans.items()}
    for kind, values in counters.items():
        wanted.setdefault(kind, {}).update(values)
    interval = min(p.begin for p in workers), max(p.end for p in workers)
    said = profile.statistics()
    assert said.pop("total_time") == f"{(interval[1] - interval[0]) / 1e9:f}"
    assert {kind: of for kind, of in said.items() if of} == {kind: of for kind, of in wanted.items() if of}, (said, wanted)
    assert profile.total_time_interval() == interval, (profile.total_time_interval(), interval)


profile = sonde.Profile.load("db", "faces")
agrees(profile, job)
assert profile.faults == "" and len(profile.recording.nodes) == 13
assert profile.write_trace("t.tar.gz") == "t.tar.gz" and os.path.getsize("t.tar.gz") > 500
for path in ("t.txt", "./x.y/z"):
    try:
        profile.write_trace(path)
        sys.exit(f"{path} was taken")
    except sonde.SondeError as why:
        assert "ends with" in str(why), why
    assert not os.path.exists(path)
some = sonde.Profile.load("db", 4, load_threads=1, subsample=5)
assert len(some.recording.nodes) == 6 and "5 of 12" in some.faults, some.faults

with open("db/jobs/4/profile_7.bin", "r+b") as f:
    f.truncate(3)
broken = sonde.Profile.load("db")
assert "profile_7.bin at byte" in broken.faults, broken.faults
agrees(broken, [p for p in job if p.number != 7])
try:
    sonde.Profile.load("db", "none")
    sys.exit("a job that is not there was loaded")
except sonde.SondeError as why:
    assert "no job none" in str(why), why
