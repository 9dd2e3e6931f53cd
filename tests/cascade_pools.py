# SPDX-License-Identifier: Apache-2.0
"""Pools of Batch Shipyard nodes that start, as entities of its table: what nodes emit, and dumps of it."""
import csv
import decimal
import io
import json
import re

FIELDS = ("PartitionKey", "RowKey", "Event", "NodeId", "Message")
EPOCH = 1_500_000_000


class Node:
    """The events of one node, in order of time: (microseconds since 1970, name, message or None)."""

    def __init__(self, name, start):
        self.name = name
        self.now = start
        self.events = []

    def emit(self, event, message=None, after=0):
        self.now += after
        self.events.append((self.now, event, message))
        self.now += 1


def image_name(rng):
    return rng.choice(("alfpark/linpack:2018-psxe-083", "busybox:latest", "host:5000/a/b", "c@sha256:0f", "tensorflow", "x_y-z.1"))


def size_said(rng, mode):
    if mode == "singularity":
        return str(rng.randrange(1, 10**10))
    number = rng.choice((f"{rng.randrange(1, 1000)}", f"{rng.randrange(1, 9999) / 10}", f"{rng.randrange(1, 99999) / 100}"))
    unit = rng.choice(("B", "kB", "MB", "GB", "TB"))
    return rng.choice((f"{number} {unit}", f"{number}{unit}", f"ago {number}{unit}"))


def pull(rng, node, img, mode):
    grtype = f"grtype={mode}," if mode else ""
    node.emit("cascade:pull-start", f"{grtype}img={img}", rng.randrange(10**6))
    took = rng.randrange(10**8)
    said = f"{grtype}img={img}"
    if rng.random() < 0.8:
        said += f",diff={took / 1e6 + 0.25}"
    if rng.random() < 0.8:
        said += f",size={size_said(rng, mode)}"
    node.emit("cascade:pull-end", said, took)


def torrent(rng, node, img):
    """Until 2019: an image saved for others, or taken from them."""
    if rng.random() < 0.5:
        node.emit("cascade:save-start", f"img={img}", rng.randrange(10**6))
        node.emit("cascade:save-end", f"img={img},size={rng.randrange(10**10)},diff={rng.randrange(10**8) / 1e6}", rng.randrange(10**8))
        return
    node.emit("cascade:torrent-start", f"img={img}", rng.randrange(10**6))
    if rng.random() < 0.2:
        return
    size = f",size={rng.randrange(10**10)}" if rng.random() < 0.7 else ""
    node.emit("cascade:load-start", f"img={img}{size}", rng.randrange(10**8))
    node.emit("cascade:load-end", f"img={img}" + (f",diff={rng.randrange(10**8) / 1e6}" if rng.random() < 0.8 else ""), rng.randrange(10**8))


def make_node(rng, name, start, images):
    """A node that lacks nothing."""
    node = Node(name, start)
    node.emit("nodeprep:start", "offer=UbuntuServer,sku=18.04-LTS")
    if rng.random() < 0.3:
        node.emit("privateregistry:start", "ipaddress=10.0.0.4", rng.randrange(10**8))
        node.emit("privateregistry:end", None, rng.randrange(10**7))
    node.emit("nodeprep:end", rng.choice((None, f"diff={rng.randrange(10**9) / 1e6}")), rng.randrange(10**8))
    if rng.random() < 0.7:
        old = rng.random() < 0.3
        node.emit("cascade:docker-run-pull-start" if old else "shipyard:pull-start", None, rng.randrange(10**6))
        node.emit("cascade:docker-run-pull-end" if old else "shipyard:pull-end", None, rng.randrange(10**8))
    modes = rng.choice((["docker"], ["docker"], ["docker", "singularity"], [None]))
    for mode in modes:
        node.emit("cascade:start", f"mode={mode}" if mode else None, rng.randrange(10**6))
        for img in rng.sample(images, rng.randrange(len(images) + 1)):
            if mode is None and rng.random() < 0.6:
                torrent(rng, node, img)
            else:
                for _ in range(rng.choice((1, 1, 1, 2))):
                    pull(rng, node, img, mode)
        node.emit("cascade:gr-done", f"nglobalresources={len(images)}", rng.randrange(10**6))
    return node


def make_pool(rng, nodes, account="shipacct", pool="mypool", together=0.1):
    """together: how many nodes start when another one does, which two keys of a table cannot."""
    images = sorted({image_name(rng) for _ in range(3)})
    made = []
    for i in range(nodes):
        start = (EPOCH + rng.randrange(600)) * 10**6 + rng.randrange(10**6)
        if made and rng.random() < together:
            start = made[-1].events[0][0]
        made.append(make_node(rng, f"tvm-{rng.randrange(10**9)}_{i}", start, images))
    return f"{account}${pool}", made


def key(us):
    """As str() of Python writes such a time."""
    return repr(us / 1e6)


def entities(partition, nodes):
    rows = []
    for node in nodes:
        for us, event, message in node.events:
            rows.append({"PartitionKey": partition, "RowKey": key(us), "Timestamp": "2018-01-01T00:00:00Z", "Event": event, "NodeId": node.name})
            if message is not None:
                rows[-1]["Message"] = message
    return sorted(rows, key=lambda e: e["RowKey"])


