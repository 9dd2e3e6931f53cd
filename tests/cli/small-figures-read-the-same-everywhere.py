# SPDX-License-Identifier: Apache-2.0
"""Cores, shares and CPU time of a job that hardly used any are the same words in the summary, the page and the PDF: under 0.01, never 0
or 0.0047; no share of the little CPU time of one process is said to be of processes that nobody saw. What cannot be measured is one folded
list, one line for each reason."""
import html
import os
import re
import shutil
import subprocess
import sys

SONDE = os.environ["SONDE"]


def text_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


subprocess.run([SONDE, "run", "-q", "-o", "job", "--", "sleep", "3"], check=True)
brief, whole = text_of(SONDE, "show", "job"), text_of(SONDE, "show", "--all", "job")
subprocess.run([SONDE, "report", "--only", "html", "job"], check=True, capture_output=True)
with open("job/report.html", encoding="utf-8") as f:
    page = f.read()
assert re.search(r"used +under 0\.01 of \d+ cores", brief), brief
assert re.search(r"cores +under 0\.01 of \d+ used on average", whole), whole
assert "too short to sample" not in re.search(r"^CPU time .*?(?=^\S)", whole, re.M | re.S)[0], whole
plain = html.unescape(re.sub(r"<[^>]*>", " ", page))
assert re.search(r"Cores used, on average\s+under 0\.01\s+of \d+\s+under 1 % of the cores", plain), plain[:3000]
assert re.search(r"under 1 % of the memory", plain), plain[:3000]
listed = re.search(r"<h3>What could not be measured</h3><details class=\"absent\"><summary>(\d+) sources? or metrics?, with the reasons?</summary><ul>(.*?)</ul></details>", page, re.S)
assert listed, page[page.index("What could not be measured"):][:500]
reasons = [re.sub(r"^[^:]*: ", "", line) for line in re.findall(r"<li>(.*?)</li>", listed[2], re.S)]
assert len(reasons) == len(set(reasons)) <= int(listed[1]), reasons
helper = os.path.join(os.path.dirname(os.path.realpath(SONDE)), "libexec/sonde/sonde-draw")
if not shutil.which("pdftotext") or not os.access(helper, os.X_OK):
    print("no PDF was looked at: pdftotext or sonde-draw is missing")
    sys.exit(0)
subprocess.run([SONDE, "report", "--only", "pdf", "job"], check=True, capture_output=True)
paper = text_of("pdftotext", "-layout", "job/report.pdf", "-")
assert re.search(r"under 0\.01", paper) and re.search(r"of \d+ \w+ \(under 1 %\)", paper), paper[:1500]
assert "by pss" not in paper, paper[:1500]
