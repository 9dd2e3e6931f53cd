# SPDX-License-Identifier: Apache-2.0
"""What Scanner's own Profile offers, of a recording that `sonde import scanner` made."""
import json
import os
import tempfile
from typing import Any, Dict, Optional, Tuple, Union

from . import _program
from ._library import SondeError
from .recording import Recording

MASTER = "master"


class Profile:
    """A job of Scanner: its intervals, counters and times. The figures are those of the workers; the master is in the trace, too."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]):
        self.path = os.fspath(path)
        self.recording = Recording(path)
        self.faults = ""
        self._folder: Optional[Any] = None

    @classmethod
    def load(cls, db_path: Union[str, "os.PathLike[str]"], job: Union[str, int, None] = None, load_threads: int = 8,
             subsample: Optional[int] = None) -> "Profile":
        """Import a job of Scanner's database, by id or name, into a temporary directory. What was damaged is in `faults`; the rest is loaded."""
        folder = tempfile.TemporaryDirectory(prefix="sonde-profile-")
        to = os.path.join(folder.name, "recording")
        words = ["import", "scanner", os.path.expanduser(os.fspath(db_path))] + ([] if job is None else [str(job)]) + ["-o", to, "-j", str(load_threads)]
        if subsample is not None:
            words += ["--subsample", str(subsample)]
        try:
            said = _program.run(*words)
        except SondeError as why:
            if not os.path.isdir(to):
                raise
            said = str(why.strerror)
        profile = cls(to)
        profile.faults = "\n".join(line for line in said.splitlines() if not line.startswith("sonde: imported "))
        profile._folder = folder
        return profile

    def write_trace(self, path: Union[str, "os.PathLike[str]"]) -> str:
        """Write a trace for chrome://tracing and ui.perfetto.dev: *.trace, *.json, *.json.gz, *.tar.gz or *.pftrace. Returns the path."""
        _program.run("trace", self.path, "-o", os.fspath(path))
        return os.fspath(path)

    def statistics(self) -> Dict[str, Any]:
        """{kind: {key: seconds as text, counter: number}}, summed over the workers; "total_time" is from the first begin to the last end."""
        found: Dict[str, Any] = {}
        for kind in json.loads(_program.run("show", "--spans", "--json", self.path, answer=True))["kinds"]:
            if kind["kind"] == MASTER:
                continue
            of_kind = found.setdefault(kind["kind"], {})
            of_kind.update((span["name"], f"{span['seconds']:f}") for span in kind["spans"])
            for counter in kind["counters"]:
                name = counter["label"] or counter["name"]
                of_kind[f"{name} (counter)" if name in of_kind else name] = counter["value"]
        begin, end = self.total_time_interval()
        found["total_time"] = f"{(end - begin) / 1e9:f}"
        return found

    def total_time_interval(self) -> Tuple[int, int]:
        """From the first begin of a worker to the last end, in nanoseconds since 1970."""
        start = self.recording.start_ns
        workers = [n for n in self.recording.nodes if n.host != MASTER and n.samples]
        if not workers:
            raise ValueError(f"{self.path} holds no worker whose times are known")
        return (start + round(min(n.first_s for n in workers) * 1e9), start + round(max(n.last_s for n in workers) * 1e9))
