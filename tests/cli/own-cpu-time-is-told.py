# SPDX-License-Identifier: Apache-2.0
"""The CPU time that Sonde reports of itself is that of the launcher, its sentinel and the recorder, from their start until the recording is
sealed. The kernel counts what their ends take beside it."""
import ctypes
import json
import os
import resource
import statistics
import subprocess

PR_SET_CHILD_SUBREAPER = 36
SONDE = os.environ["SONDE"]


def waited_for():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def wait_for_all():
    """The recorder and the sentinel, too, whose parent ends."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def share_told(i):
    """Of what the kernel counted without the job."""
    before = waited_for()
    subprocess.run([SONDE, "run", "-q", "-o", f"out{i}", "--", "sleep", "0.2"], check=True)
    wait_for_all()
    counted = waited_for() - before
    shown = json.loads(subprocess.run([SONDE, "show", "--json", f"out{i}"], check=True, capture_output=True).stdout)
    told, own = shown["monitor"]["cpu_seconds"], counted - shown["job"]["cpu_seconds"]
    print(f"told {told * 1e3:.2f} ms, counted {own * 1e3:.2f} ms")
    return told / own


ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
share = statistics.median(share_told(i) for i in range(5))
assert 0.6 < share < 1.02, f"{share:.3f} of it is told"
