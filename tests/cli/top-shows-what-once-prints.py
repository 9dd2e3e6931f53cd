# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""What `sonde top` paints, change by change, is on the terminal what --once prints whole; and it paints little."""
import json
import os
import subprocess
import time

import jsonschema
import schemas
import terminal
from patience import patience

SONDE = os.environ["SONDE"]


def once(nodes, *arguments, rows=24, columns=80, locale="C.UTF-8"):
    """One that sees two samples, the second of which it is given."""
    with subprocess.Popen([SONDE, "top", "--once", *arguments, "job"], stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, LC_ALL=locale, LINES=str(rows), COLUMNS=str(columns))) as process:
        while process.poll() is None:
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                nodes.order("step")
        assert process.returncode == 0
        return process.stdout.read().splitlines()


def told_alike(lines):
    """Without the line that names keys, and the history, which begins when one looks."""
    return [line for line in lines[:-1] if not line.startswith("History")]


def same_as_once(session, nodes, *arguments):
    screen = session.screen
    for _ in range(20):
        wanted = once(nodes, *arguments, rows=screen.rows, columns=screen.columns)
        wanted += [""] * (screen.rows - len(wanted))
        end = time.monotonic() + 3
        while session.take() and time.monotonic() < end:
            if told_alike(screen.lines()) == told_alike(wanted):
                return wanted
    raise AssertionError("\n".join(["it shows", *screen.lines(), "and --once says", *wanted]))


def check_small(nodes, session):
    for rows, columns in ((5, 80), (24, 39), (3, 20)):
        session.resize(rows, columns)
        session.until("its size", lambda lines: lines[0].startswith(f"{columns} x {rows} is too small"[:columns]))
    session.resize(24, 80)
    session.until_text("STATE")


nodes = terminal.Nodes("job", 30, 10, 2)
session = terminal.Session([SONDE, "top", "job"])
session.until_text("in tenths")  # thirty nodes do not fit in a table: a map
nodes.order("step")
session.until("the heat of 27 nodes", lambda lines: lines[3].startswith("01235678#012"))
session.send("m")
session.until_text("1 to 19 of 30")
lines = same_as_once(session, nodes)
assert any(line.split()[:4] == ["node4", "running", "50%", "4.00"] for line in lines), lines
assert any(line.split()[4:7] == ["40%", "4.0", "GiB"] for line in lines), lines
for rows, columns in ((50, 200), (10, 40), (24, 80)):
    session.resize(rows, columns)
    session.until_text("STATE")
    same_as_once(session, nodes)
check_small(nodes, session)

# A slow line: nothing when nothing came, little when a sample came that changes little.
session.count(1)
sent = session.count(2.5)
assert sent == 0, f"{sent} bytes for no news"
nodes.order("step")
sent = session.count(3)
assert 0 < sent < 120, f"{sent} bytes for one more second"

# To a node whose processes have hostile names, to one of them, and back.
session.send("\r")
session.until_text("COMMAND")
session.send("N")
lines = session.until_text("日本語")
nodes.order("step")
session.send("C")
lines = same_as_once(session, nodes, "--node", "node0")
text = "\n".join(lines)
assert "\\x1b[2J" in text and "bad\\xff\\xfe" in text and "\\u202eturned" in text and "gpu1" in text, text
session.send("g")
session.until_text("TEMP")
session.send("\x1b[B\r")
session.until_text("gpu.power_watts")
session.send("\x1b")
session.until_text("TEMP")
session.send("\x7f")
session.until_text("STATE")

# Colour when it may be, reverse and bold always.
assert session.screen.styles & {31, 32, 33, 34, 36}, session.screen.styles
session.send("q")
assert session.wait() == 0
session.given_back()
for environment in ({"NO_COLOR": "1"}, {"TERM": "vt100"}):
    plain = terminal.Session([SONDE, "top", "job"], **environment)
    plain.until_text("in tenths")
    plain.send("h")
    plain.until_text("any key")
    plain.send("xq")
    assert plain.wait() == 0
    assert 7 in plain.screen.styles and not plain.screen.styles & set(range(30, 50)), plain.screen.styles
    assert b"1049" not in plain.log or "TERM" not in environment
    plain.given_back()

# Not UTF-8: nothing that is not ASCII.
ascii_only = "\n".join(once(nodes, "--node", "node0", locale="C"))
assert ascii_only.isascii() and "??" in ascii_only, ascii_only

# What does not run any more is said to be so, and has no rates.
nodes.order("end 3")
nodes.order("lose 4")
nodes.order("end 5")
with open("job/node-node5.sonde", "r+b") as f:
    f.seek(os.path.getsize(f.name) // 2)
    f.write(b"\xff" * 16)
with open("job/node-node99.sonde", "wb"):
    pass
document = json.loads(subprocess.run([SONDE, "top", "--json", "job"], stdout=subprocess.PIPE, check=True, timeout=patience(60)).stdout)
with open(os.environ["TOP"] + "/docs/schema/top.json", encoding="utf-8") as f:
    jsonschema.Draft202012Validator(schemas.strict(json.load(f)), format_checker=jsonschema.FormatChecker()).validate(document)
states = {node["node"]: node for node in document["nodes"]}
assert document["schema"] == "sonde/top/1"
assert states["node3"]["state"] == "ended" and states["node3"]["cpu_cores"] is None, states["node3"]
assert states["node99"]["state"] == "waiting", states["node99"]
assert states["node5"]["damages"] > 0, states["node5"]
assert len(states["node0"]["processes"]) == 10 and len(states["node0"]["gpus"]) == 2
end = time.monotonic() + terminal.PATIENCE
while states["node4"]["state"] != "late":  # five seconds after its last sample
    assert time.monotonic() < end, states["node4"]["state"]
    nodes.order("step")
    document = json.loads(subprocess.run([SONDE, "top", "--json", "job"], stdout=subprocess.PIPE, check=True).stdout)
    states = {node["node"]: node for node in document["nodes"]}
nodes.close()
