# SPDX-License-Identifier: Apache-2.0
"""Reads Sonde's recordings, and samples the node while Python runs: sonde.open, sonde.Sampler, sonde.Report, sonde.Profile."""
from ._library import LibraryNotFound, SondeError, version
from .profile import Profile
from .recording import Recording, open
from .report import Report
from .sampler import Sample, Sampler

__all__ = ["LibraryNotFound", "Profile", "Recording", "Report", "Sample", "Sampler", "SondeError", "open", "version"]
