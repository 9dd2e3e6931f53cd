# SPDX-License-Identifier: Apache-2.0
"""Reads Sonde's recordings, samples the node while Python runs, and says what Python does: sonde.open, sonde.Sampler, sonde.Report,
sonde.span, sonde.Profile."""
from ._library import LibraryNotFound, SondeError, version
from .profile import Profile
from .recording import Recording, open
from .report import Report
from .sampler import Sample, Sampler
from .spans import SpanRecording, counter, mark, span, spans_lost

__all__ = ["LibraryNotFound", "Profile", "Recording", "Report", "Sample", "Sampler", "SondeError", "SpanRecording", "counter", "mark", "open", "span",
           "spans_lost", "version"]
