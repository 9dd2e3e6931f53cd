# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""In `sonde top` the key s shows what the threads of the process at the cursor wait for, with function and line, and s again looks anew; Esc goes back.
Of an ended recording it says why there are none."""
import os
import subprocess

import terminal
from ordinary_user import need_unwind
from patience import patience

SONDE, PROGRAMS = os.environ["SONDE"], os.environ["PROGRAMS"]
need_unwind()

job = subprocess.Popen([SONDE, "run", "--quiet", "-i", "100ms", "-o", "job", "--", PROGRAMS + "/stuck", "mutexes"], start_new_session=True)
try:
    while not os.path.isdir("job"):
        assert job.poll() is None
    session = terminal.Session([SONDE, "top", "job"], rows=24, columns=120)
    session.until_text("stuck")
    session.send("s")
    session.until_text("of 2 threads of stuck in pthread_mutex_lock < wait_for_mutex (stuck.c:")
    session.until_text("waits for a mutex at 0x")
    session.until_text("s look again")
    session.send("s")
    session.until_text("Deadlock: stuck (pid ")
    session.send("\x1b[B" * 9)  # down to the last line
    session.until("the last line is first", lambda lines: lines[2].startswith("Deadlock: stuck (pid "))
    session.send("\x1b")
    session.until("the processes", lambda lines: any("COMMAND" in line for line in lines))
    session.send("q")
    assert session.wait() == 0
finally:
    job.terminate()
    job.wait(patience(30))

session = terminal.Session([SONDE, "top", "job"], rows=24, columns=120)
session.until_text("replay")
session.send("s")
session.until_text("Stacks are shown of running processes of this machine.")
session.send("q")
assert session.wait() == 0
