# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""The page of an indicator in Chromium: hostile names are text, nothing is asked of anybody, its table sorts and filters by mouse and keyboard, marks lead to
their rows, what is not known is said; without a script it is whole."""
import json
import os
import re
import shutil
import stat
import subprocess
import sys

from patience import patience

if not shutil.which("chromium"):
    print("chromium is not installed")
    sys.exit(77)
if not os.path.exists(os.path.dirname(os.path.realpath(os.environ["SONDE"])) + "/libexec/sonde/sonde-database"):
    print("sonde-database was not built: libsqlite3-dev is not installed")
    sys.exit(77)
import chromium

SONDE = os.environ["SONDE"]
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&"
faults = []


def check(what, good, detail=""):
    if not good:
        faults.append(f"{what}: {str(detail)[:600]}")


def sonde(*words):
    return subprocess.run([SONDE, *words[:2], "--store", "s.sqlite", *words[2:]], capture_output=True, text=True, timeout=patience(200), check=False)


for size in range(14):
    said = {"name": "PiPage", "framework": HOSTILE, "@parameters": {"size": 2 ** size, "kind": HOSTILE if size % 2 else "plain", HOSTILE: size // 7},
            "@result": {"elapsed": 100 - size, "other": size}}
    with open("script", "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\ncat <<'END'\n" + json.dumps(said) + "\nEND\n")
    os.chmod("script", 0o755)
    made = sonde("bench", "run", "-q", "-i", "20ms", "-o", f"d{size}", "./script")
    check("bench run", made.returncode == 0, made)
made = sonde("bench", "report", "PiPage", "-c", "elapsed", "-o", "deep/page.html")
check("bench report", made.returncode == 0 and made.stderr.count("\n") == 1 and not made.stdout, made)
check("its mode", stat.S_IMODE(os.stat("deep/page.html").st_mode) == 0o600)
with open("deep/page.html", encoding="utf-8") as f:
    text = f.read()
check("it asks nobody", "default-src 'none'" in text and not re.search(r"(?:src|href)=\"(?!data:,|#)", text) and "url(" not in text)
check("hostile names are text", "<img" not in text and text.count("<script") == 1)
check("medians have rows", set(re.findall(r'href="#(g\d+)"', text)) == set(re.findall(r'<tr id="(g\d+)"', text)), re.findall(r'href="#(g\d+)"', text))
check("energy that is not known is said", "The energy of no trial is known" in text or "Time and energy" in text)
check("front", "Time and peak memory" in text or "The peak memory of no trial is known" in text)
for width in (1280, 400):
    browser = chromium.Chromium(width)
    try:
        browser.open("file://" + os.path.abspath("deep/page.html"))
        check("it gets ready", browser.wait_for("document.documentElement.dataset.ready"))
        ask = browser.evaluate
        check("no picture was made by a name", ask("document.images.length") == 0)
        check("nothing hangs over", ask("document.documentElement.scrollWidth <= innerWidth"), ask("document.documentElement.scrollWidth"))
        check("a chart for each parameter", ask("document.querySelectorAll('figure svg .median').length") >= 12 + 14 + 14)
        check("charts say what they are", ask("[...document.querySelectorAll('figure svg')].every((s) => s.getAttribute('aria-label'))"))
        first = "document.querySelector('table.sortable tbody tr').id"
        ask("[...document.querySelectorAll('thead button')].find((b) => b.textContent === 'size').focus()")
        for kind in ("keyDown", "keyUp"):
            browser.ask("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13)
        check("sorted by the key", browser.wait_for(f"{first} === 'g14'"), ask(first))
        ask("[...document.querySelectorAll('thead button')].find((b) => b.textContent === 'kind').click()")
        check("texts are sorted as such", ask("document.querySelector('table.sortable tbody tr').textContent.includes('onerror')"))
        ask("(() => { const i = document.querySelector('.filter input'); i.value = 'plain'; i.dispatchEvent(new Event('input')); })()")
        check("filtered", ask("[...document.querySelectorAll('table.sortable tbody tr')].filter((r) => !r.hidden).length") == 7)
        ask("document.querySelector('figure a').focus()")
        check("marks take the focus", ask("document.activeElement.tagName") == "a")
    finally:
        browser.close()
none = sonde("bench", "report", "PiPage", "-w", "size>1e9")
check("nothing to show", none.returncode == 1 and "nothing to show" in none.stderr, none)
check("no name of a file", sonde("bench", "report", "PiPage", "-o", "x/").returncode == 2)
print("\n".join(faults))
sys.exit(bool(faults))
