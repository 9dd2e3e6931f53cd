# SPDX-License-Identifier: Apache-2.0
"""Spans, marks and counters of a Python program, in the recording of the job that it runs in."""
import contextlib
import ctypes
import functools
import os
from typing import Callable, Mapping, Optional, Union

from . import _library as c


class _Library:
    """What is called often, looked up once. Without libsonde nothing is recorded and nothing fails."""

    def __init__(self) -> None:
        try:
            lib = c.library()
        except c.LibraryNotFound:
            self.wanted = ctypes.c_int(0)
            return
        self.wanted = ctypes.c_int.in_dll(lib, "sonde_spans_wanted")
        self.begin, self.end, self.mark, self.counter = lib.sonde_begin, lib.sonde_end, lib.sonde_mark, lib.sonde_counter


@functools.lru_cache(maxsize=None)
def _library() -> _Library:
    return _Library()


@functools.lru_cache(maxsize=1024)
def _number(name: str) -> int:
    return c.library().sonde_name(name.encode("utf-8", "replace"))


class span(contextlib.ContextDecorator):
    """From when to when: `with sonde.span("imaging"): ...`, or `@sonde.span("imaging")` before a function. It ends however
    it is left. One may be entered again, within itself and by several threads too."""

    def __init__(self, name: str):
        self.name = name

    def __enter__(self) -> "span":
        lib = _library()
        if lib.wanted.value:
            lib.begin(_number(self.name))
        return self

    def __exit__(self, *_: object) -> None:
        lib = _library()
        if lib.wanted.value:
            lib.end()


def _quoted(text: str) -> str:
    if text and not set(text) & set(' "\\\n\t'):
        return text
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def _write_mark(name: str, words: Mapping[str, object]) -> None:
    """Nothing outside of `sonde run`, and nothing fails: marks are not worth a job."""
    path = os.environ.get("SONDE_MARKS")
    if not path:
        return
    line = " ".join(["M", _quoted(name), *(_quoted(f"{key}={value}") for key, value in words.items())])
    with contextlib.suppress(OSError):
        marks = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(marks, (line + "\n").encode("utf-8", "replace"))
        finally:
            os.close(marks)


def mark(name: str, /, **words: object) -> None:
    """An instant of this name, now. Words go with it: `sonde.mark("epoch", n=3, loss=0.31)`; those that are numbers become
    curves. A mark with words is a line in the file of marks that `sonde run` made, for some a second; one without costs
    next to nothing."""
    if words:
        _write_mark(name, words)
        return
    lib = _library()
    if lib.wanted.value:
        lib.mark(_number(name))


def counter(name: str, value: float) -> None:
    """The counter of this name has this value from now on; each sample of the recording has the last one."""
    lib = _library()
    if lib.wanted.value:
        lib.counter(_number(name), value)


class SpanRecording:
    """A recording of this program's spans of its own, in a directory, until stop() or the end of the with. Under `sonde run`
    they are recorded there, and this does nothing."""

    def __init__(self, directory: Union[str, "os.PathLike[str]"]):
        error = c.Error()
        self._stop: Optional[Callable[[], None]] = c.library().sonde_spans_stop
        if not c.library().sonde_spans_start(os.fsencode(directory), ctypes.byref(error)):
            raise c.failed(error)

    def stop(self) -> None:
        """Write what is left and close it. Again it does nothing."""
        stop, self._stop = self._stop, None
        if stop:
            stop()

    def __enter__(self) -> "SpanRecording":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def spans_lost() -> int:
    """How many spans and marks of this process found no room so far."""
    return c.library().sonde_spans_lost()
