# SPDX-License-Identifier: Apache-2.0
# limit: 3600
"""phases --cascade has the numbers of graph.py, of generated pools, as a computation in Python has them; what a node lacks is said and costs the others nothing."""
import datetime
import json
import os
import pathlib
import random
import shutil
import subprocess

import cascade_pools as made
import jsonschema
import schemas
from patience import patience

SONDE = os.environ["SONDE"]
POOLS, MUTATED = (1000, 10000) if os.environ.get("LONG") else (12, 30)
rng = random.Random(80)
HEADER = ("NodePrepStartTime NodeId NodePrep+DockerInstall PrivateRegistrySetup ShipyardContainerPull GlobalResourcesLoad TotalPull TotalSave TotalLoad "
          "TotalTorrent\n")


schema = schemas.strict(json.loads(pathlib.Path(os.environ["TOP"], "docs/schema/cascade.json").read_text(encoding="utf-8")))
validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())


def sonde(*words, **more):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, errors="replace", check=False, timeout=patience(300), **more)


def record(partition, nodes):
    shutil.rmtree("rec", ignore_errors=True)
    pathlib.Path("dump.json").write_text(json.dumps(made.entities(partition, nodes)), encoding="utf-8")
    ended = sonde("import", "cascade", "dump.json", "-o", "rec")
    assert ended.returncode == 0, ended


def told(code, *words, **more):
    ended = sonde("phases", "--cascade", "--json", *words, "rec", **more)
    assert ended.returncode == code, (ended.returncode, ended.stderr)
    document = json.loads(ended.stdout)
    validator.validate(document)
    return document


def near(a, b):
    return a == b or (a is not None and b is not None and abs(a - b) <= 1e-9 * max(1, abs(a), abs(b)))


def time_of(us):
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=us)


def same_node(said, n):
    assert said["node"] == n["node"] and said["lacks"] == n["lacks"] and said["counts"] == n["counts"], (said, n)
    start = said["start_time"] and datetime.datetime.fromisoformat(said["start_time"].rstrip("Z")[:26].ljust(26, "0") if "." in said["start_time"] else said["start_time"].rstrip("Z"))
    assert start == (n["start"] and time_of(n["start"])), (said, n)
    for key in ("nodeprep", "docker_install", "private_registry_setup", "container_pull", "global_resources", "pull", "save", "load", "torrent", "acquisition"):
        assert near(said[f"{key}_seconds"], n[key]), (key, said, n)
    assert said["unreadable_sizes"] == n["unreadable"], (said, n)
    assert [(i["phase"], i["image"], i["mode"], i["seconds"]) for i in said["images"]] == n["images"], (said, n)


def same_pool(document, partition, want):
    (pool,) = document["pools"]
    assert pool["pool"] == partition and pool["counted_nodes"] == len(want["count"])
    assert len(pool["nodes"]) == len(want["nodes"])
    for said, n in zip(pool["nodes"], want["nodes"]):
        same_node(said, n)
    assert near(pool["nodeready_variance_seconds"], want["variance"]), (pool["nodeready_variance_seconds"], want["variance"])
    assert near(pool["global_resources_seconds"], want["gr"]) and near(pool["acquisition_seconds"], want["acq"])
    if want["count"]:
        assert near(pool["mean_global_resources_seconds"], want["gr"] / len(want["count"]))
        assert near(pool["mean_acquisition_seconds"], want["acq"] / len(want["count"]))
    assert {i["image"]: i["size_bytes"] for i in pool["images"]} == want["sizes"], (pool["images"], want["sizes"])
    return pool


def table_of(want, shift=0):
    lines = [HEADER]
    for n in want["count"]:
        first = (n["docker_install"], n["private_registry_setup"] or 0, n["container_pull"] or 0, n["global_resources"])
        lines.append(f"{time_of(n['start'] + shift):%Y-%m-%d-%H:%M:%S.%f} {n['node']} {' '.join(map(str, first))} "
                     f"{n['pull']:.5f} {n['save']:.5f} {n['load']:.5f} {n['torrent']:.5f}\n")
    return "".join(lines)


# Pools that lack nothing.
for i in range(POOLS):
    partition, nodes = made.make_pool(rng, rng.randrange(1, 10))
    record(partition, nodes)
    want = made.reference(nodes)
    pool = same_pool(told(0, "-o", "files"), partition, want)
    assert (pool["offer"], pool["sku"]) == ("UbuntuServer", "18.04-LTS")
    assert pathlib.Path("files/shipacct-mypool.dat").read_text(encoding="utf-8") == table_of(want)
    same_pool(told(0, "--as-graph-py"), partition, made.reference(nodes, True))

