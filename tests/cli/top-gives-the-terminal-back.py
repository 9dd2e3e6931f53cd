# SPDX-License-Identifier: Apache-2.0
"""However `sonde top` ends or is stopped, the terminal is given back as it was; and nothing of -p stays behind."""
import os
import signal
import subprocess
import time

import terminal

SONDE = os.environ["SONDE"]
sleeper = subprocess.Popen(["sleep", "300"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
os.mkdir("temporary")


def started(*arguments):
    session = terminal.Session([SONDE, "top", *arguments], TMPDIR=os.path.abspath("temporary"))
    session.until_text("COMMAND")
    return session


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(x) for x in f.read().split()]


def comm(pid):
    with open(f"/proc/{pid}/comm", encoding="ascii") as f:
        return f.read().strip()


def watcher_of(session):
    """The process that shows the screen, beside the recorder of -p."""
    return next(pid for pid in children_of(session.pid) if comm(pid) == "sonde")


def wait_until(what, holds):
    end = time.monotonic() + terminal.PATIENCE
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def nothing_left():
    wait_until("the temporary recording stays", lambda: not os.listdir("temporary"))


arguments = ("-p", str(sleeper.pid))
for ends, code in (("q", 0), ("\x03", 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 0)):
    session = started(*arguments)
    assert os.listdir("temporary")
    if isinstance(ends, str):
        session.send(ends)
    else:
        os.kill(session.pid, ends)
    assert os.waitstatus_to_exitcode(session.wait()) == code, ends
    session.given_back()
    nothing_left()

# What shows the screen is killed, as by a fault of it.
for fault in (signal.SIGKILL, signal.SIGSEGV):
    session = started(*arguments)
    os.kill(watcher_of(session), fault)
    assert os.waitstatus_to_exitcode(session.wait()) == 128 + fault
    session.given_back()
    assert f"signal {int(fault)}".encode() in session.log
    nothing_left()

# It is killed itself: the others notice.
session = started(*arguments)
watcher = watcher_of(session)
os.kill(session.pid, signal.SIGKILL)
session.wait()
wait_until("what shows the screen lives on", lambda: not os.path.exists(f"/proc/{watcher}/exe"))
session.take(0.5)
session.given_back()
nothing_left()

# Ctrl-Z, then resumed: the whole screen again.
session = started(*arguments)
before = session.screen.lines()[2]
session.send("\x1a")
status = session.wait(os.WUNTRACED)
assert os.WIFSTOPPED(status), status
session.given_back()
session.screen.resize(24, 80)
os.kill(session.pid, signal.SIGCONT)
session.until("the screen", lambda lines: lines[2] == before)
assert session.screen.modes["?1049"] and not session.screen.modes["?25"]
session.send("q")
assert session.wait() == 0
session.given_back()
nothing_left()

assert sleeper.poll() is None, "the process that was watched did not live on"
sleeper.kill()
sleeper.wait()
