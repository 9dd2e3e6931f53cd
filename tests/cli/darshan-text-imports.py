# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""import darshan takes each read and write that Darshan traced, and of counted files when they were first and last used, rank by rank, at the time of its header; what is not Darshan's is counted."""
import collections
import gzip
import json
import os
import re
import shutil

from timelines import importer, ns, put, rows, sonde

imported = importer("darshan")
# Printed by Darshan 3.5.0's own library, of its example of IOR with HDF5 and four ranks.
IOR = os.environ["TOP"] + "/tests/fixtures/darshan/ior.txt"
START = 1594155460 * 10**9


def plain(track):
    return re.sub(", lane [0-9]+$", "", track)


# Each line of DXT, and each first and last time, is one span.
with open(IOR, encoding="utf-8") as f:
    text = f.read()
wanted, path, counted = collections.Counter(), "", collections.defaultdict(dict)
for line in text.splitlines():
    if line.startswith("# DXT, file_id"):
        path = line.split("file_name: ")[1]
    elif line.startswith(" X_"):
        module, rank, what, _, offset, length, begin, end = line.split()[:8]
        wanted[f"rank {rank}, {module[2:]}", f"{what} {path}", START + round(float(begin) * 1e9), START + round(float(end) * 1e9), f"offset={offset} bytes={length}"] += 1
    elif "\t" in line:
        module, rank, record, counter, value, file = line.split("\t")[:6]
        counted[module, rank, record, file][counter] = float(value)
SEGMENTS = sum(wanted.values())
assert SEGMENTS == 118
for (module, rank, _, file), values in counted.items():
    prefix = module.replace("-", "")
    for what, calls, size in (("OPEN", "OPENS", ""), ("READ", "READS", "BYTES_READ"), ("WRITE", "WRITES", "BYTES_WRITTEN"), ("CLOSE", "CLOSES", "")):
        begin, end = (values.get(f"{prefix}_F_{what}_{edge}_TIMESTAMP", 0) for edge in ("START", "END"))
        if not begin and not end:
            continue
        ways = [values[f"{prefix}_{way}{calls}"] for way in ("", "INDEP_", "COLL_", "SPLIT_", "NB_") if f"{prefix}_{way}{calls}" in values]
        detail = ([f"calls={sum(ways):.0f}"] if ways else []) + ([f"bytes={values[f'{prefix}_{size}']:.0f}"] if f"{prefix}_{size}" in values else [])
        detail += [f"seconds={values.get(f'{prefix}_F_{what}_TIME', 0):.6f}"] if size else []
        whose = f"rank {rank}" if rank != "-1" else "all ranks"
        wanted[f"{whose}, {module}", f"first to last {what.lower()} {file}", START + round(begin * 1e9), START + round(end * 1e9), " ".join(detail)] += 1
said = imported(IOR)
assert "start_time (to 1 s)" in said and said.count("\n") == 2, said
found = rows("spans")
assert collections.Counter((plain(s["track"]), s["name"], ns(s["begin_time"]), ns(s["end_time"]), s["detail"]) for s in found) == wanted
for way in (gzip.compress(text.encode()), text.replace("\n", "\r\n")):
    imported(put("again", way))
    assert rows("spans") == [dict(s, node="again") for s in found]

# One rank's; into the recording of that rank, at its time.
imported(IOR, "--rank", "2")
assert {plain(s["track"]) for s in rows("spans")} == {"rank 2 " + m for m in ("POSIX", "MPIIO", "H5F")}, rows("spans")
shutil.rmtree("job", ignore_errors=True)
ran = sonde("run", "-q", "-o", "job", "--", "python3", "-c", "import time; print(time.time_ns()); time.sleep(0.3)")
assert ran.returncode == 0, ran
utc = int(ran.stdout)
host = json.loads(sonde("show", "--json", "job").stdout)["nodes"][0]["host"]
HEAD = f"# start_time: {utc // 10**9}.{utc // 1000 % 10**6:06}\n"
DXT = """# DXT, file_id: 1, file_name: /tmp/a b
# DXT, rank: {rank}, hostname: {host}
# Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)   [OST]
 X_POSIX {rank} write 0 0 10 0.0500 0.0600 [-1]
"""
put("mine", HEAD + DXT.format(rank=0, host=host) + DXT.format(rank=1, host="elsewhere"))
assert "spans of other ranks or nodes, which are skipped: 1" in imported("mine", "--into", "job", to=None)
mine = rows("spans", "job")
assert [(s["track"], s["name"]) for s in mine] == [("rank 0, POSIX", "write /tmp/a b")], mine
assert abs(ns(mine[0]["begin_time"]) - utc - 50_000_000) <= 1000 * 2, mine
assert "of another time" in imported(IOR, "--into", "job", to=None, code=1)
assert "no span of that rank" in imported(IOR, "--rank", "77", code=1)

# Calls at the same time are on rows of their own.
lines = "".join(f" X_POSIX 0 read {i} 0 1 0.{i}000 0.{i + 3}000\n" for i in range(6))
imported(put("overlap", HEAD + DXT.format(rank=0, host="h") + lines))
assert sorted({s["track"] for s in rows("spans")}) == ["rank 0, POSIX", "rank 0, POSIX, lane 2", "rank 0, POSIX, lane 3"], rows("spans")

# What is wrong.
bad = HEAD + DXT.format(rank=0, host="h") + " X_POSIX 0 read 0 0 1 0.5 0.4\n X_POSIX 0 read\n X_POSIX 0 read 0 0 1 nan 1\nhello\n" + "x" * 10**6 + "\n"
said = imported(put("bad", bad), code=1)
assert "not Darshan's: 4" in said and "end before they begin: 1" in said and "lines that were cut: 1" in said and len(rows("spans")) == 1, said
said = imported(put("no-time", DXT.format(rank=0, host="h")))
assert "does not say when it was" in said, said
for document in ("", "# nothing\n", "3.41\0\0binary", json.dumps([1])):
    assert "not the log itself" in imported(put("none", document), code=1) and not os.path.exists("rec"), document
assert "ends too early" in imported(put("cut.gz", gzip.compress(text.encode())[:-100]), code=1) and rows("spans")
