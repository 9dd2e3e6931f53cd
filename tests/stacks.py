# SPDX-License-Identifier: Apache-2.0
"""Stacks and their samples out of a recording, read from docs/format.md alone: tests/stacks.py DIR prints them folded."""
import collections
import ctypes
import glob
import os
import struct
import sys
import time

from patience import patience

MODULE, FRAME, STACKS, SAMPLES = range(24, 28)
PYTHON = 3
FRAME_CUT, FRAME_OTHER, FRAME_LOST_WAY, FRAME_UNOPTIMIZED, FRAME_SPINS = 1, 2, 4, 16, 32
Frame = collections.namedtuple("Frame", "module address function file line outer flags")
Sample = collections.namedtuple("Sample", "instance command kind unit t0 t1 tid node weight")
ZSTD = ctypes.CDLL("libzstd.so.1")
ZSTD.ZSTD_isError.argtypes = [ctypes.c_size_t]
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def helper_of(name, but=0):
    """The helper whose parent writes this recording, another one than `but`."""
    end = time.monotonic() + patience(20)
    while time.monotonic() < end:
        for path in glob.glob("/proc/[0-9]*/comm"):
            try:
                if open(path).read() != "sonde-unwind\n":
                    continue
                pid = int(path.split("/")[2])
                parent = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1]
                files = [os.readlink(link) for link in glob.glob(f"/proc/{parent}/fd/*")]
            except OSError:
                continue
            if pid != but and any(file.startswith(f"{os.path.realpath(name)}/node-") for file in files):
                return pid
        time.sleep(0.02)
    raise SystemExit("there is no helper")


class Scan:
    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        v = self.varint()
        return v >> 1 ^ -(v & 1)

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def text(self):
        return self.take(self.varint())

    def section(self):
        raw, stored = self.varint(), self.varint()
        data = self.take(stored)
        if raw == stored:
            return data
        out = ctypes.create_string_buffer(raw)
        n = ZSTD.ZSTD_decompress(out, raw, data, stored)
        assert not ZSTD.ZSTD_isError(n) and n == raw, "the section does not expand"
        return out.raw


FIELDS = {0: ("node", Scan.varint), 1: ("id", Scan.varint), 2: ("parent", Scan.varint), 3: ("count", Scan.varint), 4: ("flags", Scan.varint),
          5: ("state", Scan.varint), 6: ("meta_type", Scan.varint), 7: ("t0", Scan.zigzag), 8: ("t1", Scan.zigzag), 9: ("value", Scan.zigzag),
          10: ("real", lambda s: struct.unpack("<d", s.take(8))[0]), 11: ("mask", Scan.varint), 12: ("name", Scan.text), 13: ("text", Scan.text),
          14: ("domain", Scan.text)}


def items(scan, count):
    out, task, node = [], 0, 0
    for _ in range(count):
        task += scan.zigzag()
        node += scan.zigzag()
        out.append((task, node, scan.varint()))
    return out


def records(data):
    scan = Scan(data)
    while scan.more():
        length = scan.varint()
        if not length:
            return
        body = Scan(scan.take(length))
        kind, mask = body.take(1)[0], body.varint()
        found = collections.defaultdict(int, name=b"", text=b"", domain=b"")
        for bit in sorted(FIELDS):
            if mask >> bit & 1:
                found[FIELDS[bit][0]] = FIELDS[bit][1](body)
        if kind in (STACKS, SAMPLES) and mask >> 24 & 1:
            found["items"] = items(body, found["count"])
        yield kind, found


SIGNED = (7, 8, 9)
COLUMNS = {bit: i for i, bit in enumerate((0, 1, 2, 3, 4, 7, 8, 9, 11, 12, 13, 24))}


def code_records(scan):
    """Of a block CODE, whose generation was read."""
    texts, packed = Scan(scan.section()), Scan(scan.section())
    sizes = [packed.varint() for _ in range(57)]
    columns = [Scan(packed.take(size)) for size in sizes]
    known, last = [], collections.defaultdict(int)

    def wrapped(v):
        v &= 2**64 - 1
        return v - 2**64 if v >> 63 else v

    def text(column):
        number = column.varint()
        if not number:
            known.append(texts.text())
        return known[number - 1]

    def listed(kind, f):
        out, task, node, weight = [], *columns[1 + (kind - MODULE) * 14 + 11:][:3]
        for i in range(f["count"]):
            base = f["id"] + i if kind == STACKS else last[kind, "task"]
            last[kind, "task"] = wrapped(base - task.zigzag())
            last[kind, "node"] = wrapped(last[kind, "node"] + node.zigzag())
            out.append((last[kind, "task"], last[kind, "node"], weight.varint()))
        return out

    while columns[0].more():
        kind, mask = columns[0].varint(), columns[0].varint()
        f = collections.defaultdict(int, name=b"", text=b"", domain=b"")
        for bit, column in COLUMNS.items():
            place = 1 + (kind - MODULE) * 14 + column
            if not mask >> bit & 1:
                continue
            if bit == 24:
                f["items"] = listed(kind, f)
            elif bit > 11:
                f[FIELDS[bit][0]] = text(columns[place])
            else:
                near = (FRAME, f["parent"] % 256) if (kind, bit) == (FRAME, 9) else place - ((kind, bit) == (SAMPLES, 8))
                base = f["id"] if (kind, bit) == (FRAME, 11) else last[near] + (bit == 1)
                last[near] = wrapped(base + columns[place].zigzag())
                f[FIELDS[bit][0]] = last[near] if bit in SIGNED else last[near] & 2**64 - 1
        yield kind, f


