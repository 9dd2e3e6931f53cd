# SPDX-License-Identifier: Apache-2.0
"""Spans, marks and counters of a Python program, in the recording of the job that it runs in."""
import contextlib
import contextvars
import ctypes
import functools
import inspect
import os
import sys
import threading
from typing import Any, AsyncIterator, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Union

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
        self.begin, self.mark, self.counter = lib.sonde_begin, lib.sonde_mark, lib.sonde_counter
        self.span_end_with = lib.sonde_span_end_with
        self.span_begin, self.span_end, self.thread_name = lib.sonde_span_begin, lib.sonde_span_end, lib.sonde_thread_name


@functools.lru_cache(maxsize=None)
def _library() -> _Library:
    return _Library()


@functools.lru_cache(maxsize=16384)
def _number(name: str) -> int:
    return c.library().sonde_name(name.encode("utf-8", "replace"))


class _Entry(NamedTuple):
    """A span that was entered, by which frame; and which was the innermost of the task, or of the generator, before."""
    frame: int
    handle: int
    task: bool
    generator: bool
    before: int
    words: Dict[str, object]


_CALL, _GENERATOR, _TASK = 0, inspect.CO_GENERATOR, inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_of_task: "contextvars.ContextVar[int]" = contextvars.ContextVar("sonde_span", default=0)
_of_generator: Dict[int, int] = {}  # by its frame, while a span of it is open
_thread = threading.local()


def _name_thread(lib: _Library) -> None:
    """The main thread keeps the program's name; before Python 3.14 the kernel does not know the others'."""
    _thread.named = True
    thread = threading.current_thread()
    if thread is not threading.main_thread():
        lib.thread_name(thread.name.encode("utf-8", "replace"))


def _owner(frame: Any) -> Any:
    """Who has the span that this frame enters: an ExitStack is entered by who has it, and so is the generator that a
    context manager of contextlib is made of."""
    def is_contextlib(f: Any) -> bool:
        return f.f_globals is contextlib.__dict__

    while frame.f_back and (is_contextlib(frame) or (frame.f_code.co_flags & _GENERATOR and is_contextlib(frame.f_back))):
        frame = frame.f_back
    return frame


def flow() -> int:
    """A number for an arrow between spans, which no other process is given: `flow_out=` of the span where it begins, and `flow_in=`
    of the one where it ends, in any thread, process and node."""
    return c.library().sonde_flow()


class _Set(NamedTuple):
    """What goes with a span from its begin on."""
    category: Optional[str]
    flow_out: Iterable[int]
    flow_in: Iterable[int]
    words: Mapping[str, object]


def _numbers(flows: Union[int, Iterable[int]]) -> Iterable[int]:
    return (flows,) if isinstance(flows, int) else tuple(flows)


def _args(of: _Set, words: Mapping[str, object]) -> Any:
    """As libsonde takes them. What numpy has is a number, too."""
    out = []
    if of.category:
        out.append(c.Arg(c.ARG_CATEGORY, _number(of.category)))
    for kind, flows in ((c.ARG_FLOW_OUT, of.flow_out), (c.ARG_FLOW_IN, of.flow_in)):
        out += [c.Arg(kind, 0, c.ArgValue(flow=number & (2**64 - 1))) for number in flows]
    for key, value in {**of.words, **words}.items():
        if isinstance(value, int) and not isinstance(value, bool) and -2**63 <= value < 2**63:
            out.append(c.Arg(c.ARG_INTEGER, _number(key), c.ArgValue(integer=value)))
        elif isinstance(value, float) or (hasattr(value, "__float__") and not isinstance(value, (bool, int))):
            out.append(c.Arg(c.ARG_NUMBER, _number(key), c.ArgValue(number=float(value))))  # type: ignore[arg-type]
        else:
            out.append(c.Arg(c.ARG_TEXT, _number(key), c.ArgValue(text=str(value).encode("utf-8", "replace"))))
    return (c.Arg * len(out))(*out)


