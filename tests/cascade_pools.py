# SPDX-License-Identifier: Apache-2.0
"""Pools of Batch Shipyard nodes that start, as entities of its table: what nodes emit, and dumps of it."""
import csv
import io
import json

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
                pull(rng, node, img, mode)
        node.emit("cascade:gr-done", f"nglobalresources={len(images)}", rng.randrange(10**6))
    return node


def make_pool(rng, nodes, account="shipacct", pool="mypool"):
    images = sorted({image_name(rng) for _ in range(3)})
    made = []
    for i in range(nodes):
        start = (EPOCH + rng.randrange(10**6)) * 10**6 + rng.randrange(10**6)
        if made and rng.random() < 0.1:
            start = made[-1].events[0][0]  # two that start together
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
