# SPDX-License-Identifier: Apache-2.0
# limit: 3600
"""1,000 made-up profiles come out of export --to scanner byte by byte as they went in. Mutated ones, 1,000 here and 100,000 with --long, end no import,
take no time or memory to speak of, and cost no other file a byte."""
import os
import pathlib
import random
import resource
import shutil
import subprocess

import scanner_profiles as made
from patience import patience

SONDE = os.environ["SONDE"]
MUTATED, A_TIME = (100_000, 500) if os.environ.get("LONG") else (1_000, 500)
SANITIZED = "sanitized" in SONDE
rng = random.Random(15)


def sonde(*words):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, errors="replace", check=False, timeout=patience(300))


def files(db):
    return {p.relative_to(db): p.read_bytes() for p in pathlib.Path(db).rglob("profile_*.bin")}


def fresh(*names):
    for name in names:
        shutil.rmtree(name, ignore_errors=True)


for job in range(4):
    fresh("db", "rec", "again")
    made.write_database("db", {job + 1: (f"job {job}", made.make_job(rng, 249))})
    before = files("db")
    assert len(before) == 250
    ended = sonde("import", "scanner", "db", "-o", "rec")
    assert ended.returncode == 0, ended
    ended = sonde("export", "rec", "--to", "scanner", "-o", "again")
    assert ended.returncode == 0 and files("again") == before, ended
    assert (pathlib.Path("db") / f"jobs/{job + 1}/descriptor.bin").read_bytes() == (
        pathlib.Path("again") / f"jobs/{job + 1}/descriptor.bin").read_bytes()


def mutate(whole):
    b = bytearray(whole)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(b) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            del b[at:]
        elif kind == 1:
            del b[at: at + rng.randrange(1, 40)]
        elif kind == 2:
            b[at:at] = rng.randbytes(rng.randrange(1, 40))
        elif kind == 3:
            b[at: at + 8] = rng.choice([b"\xff" * 8, b"\0" * 8, b"\0" * 7 + b"\x7f", b"\0\0\0\0\1\0\0\0"])
        elif at < len(b):
            b[at] = rng.randrange(256)
    return bytes(b)


seeds = [p.encode() for p in made.make_job(rng, 40)[1:]]
healthy = made.make_job(rng, 1)
for begin in range(0, MUTATED, A_TIME):
    fresh("db", "rec", "again")
    made.write_database("db", {1: ("mutated", healthy)})
    for i in range(1, A_TIME + 1):
        pathlib.Path(f"db/jobs/1/profile_{i}.bin").write_bytes(mutate(rng.choice(seeds)))
    ended = sonde("import", "scanner", "db", "-o", "rec")
    assert ended.returncode in (0, 1), ended
    shown = sonde("show", "--spans", "--json", "rec")
    assert shown.returncode == 0 and not shown.stderr, shown
    if not begin:
        ended = sonde("export", "rec", "--to", "scanner", "-o", "again")
        assert ended.returncode == 0, ended
        after = files("again/jobs/1")
        for p in healthy:
            name = made.file_name(p)
            assert after[pathlib.Path(name)] == p.encode(), name
# kB: eight windows, and what a writer reserves and touches
assert SANITIZED or resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 200_000, resource.getrusage(resource.RUSAGE_CHILDREN)