class span(contextlib.ContextDecorator):
    """From when to when: `with sonde.span("imaging"): ...`, or `@sonde.span("imaging")` before a function, a coroutine
    function or a generator function. It ends however it is left. One may be entered again, within itself and by several
    threads and tasks too.

    A span of a coroutine or a generator may end after one that began later: each task and each generator has a row of its
    own. A span of a function is in the row of its thread.

    Words go with it: `with sonde.span("load", file=path) as s: ...; s.set(bytes=n)`, numbers and texts; a category; and arrows
    (sonde.flow) that go out of it or come into it."""

    def __init__(self, name: str, /, *, category: Optional[str] = None, flow_out: Union[int, Iterable[int]] = (),
                 flow_in: Union[int, Iterable[int]] = (), **words: object):
        self.name = name
        self._entries: List[_Entry] = []
        self._set = _Set(category, _numbers(flow_out), _numbers(flow_in), words)

    def set(self, **words: object) -> None:
        """These go with it as well, when it ends: with the one that was entered last."""
        if self._entries:
            self._entries[-1].words.update(words)

    def _enter(self, frame: Any, kind: int) -> "span":
        lib, key = _library(), id(frame)
        if not lib.wanted.value:
            return self
        if not hasattr(_thread, "named"):
            _name_thread(lib)
        if kind & _TASK:
            before = _of_task.get()
            handle = lib.span_begin(_number(self.name), before)
            _of_task.set(handle)
        elif kind & _GENERATOR:
            before = _of_generator.get(key, 0)
            handle = lib.span_begin(_number(self.name), before)
            _of_generator[key] = handle
        else:
            before, handle = 0, lib.begin(_number(self.name))
        self._entries.append(_Entry(key, handle, bool(kind & _TASK), bool(kind & _GENERATOR), before, {}))
        return self

    def _entry(self, frame: int) -> Optional[_Entry]:
        """The one that this frame entered last; else the last of all."""
        with contextlib.suppress(IndexError):
            if self._entries[-1].frame == frame:
                return self._entries.pop()
            for entry in reversed(self._entries):
                if entry.frame == frame:
                    self._entries.remove(entry)
                    return entry
            return self._entries.pop()
        return None

    def _exit(self, frame: Any) -> None:
        entry = self._entry(id(frame))
        if not entry:
            return
        if entry.words or any(self._set):
            args = _args(self._set, entry.words)
            _library().span_end_with(entry.handle, args, len(args))
        else:
            _library().span_end(entry.handle)
        if entry.task and _of_task.get() == entry.handle:
            _of_task.set(entry.before)
        elif entry.generator and entry.before:
            _of_generator[entry.frame] = entry.before
        elif entry.generator:
            _of_generator.pop(entry.frame, None)

    def __enter__(self) -> "span":
        frame = _owner(sys._getframe(1))
        return self._enter(frame, frame.f_code.co_flags)

    def __exit__(self, *_: object) -> None:
        self._exit(_owner(sys._getframe(1)))

    async def __aenter__(self) -> "span":
        return self._enter(None, _TASK)

    async def __aexit__(self, *_: object) -> None:
        self._exit(None)

    def _again(self) -> "span":
        x = span(self.name)
        x._set = self._set
        return x

    def __call__(self, function: Any) -> Any:
        for is_one, wrap in ((inspect.iscoroutinefunction, _coroutine), (inspect.isasyncgenfunction, _async_generator),
                             (inspect.isgeneratorfunction, _generator)):
            if is_one(function):
                return functools.wraps(function)(wrap(self._again, function))
        return functools.wraps(function)(_function(self._again, function))


def _function(make: Callable[[], span], function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with make():
            return function(*args, **kwargs)
    return wrapped


def _coroutine(make: Callable[[], span], function: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        with make():
            return await function(*args, **kwargs)
    return wrapped


def _generator(make: Callable[[], span], function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with make():
            return (yield from function(*args, **kwargs))
    return wrapped


def _async_generator(make: Callable[[], span], function: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapped(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        values = function(*args, **kwargs)
        with make(), contextlib.suppress(StopAsyncIteration):
            value = await values.asend(None)
            while True:
                try:
                    sent = yield value
                except GeneratorExit:
                    await values.aclose()
                    raise
                except BaseException as why:  # it is the generator's to see
                    value = await values.athrow(why)
                else:
                    value = await values.asend(sent)
    return wrapped


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
    """The counter of this name has this value from now on. Each value is recorded, up to 1,000 a second."""
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
