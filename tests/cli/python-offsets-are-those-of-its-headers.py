# SPDX-License-Identifier: Apache-2.0
"""Where Sonde's table says that CPython's structures have what is where the headers of each version have it, as far as they are here."""
import os
import subprocess
import sys

import interpreters

TOP = os.environ["TOP"]
found, checked = interpreters.known(), []
for (version, _), python in found.items():
    include = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('include'))"], check=True, capture_output=True, text=True).stdout.strip()
    if not os.path.exists(include + "/internal/pycore_pystate.h"):
        print(version, "has no headers of its own structures")
        continue
    subprocess.run(["gcc", "-w", "-o", "offsets", "-I", include, "-I", include + "/internal", "-I", TOP + "/src", TOP + "/tests/programs/python/offsets.c"], check=True)
    done = subprocess.run(["./offsets"], capture_output=True, text=True, check=False)
    print(version, done.stdout, end="")
    assert done.returncode == 0, (version, done.stdout)
    checked.append((version, None))
interpreters.told(checked)
if not checked:
    print("no headers of Python's own structures are here")
    sys.exit(77)
