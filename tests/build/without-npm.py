# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""Without npm nothing is fetched and make does not fail: one line says that the charts of the page are plain images, and the page shows them without
an error of its scripts. A build directory that holds the program's objects is linked anew, with the page that make puts together."""
import os
import pathlib
import shutil
import subprocess
import sys

import chromium

TOP, BUILD = pathlib.Path(os.environ["TOP"]), pathlib.Path(os.environ["BUILD"])
shutil.copytree(TOP, "tree", ignore=shutil.ignore_patterns(".git", "build", "node_modules", "tests", "sonde_*"))
os.mkdir("bin")
for folder in ("/usr/local/bin", "/usr/bin", "/bin"):
    for program in pathlib.Path(folder).iterdir():
        link = pathlib.Path("bin", program.name)
        if program.name not in ("npm", "npx", "node") and not link.is_symlink():
            link.symlink_to(program)
without = os.environ | {"PATH": os.path.abspath("bin")}
made = subprocess.run(["make", "-s", "-C", "tree", "BUILD=" + os.path.abspath("made"), os.path.abspath("made/gen/assets.o")], env=without,
                      capture_output=True, text=True, check=False)
assert made.returncode == 0 and made.stderr == "make: npm is missing: the charts of the report page are plain images\n", made
assert not os.path.exists("tree/src/report/page/web/node_modules"), "something was fetched"

shutil.copy(BUILD / "libsonde-all.a", "all.a")
subprocess.run(["ar", "r", "all.a", "made/gen/assets.o"], check=True)
subprocess.run(["gcc", "-o", "sonde", BUILD / "obj/main.o", "all.a", "-lzstd", "-lm"], check=True)
subprocess.run(["./sonde", "run", "--quiet", "-i", "50ms", "-o", "out", "--", "sh", "-c", "sleep 0.3"], check=True)
subprocess.run(["./sonde", "report", "--only", "html", "out"], check=True, stdout=subprocess.DEVNULL)
page = pathlib.Path("out/report.html").read_text(encoding="utf-8")
images = page.count('<img alt="')
assert images >= 4 and page.count("data:image/svg+xml;base64,") == images, images
assert "It was built without npm" in page and "leeoniya" not in page, "the page says that it has uPlot"
if not shutil.which("chromium"):
    sys.exit(0)
browser = chromium.Chromium(width=1280)
browser.open("file://" + os.path.abspath("out/report.html"))
assert browser.wait_for("document.documentElement.dataset.ready === 'true'"), "its scripts end with an error"
shown = browser.evaluate("[...document.querySelectorAll('#chart-list img')].filter((i) => i.complete && i.naturalWidth > 100).length")
assert shown == images, f"{shown} of {images} charts are shown"
browser.close()
