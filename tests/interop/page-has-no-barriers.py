# SPDX-License-Identifier: Apache-2.0
# limit: 600
"""axe-core finds no barrier in the report page, wide and narrow, in both palettes, of one node and of several."""
import json
import os
import shutil
import subprocess
import sys

import chromium

SONDE, BUILD, PROGRAMS = (os.environ[name] for name in ("SONDE", "BUILD", "PROGRAMS"))
AXE = os.path.join(BUILD, "axe/node_modules/axe-core/axe.min.js")
if not shutil.which("chromium"):
    print("chromium is not there")
    sys.exit(77)
if not os.path.exists(AXE):
    print("axe-core is not there: ./dev check fetches it from npm")
    sys.exit(77)
with open(AXE, encoding="utf-8") as f:
    axe = f.read()
faults = []

subprocess.run([SONDE, "run", "--quiet", "-i", "50ms", "-o", "one", "--", "sh", "-c", f"sonde mark epoch loss=2; {PROGRAMS}/spin 300000; sonde mark epoch loss=1; exit 3"],
               env=os.environ | {"PATH": os.path.dirname(SONDE) + ":" + os.environ["PATH"]})
pages = ["one"]
if os.path.exists(os.path.join(BUILD, "bench/make_nodes")):
    os.mkdir("many")
    subprocess.run([os.path.join(BUILD, "bench/make_nodes"), "many", "3", "30", "200"], check=True)
    pages.append("many")
for page in pages:
    subprocess.run([SONDE, "report", "--only", "html", page], check=True, stdout=subprocess.DEVNULL)


def look(browser):
    """What axe-core finds: [rule, impact, [where]]."""
    found = browser.evaluate("axe.run(document, { resultTypes: ['violations'] }).then((r) => JSON.stringify("
                             "[r.passes.length, r.violations.map((v) => [v.id, v.impact, v.nodes.map((n) => n.html.slice(0, 200))])]))")
    return json.loads(found or "[0, []]")


for width in (1280, 400):
    browser = chromium.Chromium(width=width)
    for page in pages if width == 1280 else pages[:1]:
        browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        browser.open("file://" + os.path.abspath(f"{page}/report.html"))
        if not browser.wait_for("document.querySelectorAll('.uplot').length > 1"):
            faults.append(f"{page} at {width}: no chart was drawn")
            continue
        browser.evaluate(axe + "; 1")
        for palette in ("as it opens", "the other one"):
            passes, violations = look(browser)
            if passes < 10:
                faults.append(f"{page} at {width}, {palette}: axe-core looked at {passes} things")
            faults += [f"{page} at {width}, {palette}: {v}" for v in violations if v[1] in ("serious", "critical")]
            browser.evaluate("[...document.querySelectorAll('button')].find((b) => /^(Dark|Light)$/.test(b.textContent)).click()")
        browser.evaluate("document.body.append(document.createElement('img'))")
        if not any(v[0] == "image-alt" for v in look(browser)[1]):
            faults.append("axe-core did not find a fault that was made")
    browser.close()
for fault in faults:
    print(fault)
sys.exit(bool(faults))
