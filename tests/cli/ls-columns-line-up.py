# SPDX-License-Identifier: Apache-2.0
"""The columns of `sonde ls` stand below their headings however long or wide names are; on a terminal no line is longer than it, in a pipe nothing is cut."""
import fcntl
import os
import pty
import struct
import subprocess
import termios
import unicodedata

SONDE = os.environ["SONDE"]
NAMES = ["sonde_a", "sonde_" + "long-" * 20, "sonde_測定测定", "sonde_ü"]
WORDS = "some words that the job has as its arguments, more than a narrow terminal has room for"


def columns(text):
    """What it takes on a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def column_of(line, part):
    return columns(line[: line.index(part)])


def on_terminal(width, *arguments):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    process = subprocess.Popen([SONDE, "ls", *arguments], stdout=theirs)
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # nobody has the other end any more
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert process.wait() == 0
    return said.decode().replace("\r\n", "\n").splitlines()


def aligned(lines):
    heading = lines[0]
    for line in lines[1:]:
        start = next(name for name in NAMES if name[:12] in line)[:12]
        assert column_of(line, start) == column_of(heading, "RECORDING"), lines
        assert column_of(line, "sleep") == column_of(heading, "COMMAND"), lines


def main():
    for name in NAMES:
        subprocess.run([SONDE, "run", "-q", "-i", "10ms", "-o", name, "--", "sleep", "0.01", *([WORDS] if name == NAMES[0] else [])], check=False)
    piped = subprocess.run([SONDE, "ls"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(piped) == 1 + len(NAMES), piped
    aligned(piped)
    assert all(any(name in line for line in piped) for name in NAMES), piped
    assert any(WORDS in line for line in piped), piped
    for width in (100, 132):
        lines = on_terminal(width)
        aligned(lines)
        assert all(columns(line) <= width for line in lines), lines
        assert any("…" in line for line in lines), lines
    for arguments in ([], ["--history"]):
        assert all(columns(line) <= 80 for line in on_terminal(80, *arguments)), arguments
    assert len(on_terminal(5)) == 1 + len(NAMES)


main()
