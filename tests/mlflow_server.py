# SPDX-License-Identifier: Apache-2.0
"""An MLflow server for a test, on loopback, and a proxy before it that counts requests and can fail."""
import http.client
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

import readers
from patience import patience

VENV = os.path.join(os.environ["BUILD"], "venv-mlflow")


def enter():
    """Go on with the Python that has MLflow, or skip the test."""
    readers.enter("venv-mlflow")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class QuietServer(http.server.ThreadingHTTPServer):
    """Who asks may be killed at any moment."""
    daemon_threads = True

    def handle_error(self, *_):
        pass


class Server:
    """mlflow server in the current folder; it ends with this process."""

    def __init__(self):
        self.port = free_port()
        self.log = open("mlflow.log", "w")
        self.process = subprocess.Popen(
            [os.path.join(VENV, "bin/mlflow"), "server", "--host", "127.0.0.1", "--port", str(self.port), "--workers", "1",
             "--backend-store-uri", f"sqlite:///{os.getcwd()}/mlflow.db", "--artifacts-destination", os.path.join(os.getcwd(), "artifacts")],
            stdout=self.log, stderr=self.log, start_new_session=True,
            env=os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"})  # whose queues stay behind in /dev/shm

    def wait(self, seconds=300):
        end = time.monotonic() + patience(seconds)
        while time.monotonic() < end and self.process.poll() is None:
            try:
                c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience(10))
                c.request("GET", "/health")
                if c.getresponse().status == 200:
                    return
            except OSError:
                time.sleep(0.3)
        sys.exit("mlflow server does not come up: " + open("mlflow.log").read()[-2000:])

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, 15)
        try:
            self.process.wait(patience(20))
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)


class Proxy:
    """Passes requests on to a port. fail(method, path) may say: None, "drop" (the answer is lost), "refuse" (so is the question) or a
    status."""

    def __init__(self, port, fail=lambda method, path: None):
        proxy = self
        self.seen = []  # (method, path, headers) of every request, as it came
        self.fail = fail

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                proxy.seen.append((self.command, self.path, dict(self.headers)))
                what = proxy.fail(self.command, self.path)
                if what == "refuse":
                    self.close_connection = True
                    return
                if isinstance(what, int):
                    self.answer(what, b"{}", [("Retry-After", "0")])
                    return
                c = http.client.HTTPConnection("127.0.0.1", port, timeout=patience(120))
                c.request(self.command, self.path, body, {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection")})
                r = c.getresponse()
                got = r.read()
                if what == "drop":
                    self.close_connection = True
                    return
                self.answer(r.status, got, [(k, v) for k, v in r.getheaders() if k.lower() in ("content-type", "location")])

            def answer(self, status, body, headers):
                try:
                    self.send_response(status)
                    for key, value in headers + [("Content-Length", str(len(body)))]:
                        self.send_header(key, value)
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = pass_on

            def log_message(self, *_):
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.uri = f"http://127.0.0.1:{self.port}"


class Fake:
    """As much of MLflow as a push asks for, in memory: for tests that need no MLflow."""

    def __init__(self):
        fake = self
        self.runs, self.experiments, self.files, self.seen = {}, {"0": "Default"}, {}, []
        self.fail = lambda method, path: None  # as Proxy's
        self.artifacts = "mlflow-artifacts:/0/{}/artifacts"
        self.id = "run{}"

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = self.path.partition("/api/2.0/")[2]
                fake.seen.append((self.command, path, dict(self.headers)))
                what = fake.fail(self.command, path)
                if what == "refuse":
                    self.close_connection = True
                    return
                status, answer = (what, {"message": "as told"}) if isinstance(what, int) else fake.answer(path, body)
                if what == "drop":
                    self.close_connection = True
                    return
                text = json.dumps(answer).encode()
                self.send_response(status)
                if status in (301, 302):
                    self.send_header("Location", "http://127.0.0.1:1/")
                self.send_header("Retry-After", "0")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = serve

            def log_message(self, *_):
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.uri = f"http://127.0.0.1:{self.server.server_address[1]}"

    def info(self, run):
        return {"info": {"run_id": run, "artifact_uri": self.artifacts.format(run)}}

    def answer(self, path, body):
        what, _, query = path.partition("?")
        if what.startswith("mlflow-artifacts/artifacts/"):
            self.files[what.partition("/artifacts/")[2]] = body
            return 200, {}
        ask = json.loads(body or "{}")
        if what == "mlflow/runs/create":
            run = self.id.format(len(self.runs))
            self.runs[run] = {"metrics": [], "tags": {t["key"]: t["value"] for t in ask["tags"]}, "status": "RUNNING", **ask}
            self.runs[run]["tags"] = {t["key"]: t["value"] for t in ask["tags"]}
            return 200, {"run": self.info(run)}
        if what == "mlflow/runs/get":
            run = urllib.parse.parse_qs(query)["run_id"][0]
            return (200, {"run": self.info(run)}) if run in self.runs else (404, {"message": f"Run '{run}' not found"})
        if what == "mlflow/runs/search":
            mark = ask["filter"].split("'")[1]
            return 200, {"runs": [self.info(r) for r, v in self.runs.items() if v["tags"].get("sonde.push") == mark]}
        if what == "mlflow/runs/log-batch":
            run = self.runs[ask["run_id"]]
            assert len(ask["metrics"]) + len(ask.get("tags", [])) <= 1000 and len(body) <= 1000000
            run["tags"].update({t["key"]: t["value"] for t in ask.get("tags", [])})
            run["metrics"] += [(m["key"], m["timestamp"], m["step"], m["value"]) for m in ask["metrics"]]
            return 200, {}
        if what == "mlflow/runs/update":
            self.runs[ask["run_id"]].update(ask)
            return 200, {}
        if what == "mlflow/experiments/get-by-name":
            name = urllib.parse.parse_qs(query)["experiment_name"][0]
            found = [i for i, n in self.experiments.items() if n == name]
            return (200, {"experiment": {"experiment_id": found[0]}}) if found else (404, {"error_code": "RESOURCE_DOES_NOT_EXIST"})
        if what == "mlflow/experiments/create":
            if ask["name"] in self.experiments.values():
                return 400, {"error_code": "RESOURCE_ALREADY_EXISTS", "message": f"Experiment(name={ask['name']}) already exists."}
            self.experiments[str(len(self.experiments))] = ask["name"]
            return 200, {"experiment_id": str(len(self.experiments) - 1)}
        return 404, {}
