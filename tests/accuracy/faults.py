# SPDX-License-Identifier: Apache-2.0
# alone
"""A program touches a stated number of fresh pages, or gives up the processor a stated number of times, then prints what the kernel
charged it (getrusage) and is sampled once more."""
import subprocess
import time

import accuracy

PAGES, TIMES = 20_000, 500
table = accuracy.Comparison("Faults and context switches")


def account(*words):
    """(rusage as it printed it, the recording)"""
    with accuracy.begin(words[0], accuracy.program("account"), *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as job:
        figures = [float(x) for x in job.stdout.readline().split()]
        time.sleep(0.4)
        job.communicate("")
    return figures, accuracy.Recording(words[0])


rusage, faults = account("faults", str(PAGES))
measured = faults.finals("account")["process.minor_faults"]
table.row("process.minor_faults", "getrusage, and those of printing it", measured, rusage[2], above=30)
table.row("process.minor_faults", "fresh pages touched, and those of starting a program", measured, PAGES, above=500)
table.row("process.major_faults", "getrusage", faults.finals("account")["process.major_faults"], rusage[3], apart=0)

rusage, switches = account("switches", str(TIMES))
final = switches.finals("account")
if "process.voluntary_switches" in final:
    table.row("process.voluntary_switches", "getrusage, and one for each end of the wait", final["process.voluntary_switches"], rusage[4], apart=5)
    table.row("process.voluntary_switches", "sleeps", final["process.voluntary_switches"], TIMES, above=50)
else:
    table.left_out("process.voluntary_switches", "not measured by this build")
table.end()
