# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""sonde mcp is read by the protocol's own client from PyPI: each tool answers as its command does, and nothing outside of the directories is read."""
import asyncio
import json
import os
import subprocess
import sys

import readers
from patience import patience

readers.enter("venv-mcp")

import explained  # noqa: E402
from mcp import ClientSession, StdioServerParameters  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402

SONDE = os.environ["SONDE"]
SPIN = os.environ["PROGRAMS"] + "/spin"


def record(directory, *command):
    subprocess.run([SONDE, "run", "-q", "-i", "50ms", "--stacks", "--waits", "-o", directory, "--", *command], check=True)


def output(*words):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, check=False).stdout


async def talk(directories, conversation):
    started = StdioServerParameters(command=SONDE, args=["mcp", *directories], env=dict(os.environ))
    async with stdio_client(started) as (read, write), ClientSession(read, write) as session:
        await session.initialize()

        async def call(name, **arguments):
            answer = await session.call_tool(name, arguments)
            assert len(answer.content) == 1 and len(answer.content[0].text) < 61000, answer
            return answer.content[0].text, answer.is_error
        await conversation(session, call)


async def ordinary(session, call):
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert list(tools) == ["list_runs", "explain", "series", "stacks", "compare"], tools
    assert all(tool.annotations.read_only_hint for tool in tools.values()), tools
    here = os.path.realpath("runs")
    text, bad = await call("list_runs")
    assert not bad and [r["recording"] for r in json.loads(text)["recordings"]] == [here + "/a", here + "/b"], text
    for name in ("a", here + "/a"):
        text, bad = await call("explain", run=name)
        assert not bad and text == output("explain", "--json", here + "/a"), (text, bad)
    text, bad = await call("explain", run="a", ask="next")
    assert not bad and json.loads(text)["ask"] == "next", text
    text, bad = await call("explain", run="a", other="b")
    assert not bad and text == output("explain", "--json", "--history", here, here + "/a", here + "/b"), text
    text, bad = await call("series", run="a", metrics="job.cpu_cores", every_seconds=0.1, from_seconds=0.1)
    table = json.loads(text)
    assert not bad and [c["name"] for c in table["columns"]][-1] == "job.cpu_cores" and table["rows"], text
    text, bad = await call("series", run="a", metrics="job.*")
    assert not bad and json.loads(text)["rows"], text
    text, bad = await call("stacks", run="a")
    assert not bad and text == output("show", "--code", "--by", "function", here + "/a"), text
    text, bad = await call("stacks", run="a", of="wait", by="object")
    assert not bad and text == output("show", "--waits", "--by", "object", here + "/a"), text
    text, bad = await call("compare", a="a", b="b")
    assert not bad and text.endswith(output("compare", "--markdown", "--history", here, here + "/a", here + "/b")), (text, bad)
    # What is asked wrong is answered, and the next question is, too.
    for words in ({}, {"run": 7}, {"run": "a", "ask": "everything"}, {"run": "a", "more": "x"}):
        try:
            await session.call_tool("explain", words)
        except Exception as fault:  # noqa: BLE001: the client's kind of error differs between its versions
            assert "-32602" in repr(fault) or "explain" in str(fault), fault
        else:
            raise AssertionError(words)
    for name in ("nowhere", "/etc/passwd", "../outside", here + "/../outside", "a/../../outside", "\x1b[2J", "--help", "x" * 5000):
        text, bad = await call("explain", run=name)
        assert bad and text.startswith("Nothing named "), (name, text)
    text, bad = await call("series", run="a", metrics="--output=/tmp/x")
    assert bad and "matches" in text, text


async def led_out(session, call):
    for name, arguments in (("list_runs", {}), ("explain", {"run": "a"})):
        text, bad = await call(name, **arguments)
        assert bad and "leads out" in text, text


def raw(data):
    """What the server writes to so many bytes, and how it ends: their end is its end."""
    ended = subprocess.run([SONDE, "mcp", "runs"], input=data, capture_output=True, timeout=patience(60), check=False)
    assert ended.returncode == 0 and not ended.stderr, ended
    return [json.loads(line) for line in ended.stdout.splitlines()]


os.mkdir("runs")
record("runs/a", "sh", "-c", f"{SPIN} 300000; sleep 1.5")
record("runs/b", SPIN, "300000")
record("outside", "true")
before = explained.settled(".")
asyncio.run(talk(["runs"], ordinary))
after = explained.state(".")
assert after == before, f"something was written: {set(before) ^ set(after)}"

PING = b'{"jsonrpc":"2.0","id":9,"method":"ping"}\n'
answers = raw(b"\n" + PING + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n' + b"{" * 100 + b"\n" + b"x" * 3000000 + b"\n" +
              b'[]\n7\n{"id":1}\n{"jsonrpc":"2.0","id":[],"method":"ping"}\n{"jsonrpc":"2.0","id":1,"method":"resources/list"}\n' +
              b'{"jsonrpc":"2.0","id":"\xff\xfe","method":"ping"}\n' + b"\x00\x00\n" + PING)
codes = [a["error"]["code"] if "error" in a else "result" for a in answers]
assert codes == ["result", -32700, -32600, -32600, -32600, -32600, -32600, -32601, "result", -32700, "result"], answers
assert answers[-1] == {"jsonrpc": "2.0", "id": 9, "result": {}}, answers

os.symlink("../outside", "runs/link")
asyncio.run(talk(["runs"], led_out))
sys.exit(0)
