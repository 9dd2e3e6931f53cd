# SPDX-License-Identifier: Apache-2.0
"""An event loop that sleeps by its timers is told so, though it has a connection open over which nothing goes; one that waits for an answer, or for the next
piece of what a server sends slowly, waits for the network, though it has timers, too."""
# limit: 240
import json
import os
import subprocess
import sys
import threading
import time
import socket

from patience import patience

SONDE = os.environ["SONDE"]
JOB = """import asyncio, sys, time
how, port, until = sys.argv[1], int(sys.argv[2]), time.monotonic() + 6
async def main():
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async def ask():
        writer.write(b"question")
        await asyncio.wait_for(reader.read(64), 60)
    if how != "unused":
        await ask()
    while time.monotonic() < until:
        if how in ("answers", "often"):
            await ask()
        if how == "stream":
            await asyncio.wait_for(reader.read(64), 60)
        if how in ("idle", "unused", "often"):
            await asyncio.sleep(0.35)
asyncio.run(main())
"""
with open("job.py", "w", encoding="utf-8") as f:
    f.write(JOB)


def serve(how, server):
    """Answers at once, or after a while; or goes on sending in pieces."""
    client = server.accept()[0]
    while client.recv(64):
        try:
            while how == "stream":
                client.sendall(b"piece")
                time.sleep(0.5)
            if how == "answers":
                time.sleep(0.6)
            client.sendall(b"answer")
        except OSError:
            return


def waited(how):
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(how, server), daemon=True).start()
    port = server.getsockname()[1]
    subprocess.run([SONDE, "run", "-q", "-o", how, "--", sys.executable, "job.py", how, str(port)], check=True, timeout=patience(60))
    server.close()
    shown = json.loads(subprocess.run([SONDE, "show", "--json", how], check=True, capture_output=True, text=True).stdout)
    metadata, sentences = shown["nodes"][0]["metadata"], " ".join(one["sentence"] for one in shown["verdicts"])
    if metadata.get("job.waited.looks", 0) < 5:
        print("this machine is too busy")
        sys.exit(77)
    return metadata, sentences, f"127.0.0.1:{port}"


for how in ("idle", "unused", "often"):
    metadata, said, peer = waited(how)
    timer, network = (metadata.get(f"job.waited.{kind}_looks", 0) for kind in ("timer", "network"))
    # Who asks often waits for the answers, too: on a crowded machine for longer.
    assert timer >= 4 and timer > (1 if how == "often" else 2) * network, (how, metadata)
    assert f"sleeps (timer): in an event loop without traffic to {peer}" in metadata["job.waited.timer_in"], (how, metadata)
    assert "in an event loop" in said and "for the network" not in said, (how, said)
for how in ("answers", "stream"):
    metadata, said, peer = waited(how)
    timer, network = (metadata.get(f"job.waited.{kind}_looks", 0) for kind in ("timer", "network"))
    assert network >= 4 and network > 3 * timer, (how, metadata)
    assert f"waits for the network: {peer}" in said, (how, said)
