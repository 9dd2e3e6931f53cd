# SPDX-License-Identifier: Apache-2.0
"""Running jobs, scraped by a real Prometheus, and their file for a textfile collector, held against promtool: the series are there, apart from
each other, and gone when the jobs are; whoever has no token, or sends what is no request, gets nothing."""
import atexit
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request

from patience import patience

SONDE, BUILD = os.environ["SONDE"], os.environ["BUILD"]
PROMETHEUS, PROMTOOL = (f"{BUILD}/servers/{name}" for name in ("prometheus", "promtool"))
TOKEN = "a-token-of-the-tests-0123"
PATIENCE = patience(60)


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    sys.exit(f"waited in vain: {what}")


def check(what, holds):
    if not holds:
        sys.exit(f"FAIL: {what}")


def get(url, token=TOKEN, method="GET", accept=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if accept:
        headers["Accept"] = accept
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers, method=method), timeout=patience(30)) as answer:
            return answer.status, answer.read().decode(), answer.headers["Content-Type"]
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode(), None


def start_jobs():
    """Two of one batch job's id in directories of their own, one of none."""
    jobs = []
    for directory, number, more in (("a", "77", ["--openmetrics", "a.prom"]), ("b", "77", []), ("c", None, [])):
        environment = dict(os.environ, **({"SLURM_JOB_ID": number, "SLURM_JOB_NAME": 'quo"te\\'} if number else {}))
        jobs.append(subprocess.Popen([SONDE, "run", "--node-recorder=own", "-q", "-i", "100ms", "-o", directory, *more, "--", "sleep", "600"],
                                     env=environment, start_new_session=True))
    return jobs


def check_textfile():
    check("a new file is private", stat.S_IMODE(os.stat("a.prom").st_mode) == 0o600)
    os.chmod("a.prom", 0o644)
    before = os.stat("a.prom").st_ino
    wait_for("the file is replaced", lambda: os.stat("a.prom").st_ino != before)
    check("its mode is kept", stat.S_IMODE(os.stat("a.prom").st_mode) == 0o644)
    with open("a.prom") as text:
        check_with_promtool(text.read())
    check("nothing lies beside it", [n for n in os.listdir(".") if n.startswith("a.prom")] == ["a.prom"])


def check_with_promtool(text):
    said = subprocess.run([PROMTOOL, "check", "metrics"], input=text, capture_output=True, text=True)
    others = [line for line in said.stderr.splitlines() if '"_count" suffix' not in line]  # Sonde's own word for things
    check(f"promtool has nothing to say: {others[:3]}", not others and said.returncode in (0, 3))
    series = [line.rsplit(" ", 1)[0] for line in text.splitlines() if not line.startswith("#")]
    check("no series comes twice", len(series) == len(set(series)) and len(series) > 50)


