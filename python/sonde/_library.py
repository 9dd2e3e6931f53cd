# SPDX-License-Identifier: Apache-2.0
"""libsonde.so.0: where it is, and what is declared in sonde.h, sonde_sampler.h and sonde_span.h."""
import ctypes
import functools
import os
import shutil
from ctypes import (CFUNCTYPE, POINTER, Structure, Union, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint,
                    c_uint8, c_uint32, c_uint64, c_void_p)

NAME = "libsonde.so.0"


class LibraryNotFound(ImportError):
    """libsonde.so.0 cannot be loaded."""


class SondeError(OSError):
    """What libsonde could not do; errno and one sentence."""


class Error(Structure):
    _fields_ = [("code", c_int), ("text", c_char * 512)]


class Node(Structure):
    _fields_ = [("host", c_char_p), ("samples", c_uint64), ("first_s", c_double), ("last_s", c_double), ("complete", c_bool)]


class Metric(Structure):
    _fields_ = [(name, c_char_p) for name in ("name", "unit", "kind", "domain", "label", "help", "formula")]


class Meta(Structure):
    _fields_ = [("node", c_size_t), ("key", c_char_p), ("text", c_char_p), ("type", c_int), ("integer", c_int64), ("real", c_double)]


class Selection(Structure):
    _fields_ = [("table", c_int), ("wide", c_bool), ("raw", c_bool), ("combine", c_bool), ("metrics", c_char_p),
                ("domain", c_char_p), ("from_s", c_double), ("to_s", c_double), ("every_s", c_double)]


class Column(Structure):
    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("help", c_char_p), ("type", c_int)]


SAMPLE_FIELDS = ("timestamp", "seconds", "window", "cpu_mean", "cpu_min", "cpu_max", "memory", "disk", "disk_read",
                 "disk_written", "loopback_sent", "network_sent", "loopback_received", "network_received")


class CSample(Structure):
    _fields_ = [(name, c_double) for name in SAMPLE_FIELDS]


ON_SAMPLE = CFUNCTYPE(None, c_void_p, POINTER(CSample))
ON_EXIT = CFUNCTYPE(None, c_void_p)
LOG = CFUNCTYPE(None, c_void_p, c_char_p, c_double, c_uint)


class SamplerOptions(Structure):
    _fields_ = [("interval", c_double), ("cpu_interval", c_double), ("max_length", c_size_t), ("on_sample", ON_SAMPLE),
                ("on_exit", ON_EXIT), ("context", c_void_p)]


class ArgValue(Union):
    _fields_ = [("number", c_double), ("integer", c_int64), ("flow", c_uint64), ("text", c_char_p)]


class Arg(Structure):
    _fields_ = [("kind", c_uint32), ("key", c_uint32), ("value", ArgValue)]


ARG_NUMBER, ARG_INTEGER, ARG_TEXT, ARG_CATEGORY, ARG_FLOW_OUT, ARG_FLOW_IN = range(1, 7)


class Passed(Structure):
    _fields_ = [("began_ns", c_int64), ("machine", c_uint64), ("name", c_char * 256)]


