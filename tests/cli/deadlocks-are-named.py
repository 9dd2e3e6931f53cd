# SPDX-License-Identifier: Apache-2.0
"""Processes and threads that wait for each other are called a deadlock, with functions, whom each waits for and where: over pipes, sockets, TCP,
locks on files, mutexes in C and C++, and a child that waits for its parent. What could still go on is not called so."""
import json
import os
import shutil
import subprocess
import sys
import time

import jsonschema
import schemas

from ordinary_user import need_unwind
from patience import patience

SONDE, BUILD, TOP, STUCK = (os.environ[n] for n in ("SONDE", "BUILD", "TOP", "PROGRAMS"))
STUCK += "/stuck"
need_unwind()
with open(TOP + "/docs/schema/stacks.json", encoding="utf-8") as f:
    SCHEMA = schemas.strict(json.load(f))

# Which members it has, what the sentence says of each, and in which functions they are.
DEADLOCKS = {
    "pipes": (2, "waits for data from a pipe, written by stuck (pid ", ["wait_for_data"]),
    "sockets": (2, "waits for data from a socket, sent by stuck (pid ", ["wait_for_data"]),
    "tcp": (2, "waits for data from a socket: TCP 127.0.0.1:", ["wait_for_data"]),
    "files": (2, "waits for a lock on a file: ", ["lock_two"]),
    "mutexes": (2, "waits for a mutex at 0x", ["wait_for_mutex"]),
    "child": (2, "waits for a child: stuck (pid ", ["wait_for_data", "waits_for_parent"]),
}
CPP = """
#include <chrono>
#include <mutex>
#include <thread>
static std::mutex first, second;
static void take(std::mutex &a, std::mutex &b) { std::lock_guard<std::mutex> x(a); std::this_thread::sleep_for(std::chrono::milliseconds(300)); b.lock(); }
int main() { std::thread t(take, std::ref(second), std::ref(first)); take(first, second); t.join(); }
"""
# a was taken before and let go again: what is left of that on the stack counts for nothing.
PYTHON = """import threading
a, b, both = threading.Lock(), threading.Lock(), threading.Barrier(2)
def one():
    with b:
        pass
    both.wait()
    with a:
        both.wait()
        with b:
            pass
def two():
    with a:
        pass
    both.wait()
    with b:
        both.wait()
        with a:
            pass
def free():
    with a:
        pass
    with b:
        threading.Event().wait()
import sys
names = sys.argv[1:]
both = threading.Barrier(len([n for n in names if n != "free"]))
[threading.Thread(target=globals()[n]).start() for n in names]
"""


def text_of(pid):
    return subprocess.run([SONDE, "stacks", str(pid)], capture_output=True, text=True, check=True, timeout=patience(60)).stdout


def until(pid, wanted):
    """The text and the document, when there is such a deadlock, or nothing has changed for a while."""
    end = time.monotonic() + (patience(40) if wanted else 1.5)
    while True:
        document = json.loads(subprocess.run([SONDE, "stacks", "--json", str(pid)], capture_output=True, text=True, check=True, timeout=patience(60)).stdout)
        jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(document)
        if bool(document["deadlocks"]) or time.monotonic() > end:
            return text_of(pid), document
        time.sleep(0.1)


def started(*command):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)  # pylint: disable=consider-using-with


def end_of(p):
    os.killpg(p.pid, 9)
    p.wait()


def check(command, members, says, functions):
    p = started(*command)
    try:
        text, document = until(p.pid, True)
        assert len(document["deadlocks"]) == 1 and len(document["deadlocks"][0]) == members, (command, text, document)
        sentence = next(line for line in text.splitlines() if line.startswith("Deadlock: "))
        assert says in sentence, sentence
        assert all(f in sentence for f in functions), sentence
        by_tid = {t["tid"]: t for t in document["threads"]}
        for tid in document["deadlocks"][0]:
            assert by_tid[tid]["state"] == "waits" and by_tid[tid]["stack"] == "whole", by_tid[tid]
            with open(f"/proc/{by_tid[tid]['pid']}/status", encoding="utf-8") as status:
                assert "TracerPid:\t0" in status.read()
    finally:
        end_of(p)


for kind, (n, words, names) in DEADLOCKS.items():
    check([STUCK, kind], n, words, names)
if shutil.which("g++"):
    with open("locks.cc", "w", encoding="ascii") as f:
        f.write(CPP)
    subprocess.run(["g++", "-O2", "-g", "-pthread", "-o", "locks", "locks.cc"], check=True)
    check(["./locks"], 2, "waits for a mutex at 0x", ["take"])

with open("locks.py", "w", encoding="ascii") as f:
    f.write(PYTHON)
known = (3, 11) <= sys.version_info[:2] <= (3, 13)
if known:
    check([sys.executable, "locks.py", "one", "two"], 2, "waits for a lock: threading.Lock, held by thread ", ["one (locks.py:9)", "two (locks.py:17)"])

for command in [sys.executable, "locks.py", "one", "free"], [STUCK, "free"], [STUCK, "idle"], ["sh", "-c", "sleep 60 | cat; true"], [sys.executable, "-c", "import subprocess; subprocess.run(['cat'], stdin=subprocess.PIPE, input=None) if 0 else subprocess.run(['sleep', '60'])"]:
    p = started(*command)
    try:
        text, document = until(p.pid, False)
        assert not document["deadlocks"] and "Deadlock" not in text, text
    finally:
        end_of(p)

# It is no number, nobody has it, or it is no recording.
for words, code in ([["stacks", "999999999"], 1], [["stacks", "nothing"], 1], [["stacks", "1", "2"], 2]):
    ended = subprocess.run([SONDE, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == code and ended.stderr.count("\n") == 1, ended
