# SPDX-License-Identifier: Apache-2.0
"""What threads waited for, on the page and on paper, of a recording whose waits are known: the bar adds up, the table has the ten largest places,
hostile names stay text, a refusal is said with what helps, and without --waits nothing is there."""
import glob
import html
import json
import os
import re
import shutil
import subprocess

SONDE, PROGRAMS = os.environ["SONDE"], os.environ["PROGRAMS"]
PAPER = shutil.which("pdftotext") and os.path.exists(f"{os.environ['BUILD']}/libexec/sonde/sonde-draw")


def report(directory, form):
    subprocess.run([SONDE, "report", "--only", form, directory], check=True, capture_output=True)


def section(directory):
    """Of the page, as text without tags; None: there is none."""
    report(directory, "html")
    with open(f"{directory}/report.html", encoding="utf-8") as f:
        page = f.read()
    found = re.search(r'<section aria-labelledby="h-waits">.*?</section>', page, re.S)
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
    return found and found[0], [chart for chart in data["charts"] if chart["id"] == "waits"], page


def first_page(directory):
    report(directory, "pdf")
    (paper,) = glob.glob(f"{directory}/*.pdf")
    return " ".join(subprocess.run(["pdftotext", "-l", "1", paper, "-"], check=True, capture_output=True, text=True).stdout.split())


def words(text):
    return html.unescape(re.sub(r"<[^>]*>", "", text))


subprocess.run([f"{PROGRAMS}/waited_run", "made"], check=True)
part, charts, page = section("made")
legend = [words(item) for item in re.findall(r"<li>.*?</li>", part, re.S)]
assert legend == ["13 % on a CPU 4.00 s", "3 % ready, but without a core 1.00 s", "33 % waits for data from a pipe 10.0 s", "22 % sleeps (timer) 6.50 s",
                  "10 % waits for a mutex 3.00 s", "2 % waits for a child 500 ms", "10 % waits for something else 3.00 s",
                  "7 % waited, before a look found where 2.00 s"], legend
widths = [float(w) for w in re.findall(r'<rect class="\w+" x="[\d.]+" width="([\d.]+)" height="26"/>', part)]
assert len(widths) == len(legend) and abs(sum(widths) - 1000) < 1, widths
rows = [[words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)] for row in re.findall(r"<tr>(.*?)</tr>", part, re.S)]
assert rows[0] == ["Function", "Time", "Share", "Wait", "Object", "Where"] and len(rows) == 11, rows
assert rows[1][1:4] == ["10.0 s", "33.3 %", "waits for data from a pipe"] and "pwned=1</script>" in rows[1][4] and "\\n\\x1b" in rows[1][4], rows[1]
assert rows[2] == ["step_0", "3.50 s", "11.7 %", "sleeps (timer)", "", ""], rows[2]
assert rows[3] == ["work", "3.00 s", "10 %", "waits for a mutex", "at 0x10", "work.c:12"], rows[3]
assert "<script>pwned" not in page and 'aria-labelledby="h-code"' not in page, "a name is no text, or code that nobody asked for"
(chart,) = charts
assert [line["label"] for line in chart["lines"]] == [re.sub(r"^[\d.]+ % | [\d.]+ m?s$", "", item) for item in legend], chart

# What show counts is what the table has.
shown = json.loads(subprocess.run([SONDE, "show", "--waits", "--json", "made"], check=True, capture_output=True).stdout)
work = next(row for row in shown["place"] if row["function"] == "work")
assert (work["object"], work["file"], work["line"], work["waits_for"], round(work["waited_seconds"], 6)) == ("at 0x10", "/src/work.c", 12, "mutex", 3), work
assert len(shown["place"]) == 16 and abs(sum(row["waited_seconds"] for row in shown["place"]) - 23) < 1e-6, shown["place"]

# ---- refused ----
subprocess.run([f"{PROGRAMS}/waited_run", "refused", "forbidden: no <b>look</b> is permitted"], check=True)
part, charts, page = section("refused")
assert "No waits." in words(part) and "Not recorded: forbidden: no <b>look</b> is permitted." in words(part), part
assert "An administrator can: install evil<script>" in words(part) and "<b>look" not in page and not charts, part

# ---- not wanted ----
subprocess.run([SONDE, "run", "-q", "-o", "none", "--", "true"], check=True)
assert section("none")[:2] == (None, [])

if PAPER:
    first = first_page("made")
    assert "What threads waited for waiting 83 % of the threads' time: waits for data from a pipe 33 %, sleeps (timer) 22 %" in first, first
    assert "work (work.c:12) 10 %" in first and "Which code" not in first, first
    first = first_page("refused")
    assert "What threads waited for Not recorded: forbidden: no <b>look</b> is permitted." in first, first
    assert "What threads waited for" not in first_page("none")
