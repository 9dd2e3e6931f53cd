# SPDX-License-Identifier: Apache-2.0
"""Recordings of version 1 of the format are read as they were when they were made. With "add" as its argument it writes the facts of those in
tests/recordings that have none yet; those that are there are never written anew: if they differ, the reader is wrong."""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys

from patience import patience

TOP = pathlib.Path(os.environ.get("TOP", pathlib.Path(__file__).resolve().parents[2]))
SONDE = os.environ.get("SONDE", TOP / "build/sonde")
OF_JOB = ("command", "id", "exit_code", "signal", "wall_seconds", "cpu_seconds", "peak_memory_bytes", "processes_started", "read_bytes",
          "written_bytes", "complete")


def sonde(*words):
    return subprocess.run([SONDE, *map(str, words)], capture_output=True, text=True, check=False, timeout=patience(60))


def column(texts):
    """How many cells are filled, with how many texts; of numbers their sum."""
    filled = [t for t in texts if t]
    try:
        return [len(filled), len(set(filled)), float(f"{sum(map(float, filled)):.9g}")]
    except ValueError:
        return [len(filled), len(set(filled))]


def table(where, name):
    ended = sonde("export", "--raw", "--table", name, "-o", "-", where)
    assert ended.returncode in (0, 1), ended
    return list(csv.DictReader(io.StringIO(ended.stdout)))


def of_threads(where):
    """How much of which frames was sampled, and where wall time went; {} where it was not asked for."""
    waits = json.loads(sonde("show", "--waits", "--json", where).stdout or "{}")
    lines = [line.rsplit(" ", 1) for line in sonde("export", "--to", "folded", "-o", "-", where).stdout.splitlines()]
    if not lines or waits.get("not_recorded", True):
        return {}
    return {"microseconds": sum(int(weight) for _, weight in lines), "frames": sorted({frame for stack, _ in lines for frame in stack.split(";")}),
            "waits": {key: waits[key] for key in ("wall_seconds", "on_cpu_seconds", "ready_seconds", "waited_seconds", "unseen_seconds")}}


def facts(where):
    ended = sonde("show", "--json", where)
    shown = json.loads(ended.stdout)
    found = {"status": ended.returncode, "damages": shown["damages"], "missing": shown["missing_hosts"], "job": {k: shown["job"][k] for k in OF_JOB},
             "spans_in_bulk": shown["spans_in_bulk"], "nodes": {n["host"]: {k: n[k] for k in ("samples", "complete", "metadata")} for n in shown["nodes"]}}
    series = {}
    for row in table(where, "series"):
        series.setdefault(row["metric"], []).append(row["value"])
    found["series"] = {metric: column(values) for metric, values in sorted(series.items())}
    found["threads"] = of_threads(where)
    for name in ("processes", "marks", "spans", "states"):
        rows = table(where, name)
        found[name] = {key: column([r[key] for r in rows]) for key in rows[0]} if rows else {}
    return found


def differences(wanted, got, path=""):
    """What was a fact then and is none now; what is new in got is not asked for."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        return [d for key, value in wanted.items() for d in differences(value, got.get(key), f"{path}/{key}")]
    return [] if wanted == got else [f"{path}: {got!r} was {wanted!r}"]


wrong = []
kept = sorted(p for p in (TOP / "tests/recordings").glob("version-*/*") if p.is_dir())
assert len(kept) >= 11, kept
for recording in kept:
    known = recording.with_suffix(".json")
    if sys.argv[1:] == ["add"] and not known.exists():
        known.write_text(json.dumps(facts(recording), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    wrong += [f"{recording.name}{d}" for d in differences(json.loads(known.read_text(encoding="utf-8")), facts(recording))]
assert not wrong, "\n".join(wrong[:20])
