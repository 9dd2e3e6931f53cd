# SPDX-License-Identifier: Apache-2.0
"""Where libpfm4 has a name for an event, it gives the code that the events files give. It knows the CPUs of one architecture only."""
import ctypes
import os
import sys

TOP = os.environ["TOP"]
PFM_PLM3, PFM_OS_PERF_EVENT, PFM_SUCCESS = 8, 1, 0


class Attr(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint32), ("size", ctypes.c_uint32), ("config", ctypes.c_uint64), ("between", ctypes.c_uint64 * 5),
                ("config1", ctypes.c_uint64), ("config2", ctypes.c_uint64), ("more", ctypes.c_uint64 * 16)]


class Encode(ctypes.Structure):
    _fields_ = [("attr", ctypes.POINTER(Attr)), ("fstr", ctypes.c_void_p), ("size", ctypes.c_size_t),
                ("idx", ctypes.c_int), ("cpu", ctypes.c_int), ("flags", ctypes.c_int)]


def rows(name):
    with open(f"{TOP}/tests/golden/{name}", encoding="ascii") as f:
        return [line.split() for line in f]


def load():
    os.environ["LIBPFM_ENCODE_INACTIVE"] = "1"
    try:
        pfm = ctypes.CDLL("libpfm.so.4")
    except OSError:
        print("libpfm4 is not installed (Debian: libpfm4)")
        sys.exit(77)
    if pfm.pfm_initialize() != PFM_SUCCESS:
        print("libpfm4 does not start")
        sys.exit(77)
    return pfm


def main():
    pfm = load()
    codes = {tuple(r[:3]): (int(r[4], 16), int(r[5], 16)) for r in rows("perf-events.txt")}
    compared, archs, unknown, faults = 0, set(), 0, []
    for arch, group, event, name in rows("perf-libpfm4.txt"):
        attr = Attr()
        arg = Encode(attr=ctypes.pointer(attr), size=ctypes.sizeof(Encode))
        if pfm.pfm_get_os_event_encoding(name.encode(), PFM_PLM3, PFM_OS_PERF_EVENT, ctypes.byref(arg)) != PFM_SUCCESS:
            unknown += 1
            continue
        compared += 1
        archs.add(arch)
        if (attr.config, attr.config1) != codes[arch, group, event]:
            faults.append(f"{arch} {group} {event}: {name} is {attr.config:#x} {attr.config1:#x}, "
                          f"not {codes[arch, group, event][0]:#x} {codes[arch, group, event][1]:#x}")
    print(f"{compared} events of {len(archs)} CPUs compared, {unknown} names not known to this library", *faults, sep="\n")
    if not compared:
        sys.exit(77)
    sys.exit(1 if faults else 0)


main()
