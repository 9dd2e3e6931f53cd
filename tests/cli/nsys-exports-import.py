# SPDX-License-Identifier: Apache-2.0
# limit: 200
"""import nsys takes the calls of threads and the work of GPUs from Nsight Systems' SQLite, as its versions wrote it, each with its exact time; a malformed database is refused with a sentence."""
import collections
import gzip
import json
import os
import pathlib
import random
import shutil
import sqlite3

from timelines import importer, ns, rows, sonde, spans

imported = importer("nsys")
UTC = 1_700_000_000_123_456_789
PID, TID = 4711, 4712
GLOBAL_PID = 0x2 << 48 | PID << 24
GLOBAL_TID = GLOBAL_PID | TID
rng = random.Random(17)


def database(path, statements, page=4096, **many):
    pathlib.Path(path).unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA page_size={page}")
    for statement in statements:
        db.execute(statement)
    for table, values in many.items():
        db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(values[0]))})", values)
    db.commit()
    db.close()
    return path


STRINGS = [(1, "main thread"), (2, "cudaLaunchKernel_v7000"), (3, "void gemm<float>(float*, int)"), (4, "gemm"), (5, "read"), (6, "MPI_Allreduce"), (7, "ring of ü"), (2**31 + 9, "far away")]
# As the documentation of version 2019 has it: nothing is NULL, texts of NVTX are inline.
OLD = ["CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)",
       "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT NOT NULL, end INT NOT NULL, globalTid INT NOT NULL, correlationId INT NOT NULL, nameId INT NOT NULL, returnValue INT NOT NULL)",
       "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT NOT NULL, "
       "globalPid INT, demangledName INT NOT NULL, shortName INT NOT NULL, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT)",
       "CREATE TABLE NVTX_EVENTS (start INT NOT NULL, end INT, eventType INT NOT NULL, rangeId INT, category INT, color INT, text TEXT, globalTid INT, endGlobalTid INT)"]
# As those of 2021 and later: text ids, session start, names of threads, MPI; names in quotation marks.
NEW = ["CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
       "CREATE TABLE ThreadNames (nameId INTEGER NOT NULL REFERENCES StringIds(id), priority INTEGER, globalTid INTEGER)",
       "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT)", "CREATE TABLE MPI_RANKS (globalPid INTEGER, rank INTEGER)",
       "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT)", "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT)",
       'CREATE TABLE "CUPTI_ACTIVITY_KIND_RUNTIME" ("start" INTEGER NOT NULL, "end" INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL REFERENCES StringIds(id), returnValue INTEGER NOT NULL, callchainId INTEGER)',
       "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, "
       "globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, CHECK (end >= 0))",
       "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER)",
       "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER)",
       "CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL)",
       "CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER NOT NULL, end INTEGER, globalTid INTEGER, textId INTEGER, size INTEGER, rootRank INTEGER)",
       "CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER)", "CREATE INDEX i ON OSRT_API (start)"]
RUNTIME = [(100, 200, 0, GLOBAL_TID, 7, 2, 0, None)]
KERNELS = [(150, 400, 0, 1, None, 7, 7, GLOBAL_PID, 3, 4, None, None, 8, 4, 1, 32, 1, 1)]
EVENTS = {"StringIds": STRINGS, "ThreadNames": [(1, 0, GLOBAL_TID)], "PROCESSES": [(GLOBAL_PID, PID, "python3")], "TARGET_INFO_SESSION_START_TIME": [(UTC, "", "")],
          "TARGET_INFO_SYSTEM_ENV": [(0, "", "Hostname", 1, "node7")], "CUPTI_ACTIVITY_KIND_RUNTIME": RUNTIME, "CUPTI_ACTIVITY_KIND_KERNEL": KERNELS,
          "CUPTI_ACTIVITY_KIND_MEMCPY": [(10, 20, 0, 1, 7, 6, GLOBAL_PID, 4096, 1)],
          "NVTX_EVENTS": [(90, 500, 59, None, None, None, None, GLOBAL_TID, None, 7, 0), (95, None, 34, None, None, None, "inline ü", GLOBAL_TID, None, None, 0), (1, None, 75, None, None, None, "a domain", GLOBAL_TID, None, None, 1),
                          (300, 600, 60, 1, None, None, "x" * 9000, GLOBAL_TID, None, None, 0), (700, None, 60, 2, None, None, None, GLOBAL_TID, None, 2**31 + 9, 0)],
          "OSRT_API": [(30, 40, 0, GLOBAL_TID + 1, 1, 5)], "MPI_COLLECTIVES_EVENTS": [(210, 260, GLOBAL_TID, 6, 80, 0)]}
MAIN = f"main thread {TID}"
WANTED = [(f"GPU 0, stream 7, memory of {PID}", "copy HtoD", 10, 20, "bytes=4096"), (f"python3 {TID + 1}, operating system", "read", 30, 40, ""), (f"{MAIN}, NVTX", "ring of ü", 90, 500, ""),
          (f"{MAIN}, CUDA", "cudaLaunchKernel_v7000", 100, 200, ""), (f"GPU 0, stream 7, kernels of {PID}", "void gemm<float>(float*, int)", 150, 400, "grid=8x4x1 block=32x1x1"),
          (f"{MAIN}, MPI", "MPI_Allreduce", 210, 260, "bytes=80"), (f"{MAIN}, NVTX, lane 2", "x" * 1000, 300, 600, ""), (f"{MAIN}, NVTX", "far away", 700, None, "")]
