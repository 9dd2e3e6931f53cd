# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""The report in a real browser, from file:// and without a network: it draws, listens to keys and mouse, fits, and says nothing on the console."""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

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
function frame() { return new Promise((done) => setTimeout(done, 60)); }
async function check() {
	say('ready', document.documentElement.dataset.ready);
	say('charts', view.parts.length);
	say('drawn', view.parts.filter((p) => p.plot).length);
	say('unexplained', view.parts.filter((p) => !p.plot && !p.root.querySelector('.empty')).length);
	say('blank', [...document.querySelectorAll('canvas')].filter((c) => painted(c) < 3).length);
	say('wide', document.documentElement.scrollWidth - innerWidth);
	say('loads', [...document.querySelectorAll('[src], link[href], a[href], [style*=url]')].map((e) => e.getAttribute('src') || e.getAttribute('href')).filter((u) => !/^(#|data:,$)/.test(u)));
	say('smuggled', [typeof pwned, document.querySelectorAll('main img, main script, main iframe').length].join());
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
	const table = document.querySelector('table.sortable'), head = table.tHead.rows[0].cells[2];
	const names = [...table.tBodies[0].rows].map((r) => r.cells[0].textContent), cpu = [...table.tBodies[0].rows].map((r) => Number(r.cells[1].dataset.v ?? -1));
	say('largest first', cpu.every((v, i) => !i || cpu[i - 1] >= v));
	say('once each', new Set(names).size === names.length);
	click(head.querySelector('button'));
	const column = [...table.tBodies[0].rows].map((r) => r.cells[2].dataset.v).filter((v) => v !== undefined).map(Number);
	say('sorted', [head.getAttribute('aria-sort'), column.every((v, i) => !i || column[i - 1] >= v)]);
	say('unlabelled', [...document.querySelectorAll('button, select, [tabindex]')].filter((e) => !e.textContent.trim() && !e.getAttribute('aria-label')).length);
}
check().catch((e) => say('error', String(e))).then(() => {
	document.body.prepend(Object.assign(document.createElement('pre'), { id: 'found', textContent: JSON.stringify(found) }));
});
"""

WANTED = {
    "ready": "true", "unexplained": 0, "blank": 0, "loads": [], "smuggled": "undefined,0", "focused": True,
    "zoomed": [True, 1], "reset": [True, 1], "dragged": [True, 1], "whole": True, "hidden": ["false", True],
    "theme": True, "largest first": True, "once each": True, "sorted": ["descending", True], "unlabelled": 0,
}


def chromium(*arguments):
    profile = tempfile.mkdtemp(dir=".")
    try:
        return subprocess.run(["chromium", *FLAGS, f"--user-data-dir={profile}", *arguments], capture_output=True,
                              text=True, errors="replace", timeout=90, check=False)
    finally:
        shutil.rmtree(profile, ignore_errors=True)


def checked(path, width):
    """What the page's checks found, and the lines on its console."""
    with open(path, encoding="utf-8") as f:
        page = f.read()
    nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", page).group(1)
    with open("checked.html", "w", encoding="utf-8") as f:
        f.write(page.replace("</body>", f'<script nonce="{nonce}">{CHECKS}</script></body>'))
    run = chromium(f"--window-size={width},900", "--dump-dom", "file://" + os.path.abspath("checked.html"))
    found = re.search(r'<pre id="found">(.*?)</pre>', run.stdout, re.S)
    console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(found.group(1))) if found else {"error": run.stderr[-500:]}, console


def faults_of(path, width):
    found, console = checked(path, width)
    for line in console:
        yield f"{width}: on the console: {line}"
    for key, value in WANTED.items():
        if found.get(key) != value:
            yield f"{width}: {key}: wanted {value!r}, got {found.get(key)!r}"
    if "error" in found:
        yield f"{width}: {found['error']}"
        return
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
    job = f'for i in 1 2 3 4 5; do ./"$0" 200000 & "{os.environ["PROGRAMS"]}/spin" 100000; wait; done'
    subprocess.run([sonde, "run", "--quiet", "-i", "50ms", "-o", "out", "--", "sh", "-c", job, program], check=True)
    subprocess.run([sonde, "report", "--only", "html", "out"], check=True, stdout=subprocess.DEVNULL)
    return "out/report.html"


def main():
    if not shutil.which("chromium"):
        print("chromium is not installed")
        sys.exit(77)
    path = sys.argv[1] if len(sys.argv) > 1 else record()
    faults = [fault for width in (1280, 400) for fault in faults_of(path, width)]
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
