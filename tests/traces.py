# SPDX-License-Identifier: Apache-2.0
"""What `sonde trace` wrote, read back: Chrome's JSON, and Perfetto's protobuf by way of protoc, to which no field may be unknown."""
import collections
import datetime
import json
import os
import re
import subprocess

NS = 1_000_000_000
faults = []


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what} {detail}")


def utc_ns(text):
    whole, fraction = re.fullmatch(r"([^.Z]*)(?:\.(\d+))?Z", text).groups()
    seconds = datetime.datetime.fromisoformat(whole + "+00:00").timestamp()
    return int(seconds) * NS + int((fraction or "0").ljust(9, "0"))


def ns(us):
    return round(us * 1000)


class Trace:
    """flows: (whether it ends there, number, at); slices: (group, row, name, begin, end, category); marks: (group, name, at); values: {(group, name): [(at, value)]}"""

    def __init__(self):
        self.groups, self.rows, self.slices, self.marks, self.flows = {}, {}, [], [], []
        self.values, self.begin = collections.defaultdict(list), None


def read_chrome(text):
    t = Trace()
    data = json.loads(text, parse_constant=lambda name: check("JSON", False, f"has {name}"))
    t.begin = utc_ns(data["otherData"]["begin_time"])
    for e in data["traceEvents"]:
        pid, tid = e["pid"], e["tid"]
        if e["ph"] == "M":
            if e["name"] == "process_name":
                check("a group", pid not in t.groups, "is named twice")
                t.groups[pid] = e["args"]["name"]
            elif e["name"] == "thread_name":
                t.rows[pid, tid] = e["args"]["name"]
        elif e["ph"] == "X":
            t.slices.append((t.groups[pid], t.rows[pid, tid], e["name"], ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["cat"]))
        elif e["ph"] == "i":
            check("a mark's row", t.rows[pid, tid] == "marks")
            t.marks.append((t.groups[pid], e["name"], ns(e["ts"])))
        elif e["ph"] in "sf":
            t.flows.append((e["ph"] == "f", int(e["id"], 16), ns(e["ts"])))
        else:
            check("an event", e["ph"] == "C", e)
            t.values[t.groups[pid], e["name"]].append((ns(e["ts"]), e["args"]["value"]))
    return t


def parse(lines):
    """protoc's text as {field: [values]}."""
    out = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            return out
        if line.endswith("{"):
            check("a field", not line[:-2].isdigit(), f"{line[:-2]} is unknown")
            out[line[:-2]].append(parse(lines))
        else:
            key, value = line.split(": ", 1)
            check("a field", not key.isdigit(), f"{key} is unknown")
            out[key].append(bytes(value[1:-1], "ascii").decode("unicode_escape").encode("latin-1").decode("utf-8")
                            if value[0] == '"' else value)
    return out


def read_perfetto(path):
    t, names, tracks, open_slices = Trace(), {}, {}, collections.defaultdict(list)
    with open(path, "rb") as f:
        done = subprocess.run(["protoc", "--decode=Trace", f"-I{os.environ['TOP']}/tests", "trace.proto"], stdin=f, capture_output=True, text=True)
    check("protoc", done.returncode == 0, done.stderr)
    packets = parse(iter(done.stdout.splitlines()))["packet"]
    t.begin = next(int(c["timestamp"][0]) for c in packets[0]["clock_snapshot"][0]["clocks"] if c["clock_id"] == ["1"])
    events = []
    for p in packets[1:]:
        check("a sequence", p["trusted_packet_sequence_id"] == ["1"])
        for d in p["track_descriptor"]:
            uuid = d["uuid"][0]
            check("a track", uuid not in tracks, "is told twice")
            if not d["parent_uuid"]:
                check("a root", not tracks and d["child_ordering"] == ["EXPLICIT"], "there are several")
                root = uuid
            group = d["name"][0] if d["parent_uuid"] in ([], [root]) else tracks[d["parent_uuid"][0]][0]
            check("a group's rows", d["parent_uuid"] != [root] or d["child_ordering"] == ["EXPLICIT"], "are in no order")
            check("a row", not d["parent_uuid"] or d["sibling_order_rank"], "has no place")
            tracks[uuid] = (group, (d["name"] or [None])[0])
        if p["sequence_flags"] and int(p["sequence_flags"][0]) & 1:
            names = {}
        for i in p["interned_data"]:
            names.update((n["iid"][0], n["name"][0]) for n in i["event_names"])
        for e in p["track_event"]:
            name = names[e["name_iid"][0]] if e["name_iid"] else None
            events.append((int(p["timestamp"][0]), e, name))
    events.sort(key=lambda event: event[0])  # as the viewer does: what comes at one time stays in order
    for at, e, name in events:
        track, kind = tracks[e["track_uuid"][0]], e["type"][0]
        if kind == "SLICE_BEGIN":
            open_slices[e["track_uuid"][0]].append((at, name, e["categories"][0]))
        elif kind == "SLICE_END":
            begin, name, category = open_slices[e["track_uuid"][0]].pop()
            t.slices.append((*track, name, begin, at, category))
        elif kind == "INSTANT":
            t.marks.append((track[0], name, at))
        else:
            t.values[track].append((at, float(e["double_counter_value"][0])))
    check("a slice", not any(open_slices.values()), "is left open")
    return t
