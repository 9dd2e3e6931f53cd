# SPDX-License-Identifier: Apache-2.0
"""Files that real programs wrote: PyTorch's profiler, JAX, Bazel, Dask's task stream by the lines in docs/timelines.md, and clang -ftime-trace here. Each span is once in
the recording, on its row and to the nanosecond, as a reading in Python has it; so are marks and counters, and the total time of each name."""
import calendar
import collections
import decimal
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from patience import patience
from timelines import arrows, importer, ns, rows, sonde, spans

FIXTURES = pathlib.Path(os.environ["TOP"]) / "tests/fixtures/timelines"
imported = importer("chrome-trace")


def to_ns(us):
    """Microseconds as they were written; halves go up."""
    return int((us * 1000).quantize(0, decimal.ROUND_HALF_UP))


def read(path):
    """The document, and its events; numbers with a point are decimals."""
    with (gzip.open(path, "rt", encoding="utf-8") if str(path).endswith(".gz") else open(path, encoding="utf-8")) as f:
        document = json.load(f, parse_float=decimal.Decimal, parse_int=decimal.Decimal)
    return document, [e for e in (document if isinstance(document, list) else document["traceEvents"]) if e]  # JAX ends the list with {}


def pairs(events):
    """Of asynchronous spans, which clang writes from version 19 on: an end is of the last one that began."""
    open_ones, ended = collections.defaultdict(list), []
    for e in (e for e in events if e["ph"] in "be"):
        of = open_ones[e["cat"], e["id"], e["name"]]
        if e["ph"] == "b":
            of.append(e)
        else:
            begun = of.pop()
            ended.append({**begun, "dur": e["ts"] - begun["ts"]})
    return ended


