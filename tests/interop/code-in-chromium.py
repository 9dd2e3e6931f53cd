# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""The functions that used the CPU in a real browser: their times are those of show --code, follow the visible range, the rank and the process
that are chosen, are found and zoomed into by mouse and keys, fit a narrow window, and hostile names stay text."""
import json
import os
import shutil
import subprocess
import sys

from chromium import Chromium

SONDE, PROGRAMS = os.environ["SONDE"], os.environ["PROGRAMS"]
faults = []

CHECKS = r"""(() => {
	const part = view.parts.find((p) => p instanceof Code), found = {};
	const press = (key) => part.plotBox.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
	const choose = (value) => { part.process.value = value; part.process.dispatchEvent(new Event('change')); };
	const search = (text) => { part.search.value = text; part.search.dispatchEvent(new Event('input')); };
	const shown = () => [...part.box.querySelectorAll('rect')].map((r) => Number(r.getAttribute('width')));
	found.all = part.all;
	found.sampled = part.sampled;
	found.rest = part.rest.map((r) => [r.name, r.seconds]);
	found.shares = [document.querySelector('section[aria-labelledby=h-code] table tbody td').textContent, part.table.rows[0].cells[1].textContent];
	found.bars = [...part.box.querySelectorAll('g')].filter((g) => Number(g.dataset.i) < 0).map((g) => g.querySelector('text')?.textContent ?? '');
	found.list = part.stacks.list(part.sums).map((row) => [row.f.name, row.self, row.total, row.f.module]);
	found.rows = part.table.rows.length;
	found.kinds = view.charts.find((c) => c.spec.id === 'code').lines.map((l) => l.label);
	found.chart = view.charts.find((c) => c.spec.id === 'code').lines.reduce((sum, l) => sum + l.values.reduce((s, v, i) => s + (v ?? 0) * (part.node.x[i] - (i ? part.node.x[i - 1] : 0)), 0), 0);
	found.widest = Math.max(...shown());
	found.box = part.box.clientWidth;
	found.page = document.documentElement.scrollWidth - innerWidth;
	found.hostile = [typeof pwned, document.querySelectorAll('main script').length];
	const half = view.full[1] / 2, halves = [[0, half], [half, view.full[1]]].map(([from, to]) => { view.zoom(from, to); return part.sampled; });
	view.reset();
	found.halves = halves[0] + halves[1];
	found.first = halves[0];
	found.options = [...part.process.options].map((o) => o.textContent);
	found.chosen = [...part.process.options].slice(1).map((o) => { choose(o.value); return [o.textContent, part.sums.total[0]]; });
	choose('');
	search('memcpy');
	found.search = [part.found.textContent, part.box.querySelectorAll('.hit').length];
	search('');
	found.noHit = part.box.querySelectorAll('.hit').length;
	part.plotBox.focus();
	press('ArrowDown');
	press('ArrowDown');
	const at = part.told(part.at);
	press('Enter');
	found.zoomed = [part.zoomed > 0, part.reading.textContent === at, document.getElementById('spoken').textContent !== ''];
	press('Escape');
	found.out = part.zoomed;
	part.table.querySelector('button').click();
	found.clicked = part.stacks.functions[part.stacks.of[part.zoomed]].name;
	part.out.click();
	found.whole = part.zoomed;
	return JSON.stringify(found);
})()"""


def check(what, good):
    if not good:
        faults.append(what)


def near(a, b, share=0.01):
    return abs(a - b) <= max(share * max(abs(a), abs(b)), 0.001)  # cells are rounded to 10 us each


def sonde(*arguments):
    return subprocess.run([SONDE, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def looked_at(directory, width):
    sonde("report", "--only", "html", directory)
    browser = Chromium(width)
    try:
        browser.open("file://" + os.path.abspath(directory) + "/report.html")
        browser.wait_for("document.documentElement.dataset.ready")
        return json.loads(browser.evaluate(CHECKS) or '{"error": 1}')
    finally:
        browser.close()


def compare(found, directory):
    """What the page sums is what show sums."""
    code = json.loads(sonde("show", "--code", "--json", directory))
    functions = {(row["name"], row["module"] or ""): row for row in code["function"]}
    whole = code["user_seconds"] + code["system_seconds"]
    check(f"in all {found['all']}, not {whole}", near(found["all"], whole))
    check(f"sampled {found['sampled']}, not {code['sampled_seconds']}", near(found["sampled"], code["sampled_seconds"]))
    check(f"parts {found['rest']}", near(found["sampled"] + sum(s for _, s in found["rest"]), whole) and len(found["rest"]) == 3)
    first = f"{100 * code['function'][0]['self_ratio']:.0f} % ± "
    check(f"shares {found['shares']}, not {first}", all(text.startswith(first) for text in found["shares"]))
    check(f"the chart has {found['chart']} of {found['sampled']}", near(found["chart"], found["sampled"], 0.02))
    check(f"halves are {found['halves']} of {found['sampled']}", near(found["halves"], found["sampled"]))
    for name, self_s, total_s, module in found["list"][:10]:
        row = functions.get((name, module))
        check(f"{name}: {self_s} {total_s}, not {row}", row and near(self_s, row["self_seconds"], 0.02) and near(total_s, row["total_seconds"], 0.02))
    check(f"rows in the table: {found['rows']}", found["rows"] == min(10, len([row for row in found["list"] if row[1] > 0])))


def behaves(found, width):
    check(f"{width}: {found['page']} pixels too wide", found["page"] <= 0)
    check(f"{width}: the widest bar is {found['widest']} of {found['box']}", 0.98 * found["box"] <= found["widest"] <= found["box"])
    check(f"{width}: a script of a name: {found['hostile']}", found["hostile"] == ["undefined", 0])
    check(f"{width}: keys: {found['zoomed']}, {found['out']}", found["zoomed"] == [True, True, True] and found["out"] == 0)
    check(f"{width}: a click on a function: {found['clicked']}", found["clicked"] == found["list"][0][0] and found["whole"] == 0)
    check(f"{width}: hits after the search: {found['noHit']}", found["noHit"] == 0)


def check_made():
    subprocess.run([os.path.join(PROGRAMS, "stacked_run"), "made"], check=True)
    for width in (1280, 400):
        found = looked_at("made", width)
        if "error" in found:
            faults.append(f"made: the page has no functions at {width}")
            return
        behaves(found, width)
        compare(found, "made")
        chosen = dict(found["chosen"])
        check(f"processes: {found['options']}", "solver" in found["options"] and near(chosen["solver"], 6.5))
        check(f"search: {found['search']}", found["search"][0].startswith("33 % ") and found["search"][1] >= 1)
        check(f"without samples: {found['bars']}", "kernel" in found["bars"] and width < 500 or any(b.startswith("processes too") for b in found["bars"]))
        check(f"kinds: {found['kinds']}", "memory copies" in found["kinds"] and "MPI" in found["kinds"])
        check(f"a hostile command: {found['options']}", any("<script>" in name and "\\n" in name for name in found["options"]))


def check_real():
    """One kind of work after the other."""
    job = f'"{PROGRAMS}/stack_kinds" plain 1; "{PROGRAMS}/spin" 700000'
    done = subprocess.run([SONDE, "run", "--quiet", "--stacks", "-i", "100ms", "-o", "real", "--", "sh", "-c", job], check=False)
    found = looked_at("real", 1280)
    if "error" in found:
        faults.append(f"real: no functions, sonde ended with {done.returncode}")
        return
    behaves(found, 1280)
    compare(found, "real")
    names = [name for name, _ in found["chosen"]]
    check(f"processes: {names}", "stack_kinds" in names and "spin" in names)


def main():
    if not shutil.which("chromium"):
        print("chromium is not installed")
        sys.exit(77)
    check_made()
    check_real()
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
