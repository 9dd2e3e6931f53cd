# SPDX-License-Identifier: Apache-2.0
"""Databases as Scanner leaves them, made up; and what is in them by a second reader of the format."""
import pathlib
import random
import struct

KEYS = {
    "process_job": ["Register Ops", "Load Database Metadata", "Analyze Graph Dependencies", "Setup Memory Pool",
                    "Create Pipeline Threads", "Wait on Pipeline Thread Setup"],
    "load": ["Wait on Input Queue", "Process Packet", "Wait on Output Queue", "io", "load_worker:read_sources"],
    "eval": ["Wait on Input Queue", "Process Packet", "Wait on Output Queue", "Setup Operations Pipeline", "full_eval:Resize",
             "evaluate:Histogram", "memcpy", "caf\xe9 \u00fc"],
    "save": ["Wait on Input Queue", "IO Packet Finished", "save_worker::new_task", "column_sink:write"],
    "master": ["NextWork", "FinishedWork", "GetJobStatus", "NewJob"],
}
COUNTERS = {
    "load": ["io_read", "max_memory_used", "current_memory_used"],
    "save": ["io_write"],
    "eval": ["frames_decoded", "frames_fed", "frames_used", "of a kind of its own"],
    "process_job": [],
    "master": [],
}


class Thread:
    def __init__(self, node, kind, tag="", number=0):
        self.node, self.kind, self.tag, self.number = node, kind, tag, number
        self.intervals, self.counters = [], {}  # (key, begin, end), in the order of their ends

    def encode(self, declared=None):
        """declared: how many intervals it claims to have, as when others come while it is written."""
        numbers = {}
        for key, _, _ in self.intervals:
            numbers.setdefault(key, len(numbers))
        out = [struct.pack("<q", self.node), cstr(self.kind), cstr(self.tag), struct.pack("<qq", self.number, len(numbers))]
        out += [cstr(key) + bytes([numbers[key]]) for key in sorted(numbers, key=encoded)]
        out.append(struct.pack("<q", len(self.intervals) if declared is None else declared))
        out += [struct.pack("<Bqq", numbers[key], begin, end) for key, begin, end in self.intervals]
        out.append(struct.pack("<q", len(self.counters)))
        out += [cstr(name) + struct.pack("<q", self.counters[name]) for name in sorted(self.counters, key=encoded)]
        return b"".join(out)

    def fill(self, rng, length_ns):
        """Intervals one behind the other, some of which hold others."""
        at = rng.randrange(1000)
        for _ in range(rng.choice([0, 1, 3, 20, 60])):
            begin = at
            for _ in range(rng.choice([0, 0, 0, 2])):
                at += rng.randrange(1, 5000)
                self.intervals.append((rng.choice(KEYS[self.kind]), at, at := at + rng.randrange(length_ns)))
            at += rng.randrange(1, length_ns)
            self.intervals.append((rng.choice(KEYS[self.kind]), begin, at))
            at += rng.choice([0, 1, 70, 4000])
        for name in COUNTERS[self.kind]:
            if rng.random() < 0.7:
                self.counters[name] = rng.randrange(1 << rng.choice([3, 20, 45]))


class Profile:
    """number None: the master's."""

    def __init__(self, number, begin, end):
        self.number, self.begin, self.end = number, begin, end
        self.loop = Thread(0 if number is None else number, "master" if number is None else "process_job",
                           "master" if number is None else "")
        self.load, self.eval, self.save = [], [], []
        self.stages = 3

    def threads(self):
        return [self.loop] + self.load + self.eval + self.save

    def encode(self):
        head = struct.pack("<qq", self.begin, self.end) + self.loop.encode()
        if self.number is None:
            return head
        parts = [head, bytes([len(self.load)])] + [t.encode() for t in self.load]
        parts.append(bytes([len(self.eval) // self.stages if self.stages else 0, self.stages]))
        parts += [t.encode() for t in self.eval] + [bytes([len(self.save)])] + [t.encode() for t in self.save]
        return b"".join(parts)


def encoded(text):
    return text.encode("utf-8")


def cstr(text):
    return encoded(text) + b"\0"


def make_profile(rng, number, base, length_ns=1_000_000):
    begin = base + (0 if number is None else rng.randrange(5_000_000))
    p = Profile(number, begin, begin + rng.randrange(1, 10**10))
    if number is not None:
        p.load = [Thread(number, "load", "", i) for i in range(rng.randrange(4))]
        p.stages = rng.choice([2, 3, 3, 4])
        for pipeline in range(rng.randrange(3)):
            p.eval += [Thread(number, "eval", "pre" if s == 0 else "post" if s == p.stages - 1 else "eval", pipeline)
                       for s in range(p.stages)]
        p.save = [Thread(number, "save", "", i) for i in range(rng.randrange(3))]
    for t in p.threads():
        t.fill(rng, length_ns)
    return p


def varint(v):
    out = bytearray()
    while v >= 0x80:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    return bytes(out + bytes([v]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = encoded(value) if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def write_database(path, jobs):
    """jobs: {id: (name, [Profile])}."""
    path = pathlib.Path(path)
    metadata = field(1, max(jobs) + 1) + field(2, 7)
    for number, (name, profiles) in jobs.items():
        folder = path / "jobs" / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        metadata += field(3, field(1, number) + field(2, name) + field(3, 1))
        nodes = sum(p.number is not None for p in profiles)
        (folder / "descriptor.bin").write_bytes(field(1, number) + field(2, name) + field(5, nodes))
        for p in profiles:
            (folder / file_name(p)).write_bytes(p.encode())
    (path / "db_metadata.bin").write_bytes(metadata)


def file_name(profile):
    return f"profile_{'master' if profile.number is None else profile.number}.bin"


def make_job(rng, workers, base=1_700_000_000_000_000_000):
    return [make_profile(rng, None, base)] + [make_profile(rng, n, base) for n in range(workers)]


def totals(profiles):
    """{kind: {key: (count, ns)}}, {kind: {counter: value}}"""
    spans, counters = {}, {}
    for p in profiles:
        for t in p.threads():
            for key, begin, end in t.intervals:
                count, ns = spans.setdefault(t.kind, {}).get(key, (0, 0))
                spans[t.kind][key] = (count + 1, ns + end - begin)
            for name, value in t.counters.items():
                of_kind = counters.setdefault(t.kind, {})
                of_kind[name] = of_kind.get(name, 0) + value
    return spans, counters


if __name__ == "__main__":
    import sys
    write_database(sys.argv[1], {1: ("made up", make_job(random.Random(1), int(sys.argv[2])))})
