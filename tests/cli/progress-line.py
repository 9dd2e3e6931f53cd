# SPDX-License-Identifier: Apache-2.0
"""`run --progress` keeps a line on a terminal, and only there: it is gone before the job's end is told, nothing of it is in
what the job writes, and it is silent while the job is stopped."""
import os
import re
import signal
import subprocess
import time

import terminal

SONDE = os.environ["SONDE"]
LINE = re.compile(r"^sonde: \d+:\d\d:\d\d  ")


def has_line(lines):
    return any(LINE.match(line) for line in lines)


def run(*arguments, **environment):
    return terminal.Session([SONDE, "run", "-i", "200ms", "--progress", *arguments], **environment)


# The line is there while the job runs; then the summary stands in its place.
session = run("-o", "out", "--", "sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; exit 5")
lines = session.until("the line", lambda lines: has_line(lines) and " cores" in lines[0])
assert re.search(r"\d\.\d\d of \d+ cores", lines[0]), lines
assert len(lines[0]) < 80
session.resize(24, 40)
session.until("a narrow line", lambda lines: has_line(lines) and len(lines[0]) < 40)
open("go", "w").close()
assert os.waitstatus_to_exitcode(session.wait()) == 5
assert not has_line(session.screen.lines()), session.screen.lines()
session.given_back()

# Not asked for, or no terminal: nothing.
for arguments in (["--progress"], []):
    done = subprocess.run([SONDE, "run", "-q", *arguments, "-o", f"o{len(arguments)}", "--", "sleep", "1.5"],
                          stderr=subprocess.PIPE, check=True)
    assert not done.stderr, done.stderr

# The job's own standard output is its own.
with open("job.txt", "wb") as f:
    session = terminal.Session(["sh", "-c", f"{SONDE} run -q --progress -o own -- sh -c 'echo a; sleep 2.5; echo b' >job.txt"])
session.until("the line", has_line)
assert session.wait() == 0
assert open("job.txt", encoding="ascii").read() == "a\nb\n"

# Stopped by Ctrl-Z, it says nothing; resumed, it does again; Ctrl-C ends all of it.
session = run("-q", "-o", "stop", "--", "sleep", "1000")
session.until("the line", has_line)
foreground = os.tcgetpgrp(session.fd)
os.kill(-foreground, signal.SIGSTOP)
session.take(0.5)
session.take(1.2)
before = session.bytes
end = time.monotonic() + 3
while time.monotonic() < end:
    session.take(0.2)
assert session.bytes == before, "it goes on while its job is stopped"
os.kill(-foreground, signal.SIGCONT)
session.until("the line again", lambda lines: session.bytes > before and has_line(lines))
session.send("\x03")
assert os.waitstatus_to_exitcode(session.wait()) == -signal.SIGINT
assert not has_line(session.screen.lines())
