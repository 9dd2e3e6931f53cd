# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""What threads waited for, in a real browser: the chart over time has the seconds of the bar, beside the cores, of each node and of all together; so has
the icicle of functions, which follows the range, the node and the process, is searched and zoomed into by keys, and of a job with samples of CPU time
is a switch away from those. All of it fits a narrow window and paper, and hostile names stay text."""
import json
import os
import shutil
import subprocess
import sys

from chromium import Chromium

SONDE, PROGRAMS = os.environ["SONDE"], os.environ["PROGRAMS"]
faults = []

CHECKS = r"""(() => {
	const found = {}, section = document.querySelector('[aria-labelledby="h-waits"]'), chart = view.charts.find((c) => c.spec.id === 'waits');
	const seconds = () => Object.fromEntries(chart.lines.map((l) => [l.label, l.values.reduce((sum, v, i) => sum + (v ?? 0) * (chart.node.x[i] - (i ? chart.node.x[i - 1] : 0)), 0)]));
	found.before = view.data.charts.findIndex((c) => c.id === 'waits') - view.data.charts.findIndex((c) => c.title === 'Cores used');
	found.all = seconds();
	found.nodes = view.nodes.map((n) => { view.show(n.index); return [n.spec.host, seconds()]; });
	view.show(-1);
	found.bar = [...section.querySelectorAll('svg.account rect')].length;
	found.legend = [...section.querySelectorAll('ul.account li')].length;
	found.rows = section.querySelectorAll('tbody tr').length;
	found.sorted = (() => { [...section.querySelectorAll('thead button')].find((b) => b.textContent === 'Function').click(); return section.querySelector('tbody th').textContent; })();
	found.page = document.documentElement.scrollWidth - innerWidth;
	found.plot = chart.plotBox.querySelector('canvas').getBoundingClientRect().right - innerWidth;
	found.hostile = [typeof pwned, document.querySelectorAll('main script').length];
	return JSON.stringify(found);
})()"""

ICICLE = r"""(() => {
	const part = view.parts.find((p) => p instanceof Code), found = {};
	const press = (key) => part.plotBox.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
	const choose = (value) => { part.process.value = value; part.process.dispatchEvent(new Event('change')); };
	const search = (text) => { part.search.value = text; part.search.dispatchEvent(new Event('input')); return [part.found.textContent, part.box.querySelectorAll('.hit').length]; };
	const kinds = () => part.stacks.spec.classes.map((label, k) => [label, part.sums.self.reduce((sum, s, i) => sum + (part.stacks.kind[i] === k ? s : 0), 0)]).filter(([, s]) => s > 0);
	found.switch = [...part.switch.querySelectorAll('button')].map((b) => [b.textContent, b.getAttribute('aria-pressed')]);
	found.hidden = part.switch.hidden;
	found.first = [part.what, part.host.parentElement.querySelector('h3').textContent];
	if (part.what !== 'waits') [...part.switch.querySelectorAll('button')].find((b) => b.textContent === 'Waits').click();
	found.title = part.head.querySelector('h3').textContent;
	found.apart = part.box.classList.contains('waits');
	found.all = part.all;
	found.kinds = kinds();
	found.list = part.stacks.list(part.sums).map((row) => [row.f.name, row.self, row.total, row.f.file, row.f.line]);
	found.rows = [...part.table.rows].map((row) => [...row.cells].map((cell) => cell.textContent));
	found.root = part.told(0);
	found.fills = [...part.box.querySelectorAll('g')].map((g) => [g.querySelector('text')?.textContent, g.querySelector('rect').getAttribute('fill')]);
	found.orange = colour('orange');
	const half = view.full[1] / 2, halves = [[0, half], [half, view.full[1]]].map(([from, to]) => { view.zoom(from, to); return part.all; });
	view.reset();
	found.halves = halves;
	found.nodes = view.nodes.map((n) => { view.show(n.index); return [n.spec.host, part.all]; });
	view.show(-1);
	found.chosen = [...part.process.options].slice(1).map((o) => { choose(o.value); return [o.textContent, part.sums.total[0], part.all]; });
	choose('');
	found.search = search('mutex');
	search('');
	part.plotBox.focus();
	press('ArrowDown');
	press('ArrowDown');
	const at = part.told(part.at);
	press('Enter');
	found.zoomed = [part.zoomed > 0, part.reading.textContent === at, document.getElementById('spoken').textContent !== '', part.out.disabled];
	press('Escape');
	found.out = [part.zoomed, part.out.disabled];
	found.widest = Math.max(...[...part.box.querySelectorAll('rect')].map((r) => Number(r.getAttribute('width'))));
	found.box = part.box.clientWidth;
	found.page = document.documentElement.scrollWidth - innerWidth;
	const code = [...part.switch.querySelectorAll('button')].find((b) => b.textContent === 'CPU');
	if (code) {
		choose([...part.process.options].find((o) => o.textContent === 'hold_up').value);
		code.click();
		found.back = [part.what, part.head.querySelector('h3').textContent, part.process.selectedOptions[0].textContent, part.sums.total[0], part.box.classList.contains('waits')];
	}
	return JSON.stringify(found);
})()"""

# Of what a thread did: the chart ends where the nodes' points do.
WHOLE = {"on a CPU": 4, "ready, but without a core": 1, "waits for data from a pipe": 10, "sleeps (timer)": 6.5, "waits for a mutex": 3, "waits for a child": 0.5,
         "waits for something else": 3, "waited, before a look found where": 2}


def check(what, good):
    if not good:
        faults.append(what)


def equal(found, wanted, share=0.03):
    return set(found) == set(wanted) and all(abs(found[k] - wanted[k]) <= share * wanted[k] + 0.01 for k in wanted)


def looked_at(directory, width, *scripts):
    browser = Chromium(width)
    try:
        browser.open(f"file://{os.path.abspath(directory)}/report.html")
        browser.wait_for("document.documentElement.dataset.ready")
        found = [json.loads(browser.evaluate(script) or '{"error": 1}') for script in scripts]
        browser.ask("Emulation.setEmulatedMedia", media="print")
        found[0]["printed"] = browser.evaluate("(() => { const s = document.querySelector('[aria-labelledby=\"h-waits\"]').getBoundingClientRect(); const f = document.querySelector('#chart-functions').getBoundingClientRect(); return [s.height > 0 && f.height > 0, Math.max(s.right, f.right) - innerWidth]; })()")
        return found
    finally:
        browser.close()


def report(directory):
    subprocess.run([SONDE, "report", "--only", "html", directory], check=True, stdout=subprocess.DEVNULL)


def near(a, b, share=0.02):
    return abs(a - b) <= share * max(abs(a), abs(b), 0.01)


def section(found, width):
    check(f"{width}: {found['before']} charts behind the cores", found["before"] == 1)
    check(f"{width}: all: {found['all']}", equal(found["all"], WHOLE))
    nodes = dict(found["nodes"])
    check(f"{width}: n1: {nodes}", equal(nodes["n1"], {k: WHOLE[k] for k in (*list(WHOLE)[:3], "waits for a mutex", "waited, before a look found where")}))
    check(f"{width}: n2: {nodes}", equal(nodes["n2"], {k: WHOLE[k] for k in ("sleeps (timer)", "waits for a child", "waits for something else")}))
    check(f"{width}: bar: {found['bar']} {found['legend']} {found['rows']}", (found["bar"], found["legend"], found["rows"]) == (8, 8, 10))
    check(f"{width}: sorted: {found['sorted']}", found["sorted"].startswith(("/", "work")))
    check(f"{width}: {found['page']} pixels too wide, the chart {found['plot']}", found["page"] <= 0 and found["plot"] <= 0)
    check(f"{width}: a script of a name: {found['hostile']}", found["hostile"] == ["undefined", 0])
    check(f"{width}: printed: {found['printed']}", found["printed"][0] and found["printed"][1] <= 0)


def behaves(found, width):
    check(f"{width}: apart: {found['title']}", found["title"] == "Functions by what threads waited for" and found["apart"])
    check(f"{width}: {found['page']} pixels too wide", found["page"] <= 0)
    check(f"{width}: the widest bar is {found['widest']} of {found['box']}", 0.98 * found["box"] <= found["widest"] <= found["box"])
    check(f"{width}: keys: {found['zoomed']}, {found['out']}", found["zoomed"] == [True, True, True, False] and found["out"] == [0, True])
    check(f"{width}: halves: {found['halves']} of {found['all']}", near(sum(found["halves"]), found["all"]))
    kinds = dict(found["kinds"])
    check(f"{width}: kinds: {kinds}", near(sum(kinds.values()), found["all"]))


def icicle(found, width):
    behaves(found, width)
    check(f"{width}: a switch without samples of CPU time: {found['switch']}", found["hidden"] and found["first"][0] == "waits")
    check(f"{width}: kinds: {found['kinds']}", equal(dict(found["kinds"]), WHOLE))
    check(f"{width}: nodes: {found['nodes']}", [near(s, want) for (_, s), want in zip(found["nodes"], (20, 10))] == [True, True])
    check(f"{width}: halves: {found['halves']}", near(found["halves"][0], 16.5))
    rows = {row[0]: row[1:] for row in found["list"]}
    check(f"{width}: functions: {found['list']}", len(rows) == 16 and near(rows["work"][0], 3) and rows["work"][2:] == ["/src/work.c", 12] and near(rows["step_0"][0], 3.5))
    check(f"{width}: what does not wait has no row: {list(rows)}", not any(name.startswith(("on a", "ready", "waited,")) for name in rows))
    check(f"{width}: rows: {found['rows']}", ["work", "10 %", "10 %", "work.c:12", "app"] in found["rows"] and len(found["rows"]) == 10)
    check(f"{width}: root: {found['root']}", found["root"] == "all time of threads · 30.0 s")
    check(f"{width}: search: {found['search']}", found["search"][0] == "10 % of the threads\u2019 time" and found["search"][1] >= 1)
    chosen = {name.split(",")[0]: (own, whole) for name, own, whole in found["chosen"]}
    check(f"{width}: processes: {found['chosen']}", near(chosen["app"][0], 20) and near(chosen["app"][1], 30))
    if width > 500:
        pipe = [fill for text, fill in found["fills"] if text and text.startswith("waits for data")]
        check(f"{width}: colours: {found['fills']}", pipe == [found["orange"]])


def check_real():
    """Of one that has both, the sums of show."""
    subprocess.run([SONDE, "run", "--quiet", "--waits", "--stacks", "-o", "real", "--", os.path.join(PROGRAMS, "hold_up"), "convoy", "3"], check=True)
    report("real")
    shown = json.loads(subprocess.run([SONDE, "show", "--waits", "--json", "real"], check=True, capture_output=True, text=True).stdout)
    (found,) = looked_at("real", 1280, ICICLE)
    behaves(found, 1280)
    check(f"real: {found['all']}, not {shown['wall_seconds']}", near(found["all"], shown["wall_seconds"]))
    place = next(row for row in shown["place"] if row["function"] == "take_the_lock" and row["waits_for"] == "mutex")
    row = next(row for row in found["list"] if row[0] == "take_the_lock")
    check(f"real: {row}, not {place}", near(row[1], place["waited_seconds"], 0.05) and row[3:] == [place["file"], place["line"]])
    check(f"real: search: {found['search']}", abs(float(found["search"][0].split()[0]) - 100 * place["waited_seconds"] / shown["wall_seconds"]) < 3)
    check(f"real: switch: {found['switch']}", found["switch"] == [["CPU", "true"], ["Waits", "false"]] and not found["hidden"] and found["first"] == ["code", "Functions by CPU time"])
    back = found["back"]
    check(f"real: back to CPU: {back}", back[:3] == ["code", "Functions by CPU time", "hold_up"] and back[3] > 0.1 and not back[4])


def main():
    if not shutil.which("chromium"):
        print("chromium is not installed")
        sys.exit(77)
    subprocess.run([os.path.join(PROGRAMS, "waited_run"), "made"], check=True)
    report("made")
    for width in (1280, 400):
        found, tree = looked_at("made", width, CHECKS, ICICLE)
        if "error" in found or "error" in tree:
            faults.append(f"no waits at {width}: {found} {tree}")
            break
        section(found, width)
        icicle(tree, width)
    check_real()
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
