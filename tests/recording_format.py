# SPDX-License-Identifier: Apache-2.0
"""Version 1 of the recording format, written from docs/format.md alone: what tests need to make recordings that this Sonde does not write."""
import struct

HEAD, EVENTS, CHUNK, END = 1, 2, 3, 4
NODE, INSTANCE, LABEL, FINAL, ENDED, SERIES, SERIES_END, STATE, META, MARK = range(1, 11)
CATALOGUE = 13
MODULE, FRAME, STACKS, SAMPLES = range(24, 28)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(v):
    out = bytearray()
    while v > 0x7F:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    return bytes(out) + bytes([v])


def zigzag(v):
    return varint((v << 1 ^ v >> 63) & 0xFFFFFFFFFFFFFFFF)


def text(s):
    data = s if isinstance(s, bytes) else s.encode()
    return varint(len(data)) + data


def block(kind, sequence, payload, version=1):
    rest = struct.pack("<HHIII", kind, version, sequence, len(payload), 0) + payload
    return b"SBLK" + struct.pack("<I", crc32c(rest)) + rest


def section(data):
    return varint(len(data)) * 2 + data


# Bits of a record's fields, and how each is written.
FIELDS = {"node": (0, varint), "id": (1, varint), "parent": (2, varint), "count": (3, varint), "flags": (4, varint), "state": (5, varint),
          "meta_type": (6, varint), "t0": (7, zigzag), "t1": (8, zigzag), "value": (9, zigzag), "real": (10, lambda v: struct.pack("<d", v)),
          "mask": (11, varint), "name": (12, text), "text": (13, text), "domain": (14, text), "values": (15, bytes), "metric": (16, varint),
          "rows": (17, bytes), "later": (20, bytes), "items": (24, bytes), "last": (25, bytes)}


def record(kind, **given):
    mask, body = 0, b""
    for name, (bit, put) in FIELDS.items():
        if name in given:
            mask |= 1 << bit
            body += put(given[name])
    body = bytes([kind]) + varint(mask) + body
    return varint(len(body)) + body


def items(rows):
    """rows: (task, node, weight)"""
    out, before = b"", (0, 0)
    for task, node, weight in rows:
        out += zigzag(task - before[0]) + zigzag(node - before[1]) + varint(weight)
        before = task, node
    return out


def metric(name, domain="", unit=1, kind=0, storage=0, label="", told=""):
    return text(name) + text(domain) + text(label) + text(told) + text("") + varint(0) * 2 + bytes([unit, kind, storage, 1, 1])


def head(host, utc, mono, program="0.1.0", more=b""):
    return bytes(range(16)) + struct.pack("<QQI", utc, mono, 0) + text(host) + text(program) + struct.pack("<I", 2) + more


def chunk(generation, times, columns):
    """times: (mono, utc) of each row; columns: {series: a value in each row}; they are written the longest body first."""
    footer, mono, step, offset = b"", 0, 0, 0
    for at, utc in times:
        footer += zigzag(at - mono - step) + zigzag(utc - at - offset)
        mono, step, offset = at, at - mono, utc - at
    bodies, before = [], 0
    for series, values in sorted(columns.items()):
        constant = len(set(values)) == 1
        footer += varint(series - before) + bytes([1 | 2 * constant]) + zigzag(values[0])
        before = series
        if constant:
            continue
        footer += zigzag(values[-1] - values[0])
        weighted = sum(v * (times[i + 1][0] - times[i][0]) / 1e9 for i, v in enumerate(values[:-1]))
        footer += struct.pack("<d", weighted)[2:]
        footer += zigzag(min(values) - values[0]) + zigzag(max(values) - values[0])
        body = b"".join(zigzag(b - a) for a, b in zip(values, values[1:]))
        footer += varint(len(body))
        bodies.append(body)
    bodies.sort(key=len, reverse=True)
    return varint(1) + varint(generation) + varint(len(times)) + varint(len(columns)) + section(footer) + section(b"".join(bodies))