# name: what it returns, what it takes
DECLARED = {
    "sonde_version": (c_char_p, []),
    "sonde_open": (c_void_p, [c_char_p, POINTER(Error)]),
    "sonde_close": (None, [c_void_p]),
    "sonde_start_utc_ns": (c_int64, [c_void_p]),
    "sonde_damage_count": (c_size_t, [c_void_p]),
    "sonde_node_count": (c_size_t, [c_void_p]),
    "sonde_node_get": (c_bool, [c_void_p, c_size_t, POINTER(Node)]),
    "sonde_metric_count": (c_size_t, [c_void_p]),
    "sonde_metric_get": (c_bool, [c_void_p, c_size_t, POINTER(Metric)]),
    "sonde_meta_count": (c_size_t, [c_void_p]),
    "sonde_meta_get": (c_bool, [c_void_p, c_size_t, POINTER(Meta)]),
    "sonde_rows_open": (c_void_p, [c_void_p, POINTER(Selection), POINTER(Error)]),
    "sonde_rows_close": (None, [c_void_p]),
    "sonde_column_count": (c_size_t, [c_void_p]),
    "sonde_column_get": (c_bool, [c_void_p, c_size_t, POINTER(Column)]),
    "sonde_batch_next": (c_int64, [c_void_p, POINTER(Error)]),
    "sonde_batch_real": (POINTER(c_double), [c_void_p, c_size_t]),
    "sonde_batch_int": (POINTER(c_int64), [c_void_p, c_size_t]),
    "sonde_batch_text": (POINTER(c_void_p), [c_void_p, c_size_t]),
    "sonde_batch_present": (POINTER(c_uint8), [c_void_p, c_size_t]),
    "sonde_sampler_start": (c_void_p, [POINTER(SamplerOptions), POINTER(Error)]),
    "sonde_sampler_stop": (None, [c_void_p]),
    "sonde_sampler_free": (None, [c_void_p]),
    "sonde_sampler_running": (c_bool, [c_void_p]),
    "sonde_sampler_taken": (c_uint64, [c_void_p]),
    "sonde_sampler_samples": (c_size_t, [c_void_p, POINTER(CSample), c_size_t]),
    "sonde_sampler_cpus": (c_uint, [c_void_p]),
    "sonde_report_new": (c_void_p, []),
    "sonde_report_free": (None, [c_void_p]),
    "sonde_report_add": (c_bool, [c_void_p, c_uint, POINTER(CSample), c_size_t, c_uint]),
    "sonde_report_add_sampler": (c_bool, [c_void_p, c_uint, c_void_p]),
    "sonde_report_emit": (c_size_t, [c_void_p, LOG, c_void_p]),
    "sonde_report_save": (c_char_p, [c_void_p, c_char_p, POINTER(Error)]),
    "sonde_name": (c_uint32, [c_char_p]),
    "sonde_begin": (c_uint64, [c_uint32]),
    "sonde_end": (None, []),
    "sonde_span_begin": (c_uint64, [c_uint32, c_uint64]),
    "sonde_span_end": (None, [c_uint64]),
    "sonde_span_end_with": (None, [c_uint64, POINTER(Arg), c_uint32]),
    "sonde_mark_with": (None, [c_uint32, POINTER(Arg), c_uint32]),
    "sonde_flow": (c_uint64, []),
    "sonde_span_pass": (c_bool, [c_uint64, POINTER(Passed)]),
    "sonde_span_take": (c_uint64, [POINTER(Passed)]),
    "sonde_thread_name": (None, [c_char_p]),
    "sonde_mark": (None, [c_uint32]),
    "sonde_counter": (None, [c_uint32, c_double]),
    "sonde_spans_start": (c_bool, [c_char_p, POINTER(Error)]),
    "sonde_spans_stop": (None, []),
    "sonde_spans_lost": (c_uint64, []),
}


def _places():
    chosen = os.environ.get("SONDE_LIBRARY")
    if chosen:
        return [chosen]
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), NAME) # a wheel's
    places = [own] if os.path.exists(own) else []
    places += [NAME, f"/usr/local/lib/{NAME}"]
    program = shutil.which("sonde")
    if program:
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(program)))
        places.append(os.path.join(prefix, "lib", NAME))
    return places


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library, loaded when it is first needed."""
    tried = []
    for place in _places():
        try:
            lib = ctypes.CDLL(place)
            for name, (result, arguments) in DECLARED.items():
                function = getattr(lib, name)
                function.restype, function.argtypes = result, arguments
            return lib
        except (OSError, AttributeError) as why:
            tried.append(str(why))
    raise LibraryNotFound(f"{NAME} cannot be loaded ({'; '.join(tried)}); install Sonde, or set SONDE_LIBRARY to its path")


def version() -> str:
    """The version of libsonde."""
    return library().sonde_version().decode()


def failed(error: Error) -> SondeError:
    return SondeError(error.code, text(error.text))


def text(raw):
    """Names are what some process was called: not always UTF-8."""
    return None if raw is None else raw.decode("utf-8", "replace")
