# SPDX-License-Identifier: Apache-2.0
"""Jobs of ../fourth.py: fourth.py VERB ARGUMENT..."""
import asyncio
import csv
import hashlib
import os
import queue
import socket
import sys
import threading
import time


def work(seconds):
    end, x = time.monotonic() + float(seconds), 1.0
    while time.monotonic() < end:
        for _ in range(5000):
            x = x * 1.0000001 + 1e-9


def column(seconds):
    """The table's column is called temp."""
    with open("table.csv", "w", encoding="ascii") as f:
        f.write("station,temp\n1,12.5\n")
    work(seconds)
    with open("table.csv", encoding="ascii") as f:
        print([row["temperature"] for row in csv.DictReader(f)])


def letters(seconds):
    """The names were written in Latin-1."""
    with open("names.txt", "wb") as f:
        f.write("Gödel\n".encode("latin-1"))
    work(seconds)
    with open("names.txt", encoding="utf-8") as f:
        print(f.read())


def long_name(seconds):
    work(seconds)
    with open("_".join(f"alpha={i / 100}" for i in range(40)) + ".npz", "w", encoding="ascii") as f:
        f.write("result")


def feeder(seconds):
    """One thread makes the pieces by hashing; six others have nothing to do but to count them."""
    pieces, block = queue.Queue(), bytes(1 << 22)

    def count():
        while pieces.get() is not None:
            pass

    threads = [threading.Thread(target=count) for _ in range(6)]
    for t in threads:
        t.start()
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        pieces.put(hashlib.sha256(block).digest())
    for _ in threads:
        pieces.put(None)


def holds(seconds):
    """Each thread sleeps while it holds the lock of all."""
    lock, end = threading.Lock(), time.monotonic() + float(seconds)

    def step():
        while time.monotonic() < end:
            with lock:
                time.sleep(0.5)

    threads = [threading.Thread(target=step) for _ in range(5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def lost(seconds):
    """A server that answers every third datagram; the client asks again after a second and a half."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        address = server.getsockname()
        if os.fork() == 0:
            server.settimeout(2)
            try:
                for n in range(10000):
                    data, who = server.recvfrom(100)
                    if n % 3 == 2:
                        server.sendto(data, who)
            except OSError:
                pass
            os._exit(0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(1.5)
        end = time.monotonic() + float(seconds)
        while time.monotonic() < end:
            client.sendto(b"read sensor", address)
            try:
                client.recv(100)
            except socket.timeout:
                pass


def coroutines(seconds):
    async def part():
        for _ in range(int(float(seconds) * 10)):
            work(0.0125)
            await asyncio.sleep(0)

    async def parts():
        await asyncio.gather(*[part() for _ in range(8)])

    asyncio.run(parts())


def digests(n, seconds):
    """Hashing lets go of the interpreter's lock."""
    block, end = bytes(1 << 24), time.monotonic() + float(seconds)

    def hashes():
        while time.monotonic() < end:
            hashlib.sha256(block)

    threads = [threading.Thread(target=hashes) for _ in range(int(n))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def lowers(n, seconds):
    """It lowers its own priority, as a polite library does."""
    os.nice(15)
    for _ in range(int(n)):
        if os.fork() == 0:
            work(seconds)
            os._exit(0)
    for _ in range(int(n)):
        os.wait()


def answer_late(seconds):
    """Asks a server that thinks for so long before it answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        if os.fork() == 0:
            connection, _ = server.accept()
            time.sleep(float(seconds))
            connection.send(b"done")
            os._exit(0)
        with socket.create_connection(server.getsockname()) as client:
            client.recv(10)
    os.wait()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
