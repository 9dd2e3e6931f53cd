# SPDX-License-Identifier: Apache-2.0
"""The interpreters of Python that are installed here, and one that makes virtual environments at once."""
import glob
import os
import pwd
import subprocess
import sys


# Whose frames Sonde reads (src/unwind/python_layouts.def).
FRAMES = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")


def told(found, wanted=FRAMES):
    """Prints which of these versions are here and which a test therefore leaves out."""
    here = {version for version, _ in found}
    missing = " ".join(version for version in wanted if version not in here)
    print("tried with Python", " ".join(version for version in wanted if version in here) or "of no version", f"(not here: {missing})" if missing else "")


def unqualified(version, function):
    """The name that a function's code has: before 3.11 that is without its class."""
    return function.rsplit(".", 1)[-1] if int(version.split(".")[1]) < 11 else function


def known(versions=FRAMES):
    """The paths of those of these versions, by version and whether it is the system's: one of each. With LONG set also those of pyenv and uv."""
    found, home = {}, pwd.getpwuid(os.getuid()).pw_dir  # a test has a HOME of its own
    others = [sys.base_prefix + "/..", *([home + "/.pyenv/versions", home + "/.local/share/uv/python"] if os.environ.get("LONG") else [])]
    places = sorted({os.path.realpath(path) for where in others for path in glob.glob(where + "/*/bin/python3.[0-9]*")})
    places = sorted(glob.glob("/usr/bin/python3.[0-9]*")) + places + [sys.executable]
    for path in places:
        if "-" in os.path.basename(path):
            continue
        done = subprocess.run([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() in versions:
            found.setdefault((done.stdout.strip(), path.startswith("/usr")), path)
    return found


def copying(python, folder):
    """An interpreter named folder/python3 that is `python`, but that its virtual environments are copies of one: to make one takes five
    seconds of CPU time, most of it for pip. ./dev check has one that it makes all others with (tests/readers/venv.sh)."""
    made = os.path.abspath(folder)
    os.makedirs(made)
    whole = os.environ["BUILD"] + "/pip"
    if python != "/usr/bin/python3" or not os.path.exists(whole + "/bin/pip"):
        whole = made + "/venv"
        subprocess.run([python, "-m", "venv", whole], check=True)
    with open(f"{made}/python3", "w", encoding="utf-8") as f:
        f.write(f"""#!/bin/sh
[ "$1 $2 $3" = "-m venv --clear" ] || exec {python} "$@"
rm -rf "$4" && cp -a {whole} "$4"
""")
    os.chmod(f"{made}/python3", 0o755)
    return f"{made}/python3"
