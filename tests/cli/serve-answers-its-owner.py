# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""Another user who takes every connection that `sonde serve` gives, and connects without end, does not keep it from answering whose it is; those
refused are counted and told. Another user who says the token is answered."""
import atexit
import os
import re
import socket
import subprocess
import sys
import time

from patience import patience

SONDE, BUILD = os.environ["SONDE"], os.environ["BUILD"]
TOKEN = "a-token-of-the-tests-0123"
OTHER, THIRD, HELD, SILENT = 65534, 65533, 600, 64
HOLD = """
import os, resource, socket, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (2048, 2048))
uid, port, end = int(sys.argv[1]), int(sys.argv[2]), time.monotonic() + 60
os.setgid(uid); os.setuid(uid)
held = []
while time.monotonic() < end:
    s = socket.socket()
    s.settimeout(1)
    try:
        s.connect(("127.0.0.1", port))
        s.send(b"GET /")
    except OSError:
        s.close()
        continue
    held.append(s)
    if len(held) >= %d:
        for old in held[:100]:
            old.close()
        del held[:100]
""" % HELD
ASK = """
import os, sys, urllib.request
os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))
asked = urllib.request.Request(sys.argv[2], headers={"Authorization": "Bearer " + sys.argv[3]})
print(urllib.request.urlopen(asked, timeout=60).status)
"""


def fail(what):
    print("FAIL:", what, file=sys.stderr)
    sys.exit(1)


def start(*command, **more):
    process = subprocess.Popen(command, **more)
    atexit.register(process.wait)
    atexit.register(process.kill)
    return process


def ask(port, uid=0):
    asked = subprocess.run([sys.executable, "-c", ASK, str(uid), f"http://127.0.0.1:{port}/metrics", TOKEN], capture_output=True, text=True, timeout=patience(90))
    return asked.stdout.strip() == "200"


def connections(port):
    """How many the server holds."""
    with open("/proc/net/tcp") as table:
        ends = [line.split()[1:4] for line in table][1:]
    return sum(local.endswith(f":{port:04X}") and state == "01" for local, _, state in ends)


if os.geteuid() != 0:
    print("only root can be two users")
    sys.exit(77)
if not os.path.exists(f"{BUILD}/libexec/sonde/sonde-serve"):
    print("sonde-serve is not built: libmicrohttpd-dev is not installed")
    sys.exit(77)
os.mkdir("rec")
with open("said", "w") as said:
    server = start(SONDE, "serve", "--metrics", "--listen", "127.0.0.1:0", "rec", stdout=subprocess.PIPE, stderr=said, text=True,
                   env=dict(os.environ, SONDE_TOKEN=TOKEN))
port = int(re.search(r":(\d+)/", server.stdout.readline()).group(1))
if not ask(port):
    fail("it does not answer")
floods = [start(sys.executable, "-c", HOLD, str(OTHER), str(port)) for _ in range(2)]
end = time.monotonic() + patience(30)
while connections(port) < SILENT:
    if time.monotonic() > end:
        fail(f"the others hold {connections(port)} connections only")
    time.sleep(0.1)
time.sleep(3)
for turn in range(5):
    if not ask(port):
        fail(f"its owner is not answered, turn {turn}: it holds {connections(port)} connections")
if not ask(port, THIRD):
    fail("a third user, who says the token, is not answered")
for flood in floods:
    flood.kill()
    flood.wait()
end = time.monotonic() + patience(30)
while not ask(port, OTHER):
    if time.monotonic() > end:
        fail("the other user is not answered when the flood has ended")
with open("said") as said:
    told = re.findall(r"refused (\d+) connections of other users", said.read())
if not told or int(told[0]) == 0:
    fail(f"those refused were not told: {told}")
print(f"told: {told[0]} refused")
