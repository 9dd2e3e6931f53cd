# SPDX-License-Identifier: Apache-2.0
# quiet
"""A program touches a given number of fresh pages, or yields the processor a given number of times, then prints what the kernel charged
it (getrusage) and is sampled once more."""
import subprocess
import time

import accuracy

PAGES, TIMES = 20_000, 500
LOOK = 2.6  # threads are looked at every 2 s
table = accuracy.Comparison("Faults and context switches")


def account(*words, wait=0.4):
    """(rusage as it printed it, the recording)"""
    with accuracy.begin(words[0], accuracy.program("account"), *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as job:
        figures = [float(x) for x in job.stdout.readline().split()]
        time.sleep(wait)
        job.communicate("")
    return figures, accuracy.Recording(words[0])


rusage, faults = account("faults", str(PAGES))
measured = faults.finals("account")["process.minor_faults"]
table.row("process.minor_faults", "getrusage, and those of printing it", measured, rusage[2], above=30)
table.row("process.minor_faults", "fresh pages touched, and those of starting a program", measured, PAGES, above=500)
table.row("process.major_faults", "getrusage", faults.finals("account")["process.major_faults"], rusage[3], apart=0)

rusage, switches = account("switches", str(TIMES), wait=LOOK)
final = switches.finals("account")
total = {kind: switches.series(f"job.waited_{kind}_switches")[-1][1] for kind in ("voluntary", "involuntary")}
table.row("process.voluntary_switches", "getrusage, and those of printing it", final["process.voluntary_switches"], rusage[4], above=5)
table.row("process.voluntary_switches", "sleeps, and those of starting a program", final["process.voluntary_switches"], TIMES, above=50)
table.row("process.involuntary_switches", "getrusage, and those of printing it", final["process.involuntary_switches"], rusage[5], above=5)
table.row("job.waited_voluntary_switches", "getrusage, and those of ending", total["voluntary"], rusage[4], above=10)
table.row("job.waited_involuntary_switches", "getrusage, and those of ending", total["involuntary"], rusage[5], above=10)

rusage, threads = account("threads", "4", "300", wait=LOOK)
total = threads.series("job.waited_involuntary_switches")[-1][1]
table.row("job.waited_involuntary_switches", "getrusage, of threads that have ended, too", total, rusage[5], above=10)
table.end()
