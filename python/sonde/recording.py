# SPDX-License-Identifier: Apache-2.0
"""A recording, or a directory of them, and its tables."""
import contextlib
import ctypes
import importlib
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Union

from . import _html
from . import _library as c
from .summary import Summary

TABLES = {"series": (0, None), "processes": (1, b"process"), "commands": (1, b"command"), "marks": (2, None),
          "spans": (3, None), "states": (4, None), "counters": (5, None)}
TEXT, INT, REAL, TIME = range(4)


class Node(NamedTuple):
    host: str
    samples: int
    first_s: float
    last_s: float
    complete: bool


class Metric(NamedTuple):
    """formula is None of what was measured; domain None: the node itself."""
    name: str
    unit: str
    kind: str
    domain: Optional[str]
    label: str
    help: str
    formula: Optional[str]


class _Values(NamedTuple):
    name: str
    unit: str
    help: str
    type: int
    values: Any  # numpy: numbers, or codes of words
    present: Any
    words: List[str]


def _needed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as why:
        if why.name != name:
            raise
        raise ModuleNotFoundError(f"tables need {name}: pip install {name}", name=name) from None


class Recording:
    """Opened by sonde.open; closed by close(), or at the end of a with."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]):
        self.path = os.fspath(path)
        self._run = None
        self._lib = c.library()
        error = c.Error()
        self._run = self._lib.sonde_open(os.fsencode(path), ctypes.byref(error))
        if not self._run:
            raise c.failed(error)

    def close(self) -> None:
        run, self._run = self._run, None
        if run:
            self._lib.sonde_close(run)

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    @property
    def _open(self) -> int:
        if not self._run:
            raise ValueError("the recording is closed")
        return self._run

    def _each(self, kind: str, struct: type) -> Iterator[Any]:
        for number in range(1, getattr(self._lib, f"sonde_{kind}_count")(self._open) + 1):
            row = struct()
            getattr(self._lib, f"sonde_{kind}_get")(self._open, number, ctypes.byref(row))
            yield row

    @property
    def start_ns(self) -> int:
        """When the run's second 0 was: nanoseconds since 1970, UTC."""
        return self._lib.sonde_start_utc_ns(self._open)

    @property
    def damage_count(self) -> int:
        """How many places of its files are damaged and were left out."""
        return self._lib.sonde_damage_count(self._open)

    @property
    def nodes(self) -> List[Node]:
        return [Node(c.text(n.host), n.samples, n.first_s, n.last_s, n.complete) for n in self._each("node", c.Node)]

    @property
    def metrics(self) -> List[Metric]:
        return [Metric(*(c.text(getattr(m, field)) for field in Metric._fields)) for m in self._each("metric", c.Metric)]

    @property
    def metadata(self) -> Dict[str, Union[str, int, float, bool]]:
        """What was said once of the run, the job or the machine; of a key, the last word."""
        kinds = {0: lambda m: c.text(m.text), 1: lambda m: m.integer, 2: lambda m: m.real, 3: lambda m: bool(m.integer)}
        return {c.text(m.key): kinds[m.type](m) for m in self._each("meta", c.Meta)}

    def summary(self, all: bool = False) -> Summary:
        """What `sonde show`, or `sonde show --all`, prints of it; it needs the program sonde."""
        return Summary(self.path, all)

    def _repr_html_(self) -> str:
        """The summary; without the program, or when it is closed, what is known without."""
        with contextlib.suppress(OSError):
            return self.summary()._repr_html_()
        if not self._run:
            return _html.paragraph(f"{self.path} (closed)")
        nodes = [(n.host, n.samples, n.last_s - n.first_s, n.complete) for n in self.nodes]
        said = [(key, value) for key, value in self.metadata.items() if key in ("job.command", "job.exit_code")]
        return _html.paragraph(self.path) + _html.table(("node", "samples", "seconds", "complete"), nodes) + _html.table(("", ""), said)

    def _gather(self, table: str, metrics: Optional[str], wide: bool, raw: bool, combine: bool, start: float,
                end: Optional[float], every: float) -> List[_Values]:
        np = _needed("numpy")
        if table not in TABLES:
            raise ValueError(f"there is no table {table!r}; there are {', '.join(TABLES)}")
        number, domain = TABLES[table]
        selection = c.Selection(number, wide, raw, combine, None if metrics is None else metrics.encode(), domain, start,
                                0 if end is None else end, every)
        error = c.Error()
        rows = self._lib.sonde_rows_open(self._open, ctypes.byref(selection), ctypes.byref(error))
        if not rows:
            raise c.failed(error)
        try:
            columns = [_Gathering(self._lib, rows, i, np) for i in range(self._lib.sonde_column_count(rows))]
            while True:
                n = self._lib.sonde_batch_next(rows, ctypes.byref(error))
                if n < 0:
                    raise c.failed(error)
                if n == 0:
                    return [column.done() for column in columns]
                for column in columns:
                    column.take(n)
        finally:
            self._lib.sonde_rows_close(rows)

    def to_pandas(self, table: str = "series", *, metrics: Optional[str] = None, wide: bool = False, raw: bool = False,
                  combine: bool = False, start: float = 0.0, end: Optional[float] = None, every: float = 0.0) -> Any:
        """A table as a pandas.DataFrame: series, processes, commands, marks, spans, counters or states.

        metrics: globs separated by commas. wide: a row for each node and instant. raw: counters as they were read
        instead of rates. combine: one value for all instances. start, end, every: seconds since the run began.
        Units are in frame.attrs["units"]. A value that is not there is missing, never 0.
        """
        np, pd = _needed("numpy"), _needed("pandas")

        frame, units = {}, {}
        for v in self._gather(table, metrics, wide, raw, combine, start, end, every):
            if v.type == TEXT:
                frame[v.name] = pd.Categorical.from_codes(np.where(v.present, v.values, -1), categories=v.words)
            elif v.type == TIME:
                frame[v.name] = pd.to_datetime(pd.Series(np.where(v.present, v.values, np.iinfo("int64").min)), utc=True, unit="ns")
            elif v.type == INT:
                frame[v.name] = pd.arrays.IntegerArray(v.values, ~v.present)
            else:
                frame[v.name] = np.where(v.present, v.values, np.nan)
            if v.unit:
                units[v.name] = v.unit
        made = pd.DataFrame(frame)
        made.attrs["units"] = units
        return made

    def to_arrow(self, table: str = "series", *, metrics: Optional[str] = None, wide: bool = False, raw: bool = False,
                 combine: bool = False, start: float = 0.0, end: Optional[float] = None, every: float = 0.0) -> Any:
        """The same as a pyarrow.Table; unit and help of a column are in its field's metadata."""
        np, pa = _needed("numpy"), _needed("pyarrow")

        arrays, fields = [], []
        for v in self._gather(table, metrics, wide, raw, combine, start, end, every):
            if v.type == TEXT:
                codes = pa.array(v.values.astype(np.int32), mask=~v.present)
                array = pa.DictionaryArray.from_arrays(codes, pa.array(v.words, type=pa.string()))
            else:
                kind = {TIME: pa.timestamp("ns", tz="UTC"), INT: pa.int64(), REAL: pa.float64()}[v.type]
                array = pa.array(v.values, mask=~v.present).cast(kind)
            arrays.append(array)
            fields.append(pa.field(v.name, array.type, metadata={"unit": v.unit, "help": v.help}))
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


