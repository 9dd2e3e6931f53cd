# SPDX-License-Identifier: Apache-2.0
"""Samples of the node while Python runs, taken by a thread that is not Python's."""
import ctypes
import threading
import traceback
import warnings
import weakref
from typing import Any, Callable, List, NamedTuple, Optional

from . import _library as c

ERRORS_KEPT = 10


class Sample(NamedTuple):
    """Ratios are 0..1, traffic is bytes since the start; nan: not known. sonde_sampler.h says more."""
    timestamp: float
    seconds: float
    window: float
    cpu_mean: float
    cpu_min: float
    cpu_max: float
    memory: float
    disk: float
    disk_read: float
    disk_written: float
    loopback_sent: float
    network_sent: float
    loopback_received: float
    network_received: float


def _sample(raw: c.CSample) -> Sample:
    return Sample(*(getattr(raw, field) for field in Sample._fields))


class _Callbacks:
    """What the thread calls. It knows nothing of the Sampler, which may be forgotten meanwhile."""

    def __init__(self, on_sample: Optional[Callable[[Sample], Any]], on_exit: Optional[Callable[[], Any]]):
        self.errors: List[str] = []
        self.failures = 0
        self.thread: Optional[int] = None
        self.sample = c.ON_SAMPLE(lambda _, raw: self.call(on_sample, _sample(raw.contents))) if on_sample else c.ON_SAMPLE()
        self.exit = c.ON_EXIT(lambda _: self.call(on_exit)) if on_exit else c.ON_EXIT()

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.thread = threading.get_ident()
        try:
            function(*arguments)
        except BaseException:  # it may not leave through C; it is told when sampling stops
            self.failures += 1
            if len(self.errors) < ERRORS_KEPT:
                self.errors.append(traceback.format_exc())


def _free(lib: ctypes.CDLL, handle: int, callbacks: _Callbacks) -> None:
    """A callback may let go of the last reference, or collect it. What is called must outlive the thread, which cannot
    wait for itself: another one does."""
    def free(_callbacks: _Callbacks) -> None:
        lib.sonde_sampler_free(handle)

    if callbacks.thread == threading.get_ident():
        threading.Thread(target=free, args=(callbacks,)).start()
    else:
        free(callbacks)


class Sampler:
    """Samples from start() to stop(), or within a with.

    interval: seconds between samples. cpu_interval: CPU figures are of the last so many seconds; None: of all of interval.
    max_length: samples kept; when there are more, neighbours are merged. on_sample(sample), on_exit(): called by the
    sampler's thread. What they raise does not end sampling: stop() warns of it, and errors has the tracebacks.
    A Sampler that cannot start says so as a warning, and the with runs all the same.
    """

    def __init__(self, interval: float = 1.0, cpu_interval: Optional[float] = None, max_length: int = 1000,
                 on_sample: Optional[Callable[[Sample], Any]] = None, on_exit: Optional[Callable[[], Any]] = None):
        self._lib = c.library()
        self._callbacks = _Callbacks(on_sample, on_exit)
        self._options = c.SamplerOptions(interval, cpu_interval or 0, max_length, self._callbacks.sample, self._callbacks.exit, None)
        self._handle: Optional[int] = None
        self._told = False

    def start(self) -> "Sampler":
        """Begin; a Sampler begins once."""
        if self._handle:
            raise ValueError("this Sampler was started before; make another one")
        error = c.Error()
        self._handle = self._lib.sonde_sampler_start(ctypes.byref(self._options), ctypes.byref(error))
        if not self._handle:
            raise c.failed(error)
        weakref.finalize(self, _free, self._lib, self._handle, self._callbacks)
        return self

    def stop(self) -> None:
        """Take a last sample and end. Again it does nothing."""
        if self._handle:
            self._lib.sonde_sampler_stop(self._handle)
        if self._callbacks.failures and not self._told:
            self._told = True
            warnings.warn(f"a callback of the sampler failed {self._callbacks.failures} times, first with:\n"
                          f"{self._callbacks.errors[0]}", RuntimeWarning, stacklevel=2)

    def __enter__(self) -> "Sampler":
        try:
            return self.start()
        except c.SondeError as why:
            warnings.warn(f"not sampling: {why.strerror}", RuntimeWarning, stacklevel=2)
            return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        return bool(self._handle) and self._lib.sonde_sampler_running(self._handle)

    @property
    def taken(self) -> int:
        """How many samples were taken, those included that were merged."""
        return self._lib.sonde_sampler_taken(self._handle) if self._handle else 0

    @property
    def cpus(self) -> int:
        """Logical CPUs of this node."""
        return self._lib.sonde_sampler_cpus(self._handle) if self._handle else 0

    @property
    def errors(self) -> List[str]:
        """Tracebacks of what callbacks raised, the first few."""
        return list(self._callbacks.errors)

    @property
    def samples(self) -> List[Sample]:
        """What is kept, oldest first; at any time."""
        if not self._handle:
            return []
        room = self._lib.sonde_sampler_samples(self._handle, None, 0) + 1
        raw = (c.CSample * room)()
        n = self._lib.sonde_sampler_samples(self._handle, raw, room)
        return [_sample(raw[i]) for i in range(min(n, room))]
