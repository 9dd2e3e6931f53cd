# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""A PostgreSQL that takes connections and then says nothing is not waited for without end, wherever in a push or a look at the history it
falls silent: one sentence says what was kept and what to do. One that is only slow is waited for."""
import os
import socket
import subprocess
import sys
import threading
import time

import postgres

SONDE = os.environ["SONDE"]
PATIENCE = 2
BOUND = 60  # of a busy machine; the proxy below stays silent until the test ends
faults = []


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {str(detail)[:600]}")


class Proxy:
    """In front of the server, until a client says `word`: then nothing is passed on, and nobody is answered. Nor are bytes taken."""

    def __init__(self, port, word):
        self.port, self.word = port, word
        self.silent = threading.Event()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"postgres://anna@127.0.0.1:{self.listening.getsockname()[1]}/jobs"
        self.open = []
        if not word:
            self.silent.set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.listening.accept()[0]
            self.open.append(client)
            if self.silent.is_set():
                continue
            server = socket.create_connection(("127.0.0.1", self.port))
            self.open.append(server)
            for pair in ((client, server, True), (server, client, False)):
                threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, source, to, asked):
        try:
            while data := source.recv(65536):
                if asked and self.word and self.word in data:
                    self.silent.set()
                if self.silent.is_set():
                    return
                to.sendall(data)
            to.shutdown(socket.SHUT_WR)
        except OSError:
            pass


    def close(self):
        for s in self.open:
            try:
                s.shutdown(socket.SHUT_RDWR)  # wakes who waits for it
            except OSError:
                pass
            s.close()


def start(url, *words):
    return subprocess.Popen([SONDE, *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                            env={**server.environment, "SONDE_POSTGRES_URL": url, "SONDE_STORE": url, "SONDE_STORE_PATIENCE": str(PATIENCE),
                                 "XDG_DATA_HOME": os.path.abspath("data")})


PUSH = ("push", "job", "--to", "postgres", "--patience", "1ms")
LOOK = ("ls", "--history")


server = postgres.Server()
os.mkdir("job")
subprocess.run([os.path.join(os.environ["BUILD"], "bench/make_nodes"), "job", "2", "600", "200"], check=True)
subprocess.run([SONDE, "run", "-q", "-o", "ended", "--", "true"], check=True, env={**os.environ, "XDG_DATA_HOME": os.path.abspath("data")})

# Wherever it falls silent: before it lets us in, at the first statement, among the rows (which then nobody takes), at the end.
first = start(server.url, *PUSH)  # makes the schema
check("a push", first.wait(BOUND) == 0, first.stderr.read())
server.sql("DELETE FROM pushes")
for words in ((b"", b"search_path", b"INSERT INTO runs", b"COPY samples"), (b"COMMIT",)):
    proxies = [Proxy(server.port, word) for word in words]
    asked = [(f"{kind[0]}, silent at {p.word}", kind, start(p.url, *kind)) for p in proxies for kind in (PUSH, LOOK)
             if kind == PUSH or p.word in (b"", b"search_path")]
    begun = time.monotonic()
    for where, kind, p in asked:
        try:
            status = p.wait(max(1, begun + BOUND - time.monotonic()))
        except subprocess.TimeoutExpired:
            p.kill()
            check(where, False, "waits and waits")
            continue
        said = p.stderr.read()
        check(where, status == 1 and said.count("\n") == 1 and postgres.PASSWORD not in said, f"{status}: {said}")
        check(f"{where}: why", "has not answered for" in said or "cannot reach" in said, said)
        check(f"{where}: and now", ("run the same command again later" if kind == PUSH else "are kept") in said, said)
    for p in proxies:
        p.close()  # the server lets go of what was begun
check("what had ended is kept", len(os.listdir("data/sonde/ended")) == 1, os.listdir("data/sonde"))
check("nothing half is there", server.sql("SELECT COUNT(*) FROM pushes") == [["0"]])

# Slow is not silent: somebody else holds the table for longer than that.
psql = subprocess.Popen([f"{server.bin}/psql", "-X", "-q", "-h", server.folder, "-p", str(server.port), "-U", "anna", "-d", "jobs", "-c",
                         f"BEGIN; LOCK TABLE sonde.runs; SELECT pg_sleep({3 * PATIENCE}); COMMIT"],
                        env=server.environment, stdout=subprocess.DEVNULL)
while server.sql("SELECT COUNT(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted") == [["0"]] and psql.poll() is None:
    time.sleep(0.05)
p = start(server.url, *PUSH)
check("a slow server", p.wait(BOUND) == 0, p.stderr.read())
psql.wait(BOUND)
check("all is there", server.sql("SELECT COUNT(*) FROM samples") == server.sql("SELECT samples FROM pushes") != [["0"]])
p = start(server.url, *LOOK)
check("what had been kept", p.wait(BOUND) == 0 and not os.listdir("data/sonde/ended"), p.stderr.read())

server.stop()
for fault in faults:
    print(fault)
sys.exit(bool(faults))
