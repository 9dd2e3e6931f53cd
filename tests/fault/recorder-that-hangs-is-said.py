# SPDX-License-Identifier: Apache-2.0
"""A recorder that is stopped for good keeps the launcher waiting for a while only; then that is said."""
import os
import signal
import subprocess
import sys

import processes

job = subprocess.Popen([os.environ["SONDE"], "run", "--quiet", "-o", "out", "--", "sh", "-c", "sleep 0.5; exit 3"],
                       stderr=subprocess.PIPE)
recorder = processes.recorder_of("out")
os.kill(recorder, signal.SIGSTOP)
code = job.wait()
os.kill(recorder, signal.SIGCONT)
said = job.stderr.read().decode()
want = "sonde: recording: the recorder ended, or did not answer, before it was done; what it recorded is in out\n"
if (code, said) != (3, want):
    sys.exit(f"the job ended with {code}, and {said!r} was said")
