# SPDX-License-Identifier: Apache-2.0
"""Figures and samples of one node or many, for experiment trackers."""
import ctypes
import os
from typing import Any, Callable, Dict, Iterable, Optional, Union

from . import _html
from . import _library as c
from .sampler import Sample, Sampler


class Report:
    """Add what was sampled, node by node, then emit figures or save the samples."""

    def __init__(self) -> None:
        self._lib = c.library()
        self._report = self._lib.sonde_report_new()
        if not self._report:
            raise MemoryError

    def __del__(self) -> None:
        if getattr(self, "_report", None):
            self._lib.sonde_report_free(self._report)

    def add(self, node: int, samples: Union[Sampler, Iterable[Sample]], cpus: int = 0) -> None:
        """What was sampled on node number `node`: a Sampler, or samples of another process with that node's CPUs."""
        if node < 0:
            raise ValueError("nodes are numbered from 0 on")
        if isinstance(samples, Sampler):
            if not samples._handle:
                return
            good = self._lib.sonde_report_add_sampler(self._report, node, samples._handle)
        else:
            given = [c.CSample(*s) for s in samples]
            good = self._lib.sonde_report_add(self._report, node, (c.CSample * len(given))(*given), len(given), cpus)
        if not good:
            raise MemoryError

    def emit(self, log: Callable[..., Any]) -> int:
        """Call log(key, value, step=node) with each figure that is known; how many there were."""
        figures = []
        called = c.LOG(lambda _, key, value, step: figures.append((key.decode(), value, step)))
        self._lib.sonde_report_emit(self._report, called, None)
        for key, value, step in figures:
            log(key, value, step=step)
        return len(figures)

    def figures(self) -> Dict[int, Dict[str, float]]:
        """{node: {key: value}}"""
        found: Dict[int, Dict[str, float]] = {}
        self.emit(lambda key, value, step: found.setdefault(step, {}).__setitem__(key, value))
        return found

    def _repr_html_(self) -> str:
        return _html.table(("node", "figure", "value"), [(node, key, value) for node, of in self.figures().items() for key, value in of.items()])

    def save(self, path: Optional[Union[str, "os.PathLike[str]"]] = None) -> str:
        """Write the samples as JSON, {"node": [...]}; None: into a new temporary file. The file's path."""
        error = c.Error()
        saved = self._lib.sonde_report_save(self._report, None if path is None else os.fsencode(path), ctypes.byref(error))
        if not saved:
            raise c.failed(error)
        return os.fsdecode(saved)