def as_csv(rows, between=","):
    out = io.StringIO()
    writer = csv.DictWriter(out, ["PartitionKey", "RowKey", "Timestamp", "Event", "Event@type", "Message", "NodeId"], delimiter=between, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


DUMPS = {
    "array.json": json.dumps,
    "page.json": lambda rows: json.dumps({"odata.metadata": "https://x/$metadata#shipyardperf", "value": rows}, indent=1),
    "az.json": lambda rows: json.dumps({"items": [dict(e, etag='W/"{x}"') for e in rows], "nextMarker": {"nextpartitionkey": None}}),
    "lines.jsonl": lambda rows: "\n".join(json.dumps(e) for e in rows),
    "comma.csv": as_csv,
    "semicolon.csv": lambda rows: "\ufeff" + as_csv(rows, ";"),
    "tab.csv": lambda rows: as_csv(rows, "\t"),
}


# What graph.py's numbers are, in Python: by pool and node, from events that lack whatever they lack.

UNITS = {"B": 0, "kB": 1, "MB": 2, "GB": 3, "TB": 4}


def fields(message):
    return dict(part.split("=", 1) for part in (message or "").split(",") if "=" in part)


def size_of(text, as_graph_py):
    """Bytes, or None when it is not a size."""
    found = re.fullmatch(r"(?:ago )?([0-9.]+) ?(B|kB|MB|GB|TB)?", text)
    if not found:
        return None
    power = UNITS[found[2] or "B"]
    if as_graph_py:
        return int(float(found[1]) * 1024**power)
    return int((decimal.Decimal(found[1]) * 1000**power).quantize(0, decimal.ROUND_HALF_UP))


def took(start, end):
    said = fields(end[2]).get("diff")
    return float(said) if said else (end[0] - start[0]) / 1e6


def first_pair(events, starts, ends):
    """The first start, and the first end behind it."""
    start = next((e for e in events if e[1] in starts), None)
    end = next((e for e in events if start and e[0] >= start[0] and e[1] in ends), None)
    return start, end


def duration(pair):
    return took(*pair) if None not in pair else None


def images_of(events):
    """(phase, image, mode, start, end or None) of each, by start."""
    found = []
    for phase, begins, ends in (("pull", "pull-start", "pull-end"), ("save", "save-start", "save-end"),
                                ("torrent", "torrent-start", "load-start"), ("load", "load-start", "load-end")):
        waiting = {}
        for e in events:
            said = fields(e[2])
            which = said.get("img"), said.get("grtype") if phase == "pull" else None
            if e[1] == "cascade:" + begins:
                found.append([phase, which[0], said.get("grtype"), e, None])
                waiting.setdefault(which, []).append(found[-1])
            elif e[1] == "cascade:" + ends and waiting.get(which):
                waiting[which].pop(0)[4] = e
    return sorted((f for f in found if f[4] or f[0] != "torrent"), key=lambda f: f[3][0])


def numbers_of(node, as_graph_py):
    events = sorted(node.events, key=lambda e: e[0])
    prepared = first_pair(events, {"nodeprep:start"}, {"nodeprep:end"})
    loaded = first_pair(events, {"cascade:start"}, {"cascade:gr-done"})
    registry = first_pair(events, {"nodeprep:start"}, {"privateregistry:start"})
    images = images_of(events)
    n = {"node": node.name, "start": prepared[0][0] if prepared[0] else None,
         "lacks": [name for name, e in zip(("nodeprep:start", "nodeprep:end", "cascade:start", "cascade:gr-done"),
                                           (prepared[0], prepared[1] or not prepared[0], loaded[0], loaded[1] or not loaded[0])) if not e],
         "nodeprep": duration(prepared),
         "docker_install": duration(registry if registry[1] else prepared),
         "private_registry_setup": duration(first_pair(events, {"privateregistry:start"}, {"privateregistry:end"})),
         "container_pull": duration(first_pair(events, {"shipyard:pull-start", "cascade:docker-run-pull-start"}, {"shipyard:pull-end", "cascade:docker-run-pull-end"})),
         "global_resources": duration(loaded),
         "images": [(f[0], f[1], f[2], took(f[3], f[4]) if f[4] else None) for f in images], "sizes": [], "unreadable": 0}
    for phase in ("pull", "save", "load", "torrent"):
        n[phase] = sum((i[3] for i in n["images"] if i[0] == phase and i[3] is not None), 0.0)
    n["acquisition"] = n["pull"] + n["torrent"] + n["load"]
    n["counts"] = None not in (n["start"], n["docker_install"], n["global_resources"])
    for phase, image, _, start, end in images:
        said = (fields(end[2]).get("size") if end else None) or fields(start[2]).get("size")
        if phase == "torrent" or not said:
            continue
        if size_of(said, as_graph_py) is None:
            n["unreadable"] += 1
        else:
            n["sizes"].append((image, size_of(said, as_graph_py)))
    return n


def reference(nodes, as_graph_py=False):
    made = sorted((numbers_of(n, as_graph_py) for n in nodes), key=lambda n: (n["start"] is None, n["start"] or 0, n["node"].encode()))
    count = [n for n in made if n["counts"]]
    sizes = {}
    for n in made:
        for image, size in n["sizes"]:
            sizes.setdefault(image, size)
    return {"nodes": made, "count": count, "sizes": sizes,
            "variance": (count[-1]["start"] - count[0]["start"]) / 1e6 if count else None,
            "gr": sum(n["global_resources"] for n in count), "acq": sum(n["acquisition"] for n in count)}
