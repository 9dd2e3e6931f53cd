# SPDX-License-Identifier: Apache-2.0
"""The interpreters of Python that are installed here."""
import glob
import os
import subprocess
import sys


def known(versions):
    """The paths of those of these versions, by version and whether it is the system's: one of each."""
    found = {}
    places = sorted(glob.glob("/usr/bin/python3.[0-9]*") + glob.glob(sys.base_prefix + "/../*/bin/python3.[0-9]*")) + [sys.executable]
    for path in places:
        if "-" in os.path.basename(path):
            continue
        done = subprocess.run([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() in versions:
            found.setdefault((done.stdout.strip(), path.startswith("/usr")), path)
    return found
