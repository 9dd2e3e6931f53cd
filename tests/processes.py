# SPDX-License-Identifier: Apache-2.0
"""Finding the recorder from outside, for tests that do things to it."""
import os
import time

from patience import patience


def recorder_of(directory, seconds=10.0):
    """The pid of the recorder that holds a file of the directory open."""
    prefix = os.path.realpath(directory) + "/node-"
    end = time.monotonic() + patience(seconds)
    while time.monotonic() < end:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
                    if f.read() != "sonde-recorder\n":
                        continue
                for fd in os.listdir(f"/proc/{pid}/fd"):
                    if os.readlink(f"/proc/{pid}/fd/{fd}").startswith(prefix):
                        return int(pid)
            except OSError:
                pass  # it has ended since
        time.sleep(0.005)
    raise TimeoutError(f"no recorder holds a file of {directory}")