class _Gathering:
    """One column while its batches come."""

    def __init__(self, lib: ctypes.CDLL, rows: int, number: int, np: Any):
        column = c.Column()
        lib.sonde_column_get(rows, number, ctypes.byref(column))
        self.lib, self.rows, self.number, self.np = lib, rows, number, np
        self.name, self.unit, self.help = c.text(column.name), c.text(column.unit) or "", c.text(column.help) or ""
        self.type = column.type
        self.values: List[Any] = []
        self.present: List[Any] = []
        self.codes: Dict[str, int] = {}

    def _cells(self, n: int) -> Any:
        read = {TEXT: self.lib.sonde_batch_text, REAL: self.lib.sonde_batch_real}.get(self.type, self.lib.sonde_batch_int)
        cells = read(self.rows, self.number)
        if self.type == TEXT:
            cells = ctypes.cast(cells, ctypes.POINTER(ctypes.c_size_t))
        return self.np.ctypeslib.as_array(cells, (n,)).copy()

    def take(self, n: int) -> None:
        present = self.np.ctypeslib.as_array(self.lib.sonde_batch_present(self.rows, self.number), (n,)) != 0
        values = self._cells(n)
        if self.type == TEXT:
            values = self._coded(self.np.where(present, values, 0))
        self.values.append(values)
        self.present.append(present)

    def _coded(self, pointers: Any) -> Any:
        """Equal pointers are equal texts: each is decoded once."""
        unique, inverse = self.np.unique(pointers, return_inverse=True)
        words = [c.text(ctypes.cast(int(p), ctypes.c_char_p).value) if p else None for p in unique]
        codes = [0 if w is None else self.codes.setdefault(w, len(self.codes)) for w in words]
        return self.np.array(codes, dtype=self.np.int64)[inverse]

    def done(self) -> _Values:
        kind = self.np.float64 if self.type == REAL else self.np.int64
        values = self.np.concatenate(self.values) if self.values else self.np.empty(0, kind)
        present = self.np.concatenate(self.present) if self.present else self.np.empty(0, bool)
        return _Values(self.name, self.unit, self.help, self.type, values, present, list(self.codes))


def open(path: Union[str, "os.PathLike[str]"]) -> Recording:
    """Open a directory that sonde made, or one .sonde file of it. Damage is left out and counted."""
    return Recording(path)
