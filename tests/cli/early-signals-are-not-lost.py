# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""Ctrl-C, and a TERM to the whole group, end the job however early they come."""
import os
import pty
import select
import signal
import subprocess
import sys
import time

from patience import patience

SONDE = os.environ["SONDE"]
ROUNDS = 200 if os.environ.get("LONG") else 50
LATEST = 0.05  # seconds
PATIENCE = patience(30)
faults = 0


def expect(what, want, got):
    global faults
    if want != got:
        print(f"{what}: wanted {want!r}, got {got!r}")
        faults += 1


def argv(name):
    return [SONDE, "run", "--quiet", "-o", name, "--", "sleep", "60"]


def terminate(n, delay):
    p = subprocess.Popen(argv(f"term_{n}"), start_new_session=True)
    time.sleep(delay)
    os.killpg(p.pid, signal.SIGTERM)
    try:
        return p.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        return None


def interrupt(n, delay):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(SONDE, argv(f"int_{n}"))
    while os.tcgetpgrp(terminal) != pid:
        pass
    time.sleep(delay)
    os.write(terminal, b"\x03")
    end = time.monotonic() + PATIENCE
    ended = 0
    while not ended and time.monotonic() < end:
        if select.select([terminal], [], [], 0.02)[0]:
            try:
                os.read(terminal, 4096)
            except OSError:
                pass
        ended, status = os.waitpid(pid, os.WNOHANG)
    if not ended:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status) if ended else None


signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own would be in the child until it executes sonde
for n in range(ROUNDS):
    delay = LATEST * n / (ROUNDS - 1)
    expect(f"TERM after {delay * 1000:.1f} ms", -signal.SIGTERM, terminate(n, delay))
    expect(f"Ctrl-C after {delay * 1000:.1f} ms", -signal.SIGINT, interrupt(n, delay))
    if faults > 5:
        break
sys.exit(1 if faults else 0)
