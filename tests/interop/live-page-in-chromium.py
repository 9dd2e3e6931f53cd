# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""The live page in a real browser: charts move while a job runs, go on after the server was killed and started again, and say when the job has ended;
without the token there is 401 and nothing else; 200 idle connections, slow ones and malformed requests are in nobody's way and take no memory."""
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

from chromium import Chromium
from patience import patience

TOKEN = "live-page-token-0123456789"
SONDE, BUILD, PROGRAMS = (os.environ[name] for name in ("SONDE", "BUILD", "PROGRAMS"))
PATIENCE = patience(60)
faults = []


class Stop(Exception):
    """What all that follows stands on is not there."""


def check(what, good):
    if not good:
        faults.append(what)


def must(what, good):
    check(what, good)
    if not good:
        raise Stop


def serve(port, *arguments):
    server = subprocess.Popen([SONDE, "serve", "--listen", f"127.0.0.1:{port}", "--json", *arguments], stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"SONDE_TOKEN": TOKEN})
    told = ""
    while not told.endswith("}\n"):
        line = server.stdout.readline()
        if not line:
            raise RuntimeError("serve did not say where it is")
        told += line
    return server, json.loads(told)["url"]


def get(port, path, token=TOKEN, method="GET", **headers):
    """Status, headers and body."""
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    if token:
        headers["Authorization"] = f"Bearer {token}"
    c.request(method, path, headers=headers)
    answer = c.getresponse()
    body = answer.read()
    c.close()
    return answer.status, dict(answer.getheaders()), body


def check_doors(port):
    for path in ("/", "/run/1/", "/run/1/data", "/run/1/events", "/run/9/", "/metrics", "/nowhere", "/../etc/passwd"):
        for token in (None, "wrong", TOKEN[:-1], TOKEN + "x"):
            status, headers, body = get(port, path, token)
            check(f"{path} with {token}: {status} {body[:60]}", (status, body) == (401, b"") and "Set-Cookie" not in headers)
    check("the same without a right cookie", get(port, "/", None, Cookie=f"sonde-{port}={'0' * 64}")[0] == 401)
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "localhost:x", ""):
        check(f"Host {host}", get(port, "/", Host=host)[0] == 421)
    check("no session by a wrong token", get(port, "/session", "wrong", "POST")[0] == 401)
    check("no session by GET", get(port, "/session")[0] == 405)
    check("nothing is changed", get(port, "/", method="DELETE")[0] == 405 and get(port, "/run/1/", method="PUT")[0] == 405)
    check("what there is not", [get(port, path)[0] for path in ("/run/2/", "/run/0/", "/run/1", "/run/1/x", "/metrics")] == [404] * 5)
    status, headers, _ = get(port, "/session", method="POST")
    cookie = headers.get("Set-Cookie", "")
    check(f"the cookie is closed: {cookie}", status == 204 and "HttpOnly" in cookie and "SameSite=Strict" in cookie and TOKEN not in cookie)
    check("the cookie opens", get(port, "/run/1/data", None, Cookie="a=b; " + cookie.split(";")[0])[0] == 200)


