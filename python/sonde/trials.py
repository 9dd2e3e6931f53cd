# SPDX-License-Identifier: Apache-2.0
"""Trials of Python's functions, in the store of `sonde bench`."""
import functools
import inspect
import json
import os
import sys
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _html, _program
from ._library import SondeError

WHERE = "put it at the top level of a file, and what starts it behind `if __name__ == \"__main__\":`"


class _State:
    """Of a process that is a trial: whether it still imports the function's file, or runs the function."""
    loading = running = False


state = _State()


class Batch:
    """The trials of one call: `id` as `sonde compare` takes it, `trials` and `failed` (how many), `reasons` of those that failed, `results` (of each
    trial its figures; None of one that failed) and `figures` (of each name n, median, mean, sd, ...)."""

    def __init__(self, statistics: Mapping[str, Any], shown: Mapping[str, Any]):
        self.number: int = statistics["batch"]
        self.id = f"bench:{self.number}"
        self.indicator: Optional[str] = statistics["indicator"]
        self.trials: int = statistics["trials"]
        self.reasons: List[str] = [trial["reason"] for trial in statistics["failed"]]
        self.failed = len(self.reasons)
        self.figures: Dict[str, Dict[str, Any]] = dict(statistics["figures"])
        self.results: List[Optional[Dict[str, float]]] = [None if trial["reason"] else trial["figures"] for trial in shown["trials"]]

    def __repr__(self) -> str:
        return f"<{self.id} {self.indicator or 'without results'}: {self.trials} trials, {self.failed} failed>"

    def _repr_html_(self) -> str:
        rows = [(name, *(figure[key] for key in ("median", "mean", "sd", "min", "max")), figure["unit"]) for name, figure in self.figures.items()]
        return _html.paragraph(repr(self)[1:-1]) + _html.table(("", "median", "mean", "sd", "min", "max", "unit"), rows)


def _target(function: Any) -> Tuple[str, str]:
    """Its file, and its module and name."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "<")
    try:
        file = inspect.getsourcefile(function) or ""
    except TypeError:
        file = ""
    if not module or "<" in name or not os.path.isfile(file):
        raise ValueError(f"each trial is a Python of its own, which cannot import {name}: {WHERE}")
    return file, f"{module}:{name}"


def _parameters(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Dict[str, Any]:
    """The arguments by name, defaults included."""
    signature = inspect.signature(function)
    kinds = {p.kind for p in signature.parameters.values()}
    if kinds & {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL}:
        raise TypeError("arguments are parameters of the trials: each needs a name")
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    rest = next((p.name for p in signature.parameters.values() if p.kind is inspect.Parameter.VAR_KEYWORD), None)
    named = dict(bound.arguments)
    return {**named, **named.pop(rest)} if rest else named


def _answer(*words: str, environment: Optional[Mapping[str, str]] = None) -> Dict[str, Any]:
    found: Dict[str, Any] = json.loads(_program.run(*words, answer=True, environment=environment))
    if "error" in found:
        raise SondeError(0, found["error"])
    return found


class bench:
    """Make trials of functions: each call is a batch of `repeat` trials, stored and recorded as `sonde bench run` does.

    As a decorator, `@sonde.bench(repeat=10)` before a function; or `with sonde.bench(repeat=10) as bench: bench(function, size=512)`. Each trial is a
    Python of its own, which imports the function and calls it once. The arguments, defaults included, are the parameters; the dict or the number that the
    function returns is the result, beside `elapsed`, its seconds. Failed trials are stored with their reason, and reported as a warning: after the call,
    or, in a with, after all of them.

    name: of the indicator; None: the function's. component: what is measured. timeout, interval: times as the program takes them, like "5m". env:
    variables of the trials. The rest is as in `sonde bench run --help`."""

    def __init__(self, repeat: int = 1, *, warmup: int = 0, name: Optional[str] = None, component: str = "python", timeout: Optional[str] = None,
                 interval: Optional[str] = None, env: Optional[Mapping[str, str]] = None, output: Union[str, "os.PathLike[str]", None] = None,
                 store: Optional[str] = None, models: Sequence[Union[str, "os.PathLike[str]"]] = (), note: Optional[str] = None, tags: Sequence[str] = ()):
        self.name, self.component, self.batches = name, component, []  # type: Optional[str], str, List[Batch]
        self._store = ["--store", store] if store else []
        self._options = ["--repeat", str(repeat), "--warmup", str(warmup)] + self._store
        for option, value in (("timeout", timeout), ("interval", interval), ("output", output), ("note", note)):
            self._options += [f"--{option}", os.fspath(value)] if value is not None else []
        for option, values in (("env", [f"{key}={value}" for key, value in (env or {}).items()]), ("model", models), ("tag", tags)):
            self._options += [word for value in values for word in (f"--{option}", os.fspath(value))]
        self._told: Optional[List[Batch]] = None

    def _run(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Batch:
        file, target = _target(function)
        given = {"name": self.name or function.__name__, "component": self.component, "@parameters": _parameters(function, args, kwargs)}
        words = [sys.executable, "-msonde._trial", file, target, json.dumps(given)]
        places = {**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(place) for place in sys.path)}
        statistics = _answer("bench", "run", "--quiet", "--json", *self._options, *words, environment=places)["batches"][0]
        return Batch(statistics, _answer("bench", "show", "--json", *self._store, f"bench:{statistics['batch']}"))

    def _tell(self, batches: Sequence[Batch]) -> None:
        failed = [batch for batch in batches if batch.failed]
        if failed:
            warnings.warn("; ".join(f"{b.id}: {b.failed} of {b.trials} trials failed, first: {b.reasons[0]}" for b in failed), RuntimeWarning, stacklevel=3)

    def _trial_of(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def measured(*args: Any, **kwargs: Any) -> Any:
            if state.running:
                return function(*args, **kwargs)
            if state.loading:
                raise RuntimeError(f"a trial imports this file, which starts trials itself: {WHERE}")
            batch = self._run(function, args, kwargs)
            self._tell([batch])
            return batch
        return measured

    def __call__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """In a with: a batch of this function with these arguments. Before a function: the function whose calls are batches."""
        if self._told is None:
            return self._trial_of(function)
        batch = self._run(function, args, kwargs)
        self._told.append(batch)
        self.batches.append(batch)
        return batch

    def __enter__(self) -> "bench":
        if state.loading:
            raise RuntimeError(f"a trial imports this file, which starts trials itself: {WHERE}")
        self._told = []
        return self

    def __exit__(self, *_: object) -> None:
        told, self._told = self._told, None
        self._tell(told or [])
