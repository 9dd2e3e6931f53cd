# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""`sonde top` of an ended recording goes to any instant of it, back and forth, and plays it; --at does so without a terminal."""
import json
import os
import re
import shutil
import subprocess

import terminal

SONDE = os.environ["SONDE"]
LEFT, RIGHT, UP, DOWN, HOME, END = "\x1b[D", "\x1b[C", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"


def title(session):
    return session.screen.lines()[0]


def press(session, key):
    """The screen after a key that moves: its title has another time."""
    before = title(session)
    session.send(key)
    session.until("another time", lambda lines: lines[0] != before and "replay" in lines[0])
    session.take()


def press_until(session, key, text):
    for _ in range(200):
        if any(text in line for line in session.screen.lines()):
            return
        press(session, key)
    raise AssertionError(f"{text} did not come:\n" + "\n".join(session.screen.lines()))


def shown(session):
    """Without the history, which is of what was looked at."""
    return [line for line in session.screen.lines() if not line.startswith("History")]


def has(session, text):
    return any(text in line for line in session.screen.lines())


def check_keys(rows, columns):
    session = terminal.Session([SONDE, "top", "job"], rows=rows, columns=columns)
    session.until("that it plays by itself", lambda lines: "  playing" in lines[0] and "replay  0 s of" not in lines[0])
    length = title(session).split(" of ")[1].split("  playing")[0]
    session.send(LEFT)
    session.until("a step, and a pause", lambda lines: "  paused" in lines[0])
    session.send(HOME)
    session.until_text("replay  0 s of ")
    session.until_text("Space play")
    press_until(session, RIGHT, "first")
    assert not has(session, "second")
    press_until(session, DOWN, "second")
    press(session, RIGHT)
    press(session, RIGHT)
    assert not has(session, "first")
    there = shown(session)
    press(session, RIGHT)
    press(session, LEFT)
    assert shown(session) == there, "\n".join(there + shown(session))
    press_until(session, UP, "first")
    press(session, END)
    assert f"replay  {length} of {length}  paused" in title(session), title(session)
    session.send(RIGHT + " ")  # it stays
    press_until(session, LEFT, "second")
    press(session, HOME)
    assert "replay  0 s of" in title(session), title(session)
    session.send("++++++ ")
    session.until("its end", lambda lines: f"{length} of {length}  paused x64" in lines[0])
    press_until(session, UP, "second")
    session.send("t/second\r")
    session.until_text("Space play")
    session.send("h")
    session.until_text("Space: play, pause")
    session.send("xq")
    assert session.wait() == 0
    session.given_back()


def once(*arguments):
    return subprocess.run([SONDE, "top", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def check_many():
    nodes = terminal.Nodes("many", 30, 3, 2)
    for _ in range(99):
        nodes.order("step")
    running = once("--once", "--at", "3s", "many")
    assert running.returncode == 1 and "--at needs an ended recording" in running.stderr, running
    for node in range(30):
        nodes.order(f"end {node}")
    nodes.close()
    session = terminal.Session([SONDE, "top", "--at", "5s", "many"])
    session.until("the heat of 27 nodes", lambda lines: any(line.startswith("01235678#012") for line in lines))
    assert "30 running" in title(session) and "replay  5.0" in title(session), title(session)
    press(session, END)
    assert re.search(r"replay  (0:01:\d\d) of \1  paused", title(session)), title(session)
    press(session, HOME)
    session.until("no rates yet", lambda lines: not any(line.startswith("01235678#012") for line in lines))
    for _ in range(2):  # a rate needs two samples of each
        press(session, RIGHT)
    session.until("the heat of 27 nodes", lambda lines: any(line.startswith("01235678#012") for line in lines))
    session.send("m\r")
    session.until_text("COMMAND")
    session.send("\x1b")
    session.until_text("STATE")
    session.send("q")
    assert session.wait() == 0


for name in ("first", "second"):
    shutil.copy(shutil.which("sleep"), name)
with open("steps", "w", encoding="utf-8") as script:
    script.write("./first 2\n./second 2\n:\n")
subprocess.run([SONDE, "run", "--quiet", "-i", "100ms", "-o", "job", "--", "sh", "steps"], check=True)
check_keys(24, 80)
check_keys(50, 200)
documents = [json.loads(once("--json", "--at", at, "job").stdout) for at in ("1s", "1h")]
names = [[process["name"] for process in document["nodes"][0]["processes"]] for document in documents]
assert "first" in names[0] and "second" not in names[0] and "first" not in names[1], names
assert "job  replay  1.00 s of " in once("--at", "1s", "job").stdout
assert "job  ended" in once("--once", "job").stdout
check_many()
