# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""Each signal that a process can take does to sonde and its job what it does to the job without sonde, and comes with its value."""
import ctypes
import os
import signal
import subprocess
import sys
import time

from patience import patience

SONDE = os.environ["SONDE"]
PROGRAM = os.environ["PROGRAMS"] + "/siginfo"
SIGNALS = [n for n in range(1, 65) if n not in (signal.SIGKILL, signal.SIGSTOP)]
STOPS = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
libc = ctypes.CDLL(None, use_errno=True)
faults = 0


def expect(what, want, got):
    global faults
    if want != got:
        print(f"{what}: wanted {want!r}, got {got!r}")
        faults += 1


def start(n, *command):
    record = [SONDE, "run", "--quiet", "-o", f"{os.path.basename(command[0])}_{n}", "--"]
    p = subprocess.Popen([*record, *command], stdout=subprocess.PIPE, text=True)
    assert p.stdout.readline().startswith("ready")
    return p


def is_stopped(pid):
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rsplit(")")[-1].split()[0] == "T"


# Caught: each with the value that it was sent with.
job = start(0, PROGRAM)
for n in SIGNALS:
    if n != signal.SIGTERM:
        assert libc.sigqueue(job.pid, n, ctypes.c_void_p(n + 1000)) == 0, n
        expect(f"signal {n}", f"{n} {n + 1000}\n", job.stdout.readline())
for n in (33, 64, 64):
    os.kill(job.pid, n)
    expect(f"signal {n} by kill", f"{n} -1\n", job.stdout.readline())
os.kill(job.pid, signal.SIGTERM)
expect("TERM", f"{int(signal.SIGTERM)} -1\n", job.stdout.readline())
expect("exit code", 7, job.wait())

# By default: what does not end the job stops it or is nothing to it.
for first in range(0, len(SIGNALS), 8):
    jobs = {n: start(n, "sh", "-c", "echo ready; exec sleep 60") for n in SIGNALS[first : first + 8]}
    for n, job in jobs.items():
        os.kill(job.pid, n)
    for n, job in jobs.items():
        if n in STOPS:
            end = time.monotonic() + patience(20)
            while not is_stopped(job.pid) and time.monotonic() < end:
                time.sleep(0.01)
            expect(f"signal {n} stops sonde", True, is_stopped(job.pid))
            os.kill(job.pid, signal.SIGCONT)
        if n in STOPS or n in (signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH):
            os.kill(job.pid, signal.SIGTERM)
            n = int(signal.SIGTERM)
        try:
            expect(f"status after signal {n}", -n, job.wait(patience(30)))
        except subprocess.TimeoutExpired:
            expect(f"signal {n} within 30 s", True, False)
            job.kill()
        # The job is not left behind: its end of the pipe is closed.
        job.stdout.read()
sys.exit(1 if faults else 0)
