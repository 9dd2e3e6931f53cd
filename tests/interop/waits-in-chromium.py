# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""What threads waited for, in a real browser: the chart over time has the seconds of the bar, beside the cores, of each node and of all together; the
section fits a narrow window and paper, and hostile names stay text."""
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

# Of what a thread did: the chart ends where the nodes' points do.
WHOLE = {"on a CPU": 4, "ready, but others had the cores": 1, "waits for data from a pipe": 10, "sleeps (timer)": 6.5, "waits for a mutex": 3, "waits for a child": 0.5,
         "waits for something else": 3, "waited, before a look found where": 2}


def check(what, good):
    if not good:
        faults.append(what)


def equal(found, wanted, share=0.03):
    return set(found) == set(wanted) and all(abs(found[k] - wanted[k]) <= share * wanted[k] + 0.01 for k in wanted)


def looked_at(width):
    browser = Chromium(width)
    try:
        browser.open("file://" + os.path.abspath("made/report.html"))
        browser.wait_for("document.documentElement.dataset.ready")
        found = json.loads(browser.evaluate(CHECKS) or '{"error": 1}')
        browser.ask("Emulation.setEmulatedMedia", media="print")
        found["printed"] = browser.evaluate("(() => { const s = document.querySelector('[aria-labelledby=\"h-waits\"]').getBoundingClientRect(); return [s.height > 0, s.right - innerWidth]; })()")
        return found
    finally:
        browser.close()


def main():
    if not shutil.which("chromium"):
        print("chromium is not installed")
        sys.exit(77)
    subprocess.run([os.path.join(PROGRAMS, "waited_run"), "made"], check=True)
    subprocess.run([SONDE, "report", "--only", "html", "made"], check=True, stdout=subprocess.DEVNULL)
    for width in (1280, 400):
        found = looked_at(width)
        if "error" in found:
            faults.append(f"no waits at {width}")
            break
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
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