def serve(where, *directories):
    environment = dict(os.environ, SONDE_TOKEN=TOKEN)
    server = subprocess.Popen([SONDE, "serve", "--metrics", "--json", "--listen", where, *directories], env=environment,
                              stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    told = ""
    while "}" not in told:
        line = server.stdout.readline()
        check("serve says where it is", line)
        told += line
    return server, json.loads(told)["url"]


def check_http(url):
    status, text, kind = get(url)
    check("the answer is text", status == 200 and kind.startswith("text/plain; version=0.0.4"))
    check_with_promtool(text)
    jobs = set(re.findall(r'sonde_recording_open\{job_id="([^"]*)"', text))
    check(f"equal ids are told apart by path: {jobs}", jobs == {os.path.abspath(d) for d in "abc"})
    status, text, kind = get(url, accept="application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    check("OpenMetrics when asked for", kind.startswith("application/openmetrics-text") and text.endswith("# EOF\n"))
    for token in (None, "", "wrong", TOKEN[:-1], TOKEN + "x", "x" * 20000):
        check(f"no answer to {str(token)[:9]}", get(url, token=token)[0] in (401, 413, 431))
    check("no other page", get(url + "/x")[0] == 404 and get(url.replace("/metrics", "/../etc/passwd"))[0] == 404)
    check("nothing but GET", get(url, method="POST")[0] == 405 and get(url, method="HEAD")[:2] == (200, ""))


def check_hostile(url):
    host, port = re.match(r"http://([^:]+):(\d+)/", url).groups()
    for raw in (b"\0" * 4096, b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 9999, b"GET /" + b"a" * 99999, b"\xff\xfe\r\n\r\n",
                b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n",
                b"GET /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
        with socket.create_connection((host, int(port)), timeout=patience(30)) as s:
            try:
                s.sendall(raw)
                s.shutdown(socket.SHUT_WR)
                said = s.recv(4096)
            except OSError:
                said = b""
            check("no number is told without a token", b"sonde_" not in said and not said.startswith(b"HTTP/1.1 200"))
    idle = [socket.create_connection((host, int(port)), timeout=patience(30)) for _ in range(20)]
    check("others are answered meanwhile", get(url)[0] == 200)
    for s in idle:
        s.close()


def check_unix():
    server, url = serve("unix:s.sock", "c")
    check("the socket is private", url == "unix:s.sock" and stat.S_IMODE(os.stat("s.sock").st_mode) == 0o600)
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("s.sock")
        s.sendall(f"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n".encode())
        said = b""
        while part := s.recv(65536):
            said += part
    check("it answers on a socket", b"sonde_node_memory_total_bytes{" in said)
    end(server)
    check("its socket goes with it", not os.path.exists("s.sock"))
    server, _ = serve("unix:s.sock", "c")
    os.rename("s.sock", "moved.sock")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind("s.sock")
        end(server)
    check("another's socket stays", os.path.exists("s.sock"))
    os.remove("s.sock")


def end(process):
    process.send_signal(signal.SIGTERM)
    check("it ends when asked", process.wait(PATIENCE) in (0, -signal.SIGTERM))


def ask(port, query):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?query={query}", timeout=patience(30)) as answer:
        return json.load(answer)["data"]["result"]


def check_prometheus(url):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with open("token", "w") as out:
        out.write(TOKEN)
    with open("p.yml", "w") as out:
        out.write(f"""scrape_configs:
- job_name: sonde
  scrape_interval: 1s
  authorization: {{credentials_file: {os.path.abspath("token")}}}
  static_configs: [{{targets: ["{url.split("/")[2]}"]}}]
""")
    check("promtool takes the configuration", subprocess.run([PROMTOOL, "check", "config", "p.yml"], stdout=subprocess.DEVNULL).returncode == 0)
    with open("prometheus.log", "w") as log:
        server = subprocess.Popen([PROMETHEUS, "--config.file=p.yml", "--storage.tsdb.path=data", f"--web.listen-address=127.0.0.1:{port}"],
                                  stdout=log, stderr=log)

    def answered(query, wanted):
        def asked():
            try:
                found = ask(port, query)
            except (OSError, ValueError):
                return None
            return found if wanted(found) else None
        return wait_for(f"Prometheus knows {query}", asked)

    try:
        rates = answered("rate(sonde_node_cpu_user_seconds_total[30s])", lambda r: len(r) == 3)
        check("labels tell the jobs apart", len({r["metric"]["job_id"] for r in rates}) == 3)
        names = answered("sonde_job_info", lambda r: len(r) == 3)
        check("names of jobs are kept", sorted(r["metric"].get("job_name", "") for r in names) == ["", 'quo"te\\', 'quo"te\\'])
        up = answered("up", lambda r: len(r) == 1)
        check("every scrape was taken", up[0]["value"][1] == "1")
    finally:
        end(server)


def main():
    if not os.path.exists(PROMETHEUS):
        print("prometheus is not there: ./dev check unpacks it")
        sys.exit(77)
    if not os.path.exists(f"{BUILD}/libexec/sonde/sonde-serve"):
        print("sonde-serve is not built: libmicrohttpd-dev is not installed")
        sys.exit(77)
    jobs = start_jobs()
    try:
        wait_for("the jobs are recorded", lambda: all(os.path.isdir(d) and os.listdir(d) for d in "abc") and os.path.exists("a.prom"))
        check_textfile()
        server, url = serve("127.0.0.1:0", "a", "b", "c")
        wait_for("all are there", lambda: len(re.findall(r"sonde_recording_open\{.*\} 1\n", get(url)[1])) == 3)
        check_http(url)
        check_hostile(url)
        check_unix()
        check_prometheus(url)
        for job in jobs:
            os.killpg(job.pid, signal.SIGTERM)
        for job in jobs:
            job.wait(PATIENCE)
        text = wait_for("their end is told", lambda: (lambda t: t if len(re.findall(r"sonde_recording_open\{.*\} 0\n", t)) == 3 else None)(get(url)[1]))
        check("what ended has no values", "sonde_node_memory" not in text)
        wait_for("the file is gone", lambda: not os.path.exists("a.prom"))
        end(server)
    finally:
        for job in jobs:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)


main()
