# SPDX-License-Identifier: Apache-2.0
"""Jobs of fresh.py: fresh.py VERB ARGUMENT..."""
import socket
import sqlite3
import sys
import time
import urllib.request


def files(seconds):
    """Works, and opens a file now and then until it may open no more."""
    end, kept = time.time() + float(seconds), []
    while True:
        kept.append(open("/dev/null", encoding="ascii"))
        if time.time() < end:
            time.sleep(float(seconds) / 70)


def commits(path, seconds):
    end = time.time() + float(seconds)
    with sqlite3.connect(path, isolation_level=None) as db:
        db.execute("CREATE TABLE t (n INTEGER, words TEXT)")
        n = 0
        while time.time() < end:
            db.execute("INSERT INTO t VALUES (?, ?)", (n, "word " * 20))
            n += 1


def ask():
    server = socket.create_server(("127.0.0.1", 0))
    urllib.request.urlopen(f"http://127.0.0.1:{server.getsockname()[1]}/")


{"files": files, "commits": commits, "ask": ask}[sys.argv[1]](*sys.argv[2:])