for page in (512, 4096, 65536):
    said = imported(database("new.sqlite", NEW, page, **EVENTS))
    assert "TARGET_INFO_SESSION_START_TIME" in said and "spans without an end: 1" in said and said.count("\n") == 3, said
    assert spans(base=UTC) == WANTED, (page, spans(base=UTC))
    assert [(m["name"], ns(m["time"]) - UTC) for m in rows("marks")] == [("inline ü", 95)], rows("marks")
assert rows("spans")[0]["node"] == "node7"
pathlib.Path("new.gz").write_bytes(gzip.compress(pathlib.Path("new.sqlite").read_bytes()))
imported("new.gz")
assert spans(base=UTC) == WANTED

said = imported(database("old.sqlite", OLD, StringIds=STRINGS, CUPTI_ACTIVITY_KIND_RUNTIME=[(100, 200, GLOBAL_TID, 7, 2, 0)], CUPTI_ACTIVITY_KIND_KERNEL=[(150, 400, 0, 1, 7, 7, None, 3, 4, *range(6))],
                         NVTX_EVENTS=[(90, 500, 59, 0, 0, 0, "step", GLOBAL_TID, 0), (600, -1, 60, 0, 0, 0, "open", GLOBAL_TID, 0)]))
assert "does not say when it was" in said, said
assert [(t, n) for t, n, *_ in spans(base=UTC)] == [(f"thread {TID}, NVTX", "step"), (f"thread {TID}, CUDA", "cudaLaunchKernel_v7000"), ("GPU 0, stream 7, kernels", "void gemm<float>(float*, int)"), (f"thread {TID}, NVTX", "open")], spans(base=UTC)

# Ranks: each is labelled, and one may be chosen.
OTHER = GLOBAL_PID + (1 << 24)
ranked = dict(EVENTS, MPI_RANKS=[(GLOBAL_PID, 0), (OTHER, 1)], OSRT_API=[(30, 40, 0, OTHER | 9, 1, 5)])
database("ranks.sqlite", NEW, **ranked)
assert "spans of other ranks, which are skipped: 8" in imported("ranks.sqlite", "--rank", "1")
assert [s[:2] for s in spans()] == [("rank 1 thread 9, operating system", "read")], spans()
assert "with events of that rank" in imported("ranks.sqlite", "--rank", "5", code=1)

# Many rows and names, over pages of all levels: each once.
names = [(i * 3 + 1, f"name {i} " + "y" * rng.randrange(200)) for i in range(20_000)]
calls = []
for i in range(60_000):
    begin = rng.randrange(10**9)
    calls.append((begin, begin + rng.randrange(1000), 0, GLOBAL_PID | i % 300, i, rng.choice(names)[0]))
imported(database("many.sqlite", NEW, 1024, StringIds=names, OSRT_API=calls, TARGET_INFO_SESSION_START_TIME=[(UTC, "", "")]))
by_id = dict(names)
assert collections.Counter((by_id[c[5]], c[0], c[1]) for c in calls) == collections.Counter((s[1], s[2], s[3]) for s in spans(base=UTC))

# Into the recording of the same job.
shutil.rmtree("job", ignore_errors=True)
ran = sonde("run", "-q", "-o", "job", "--", "python3", "-c", "import time; print(time.time_ns()); time.sleep(0.3)")
assert ran.returncode == 0, ran
utc = int(ran.stdout)
imported(database("here.sqlite", NEW, **dict(EVENTS, TARGET_INFO_SESSION_START_TIME=[(utc, "", "")])), "--into", "job", to=None)
assert all(abs(s[2] - w[2]) <= 1000 for s, w in zip(spans("job", utc), WANTED)), spans("job", utc)
assert "of another time" in imported("new.sqlite", "--into", "job", to=None, code=1)

# What is no such database, and what is malformed anywhere: a sentence, and nothing is left.
pathlib.Path("none").write_bytes(b"")
pathlib.Path("text").write_text("SQLite format 3, not", encoding="utf-8")
for path, words in (("none", "nsys export"), ("text", "nsys export"), (database("empty.sqlite", ["CREATE TABLE a (b)"]), "no table of Nsight Systems"), (database("wide.sqlite", ["PRAGMA encoding='UTF-16'", "CREATE TABLE a (b)"]), "UTF-8"), ("missing", "cannot open")):
    said = imported(path, code=1)
    assert words in said and not os.path.exists("rec"), (path, said)
whole = pathlib.Path("new.sqlite").read_bytes()
small = pathlib.Path(database("small.sqlite", NEW, 512, **EVENTS)).read_bytes()
for turn in range(120):
    broken = bytearray(small)
    if turn % 4 == 0:
        broken = broken[:rng.randrange(len(broken))]
    for _ in range(rng.randrange(1, 30) if turn % 4 else 0):
        broken[rng.randrange(100, len(broken))] = rng.randrange(256)
    pathlib.Path("broken").write_bytes(broken)
    shutil.rmtree("rec", ignore_errors=True)
    ended = sonde("import", "nsys", "broken", "-o", "rec")
    assert ended.returncode in (0, 1) and os.path.exists("rec") == ("imported" in ended.stderr), (turn, ended)
