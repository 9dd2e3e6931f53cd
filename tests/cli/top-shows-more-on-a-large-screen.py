# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""On a terminal of 200 x 50 `sonde top` has what 80 x 24 has no room for: bars, history, command lines and what each process waits for; no line is
longer than the screen, and the end of the job is seen on either."""
import os
import subprocess

import terminal
from patience import patience

SONDE = os.environ["SONDE"]
LARGE = ("CPU     [", "Memory  [", "History cores", "WAITS FOR", "a timer", "sh -c 'sleep 1000 & wait'")

job = subprocess.Popen([SONDE, "run", "--quiet", "-i", "100ms", "-o", "job", "--", "sh", "-c", "sleep 1000 & wait"], start_new_session=True)
try:
    while not os.path.isdir("job"):
        assert job.poll() is None
    session = terminal.Session([SONDE, "top", "job"], rows=50, columns=200)
    for text in LARGE:
        session.until_text(text)
    session.resize(24, 80)
    session.until("a small screen", lambda lines: len(lines) <= 24 and any("COMMAND" in line for line in lines) and
                  not any(text in line for line in lines for text in LARGE[:4]))
    assert all(len(line) <= 80 for line in session.screen.lines()), session.screen.lines()
    session.resize(50, 200)
    for text in LARGE:
        session.until_text(text)
    job.terminate()
    job.wait(patience(30))
    session.until_text("ended")
    session.resize(24, 80)
    session.until("a small screen", lambda lines: not any("WAITS FOR" in line for line in lines))
    session.until_text("ended")
    session.send("q")
    assert session.wait() == 0
finally:
    job.poll() is None and job.terminate()
