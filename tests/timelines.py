# SPDX-License-Identifier: Apache-2.0
"""For tests of import: a file of a kind becomes a recording, and what is in it is read back from its CSV."""
import calendar
import csv
import datetime
import os
import pathlib
import shutil
import subprocess

from patience import patience

SONDE = os.environ["SONDE"]


def sonde(*words):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, errors="replace", check=False, timeout=patience(300))


def importer(kind):
    def imported(path, *words, code=0, to="rec"):
        """What it printed. to None: into a recording that the words name."""
        if to:
            shutil.rmtree(to, ignore_errors=True)
        ended = sonde("import", kind, path, *words, *(("-o", to) if to else ()))
        assert ended.returncode == code, (ended, path)
        return ended.stderr
    return imported


def put(name, data):
    pathlib.Path(name).write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return name


def rows(what, rec="rec"):
    shutil.rmtree("csv", ignore_errors=True)
    ended = sonde("export", rec, "--to", "csv", "-o", "csv")
    assert ended.returncode == 0, ended
    if not os.path.exists(f"csv/{what}.csv"):
        return []
    with open(f"csv/{what}.csv", encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def ns(time):
    """Of "2017-07-18T04:45:23.715110000Z", since 1970."""
    whole, _, fraction = time.rstrip("Z").partition(".")
    return calendar.timegm(datetime.datetime.fromisoformat(whole).timetuple()) * 10**9 + int(fraction.ljust(9, "0"))


def spans(rec="rec", base=0):
    """[(track, name, begin, end or None, detail)] in time, in ns since base, which is since 1970."""
    found = [(r["track"], r["name"], ns(r["begin_time"]) - base, ns(r["end_time"]) - base if r["end_time"] else None, r["detail"]) for r in rows("spans", rec)]
    return sorted(found, key=lambda s: (s[2], s[1], s[0]))


def arrows(events):
    """[(span's name, "in" or "out", end)]: ends of arrows at the innermost span of their thread that is open then, or ("f" without "bp": "e") at the next one that begins;
    of events as they are in Chrome's JSON, in which spans of B and E nest."""
    spans, stacks, out = [], {}, []
    for e in events:
        thread = (e.get("pid"), e.get("tid"))
        if e["ph"] == "X":
            spans.append((thread, e["ts"], e["ts"] + e["dur"], e["name"]))
        elif e["ph"] == "B":
            stacks.setdefault(thread, []).append(e)
        elif e["ph"] == "E":
            begin = stacks[thread].pop()
            spans.append((thread, begin["ts"], e["ts"], begin["name"]))
    for e in events:
        if e["ph"] not in "stf":
            continue
        thread, at = (e["pid"], e["tid"]), e["ts"]
        if e["ph"] == "f" and e.get("bp") != "e":
            near = sorted((s[1], -s[2], s[3]) for s in spans if s[0] == thread and s[1] >= at)
        else:
            near = sorted((-s[1], s[2], s[3]) for s in spans if s[0] == thread and s[1] <= at <= s[2])
        for way, phases in (("in", "tf"), ("out", "st")):
            if near and e["ph"] in phases:
                out.append((near[0][2], way, e))
    return out
