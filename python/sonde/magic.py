# SPDX-License-Identifier: Apache-2.0
"""%%sonde of IPython: records the kernel while a cell runs. `%load_ext sonde` registers it."""
import argparse
import ast
import errno
import glob
import os
import shlex
import subprocess
import tempfile
import time
from typing import Any, List, Optional

from . import _program
from ._library import SondeError
from .summary import Summary

PATIENCE_S = 20.0


class Attached:
    """A recording of this process and its children, into `path`, which must not exist, until stop()."""

    def __init__(self, path: str, interval: Optional[str]):
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "existing directories are not changed: choose another one with -o", path)
        words = [_program.find(), "attach", "--quiet", "--output", path, "-p", str(os.getpid()), *(["--interval", interval] if interval else [])]
        self.path, self._said = path, tempfile.TemporaryFile()
        self._recorder = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._said, start_new_session=True)
        end = time.monotonic() + PATIENCE_S
        while not glob.glob(os.path.join(glob.escape(path), "node-*.sonde")) and self._recorder.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        if self._recorder.poll() is not None:
            raise self._failed()

    def _failed(self) -> SondeError:
        self._said.seek(0)
        words = self._said.read().decode("utf-8", "replace").strip()
        return SondeError(errno.EIO, words or f"sonde attach ended with exit code {self._recorder.returncode}")

    def stop(self) -> None:
        self._recorder.terminate()
        self._recorder.wait()
        self._said.close()


def _arguments(line: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="%%sonde", add_help=False)
    parser.add_argument("-o", "--output", help="directory of the recording, which must not exist")
    parser.add_argument("-i", "--interval")
    parser.add_argument("-a", "--all", action="store_true", help="everything that sonde show --all prints")
    try:
        return parser.parse_args(shlex.split(line))
    except SystemExit:
        raise ValueError("%%sonde takes -o DIR, -i TIME and --all") from None


class Magic:
    """The magic of one IPython; `%%sonde [-o DIR] [-i TIME] [--all]`."""

    def __init__(self, shell: Any):
        self.shell = shell
        self._folders: List["tempfile.TemporaryDirectory[str]"] = []

    def _path(self, output: Optional[str]) -> str:
        """Without -o the recording is kept until the kernel ends."""
        if output:
            return os.path.expanduser(output)
        self._folders.append(tempfile.TemporaryDirectory(prefix="sonde-cell-"))
        return os.path.join(self._folders[-1].name, "recording")

    def _run(self, cell: str) -> Any:
        """As a cell without the magic; what its last line is, is returned."""
        compiled = self.shell.compile
        source = self.shell.transform_cell(cell)
        name = compiled.cache(source)
        tree = compiled.ast_parse(source, filename=name)
        last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compiled(tree, name, "exec"), self.shell.user_ns)
        return eval(compiled(last, name, "eval"), self.shell.user_ns) if last else None

    def sonde(self, line: str, cell: str) -> Any:
        """Record this kernel while the cell runs, and show the summary."""
        from IPython.display import display

        wanted = _arguments(line)
        attached = Attached(self._path(wanted.output), wanted.interval)
        try:
            return self._run(cell)
        finally:
            attached.stop()
            display(Summary(attached.path, wanted.all))


def load_ipython_extension(shell: Any) -> None:
    shell.register_magic_function(Magic(shell).sonde, "cell", "sonde")
