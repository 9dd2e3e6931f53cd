# SPDX-License-Identifier: Apache-2.0
# alone
"""A program calls a function a stated number of times. An execution breakpoint on it, a perf event that needs neither rights nor
counters of the CPU, is counted through an events file: the same path as that of every hardware event, so it must be exact."""
import subprocess

import accuracy

CALLS, METRIC, RATE = 54_321, "perf.calls.calls", "perf.calls.calls_per_second"
WORK = ("setarch", "-R", accuracy.program("account"), "calls")
table = accuracy.Comparison("Perf events")


def end(why):
    table.left_out(METRIC, why)
    table.end()


try:
    address = subprocess.run([*WORK, "0"], capture_output=True, text=True, check=True).stdout.strip()
    again = subprocess.run([*WORK, "0"], capture_output=True, text=True, check=True).stdout.strip()
except (OSError, subprocess.CalledProcessError):
    end("addresses cannot be kept from changing here")
if address != again:
    end("addresses change here from run to run")
with open("calls.events", "w", encoding="ascii") as f:
    f.write(f"group calls\nevent calls counted breakpoint config1={address}\n")
_, recording = accuracy.record("out", *WORK, str(CALLS), options=("--perf", "calls", "--events", "calls.events"))
if RATE not in {row["metric"] for row in recording.table("series")}:
    end("perf events are not permitted here")
table.row(METRIC, "calls of a function", round(recording.risen(RATE, "job.processes_live_count")), CALLS, apart=0)
table.end()
