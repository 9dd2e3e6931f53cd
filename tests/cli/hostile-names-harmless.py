# SPDX-License-Identifier: Apache-2.0
"""Process names with escapes, markup, quotes, newlines, formulas and invalid UTF-8 reach no reader as they are."""
import csv
import html.parser
import io
import json
import os
import re
import subprocess
import sys

SONDE = os.environ["SONDE"]
PROGRAM = os.environ["PROGRAMS"] + "/hostile_names"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
faults = []


def run(*arguments):
    return subprocess.run([SONDE, *arguments], check=True, capture_output=True)


def check(what, good, detail=""):
    if not good:
        faults.append(f"{what} {detail}")


def text_of(what, data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as e:
        faults.append(f"{what} is no UTF-8: {e}")
        return data.decode("utf-8", "replace")


def check_terminal(what, data):
    text = text_of(what, data)
    found = CONTROL.search(text)
    check(what, not found, f"has the control character {found and found.group(0)!r}")
    return text


ended = run("run", "-i", "100ms", "-o", "out", "--", PROGRAM, "700", "\033]0;t\a<script>\n")
check_terminal("the summary", ended.stderr)
shown = check_terminal("show", run("show", "--all", "out").stdout)
check("show", "red" in shown, "does not name the processes")
check_terminal("ls", run("ls").stdout)

text = text_of("show --markdown", run("show", "--markdown", "out").stdout)
check("show --markdown", not CONTROL.search(text) and "<" not in text and "red" in text, "is not escaped")

text = text_of("show --json", run("show", "--json", "out").stdout)
json.loads(text)
check("show --json", not CONTROL.search(text) and "<script" not in text, "is not escaped for every place")

run("export", "out", "--to", "csv,json", "-o", "tables")
names = set()
for name in os.listdir("tables"):
    with open("tables/" + name, "rb") as f:
        text = text_of(name, f.read())
    if name.endswith(".json"):
        json.loads(text)
        continue
    if not name.endswith(".csv"):
        continue
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    for row in rows:
        check(name, len(row) == len(rows[0]), f"has a row of {len(row)} cells: {row}")
        for cell in row:
            numeric = re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", cell)
            check(name, numeric or not re.match(r"[=+\-@\t\r]", cell), f"has a formula: {cell!r}")
            check(name, not CONTROL.search(cell.replace("\r", "")), f"has a control character: {cell!r}")
            names.add(cell)
check("processes.csv", any("<script>x()<" in n for n in names), "lost the name <script>x()<")
check("processes.csv", any("new\nline" in n for n in names), "lost the name with the newline")
check("processes.csv", any(n.startswith("'=1+1") for n in names), "lost the name with the formula")

run("report", "out")


class Page(html.parser.HTMLParser):
    """Counts the elements; a name that got out of its place makes one more."""
    scripts = 0
    attributes = set()

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.attributes |= {a for a, _ in attrs if a.startswith("on")}


def page_of(path):
    with open(path, "rb") as f:
        text = text_of(path, f.read())
    check(path, "<script>x()<" not in text, "has a name's markup in it")
    check(path, not CONTROL.search(text), "has control characters")
    page = Page()
    page.feed(text)
    return page


hostile = page_of("out/report.html")
run("run", "--quiet", "-i", "100ms", "-o", "tame", "--", "true")
run("report", "tame")
tame = page_of("tame/report.html")
check("report.html", hostile.scripts == tame.scripts, f"has {hostile.scripts} scripts instead of {tame.scripts}")
check("report.html", hostile.attributes == tame.attributes, f"has handlers {hostile.attributes}")
print("\n".join(faults))
sys.exit(1 if faults else 0)
