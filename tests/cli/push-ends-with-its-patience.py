# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""A server that takes a connection and then answers nothing, or half, or a byte now and then, is left when --patience is over, by each kind of push."""
import os
import socket
import subprocess
import sys
import threading
import time

from patience import patience

SONDE = os.environ["SONDE"]
PATIENCE = 3
BOUND = 20  # of a busy machine; without a bound it took 60 s and more
faults = []


def silent(client):
    time.sleep(600)
    client.close()


def half(client):
    client.recv(65536)
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"ex")
    silent(client)


def trickles(client):
    client.recv(65536)
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        client.sendall(b" ")
        time.sleep(0.2)


def serve(how):
    listening = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            client = listening.accept()[0]
            threading.Thread(target=quietly, args=(how, client), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listening.getsockname()[1]


def quietly(how, client):
    try:
        how(client)
    except OSError:
        pass


def push(kind, how, port):
    where = {"mlflow": f"http://127.0.0.1:{port}", "remote-write": f"http://127.0.0.1:{port}/write",
             "postgres": f"postgres://anna@127.0.0.1:{port}/jobs"}[kind]
    variables = {"MLFLOW_TRACKING_URI": where, "PGSSLMODE": "disable"}
    options = [] if kind == "mlflow" else ["--url", where]
    begun = time.monotonic()
    p = subprocess.run([SONDE, "push", "job", "--to", kind, "--patience", f"{PATIENCE}s", *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                       text=True, timeout=patience(200), env={**os.environ, **variables})
    took = time.monotonic() - begun
    what = f"{kind}, a server that is {how.__name__}"
    print(f"{what}: {took:.1f} s, {p.returncode}: {p.stderr.strip()}")
    if took > BOUND:
        faults.append(f"{what}: {took:.1f} s")
    if p.returncode == 0 or p.stderr.count("\n") != 1 or "usage" in p.stderr:
        faults.append(f"{what}: {p.returncode}, {p.stderr}")
    return took


programs = os.path.join(os.path.dirname(os.path.realpath(SONDE)), "libexec/sonde")
subprocess.run([SONDE, "run", "--quiet", "-i", "50ms", "-o", "job", "--", "sleep", "0.3"], check=True)
if os.path.exists(programs + "/sonde-http"):
    for answer in (silent, half, trickles):
        for kind in ("mlflow", "remote-write"):
            push(kind, answer, serve(answer))
if os.path.exists(programs + "/sonde-database"):
    push("postgres", silent, serve(silent))
print("\n".join(faults))
sys.exit(1 if faults else 0)