def blocks(data):
    at = 0
    while at < len(data):
        magic, _, kind, _, _, length, _ = struct.unpack_from("<4sIHHIII", data, at)
        assert magic == b"SBLK", "damage"
        yield kind, data[at + 24:at + 24 + length]
        at += 24 + length


class Stacks:
    def __init__(self, directory):
        self.modules, self.frames, self.nodes, self.metadata, self.bytes = {}, {}, {}, {}, 0
        self.samples, self.python = [], []  # python: the same CPU time once more
        self.instances, self.frame_records = {}, 0
        for path in glob.glob(directory + "/node-*.sonde"):
            data = open(path, "rb").read()
            for kind, payload in blocks(data):
                if kind not in (2, 7):
                    continue
                scan = Scan(payload)
                scan.varint()
                for what, f in records(scan.section()) if kind == 2 else code_records(scan):
                    self.take(what, f)

    def take(self, kind, f):
        if kind == 9:
            self.metadata[f["name"].decode()] = f["value"] if f["meta_type"] else f["text"].decode(errors="replace")
        elif kind == 2 and f["domain"] == b"process":
            self.instances[f["id"]] = f["name"]
        elif kind == MODULE:
            self.modules[f["id"]] = f["name"].decode(errors="surrogateescape")
        elif kind == FRAME:
            assert not f["parent"] or f["parent"] in self.modules
            self.frame_records += 1
            self.frames[f["id"]] = Frame(f["parent"], f["value"], f["name"].decode(errors="surrogateescape"), f["text"].decode(errors="surrogateescape"),
                                         f["count"], f["mask"], f["flags"])
        elif kind == STACKS:
            for i, (parent, frame, weight) in enumerate(f["items"]):
                assert parent < f["id"] + i not in self.nodes and frame in self.frames and not weight
                self.nodes[f["id"] + i] = (parent, frame)
        elif kind == SAMPLES:
            for task, node, weight in f["items"]:
                assert node in self.nodes and weight
                to = self.python if f["flags"] == PYTHON else self.samples
                to.append(Sample(f["parent"], f["name"].decode(errors="replace"), f["flags"], f["value"], f["t0"], f["t1"], task, node, weight))

    def name(self, frame):
        f = self.frames[frame]
        special = {FRAME_CUT: "(cut)", FRAME_OTHER: "(other)", FRAME_LOST_WAY: "(lost)"}
        if f.flags in special:
            return special[f.flags]
        return f.function or "%s+0x%x" % (self.modules.get(f.module, "?").rsplit("/", 1)[-1], f.address)

    def chain(self, frame):
        """Of one physical frame, the outermost function first."""
        out = []
        while frame:
            out.insert(0, self.name(frame))
            frame = self.frames[frame].outer
        return out

    def path(self, node):
        """Names from the outermost frame to the innermost."""
        out = []
        while node:
            node, frame = self.nodes[node]
            out = self.chain(frame) + out
        return out

    def total(self):
        return sum(s.weight for s in self.samples)

    def share(self, function, samples=None):
        """Of samples: the part with this function anywhere in the stack."""
        chosen = self.samples if samples is None else samples
        weight = sum(s.weight for s in chosen if any(function in name for name in self.path(s.node)))
        return weight / max(1, sum(s.weight for s in chosen))

    def ends(self):
        """How many samples by the outermost name."""
        out = collections.Counter()
        for s in self.samples:
            out[self.path(s.node)[0]] += s.weight
        return out


if __name__ == "__main__":
    stacks = Stacks(sys.argv[1])
    folded = collections.Counter()
    for one in stacks.samples:
        folded[";".join([one.command] + stacks.path(one.node))] += one.weight
    for line, weight in folded.most_common():
        print(line, weight)
    print(len(stacks.frames), "frames,", stacks.frame_records, "records of them,", len(stacks.nodes), "nodes", file=sys.stderr)
