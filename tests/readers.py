# SPDX-License-Identifier: Apache-2.0
"""For tests that need readers of tests/interop/requirements.txt: enter() goes on with the Python of the virtual environment."""
import os
import sys

VENV = os.path.join(os.environ["BUILD"], "venv")


def enter():
    python = os.path.join(VENV, "bin/python")
    if sys.prefix == VENV:
        return
    if not os.path.exists(os.path.join(VENV, "requirements.txt")):
        print(f"{VENV} is not there: ./dev check makes it, with what PyPI has")
        sys.exit(77)
    os.execv(python, [python, *sys.argv])
