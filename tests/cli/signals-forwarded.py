# SPDX-License-Identifier: Apache-2.0
"""A signal sent to sonde reaches the job once; so does what is typed at the terminal; stopping and going on work."""
import os
import pty
import signal
import subprocess
import sys
import time

SONDE = os.environ["SONDE"]
PROGRAM = os.environ["PROGRAMS"] + "/signals"
faults = 0


def expect(what, want, got):
    global faults
    if want != got:
        print(f"{what}: wanted {want!r}, got {got!r}")
        faults += 1


def start(out):
    p = subprocess.Popen([SONDE, "run", "--quiet", "-o", out, "--", PROGRAM], stdout=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "ready\n"
    return p


for name in ["TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "WINCH", "CONT"]:
    p = start("out_" + name)
    p.send_signal(getattr(signal, "SIG" + name))
    expect(name, f"{name} 1\n", p.stdout.read())
    expect(f"exit code after {name}", 7, p.wait())

# A signal to the whole process group has reached the job already: it is not sent a second time.
p = subprocess.Popen([SONDE, "run", "--quiet", "-o", "out_group", "--", PROGRAM], stdout=subprocess.PIPE, text=True,
                     start_new_session=True)
p.stdout.readline()
os.killpg(p.pid, signal.SIGTERM)
expect("TERM to the group", "TERM 1\n", p.stdout.read())
expect("exit code after TERM to the group", 7, p.wait())

# timeout(1) signals its child, then the group.
p = subprocess.run(["timeout", "--signal=TERM", "0.5", SONDE, "run", "--quiet", "-o", "out_timeout", "--", PROGRAM],
                   stdout=subprocess.PIPE, text=True)
expect("TERM by timeout", True, "TERM 1\n" in p.stdout)

# Ctrl-C at a terminal goes to the whole foreground group: sonde must not send it a second time.
pid, terminal = pty.fork()
if pid == 0:
    os.execv(SONDE, [SONDE, "run", "--quiet", "-o", "out_terminal", "--", PROGRAM])
said = b""
while b"ready" not in said:
    said += os.read(terminal, 4096)
os.write(terminal, b"\x03")
try:
    while True:
        more = os.read(terminal, 4096)
        if not more:
            break
        said += more
except OSError:
    pass
expect("ctrl-c", "INT 1", said.decode().replace("^C", "").split("ready")[1].strip())
expect("exit code after ctrl-c", 7, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

# A job that ignores a signal is not ended by it, and sonde stays with it.
p = subprocess.Popen([SONDE, "run", "--quiet", "-o", "out_ignored", "--", "sh", "-c",
                      "trap '' TERM; echo ready; sleep 0.5; exit 3"], stdout=subprocess.PIPE, text=True)
p.stdout.readline()
time.sleep(0.1)
p.terminate()
expect("a job that ignores TERM", 3, p.wait())
sys.exit(1 if faults else 0)
