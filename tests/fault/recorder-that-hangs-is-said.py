# SPDX-License-Identifier: Apache-2.0
"""A recorder that is stopped for good keeps the launcher waiting for a second or two only; then that is said. So does one that is shared."""
import os
import signal
import subprocess
import sys
import time

import processes

MOST_S = 8  # not the 15 s that a recorder gets which works; a busy machine may take its time


def stopped(whose):
    """What is wrong when the recorder is stopped while the job runs."""
    out, runs, begun, ended = (f"{whose}.{what}" for what in ("out", "runs", "stopped", "ended"))
    job = subprocess.Popen([os.environ["SONDE"], "run", "--quiet", "--node-recorder", whose, "-o", out, "--", "sh", "-c",
                            f"touch {runs}; until [ -e {begun} ]; do sleep 0.05; done; touch {ended}; exit 3"], stderr=subprocess.PIPE)
    recorder = processes.recorder_of(out)
    while not os.path.exists(runs):
        time.sleep(0.01)
    os.kill(recorder, signal.SIGSTOP)
    open(begun, "w").close()
    code = job.wait()
    waited = time.time() - os.stat(ended).st_mtime
    os.kill(recorder, signal.SIGCONT)
    said = job.stderr.read().decode()
    want = f"sonde: recording: the recorder ended, or did not answer, before it was done; what it recorded is in {out}\n"
    if (code, said) != (3, want):
        return f"{whose}: the job ended with {code}, and {said!r} was said"
    return f"{whose}: the launcher waited for {waited:.1f} s" if waited > MOST_S else None


sys.exit(stopped("own") or stopped("shared"))
