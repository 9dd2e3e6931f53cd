# SPDX-License-Identifier: Apache-2.0
"""How long a test waits for what should happen at once, before it says that it hangs: seconds, as many times as many as tests/run.sh found processes for
a CPU."""
import os


def patience(seconds):
    return seconds * int(os.environ.get("CROWDED", "1"))
