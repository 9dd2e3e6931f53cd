# SPDX-License-Identifier: Apache-2.0
"""For tests that need what PyPI has: enter() goes on with the Python of a virtual environment that ./dev check made."""
import os
import sys


def enter(name="venv"):
    venv = os.path.join(os.environ["BUILD"], name)
    python = os.path.join(venv, "bin/python")
    if sys.prefix == venv:
        return
    if not os.path.exists(os.path.join(venv, "requirements.txt")):
        print(f"{venv} is not there: ./dev check makes it, with what PyPI has")
        sys.exit(77)
    os.execv(python, [python, *sys.argv])
