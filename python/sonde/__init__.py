# SPDX-License-Identifier: Apache-2.0
"""Reads Sonde's recordings, samples the node while Python runs, says what Python does, and measures its functions: sonde.open, sonde.Sampler,
sonde.Report, sonde.span, sonde.bench, sonde.Profile."""
from ._library import LibraryNotFound, SondeError, version
from .magic import load_ipython_extension
from .profile import Profile
from .recording import Recording, open
from .report import Report
from .sampler import Sample, Sampler
from .spans import SpanRecording, counter, flow, mark, span, spans_lost
from .summary import Summary
from .trials import Batch, bench

__all__ = ["Batch", "LibraryNotFound", "Profile", "Recording", "Report", "Sample", "Sampler", "SondeError", "SpanRecording", "Summary", "bench", "counter",
           "flow", "load_ipython_extension", "mark", "open", "span", "spans_lost", "version"]
