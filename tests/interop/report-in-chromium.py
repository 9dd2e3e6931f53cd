# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""The report in a real browser, from file:// and without a network: it draws what the export has, listens to keys and mouse, fits, can be read in both
palettes, and says nothing on the console; of one node, and of three whose tasks are ranks, with phases and verdicts put into the data."""
import csv
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from patience import patience

FLAGS = ("--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
         "--disable-component-update --disable-sync --hide-scrollbars --virtual-time-budget=4000 "
         "--enable-logging=stderr").split() + ["--host-resolver-rules=MAP * ~NOTFOUND"]

# Runs in the page after its own script; `view` is what the page's script made.
CHECKS = r"""
const found = {};
const say = (name, value) => { found[name] = value; };
const painted = (canvas) => {
	const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
	const colours = new Set();
	for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 250) colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
	return colours.size;
};
const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
const click = (e) => e.dispatchEvent(new MouseEvent('click', { bubbles: true }));
const ranges = () => new Set(view.parts.filter((p) => p.plot).map((p) => [p.plot.scales.x.min, p.plot.scales.x.max].join())).size;
const at = () => view.parts.filter((p) => p.plot).map((p) => p.plot.cursor.idx);
/* Texts with less contrast to what is behind them than WCAG 2.1 AA wants. */
const luminance = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const parts = (text) => text.match(/[\d.]+/g).map(Number);
function behind(e) {
	for (; e; e = e.parentElement) {
		const colour = parts(getComputedStyle(e).backgroundColor);
		if (colour[3] === undefined || colour[3] > 0.99) return colour.slice(0, 3);
	}
	return [255, 255, 255];
}
function pale() {
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = new Set();
	for (let text = walk.nextNode(); text; text = walk.nextNode()) {
		const e = text.parentElement, style = getComputedStyle(e), size = parseFloat(style.fontSize);
		if (!text.data.trim() || !e.getClientRects().length || e.closest('script, style, noscript, svg, [disabled], .unseen, .quiet, .skip, #found')) continue;
		const [a, b] = [luminance(parts(style.color).slice(0, 3)), luminance(behind(e))].sort((x, y) => y - x);
		const wanted = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
		if ((a + 0.05) / (b + 0.05) < wanted) found.add(e.tagName + '.' + e.className + ' ' + ((a + 0.05) / (b + 0.05)).toFixed(2));
	}
	return [...found];
}
const type = (input, text) => { input.value = text; input.dispatchEvent(new Event('input', { bubbles: true })); };
const pick = (select, value) => { select.value = value; select.dispatchEvent(new Event('change', { bubbles: true })); };
async function checkVerdict() {
	const button = document.querySelector('.proof button:not([hidden])');
	if (!button) return 'none';
	let times = 0;
	const prove = view.prove;
	view.prove = function (proof) {
		times++;
		prove.call(this, proof);
	};
	proofs(view); /* as with each version of a live page */
	click(button);
	await frame();
	const part = view.chartOf(button.dataset.metric), box = part.root.getBoundingClientRect();
	const told = [part.root.querySelectorAll('.proved').length, document.activeElement === part.plotBox, box.bottom > 0 && box.top < innerHeight, view.range[0] > 0 && view.range[1] < view.full[1], view.proof.threshold];
	press('Escape');
	await frame();
	return [times, ...told, view.proof];
}
async function checkProcesses() {
	const box = document.querySelector('#processes input'), rows = () => document.querySelectorAll('#processes tbody tr').length, all = rows();
	type(box, 'spin[');
	const some = rows(), right = [...document.querySelectorAll('#processes tbody th')].every((th) => th.textContent.includes('spin'));
	type(box, 'no such process');
	const none = rows();
	type(box, '');
	const short = view.nodes.flatMap((n) => n.spec.processes).filter((p) => p.end !== undefined).sort((x, y) => x.end - x.start - (y.end - y.start))[0];
	type(box, '[' + short.pid + ']');
	click(document.querySelector('#processes tbody th button'));
	type(box, '');
	await frame();
	const lanes = view.parts.find((p) => p instanceof Lanes), told = [view.range[1] - view.range[0] < view.full[1], document.activeElement === lanes.plotBox].join();
	view.reset();
	return [some > 0 && some < all && right, none, rows() === all, told];
}
/* What is drawn of all nodes is what theirs come to, time by time. */
function sumsUp(metric) {
	const area = (node) => {
		const values = node.values(metric, 'mean');
		return node.x.reduce((sum, x, i) => sum + (typeof values[i] === 'number' && i ? values[i] * (x - node.x[i - 1]) : 0), 0);
	};
	const of = view.nodes.reduce((sum, node) => sum + area(node), 0);
	return of > 0.5 && Math.abs(area(view.total) - of) < 0.15 * of;
}
async function checkNodes() {
	if (view.nodes.length < 2) return null;
	view.show(0);
	const map = view.parts[0], before = view.node.index;
	map.plotBox.focus();
	press('ArrowDown');
	press('Enter');
	await frame();
	const opened = [view.node.index - before, document.getElementById('node').value === String(view.node.index)];
	const over = map.plot.over, mouse = (kind) => {
		const box = over.getBoundingClientRect();
		over.dispatchEvent(new MouseEvent(kind, { bubbles: true, movementX: 1, clientX: box.left + 9, clientY: box.top + 5 }));
	};
	for (const kind of ['mouseenter', 'mousemove', 'mousedown', 'mouseup']) mouse(kind);
	await frame();
	opened.push(view.node.index);
	pick(document.getElementById('beside'), '2');
	await frame();
	const pairs = [...document.querySelectorAll('.pair')], tops = view.charts.filter((c) => c.plot).map((c) => [c.spec.id, c.plot.scales.y.max]);
	const beside = [pairs.length > 3 && pairs.every((p) => p.children.length === 2), tops.every(([id, top]) => tops.filter(([other]) => other === id).every(([, t]) => t === top)), ranges()];
	pick(document.getElementById('beside'), '-1');
	await frame();
	return [opened, beside, document.querySelectorAll('.pair').length, document.querySelectorAll('#h-tasks ~ .scroll tbody tr').length];
}
/* What the lines of a metric hold when they are drawn, and how high the last point stands in its plot. */
function drawn(metric) {
	const chart = view.charts.find((c) => c.plot && c.lines.some((l) => l.metric === metric)), line = chart.lines.find((l) => l.metric === metric);
	const plot = chart.plot, values = plot.data.find((column) => column === line.values), last = values.findLastIndex((v) => typeof v === 'number');
	const foot = plot.valToPos(0, 'y'), top = plot.valToPos(plot.scales.y.max, 'y');
	return [view.node.x, values, (foot - plot.valToPos(values[last], 'y')) / (foot - top) * plot.scales.y.max];
}
/* What has no values is said in a line and takes no room. */
function checkFold() {
	const node = view.node, kept = node.spec.series, chart = view.charts.find((c) => c.spec.id === 'pressure'), lines = chart.spec.lines.map((l) => l.metric);
	node.spec.series = Object.fromEntries(Object.entries(kept).filter(([metric]) => !lines.includes(metric)));
	view.rebuild();
	const told = [chart.root.hidden, view.absent.textContent.includes('Pressure')];
	node.spec.series = kept;
	view.rebuild();
	return [...told, chart.root.hidden, view.absent.textContent.includes('Pressure')];
}
function checkPhases() {
	const phases = view.parts.find((p) => p instanceof Phases);
	if (!phases) return null;
	phases.read(phases.shown.find((bar) => bar.count > 1));
	return [phases.note.textContent, phases.reading.textContent, phases.rows];
}
function frame() { return new Promise((done) => setTimeout(done, 60)); }
async function check() {
	say('ready', document.documentElement.dataset.ready);
	say('charts', view.parts.length);
	say('drawn', view.parts.filter((p) => p.plot).length);
	say('unexplained', view.parts.filter((p) => !p.plot && !p.root.hidden && !p.root.querySelector('.empty, .icicle svg')).length);
	say('blank', [...document.querySelectorAll('canvas')].filter((c) => painted(c) < 3).length);
	say('layers', stacked([[1, undefined, 4, null], [null, 2, null, null]], [0, 1, 3, 4]));
	say('values', Object.fromEntries(DRAWN.map((metric) => [metric, drawn(metric)])));
	say('phases', checkPhases());
	say('folded', checkFold());
	say('total', view.total && [view.node.index, view.node.spec.host, sumsUp('job.cpu_cores')]);
	say('wide', document.documentElement.scrollWidth - innerWidth);
	say('loads', [...document.querySelectorAll('[src], link[href], a[href], [style*=url]')].map((e) => e.getAttribute('src') || e.getAttribute('href')).filter((u) => !/^(#|data:(,$|image\/svg\+xml;base64,))/.test(u)));
	say('smuggled', [typeof pwned, document.querySelectorAll('main img:not([src^="data:image/svg+xml;base64,"]), main script, main iframe').length].join());
	const plot = document.querySelector('.plot[tabindex="0"]');
	plot.focus();
	say('focused', document.activeElement === plot);
	press('ArrowRight');
	await frame();
	press('ArrowRight');
	await frame();
	say('cursors', [...new Set(at())]);
	say('spoken', document.getElementById('spoken').textContent);
	press('+');
	await frame();
	say('zoomed', [view.range[1] - view.range[0] < view.full[1], ranges()]);
	press('Escape');
	await frame();
	say('reset', [view.range.join() === view.full.join(), ranges()]);
	const over = plot.querySelector('.u-over'), box = over.getBoundingClientRect();
	const mouse = (type, x) => over.dispatchEvent(new MouseEvent(type, { bubbles: true, button: 0, buttons: 1, movementX: 1, clientX: box.left + x, clientY: box.top + 20 }));
	mouse('mouseenter', 40); mouse('mousemove', 40); mouse('mousedown', 40); mouse('mousemove', box.width / 2);
	await frame();
	document.dispatchEvent(new MouseEvent('mouseup', { bubbles: true, button: 0, clientX: box.left + box.width / 2, clientY: box.top + 20 }));
	await frame();
	say('dragged', [view.range[0] > 0 && view.range[1] < view.full[1], ranges()]);
	click([...document.querySelectorAll('#toolbar button')].pop());
	await frame();
	say('whole', view.range.join() === view.full.join());
	const entry = document.querySelector('.legend button'), first = view.charts[0].plot;
	click(entry);
	await frame();
	say('hidden', [entry.ariaPressed, first !== view.charts[0].plot]);
	const before = getComputedStyle(document.documentElement).backgroundColor;
	click(document.getElementById('theme'));
	await frame();
	say('theme', before !== getComputedStyle(document.documentElement).backgroundColor);
	const table = document.querySelector('#processes table'), head = table.tHead.rows[0].cells[2];
	const names = [...table.tBodies[0].rows].map((r) => r.cells[0].textContent), cpu = [...table.tBodies[0].rows].map((r) => Number(r.cells[1].dataset.v ?? -1));
	say('largest first', cpu.every((v, i) => !i || cpu[i - 1] >= v));
	say('once each', new Set(names).size === names.length);
	click(head.querySelector('button'));
	const column = [...table.tBodies[0].rows].map((r) => r.cells[2].dataset.v).filter((v) => v !== undefined).map(Number);
	say('sorted', [head.getAttribute('aria-sort'), column.every((v, i) => !i || column[i - 1] >= v)]);
	say('pale', pale());
	click(document.getElementById('theme'));
	await frame();
	say('pale, too', pale());
	say('verdict', await checkVerdict());
	say('processes', await checkProcesses());
	say('nodes', await checkNodes());
	say('unlabelled', [...document.querySelectorAll('button, select, [tabindex]')].filter((e) => !e.textContent.trim() && !e.getAttribute('aria-label')).length);
}
check().catch((e) => say('error', String(e))).then(() => {
	document.body.prepend(Object.assign(document.createElement('pre'), { id: 'found', textContent: JSON.stringify(found) }));
});
"""

WANTED = {
    "ready": "true", "unexplained": 0, "blank": 0, "loads": [], "layers": [[1, 2, 4, None], [1, 4, 4, None]], "smuggled": "undefined,0", "focused": True,
    "folded": [True, True, False, False], "zoomed": [True, 1], "reset": [True, 1], "dragged": [True, 1], "whole": True, "hidden": ["false", True],
    "theme": True, "largest first": True, "once each": True, "sorted": ["descending", True], "unlabelled": 0,
    "pale": [], "pale, too": [], "processes": [True, 0, True, "true,true"],
}

# Two phases, a mark, and a proof that is a part of the run: what few recordings have.
EVENTS = {"marks": [{"node": 0, "at": 0.2, "name": "epoch <1>"}], "marks_total": 1, "spans_total": 47,
          "spans": [{"node": 0, "from": 0.1, "to": 0.4, "name": "load", "track": "rank 0"}, {"node": 0, "from": 0.3, "name": "train"},
                    {"node": 0, "from": 0.1, "to": 0.2, "name": "step", "track": "rank 0", "count": 40, "lasted": 0.05},
                    {"node": 0, "from": 0.1, "to": 0.4, "name": "solve", "track": "rank 10 app 77"}, {"node": 0, "from": 0.2, "to": 0.3, "name": "solve", "track": "rank 2 app 76"}]}
PROOF = """<p class="proof"><span>proof</span><button type="button" hidden data-metric="job.cpu_cores" data-from="0.2" data-to="0.4" data-threshold="0.5">Show</button></p>"""
WANTED_OF_NODES = {
    "total": [-1, "All 3 nodes together", True], "nodes": [[1, True, 0], [True, True, 1], 0, 3], "verdict": [1, 1, True, True, True, 0.5, None],
    "phases": ["phases: 47, marks: 1; 45 of them on this node; 45 in 6 bars; 3 of the run are too many for a page",
               "rank 0: step ×40 · 100 ms to 200 ms · 50 ms in all, too short to draw separately",
               [["", 0], ["rank 0, node0", 1], ["rank 2 app 76, node0", 3], ["rank 10 app 77, node0", 4]]],
}
# Lines whose values are compared with the export's.
DRAWN = ["job.cpu_cores", "job.resident_bytes", "node.pressure_cpu_some_ratio"]


def chromium(*arguments):
    profile = tempfile.mkdtemp(dir=".")
    try:
        return subprocess.run(["chromium", *FLAGS, f"--user-data-dir={profile}", *arguments], capture_output=True,
                              text=True, errors="replace", timeout=patience(90), check=False)
    finally:
        shutil.rmtree(profile, ignore_errors=True)


def with_events(page):
    """The page with phases and a mark in its data, and a verdict."""
    head, data, tail = re.match(r'(.*<script type="application/json" id="data">)(.*?)(</script>.*)', page, re.S).groups()
    data = json.dumps(json.loads(data) | EVENTS).replace("<", "\\u003c")
    return head.replace('<h2 id="h-verdicts">', PROOF + '<h2 id="h-verdicts">') + data + tail


def checked(path, width, events):
    """What the page's checks found, and the lines on its console."""
    with open(path, encoding="utf-8") as f:
        page = f.read()
    page = with_events(page) if events else page
    nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", page).group(1)
    with open("checked.html", "w", encoding="utf-8") as f:
        f.write(page.replace("</body>", f'<script nonce="{nonce}">const DRAWN = {json.dumps(DRAWN)};{CHECKS}</script></body>'))
    run = chromium(f"--window-size={width},900", "--dump-dom", "file://" + os.path.abspath("checked.html"))
    found = re.search(r'<pre id="found">(.*?)</pre>', run.stdout, re.S)
    console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(found.group(1))) if found else {"error": run.stderr[-500:]}, console


def exported(directory):
    """{metric: {seconds: value}} of the first node."""
    subprocess.run([os.environ["SONDE"], "export", "--to", "csv", "-o", "csv", directory], check=True, stdout=subprocess.DEVNULL)
    with open("csv/series.csv", encoding="utf-8", newline="") as f:
        rows = [row for row in csv.DictReader(f) if row["metric"] in DRAWN and not row["instance"]]
    return {metric: {float(r["seconds"]): float(r["value"]) for r in rows if r["metric"] == metric and r["value"]} for metric in DRAWN}


def wrong_values(found, export):
    """What is drawn is what the export has, but for the 11 bits of fraction that the page keeps."""
    for metric, (times, values, height) in found.items():
        drawn = [(t, v) for t, v in zip(times, values) if v is not None]
        wanted = sorted(export[metric].items())
        if wanted and wanted[-1][0] > times[-1] + 1e-6:
            wanted.pop()  # the sample at the end, which came so soon after the one before that the page has no column for it
        if metric == "job.resident_bytes":  # it ends with the job: what the samples at its end saw is little
            while len(wanted) > len(drawn) > 2 and wanted[-1][1] < drawn[-1][1]:
                wanted.pop()
        if len(wanted) < 2 or len(drawn) != len(wanted):
            yield f"{metric}: {len(drawn)} points are drawn, {len(wanted)} exported"
        elif any(abs(t - at) > 1e-6 or abs(v - value) > abs(value) / 2048 for (t, v), (at, value) in zip(drawn, wanted)):
            yield f"{metric}: drawn {drawn}, exported {wanted}"
        elif abs(height - drawn[-1][1]) > abs(drawn[-1][1]) / 1000 + 1e-9:
            yield f"{metric}: {drawn[-1][1]} is drawn at {height}"


def faults_of(path, width, many=False, export=None):
    found, console = checked(path, width, many)
    for line in console:
        yield f"{width}: on the console: {line}"
    for key, value in (WANTED | (WANTED_OF_NODES if many else {})).items():
        if found.get(key) != value:
            yield f"{width}: {key}: wanted {value!r}, got {found.get(key)!r}"
    if "error" in found:
        yield f"{width}: {found['error']}"
        return
    for fault in wrong_values(found["values"], export) if export else ():
        yield f"{width}: {fault}"
    if found["drawn"] < 3:
        yield f"{width}: only {found['drawn']} of {found['charts']} charts are drawn"
    if found["wide"] > 0:
        yield f"{width}: {found['wide']} pixels too wide"
    if len(found["cursors"]) != 1 or found["cursors"][0] is None:
        yield f"{width}: the cursors stand apart: {found['cursors']}"
    if ":" not in found["spoken"]:
        yield f"{width}: nothing is spoken for the cursor: {found['spoken']!r}"


def record():
    """A job with processes that are worth a lane, one of them with a hostile name."""
    program = "<img src=x onerror=pwned=1>"
    os.symlink(os.path.join(os.environ["PROGRAMS"], "spin"), program)
    sonde = os.environ["SONDE"]
    job = f'for i in 1 2 3 4 5 6 7 8 9 10; do ./"$0" 200000 & "{os.environ["PROGRAMS"]}/spin" 100000; wait; done'
    subprocess.run([sonde, "run", "--quiet", "-i", "50ms", "-o", "out", "--", "sh", "-c", job, program], check=True)
    subprocess.run([sonde, "report", "--only", "html", "out"], check=True, stdout=subprocess.DEVNULL)
    return "out/report.html"


def record_nodes():
    """Three nodes of a job, a task on each."""
    for node in range(3):
        job = {"SLURM_JOB_ID": "5", "SLURM_STEP_ID": "0", "SLURM_JOB_NODELIST": "node[0-2]", "SLURMD_NODENAME": f"node{node}",
               "SLURM_PROCID": str(node), "SLURM_GTIDS": str(node)}
        subprocess.run([os.environ["SONDE"], "run", "--quiet", "-i", "50ms", "-o", "nodes", "--", "sh", "-c",
                        f'"{os.environ["PROGRAMS"]}/spin" {400000 + 200000 * node}; sleep 0.3'], check=True, env=os.environ | job)
    subprocess.run([os.environ["SONDE"], "report", "nodes"], check=True, stdout=subprocess.DEVNULL)
    return "nodes/report.html"


def main():
    if not shutil.which("chromium"):
        print("chromium is not installed")
        sys.exit(77)
    path = sys.argv[1] if len(sys.argv) > 1 else record()
    export = None if len(sys.argv) > 1 else exported(os.path.dirname(path))
    faults = [fault for width in (1280, 400) for fault in faults_of(path, width, export=export)]
    if len(sys.argv) == 1:
        path = record_nodes()
        faults += [f"nodes: {fault}" for width in (1280, 400) for fault in faults_of(path, width, many=True)]
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
