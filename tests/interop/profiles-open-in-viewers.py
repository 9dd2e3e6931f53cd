# SPDX-License-Identifier: Apache-2.0
"""Stacks open in the readers people have: `go tool pprof` and speedscope in headless Chromium, with the seconds that are in the recording
(tests/programs/stacked_run.c). A reader that is not there is said."""
import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading

SONDE, PROGRAMS, VIEWERS = os.environ["SONDE"], os.environ["PROGRAMS"], f"{os.environ['BUILD']}/viewers"
GO = shutil.which("go") or (os.path.exists("/usr/local/go/bin/go") and "/usr/local/go/bin/go")
skipped = []

subprocess.run([f"{PROGRAMS}/stacked_run", "rec"], check=True)
subprocess.run([SONDE, "export", "--to", "pprof,speedscope", "-o", "www", "rec"], check=True)


def pprof(*words):
    return subprocess.run([GO, "tool", "pprof", *words, "www/stacks.pb.gz"], check=True, capture_output=True, text=True).stdout


if GO:
    top = pprof("-top", "-unit=s", "-nodecount=20")
    assert "3s 42.86%" in top and "dot (inline)" in top, top
    assert "2.50s" not in top and "3s 42.86% 85.71%" in top, top
    rows = {line.split(None, 5)[5]: line.split()[:4] for line in top.splitlines() if line.strip()[:1].isdigit() and line.count("%") == 3}
    assert rows["main"][3] == "6.50s", rows
    solver = pprof("-top", "-unit=s", "-tagfocus=process=solver")
    assert "of 7s total" in solver and "6.50s, 92.86%" in solver, solver
    lines = pprof("-top", "-unit=s", "-lines")
    assert "solve.cc:41" in lines and "dot.h:7" in lines, lines
else:
    skipped.append("go is not there: pprof was not tried")

if shutil.which("chromium") and os.path.exists(f"{VIEWERS}/fetched"):
    import chromium

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    os.symlink(f"{VIEWERS}/node_modules/speedscope/dist/release", "www/speedscope")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory="www"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    browser = chromium.Chromium(flags=["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"])
    browser.open(f"{base}/speedscope/index.html#profileURL=/stacks.speedscope.json")
    text = browser.wait_for("document.title.startsWith('rec') && document.body.innerText")
    assert text and "solver (1/2)" in text, text
    browser.close()
else:
    skipped.append("chromium or speedscope is not there: speedscope was not tried")

if skipped:
    print("; ".join(skipped))
    sys.exit(77)
