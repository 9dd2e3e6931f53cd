# SPDX-License-Identifier: Apache-2.0
"""A terminal for tests: a screen that obeys what a VT100 obeys, and a program on a pty in front of it."""
import errno
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
import unicodedata

from patience import patience

SEQUENCE = re.compile(rb"\x1b\[(\??)([0-9;]*)([A-Za-z])")
PATIENCE = patience(60)


class Screen:
    """Cells, as they look after the bytes that were fed. What it does not know is an error."""

    def __init__(self, rows, columns):
        self.modes, self.styles, self.held = {"?7": True, "?25": True, "?1049": False}, set(), b""
        self.resize(rows, columns)

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.cells = [[" "] * columns for _ in range(rows)]
        self.row = self.column = 0

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def feed(self, data):
        data, self.held = self.held + data, b""
        while data:
            if data[:1] == b"\x1b":
                match = SEQUENCE.match(data)
                if not match:
                    self.held = data  # its end has not come
                    assert len(data) < 32, f"no sequence of a terminal: {data[:32]!r}"
                    return
                self.obey(match)
                data = data[match.end():]
                continue
            size = 1 if data[0] < 0x80 else 2 if data[0] < 0xe0 else 3 if data[0] < 0xf0 else 4
            if len(data) < size:
                self.held = data
                return
            self.put(data[:size].decode())
            data = data[size:]

    def put(self, character):
        if character in "\r\n":
            self.column = 0 if character == "\r" else self.column
            self.row = min(self.row + (character == "\n"), self.rows - 1)
            return
        assert character.isprintable(), f"the control character {character!r} reached the terminal"
        wide = unicodedata.east_asian_width(character) in "WF"
        assert not unicodedata.combining(character), f"{character!r} has no cell"
        if self.column + wide >= self.columns and self.modes["?7"]:
            self.put("\r")
            self.put("\n")
        assert self.column + wide < self.columns, f"{character!r} is beyond the edge"
        self.cells[self.row][self.column] = character
        if wide:
            self.cells[self.row][self.column + 1] = ""
        self.column += 1 + wide

    def obey(self, match):
        question, numbers, letter = match.group(1), match.group(2).decode(), match.group(3).decode()
        n = [int(x or 0) for x in numbers.split(";")]
        if question:
            assert letter in "hl" and "?" + numbers in self.modes, match.group(0)
            self.modes["?" + numbers] = letter == "h"
        elif letter == "H":
            self.row, self.column = max(n[0], 1) - 1, max((n + [1])[1], 1) - 1
            assert self.row < self.rows and self.column < self.columns, match.group(0)
        elif letter == "K":
            self.cells[self.row][self.column:] = [" "] * (self.columns - self.column)
        elif letter == "J":
            assert (self.row, self.column) == (0, 0), "erased from within"
            self.cells = [[" "] * self.columns for _ in range(self.rows)]
        elif letter == "m":
            self.styles |= set(n)
        else:
            raise AssertionError(f"what is {match.group(0)!r}?")


class Session:
    """A program in a session of its own whose terminal is a pty."""

    def __init__(self, argv, rows=24, columns=80, **environment):
        self.screen, self.bytes, self.log, self.status = Screen(rows, columns), 0, b"", None
        ready, go = os.pipe()
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update({"TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
            os.close(go)
            os.read(ready, 1)  # until the terminal has its size
            os.execvp(argv[0], argv)
        self.resize(rows, columns)
        self.modes = termios.tcgetattr(self.fd)
        os.close(ready)
        os.close(go)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def take(self, seconds=0.1):
        """What comes within so many seconds of silence; false when the program's end has come."""
        end = time.monotonic() + PATIENCE
        while select.select([self.fd], [], [], seconds)[0] and time.monotonic() < end:
            try:
                data = os.read(self.fd, 65536)
            except OSError as e:
                assert e.errno == errno.EIO
                return False
            if not data:
                return False
            self.bytes += len(data)
            self.log += data
            self.screen.feed(data)
        return True

    def count(self, seconds):
        """How many bytes come in so many seconds."""
        before, end = self.bytes, time.monotonic() + seconds
        while time.monotonic() < end:
            self.take(0.02)
        return self.bytes - before

    def send(self, keys):
        os.write(self.fd, keys.encode() if isinstance(keys, str) else keys)

    def until(self, what, holds):
        """Waits until the screen's lines are as holds wants them."""
        end = time.monotonic() + PATIENCE
        while not holds(self.screen.lines()):
            if not self.take() or time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}:\n" + "\n".join(self.screen.lines()))
        return self.screen.lines()

    def until_text(self, text):
        return self.until(text, lambda lines: any(text in line for line in lines))

    def wait(self, options=0):
        """The wait status, once it has ended (or stopped, with WUNTRACED)."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.take(0.02)
            pid, status = os.waitpid(self.pid, options | os.WNOHANG)
            if pid:
                self.take(0.02)
                return status
        raise AssertionError("the program does not end")

    def given_back(self):
        """The terminal is as it was before the program."""
        assert termios.tcgetattr(self.fd) == self.modes, "the modes are not as they were"
        assert self.screen.modes == {"?7": True, "?25": True, "?1049": False}, self.screen.modes


class Nodes:
    """Recordings that grow when they are told to: tests/programs/growing_nodes.c."""

    def __init__(self, directory, nodes, processes, gpus):
        import subprocess
        os.mkdir(directory)
        self.process = subprocess.Popen([os.environ["PROGRAMS"] + "/growing_nodes", directory, str(nodes), str(processes),
                                         str(gpus)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer()

    def answer(self):
        assert self.process.stdout.readline() == "done\n", "growing_nodes has failed"

    def order(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
