# SPDX-License-Identifier: Apache-2.0
"""The program sonde, which does what libsonde does not."""
import errno
import shutil
import subprocess
from typing import Mapping, Optional

from ._library import SondeError


def find() -> str:
    program = shutil.which("sonde")
    if not program:
        raise FileNotFoundError("the program sonde is not in PATH: install Sonde, or add its directory")
    return program


def run(*words: str, answer: bool = False, environment: Optional[Mapping[str, str]] = None) -> str:
    """What it said, or answered on standard output."""
    ended = subprocess.run([find(), *words], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", check=False,
                           env=environment)
    if ended.returncode and not (answer and ended.stdout):
        raise SondeError(errno.EIO if ended.returncode == 1 else errno.EINVAL, ended.stderr.strip())
    return ended.stdout if answer else ended.stderr.strip()
