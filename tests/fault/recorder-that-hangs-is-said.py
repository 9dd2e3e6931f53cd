# SPDX-License-Identifier: Apache-2.0
"""A recorder that is stopped for good keeps the launcher waiting for a second or two only; then that is said."""
import os
import signal
import subprocess
import sys
import time

import processes

MOST_S = 8  # not the 15 s that a recorder gets which works; a busy machine may take its time

job = subprocess.Popen([os.environ["SONDE"], "run", "--quiet", "-o", "out", "--", "sh", "-c",
                        "until [ -e stopped ]; do sleep 0.05; done; touch ended; exit 3"], stderr=subprocess.PIPE)
recorder = processes.recorder_of("out")
os.kill(recorder, signal.SIGSTOP)
open("stopped", "w").close()
code = job.wait()
waited = time.time() - os.stat("ended").st_mtime
os.kill(recorder, signal.SIGCONT)
said = job.stderr.read().decode()
want = "sonde: recording: the recorder ended, or did not answer, before it was done; what it recorded is in out\n"
if (code, said) != (3, want):
    sys.exit(f"the job ended with {code}, and {said!r} was said")
if waited > MOST_S:
    sys.exit(f"the launcher waited for {waited:.1f} s")
