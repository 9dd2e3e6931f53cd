# SPDX-License-Identifier: Apache-2.0
"""The summary breaks its lines where the terminal ends: at 60, 80 and 120 columns, also of a terminal of 200; at 80 in a file. What a wide
terminal has room for, such as the whole command, is there."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from patience import patience

SONDE = os.environ["SONDE"]
ARGUMENT = "an-argument-that-is-longer-than-a-line-has-left"


def shown(columns, *options):
    """Lines of `sonde show` on a terminal of so many columns."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([SONDE, "show", *options, "job"], stdout=child, stderr=subprocess.DEVNULL)
    os.close(child)
    text = b""
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(parent)
    assert process.wait(patience(60)) == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", text.decode()).replace("\r", "").splitlines()


def summary_of(lines):
    """The labelled rows, without the tables that follow an empty line."""
    return lines[:lines.index("")] if "" in lines else lines


subprocess.run([SONDE, "run", "-q", "-o", "job", "--", "sh", "-c", "sleep 0.2; exit 3", ARGUMENT], check=False)
widest = {}
for columns, most in ((60, 60), (80, 80), (100, 100), (120, 120), (200, 120)):
    for options in ((), ("--all",)):
        lines = summary_of(shown(columns, *options))
        widest[columns] = max(len(line) for line in lines)
        assert widest[columns] <= most, (columns, [line for line in lines if len(line) > most])
    assert (ARGUMENT in lines[0]) == (columns >= 120), (columns, lines[0])
assert widest[60] > 50 and widest[120] > 80, widest
to_file = subprocess.run([SONDE, "show", "job"], capture_output=True, text=True, check=True).stdout.splitlines()
assert max(len(line) for line in to_file) <= 80 and ARGUMENT not in to_file[0], to_file