# The files: of one node as well as of several.
for count in (1, 7):
    partition, nodes = made.make_pool(rng, count, pool="it's `a` \"pool\"")
    nodes[0].name = "a b"
    record(partition, nodes)
    shutil.rmtree("files")
    ended = sonde("phases", "--cascade", "-o", "files", "rec")
    assert ended.returncode == 0 and "nodes: " in ended.stdout and "total gr: " in ended.stdout and "total acq: " in ended.stdout, ended
    stem = "shipacct-it_s__a___pool_"
    assert sorted(os.listdir("files")) == [f"{stem}.dat", f"{stem}.plot", f"{stem}.png"], os.listdir("files")
    script = pathlib.Path("files", f"{stem}.plot").read_text(encoding="utf-8")
    assert "set title 'Shipyard Performance for it''s `a` \"pool\" (UbuntuServer 18.04-LTS)' noenhanced" in script, script
    for line in ('set xlabel "Node Prep Start Time"', 'set ylabel "Seconds"', 'set format x "%H:%M:%.3S"', f"plot '{stem}.dat' using 1:($3+$4+$5+$6) with boxes"):
        assert line in script, (line, script)
    assert float(script.split("set boxwidth ")[1].split()[0]) > 0
    assert pathlib.Path("files", f"{stem}.png").read_bytes().startswith(b"\x89PNG\r\n") and " a_b " in pathlib.Path("files", f"{stem}.dat").read_text(encoding="utf-8")

# Local time, as the original has it.
partition, nodes = made.make_pool(rng, 3)
record(partition, nodes)
told(0, "-o", "local", "--local", env=dict(os.environ, TZ="JST-9"))
assert pathlib.Path("local/shipacct-mypool.dat").read_text(encoding="utf-8") == table_of(made.reference(nodes), 9 * 3600 * 10**6)

# What a node lacks is said; exit code 1. Then whatever a node may lack or repeat: the others' numbers stay.
for event in ("nodeprep:start", "nodeprep:end", "cascade:start", "cascade:gr-done"):
    partition, nodes = made.make_pool(rng, 4)
    nodes[1].events = [e for e in nodes[1].events if e[1] != event]
    record(partition, nodes)
    pool = same_pool(told(1), partition, made.reference(nodes))
    assert [n["lacks"] for n in pool["nodes"] if n["lacks"]] == [[event]], event
    ended = sonde("phases", "--cascade", "rec")
    assert ended.returncode == 1 and f"it lacks {event}" in ended.stdout and "events that lack or cannot be read: 1" in ended.stderr, ended


def mutate(node):
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(node.events)) if node.events else 0
        what = rng.randrange(6)
        if not node.events:
            break
        us, name, message = node.events[at]
        if what == 0:
            del node.events[at]
        elif what == 1:
            node.events.insert(at, (us + 1, name, message))
        elif what == 2:
            node.events[at] = (us, name, rng.choice((None, "", "=", ",,,", "img", "img=a=b,size=", "size=much", "diff=nan", "diff=-1,size=1 XB", "img=busybox:latest")))
        elif what == 3:
            node.events[at] = (us + rng.randrange(-10**9, 10**9), name, message)
        elif what == 4:
            node.events[at] = (us, rng.choice(("cascade:pull-end", "cascade:load-start", "other", "nodeprep:start")), message)
        else:
            del node.events[at:]


for i in range(MUTATED):
    partition, nodes = made.make_pool(rng, 3)
    victim = rng.choice(nodes)
    mutate(victim)
    record(partition, nodes)
    ended = sonde("phases", "--cascade", "--json", "rec")
    assert ended.returncode in (0, 1) and ended.stderr.count("\n") <= 1, ended
    document = json.loads(ended.stdout)
    validator.validate(document)
    said = {n["node"]: n for n in document["pools"][0]["nodes"]}
    for n in nodes:
        if n is not victim:
            same_node(said[n.name], made.numbers_of(n, False))

# No such events, and options that do not go together.
assert sonde("run", "--quiet", "-o", "none", "--", "true").returncode == 0
ended = sonde("phases", "--cascade", "none")
assert ended.returncode == 1 and "no start-up event" in ended.stderr, ended
for words in (["--local"], ["-o", "x"], ["--as-graph-py"], ["--cascade", "--csv"], ["--cascade", "--all"]):
    assert sonde("phases", *words, "none").returncode == 2, words
