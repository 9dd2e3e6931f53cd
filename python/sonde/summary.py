# SPDX-License-Identifier: Apache-2.0
"""What `sonde show` says of a recording, in a notebook or in text."""
import os
from typing import Any, Union

from . import _html, _program


class Summary:
    """Of the recording in `path`: `text`, as the program prints it. In a notebook it is shown."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], all: bool = False):
        self.path = os.fspath(path)
        self.text = _program.run("show", *(["--all"] if all else []), "--", self.path, answer=True)

    def __repr__(self) -> str:
        return self.text.rstrip("\n")

    def _repr_html_(self) -> str:
        return _html.preformatted(self.text)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))