def holds(path, base_of=None):
    """base_of: UTC of the file's 0 in ns, from the document; None: the file says nothing."""
    document, events = read(path)
    said = imported(str(path))
    by_thread, alone = [e for e in events if e["ph"] == "X"], pairs(events)
    complete = by_thread + alone
    assert not {e["ph"] for e in events} - set("XMiCsfbe"), {e["ph"] for e in events}
    found = [(track, re.sub(r"^'(?=[=+@-])", "", name), *rest) for track, name, *rest in spans()]  # CSV guards what a spreadsheet would run
    if base_of:
        zero = base_of(document)
    else:
        assert "does not say when it was" in said, said
        zero = found[0][2] - min(to_ns(e["ts"]) for e in events if "ts" in e and e["ph"] != "M")
    wanted = collections.Counter((e["name"], zero + to_ns(e["ts"]), to_ns(e["dur"])) for e in complete)
    have = collections.Counter((name, begin, end - begin) for _, name, begin, end, _ in found)
    assert have == wanted, (path, list((have - wanted).items())[:3], list((wanted - have).items())[:3])
    threads = {(str(e["pid"]), str(e["tid"])) for e in by_thread}
    assert len({s[0] for s in found}) == len(threads) + len({(e["cat"], e["id"]) for e in alone}), (path, {s[0] for s in found}, threads)
    names = {(str(e["pid"]), str(e["tid"])): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    for thread, name in names.items():
        assert thread not in threads or any(s[0].startswith(f"{name} {thread[1]}") for s in found), (thread, name)
    marks = collections.Counter((m["name"], ns(m["time"])) for m in rows("marks"))
    assert marks == collections.Counter((e["name"], zero + to_ns(e["ts"])) for e in events if e["ph"] == "i"), (path, marks)
    values = collections.Counter((ns(c["time"]), float(c["value"])) for c in rows("counters"))
    assert values == collections.Counter((zero + to_ns(e["ts"]), float(v)) for e in events if e["ph"] == "C" for v in e["args"].values()), (path, values)
    # Totals by name, as show --spans adds them up.
    shown = json.loads(sonde("show", "--spans", "--json", "rec").stdout)
    totals, counts = collections.Counter(), collections.Counter()
    for s in (s for k in shown["kinds"] for s in k["spans"]):
        totals[s["name"]] += round(s["seconds"] * 1e9)
        counts[s["name"]] += s["count"]
    for name, count in collections.Counter(e["name"] for e in complete).items():
        assert counts[name] == count and abs(totals[name] - sum(to_ns(e["dur"]) for e in complete if e["name"] == name)) <= 1, (path, name, counts[name], count)
    return said, found


# PyTorch: forward and backward, memory, arguments with shapes.
said, found = holds(FIXTURES / "pytorch.json.gz", lambda d: int(d["baseTimeNanoseconds"]))
assert "baseTimeNanoseconds (to 1 ns)" in said and "arrows" not in said, said
wanted = collections.Counter((name, way) for name, way, _ in arrows(read(FIXTURES / "pytorch.json.gz")[1]))
have = collections.Counter((s[1], way) for s in found for way in re.findall(r"flow_(in|out)=[0-9a-f]", s[4]))
assert have == wanted and sum(have.values()) > 10 and any("category=cpu_op" in s[4] for s in found), (have, wanted)
assert sum(s[1] == "step" for s in found) == 2 and any("Input Dims=..." in s[4] for s in found if s[1] == "aten::linear"), found[:3]
assert sum(m["name"] == "[memory]" and "Total Allocated=" in m["message"] for m in rows("marks")) > 10

said, found = holds(FIXTURES / "jax.json.gz")
assert sum(s[1] == "step" for s in found) == 2 and any(s[0].startswith("python") for s in found), found[:3]

# Bazel 2.1, which says when it began in words; its counters' values are texts.
said, found = holds(FIXTURES / "bazel.json.gz", lambda d: calendar.timegm(time.strptime(d["otherData"]["date"], "%a %b %d %H:%M:%S UTC %Y")) * 10**9)
assert "otherData.date (to 1 s)" in said and len(rows("counters")) == 8 and "no numbers" not in said, said
assert any(s[0].startswith("Critical Path") for s in found), found[:3]

# Dask: what docs/timelines.md makes of its task stream.
said, found = holds(FIXTURES / "dask.json.gz", lambda d: 0)
assert collections.Counter(s[1] for s in found)["inc"] == 8 and collections.Counter(s[1] for s in found)["add"] == 7, found
lines = re.search(r"```python\n.*?(def write_chrome.*?)```", (pathlib.Path(os.environ["TOP"]) / "docs/timelines.md").read_text(encoding="utf-8"), re.S)[1]
made = {"json": json, "key_split": lambda key: key.split("-")[0]}
exec(lines, made)  # pylint: disable=exec-used
made["write_chrome"]([{"worker": "tcp://a:1", "thread": 7, "key": "inc-12ab", "status": "OK", "startstops": (
    {"action": "transfer", "start": 1.7e9, "stop": 1.7e9 + 0.25}, {"action": "compute", "start": 1.7e9 + 0.5, "stop": 1.7e9 + 1})}], "stream.json")
imported("stream.json")
assert [(s[0], s[1], s[3] - s[2]) for s in spans()] == [("thread 7", "transfer", 250_000_000), ("thread 7", "inc", 500_000_000)], spans()

# clang, here.
if shutil.which("clang++"):
    pathlib.Path("one.cc").write_text("#include <map>\n#include <string>\nint f(std::map<std::string, int> &m) { return m[\"a\"]; }\n", encoding="utf-8")
    before = time.time_ns()
    subprocess.run(["clang++", "-O1", "-ftime-trace", "-ftime-trace-granularity=0", "-c", "one.cc", "-o", "one.o"], check=True, timeout=patience(100))
    said, found = holds("one.json", lambda d: int(d["beginningOfTime"]) * 1000)
    assert "beginningOfTime (to 1 us)" in said and len(found) > 1000, (said, len(found))
    whole = [s for s in found if s[1] == "ExecuteCompiler"]
    assert len(whole) == 1 and before <= whole[0][2] <= whole[0][3] <= time.time_ns(), (before, whole)
else:
    print("no clang++")
