# SPDX-License-Identifier: Apache-2.0
# plain
"""Spans of tasks of asyncio, trio and anyio, which end in another order than they began, of generators that take turns, and of threads of a pool: each has
the times that the program's own clock has, and those of a task lie within each other in one row."""
import csv
import json
import os
import subprocess
import sys

from patience import patience

sys.path.insert(0, os.environ["TOP"] + "/tests")
from readers import enter

enter("venv-timelines")

SONDE = os.environ["SONDE"]
os.environ |= {"SONDE_HISTORY": "off", "SONDE_LIBRARY": os.environ["BUILD"] + "/libsonde.so.0"}
os.environ["PYTHONPATH"] = os.environ["TOP"] + "/python:" + os.environ.get("PYTHONPATH", "")
PROGRAM = """
import asyncio, concurrent.futures, contextlib, json, time
import anyio, trio
import sonde

said = []

@contextlib.contextmanager
def timed(name):
    began = time.monotonic()
    try:
        with sonde.span(name):
            within = time.monotonic()
            try:
                yield
            finally:
                inner_end = time.monotonic()
    finally:
        said.append((name, inner_end - within, time.monotonic() - began))

async def job(name, seconds, sleep):
    began = time.monotonic()
    async with sonde.span(name):
        within = time.monotonic()
        try:
            with sonde.span(name + " inner"):
                await sleep(seconds / 2)
            await sleep(seconds / 2)
        finally:
            inner_end = time.monotonic()
    said.append((name, inner_end - within, time.monotonic() - began))

def in_thread(name, seconds):
    with timed(name):
        time.sleep(seconds)

LONG = (("5", .5), ("1", .1), ("3", .3))

async def of_asyncio():
    await asyncio.gather(*(job("asyncio " + name, s, asyncio.sleep) for name, s in LONG), asyncio.to_thread(in_thread, "asyncio thread", .2))
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(job("asyncio late", 5, asyncio.sleep), .1)

async def of_trio():
    async with trio.open_nursery() as tasks:
        for name, s in LONG:
            tasks.start_soon(job, "trio " + name, s, trio.sleep)
        await trio.to_thread.run_sync(in_thread, "trio thread", .2)
    with trio.move_on_after(.1):
        await job("trio late", 5, trio.sleep)

async def of_anyio():
    async with anyio.create_task_group() as tasks:
        for name, s in LONG:
            tasks.start_soon(job, "anyio " + name, s, anyio.sleep)
        await anyio.to_thread.run_sync(in_thread, "anyio thread", .2)

def turns(name):
    with timed(name):
        yield
        with timed(name + " inner"):
            yield
        yield

asyncio.run(of_asyncio())
trio.run(of_trio)
anyio.run(of_anyio)
one, two = turns("generator one"), turns("generator two")
next(one), time.sleep(.05), next(two), time.sleep(.05), next(one), time.sleep(.05)
list(one), time.sleep(.05), list(two)
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    list(pool.map(lambda i: in_thread(f"pooled {i}", .02 * (i % 3 + 1)), range(12)))
with open("said.json", "w") as f:
    json.dump(said, f)
"""

subprocess.run([SONDE, "run", "-q", "-o", "out", "--", sys.executable, "-c", PROGRAM], check=True, timeout=patience(120))
subprocess.run([SONDE, "export", "--to", "csv", "-o", "csv", "out"], check=True, timeout=patience(60), stderr=subprocess.DEVNULL)
with open("csv/spans.csv", encoding="utf-8") as rows:
    spans = {row["name"]: row for row in csv.DictReader(rows)}
with open("said.json", encoding="utf-8") as file:
    said = json.load(file)
assert {f"{kind} {name}" for kind in ("asyncio", "trio", "anyio") for name in ("1", "3", "5", "thread")} < set(spans), sorted(spans)
for name, least, most in said:
    took = float(spans[name]["duration_seconds"])
    assert least - 1e-6 <= took <= most + 1e-6, f"{name}: {took} s, by its own clock {least} to {most}"
for name, row in spans.items():
    outer = spans.get(name.removesuffix(" inner"))
    if outer is row or not outer:
        continue
    assert row["track"] == outer["track"] and outer["begin_time"] <= row["begin_time"] and row["end_time"] <= outer["end_time"], (row, outer)
assert {"asyncio late", "trio late"} < set(spans) and not any(row["detail"] for row in spans.values()), "tasks that were cancelled"
shown = json.loads(subprocess.run([SONDE, "show", "--json", "out"], check=True, timeout=patience(60), capture_output=True, text=True).stdout)
assert "spans.wrong_order" not in shown["nodes"][0]["metadata"], shown["nodes"][0]["metadata"]
