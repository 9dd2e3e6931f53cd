# SPDX-License-Identifier: Apache-2.0
"""Four processes of one step length, each at another part of it: regular looks would find the same one at work each time, and never
where it waits. Whatever the length, each is seen to wait for about what it waits."""
import json
import os
import subprocess
import sys

from patience import patience

SONDE = os.environ["SONDE"]
STEPS = """
import math, os, time
LENGTH = 0.0501  # half of the distance of two looks
began = time.monotonic()
i = next((i for i in range(1, 4) if not os.fork()), 0)
for step in range(90):
    now = time.monotonic() - began
    time.sleep(max(0, LENGTH * (math.ceil(now / LENGTH - i / 4) + i / 4) - now))
    end = time.thread_time() + 0.011
    while time.thread_time() < end:
        pass
while i == 0:
    try:
        os.wait()
    except ChildProcessError:
        break
"""
subprocess.run([SONDE, "run", "-q", "--waits", "-o", "steps", "--", sys.executable, "-SE", "-c", STEPS], check=True, timeout=patience(60))
shown = subprocess.run([SONDE, "show", "--waits", "--json", "steps"], check=True, capture_output=True, text=True).stdout
threads = json.loads(shown)["thread"]
for t in threads:
    print(t["tid"], "waited", t["waited_seconds"], "unseen", t["unseen_seconds"])
assert len(threads) == 4, threads
assert all(t["unseen_seconds"] < 0.3 * t["waited_seconds"] or t["waited_seconds"] < 0.5 for t in threads)
