# SPDX-License-Identifier: Apache-2.0
"""by_turns.py TURNS MINE THEIRS COMMAND: runs the same command TURNS times. Before each it waits for a byte in the FIFO MINE, and after it writes one
to the FIFO THEIRS, where another one waits, so that the arms of a comparison live at the same time and take turns. Prints the CPU seconds of each
turn."""
import resource
import subprocess
import sys


def cpu():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


turns, mine, theirs, command = int(sys.argv[1]), *sys.argv[2:]
with open(mine, "r+b", buffering=0) as wait, open(theirs, "r+b", buffering=0) as next_one:
    for _ in range(turns):
        wait.read(1)
        before = cpu()
        subprocess.run(["sh", "-c", command], check=True)
        print(f"{cpu() - before:.6f}")
        next_one.write(b"x")
