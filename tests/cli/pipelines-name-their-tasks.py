# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""sonde show --pipelines has the tasks of GNU make, also of a recursive one, and of xargs, by the file that they write and their program, with wall time, memory and
lines to paste; a site adds a tool; page, PDF and Markdown have the table; a hostile name is only shown."""
import glob
import json
import os
import shutil
import subprocess

import jsonschema

SONDE, TOP = os.environ["SONDE"], os.environ["TOP"]
SCHEMA = json.load(open(f"{TOP}/docs/schema/pipelines.json", encoding="utf-8"))


def sonde(*words, status=0):
    ended = subprocess.run([SONDE, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == status, (words, ended)
    return ended


def record(name, *command):
    sonde("run", "-q", "-i", "50ms", "-o", name, "--", *command)
    return name


def told(name, *more):
    document = json.loads(sonde("show", "--pipelines", "--json", *more, name).stdout)
    jsonschema.validate(document, SCHEMA)
    return {p["tool"]: {r["name"]: r for r in p["rules"]} | {"": p} for p in document["pipelines"]}


os.mkdir("sub")
with open("hold.py", "w", encoding="utf-8") as f:
    f.write("import sys, time\nheld = b'x' * (int(sys.argv[1]) << 20)\ntime.sleep(1)\n")
with open("Makefile", "w", encoding="utf-8") as f:
    f.write("all: a b inner\na b:\n\t@mkdir -p out && /usr/bin/python3 hold.py 60; :\ninner:\n\t@cd sub && $(MAKE)\n.PHONY: all a b inner\n")
with open("sub/Makefile", "w", encoding="utf-8") as f:
    f.write("all: x y a.txt b.txt\nx y:\n\t@sleep 0.6\n%.txt:\n\t@sleep 0.4 > $@\n.PHONY: all x y\n")

make = told(record("made", "make", "-s", "-j4"))["make"]
assert make[""]["tasks"] == 6, make
assert make["*.txt: sleep"]["tasks"] == 2, make
assert make["sleep"]["tasks"] == 2 and 0.55 < make["sleep"]["wall_median_seconds"], make
assert make["python3"]["tasks"] == 2 and make["python3"]["tasks_with_peak_memory"] == 2, make
assert 60 << 20 < make["python3"]["peak_memory_bytes"] < 120 << 20, make
assert make["python3"]["longest"]["command_line"], make
assert make[""]["paste"].startswith("make -j"), make

text = sonde("show", "--pipelines", "made").stdout
assert text.startswith("make: 6 tasks by 3 names\n") and "\nmake -j" in text, text
assert "| make | tasks |" in sonde("show", "--markdown", "made").stdout
sonde("report", "--only", "html", "made")
with open("made/report.html", encoding="utf-8") as f:
    page = f.read()
assert 'id="h-pipelines"' in page and "make -j" in page and "*.txt: sleep" in page
if shutil.which("pdftotext") and os.path.exists(f"{os.environ['BUILD']}/libexec/sonde/sonde-draw"):
    sonde("report", "--only", "pdf", "made")
    (paper,) = glob.glob("made/*.pdf")
    paper = " ".join(subprocess.run(["pdftotext", "-layout", "-l", "1", paper, "-"], check=True, capture_output=True, text=True).stdout.split())
    assert "Tasks of make" in paper and "python3 2 " in paper and "*.txt: sleep 2 " in paper, paper

xargs = told(record("xargs", "sh", "-c", "seq 5 | xargs -P2 -n1 sh -c 'sleep 0.3'"))["xargs"]
assert xargs["sleep"]["tasks"] == 5 and "xargs -P" in xargs[""]["paste"], xargs

# Tasks that no sample saw: their memory is not known, and that is not 0.
sonde("run", "-q", "-i", "30s", "-o", "short", "--", "sh", "-c", "sleep 1; seq 20 | xargs -n1 -P4 true; :")
short = told("short").get("xargs")
if short:  # where starts and ends are known by events
    assert short["true"]["peak_memory_bytes"] is None and short["true"]["paste"] is None, short

# A site's own tool; a name with a quote or a line's end is not pasted.
with open("site.pipelines", "w", encoding="utf-8") as f:
    f.write("tool: mine\nlabel: Mine\ntask: sleep 0.6\npaste: |step {rule}: {cpus}\n")
assert told("made", "--pipeline-rules", "site.pipelines")["mine"]["sleep"]["paste"] == "step sleep: 1\n"
os.symlink("/bin/sleep", "x'; rm <b>\n")
with open("hostile.pipelines", "w", encoding="utf-8") as f:
    f.write("tool: xargs\nlabel: xargs\ndriver: xargs\npaste: |{rule}\n")
hostile = told(record("hostile", "sh", "-c", "echo 0.3 | xargs \"./x'; rm <b>\n\"; :"), "--pipeline-rules", "hostile.pipelines")["xargs"]
assert [r["paste"] for n, r in hostile.items() if "rm" in n] == [None], hostile
sonde("report", "--only", "html", "hostile")
with open("hostile/report.html", encoding="utf-8") as f:
    assert "rm <b>" not in f.read()

assert "no process in none is a task" in sonde("show", "--pipelines", record("none", "sleep", "0.1")).stderr
assert told("none") == {}
os.mkdir("site")
with open("site/bad.pipelines", "w", encoding="utf-8") as f:
    f.write("tool: x\nlabel: X\n")
assert "site/bad.pipelines:1:1: tool x has neither" in sonde("show", "--pipeline-rules", "site", "none", status=1).stderr
assert sonde("show", "--pipelines", "--path", "none", status=2).stderr.count("\n") == 1
