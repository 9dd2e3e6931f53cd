# SPDX-License-Identifier: Apache-2.0
"""Reads Sonde's recordings, and samples the node while Python runs: sonde.open, sonde.Sampler, sonde.Report."""
from ._library import LibraryNotFound, SondeError, version
from .recording import Recording, open
from .report import Report
from .sampler import Sample, Sampler

__all__ = ["LibraryNotFound", "Recording", "Report", "Sample", "Sampler", "SondeError", "open", "version"]