def raw_events(port, last, seconds):
    """What a stream says in so long, chunked coding and all."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as s:
        s.sendall(f"GET /run/1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nLast-Event-ID: {last}\r\n\r\n".encode())
        said, end = b"", time.monotonic() + seconds
        while time.monotonic() < end and said.count(b"id: ") < 1:
            s.settimeout(max(0.1, end - time.monotonic()))
            try:
                said += s.recv(4096)
            except TimeoutError:
                break
    return said.decode()


def check_resume(port):
    said = raw_events(port, "", PATIENCE)
    must(f"the first event: {said[-200:]}", "event: version" in said)
    last = next((line[4:] for line in said.splitlines() if line.startswith("id: ")), "")
    again = raw_events(port, last, PATIENCE)
    check(f"what was told is not told again: {last}", f"id: {last}\n" not in again and "id: " in again)
    check("what is of another server is", "id: " in raw_events(port, "ffffffff-3", PATIENCE))


def memory_of(server):
    with open(f"/proc/{server.pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def check_crowd(server, port):
    """Slow ones stay for a while: the one that drips is put out meanwhile."""
    drip = socket.create_connection(("127.0.0.1", port))
    sizes = []
    for _ in range(3):
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
        slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for s in slow:  # they ask and take nothing
            s.sendall(f"GET /run/1/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
        asked = time.monotonic()
        check("others are answered", get(port, "/run/1/data")[0] == 200 and get(port, "/login", None)[0] == 200)
        check(f"soon, not after {time.monotonic() - asked:.1f} s", time.monotonic() - asked < patience(8))
        sizes.append(memory_of(server))
        for s in idle + slow:
            s.close()
        check_malformed(port)
    check(f"memory does not grow: {sizes} kB", sizes[-1] - sizes[0] < 24 << 10)
    out, end = False, time.monotonic() + PATIENCE
    while not out and time.monotonic() < end:
        try:
            drip.sendall(b"G")
            drip.settimeout(0.5)
            out = drip.recv(1) == b""
        except TimeoutError:
            pass
        except OSError:
            out = True
    check("who sends a byte now and then is put out", out)
    drip.close()


def check_malformed(port):
    good = f"GET /run/1/data HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nCookie: a=b\r\nLast-Event-ID: 7\r\n\r\n".encode()
    for _ in range(60):
        raw = bytearray(good)
        for _ in range(random.randrange(1, 12)):
            at = random.randrange(len(raw))
            raw[at:at + random.randrange(3)] = random.randbytes(random.randrange(4))
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as s:
            try:
                s.sendall(raw)
                s.shutdown(socket.SHUT_WR)
                s.recv(256)
            except OSError:
                pass


def check_page(port, browser, server):
    url = f"http://127.0.0.1:{port}"
    browser.open(f"{url}/login")
    must("the page asks for the token", browser.wait_for("document.readyState === 'complete' && location.pathname === '/login'"))
    browser.open(f"{url}/login#{TOKEN}")
    must("the token opens the list", browser.wait_for("location.pathname === '/' && document.querySelectorAll('tbody a').length === 1"))
    check("its address is without the token", TOKEN not in str(browser.evaluate("location.href")))
    check("no script has the cookie", browser.evaluate("document.cookie") == "")
    check("the run is said to run", browser.evaluate("document.querySelector('tbody td').textContent") == "running")
    browser.evaluate("document.querySelector('tbody a').click()")
    must("the page is live", browser.wait_for("document.documentElement.dataset.version >= 2"))
    check("it says so", "Live" in str(browser.evaluate("document.getElementById('live').textContent")))
    check("the job is said to run", "Running" in str(browser.evaluate("document.querySelector('.badge').textContent")))
    moves = "view.nodes[0].x.length + ' ' + view.full[1]"
    before = browser.wait_for(moves) or "none 0"
    browser.evaluate("view.zoom(0, 0.5)")
    must("charts move", browser.wait_for(f"{moves} !== '{before}' && view.full[1] > {float(before.split()[1])} + 1"))
    check("what was zoomed stays", browser.evaluate("view.range[1] === 0.5"))
    check("charts are drawn", browser.evaluate("view.charts.filter((c) => c.plot).length > 2"))
    browser.evaluate("(() => { const whole = fetch; fetch = async () => { fetch = whole; return new Response('{\"parts\": '); }; })()")
    before = browser.evaluate("Number(document.documentElement.dataset.version)")
    must("it goes on after an answer that was cut off", browser.wait_for(f"document.documentElement.dataset.version > {before} + 1"))
    server.send_signal(signal.SIGKILL)
    server.wait()
    must("a server that is gone is told", browser.wait_for("document.getElementById('live').textContent.startsWith('Reconnecting')"))
    before = browser.evaluate("view.full[1]")
    server, _ = serve(port, "sonde_live")
    must("it goes on by itself", browser.wait_for(f"document.getElementById('live').textContent.startsWith('Live') && view.full[1] > {before}"))
    return server


def main():
    if not shutil.which("chromium"):
        print("chromium is not installed")
        sys.exit(77)
    if not os.path.exists(f"{BUILD}/libexec/sonde/sonde-serve"):
        print("sonde-serve is not built: libmicrohttpd-dev is not installed")
        sys.exit(77)
    job = subprocess.Popen([SONDE, "run", "--quiet", "-i", "500ms", "-o", "sonde_live", "--", "sh", "-c",
                            f"until [ -e over ]; do {PROGRAMS}/spin 5000; sleep 0.1; done"])
    browser = server = None
    try:
        while not (os.path.isdir("sonde_live") and os.listdir("sonde_live")):
            time.sleep(0.05)
        server, url = serve(0)
        port = int(url.split(":")[2].split("/")[0])
        check(f"where it is: {url}", url == f"http://127.0.0.1:{port}/login")
        check_doors(port)
        check_resume(port)
        check_crowd(server, port)
        browser = Chromium()
        server = check_page(port, browser, server)
        open("over", "w").close()
        check("the job ends well", job.wait(PATIENCE) == 0)
        must("its end is told", browser.wait_for("document.getElementById('live').textContent === 'Ended'"))
        check("and how", "Succeeded" in str(browser.evaluate("document.querySelector('.badge').textContent")))
        server.send_signal(signal.SIGTERM)
        check("the server ends when asked", server.wait(PATIENCE) == 0)
    except Stop:
        if browser:
            faults.append(f"the page: {browser.evaluate('location.href + document.documentElement.outerHTML.slice(0, 300)')}")
    finally:
        open("over", "w").close()
        if browser:
            browser.close()
        if server and server.poll() is None:
            server.kill()
        job.wait(PATIENCE)
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
