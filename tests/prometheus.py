# SPDX-License-Identifier: Apache-2.0
"""Receivers of Prometheus' remote write for a test, on loopback, in the current folder: Debian's prometheus and victoria-metrics."""
import http.client
import json
import os
import subprocess
import sys
import time
import urllib.parse

import mlflow_server
from patience import patience


class Receiver:
    def __init__(self, name, config="global: {}\n"):
        """`config`: Prometheus' configuration."""
        program = os.path.join(os.environ["BUILD"], "servers", name)
        if not os.access(program, os.X_OK):
            print(f"{program} is not there: ./dev check unpacks it")
            sys.exit(77)
        self.name, self.port = name, mlflow_server.free_port()
        address = f"127.0.0.1:{self.port}"
        self.url = f"http://{address}/api/v1/write"
        if name == "prometheus":
            with open("prometheus.yml", "w") as f:
                f.write(config)
            command = [program, "--config.file=prometheus.yml", "--storage.tsdb.path=prometheus", f"--web.listen-address={address}",
                       "--web.enable-remote-write-receiver"]
        else:
            command = [program, "-storageDataPath=victoria", f"-httpListenAddr={address}", "-retentionPeriod=100y",
                       "-search.latencyOffset=0s", "-dedup.minScrapeInterval=1ms", "-memory.allowedBytes=64MB"]
        self.log = open(f"{name}.log", "w")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def get(self, path, **query):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience(30))
        c.request("GET", f"{path}?{urllib.parse.urlencode(query)}")
        r = c.getresponse()
        return r.status, r.read()

    def wait(self, seconds=60):
        end = time.monotonic() + patience(seconds)
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if self.get("/-/ready" if self.name == "prometheus" else "/health")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        sys.exit(f"{self.name} does not come up: " + open(f"{self.name}.log").read()[-2000:])

    def samples(self, selector, at):
        """{labels: [(milliseconds, value)]} of the hour before `at`: what was received, not what is made of it."""
        status, text = self.get("/api/v1/query", query=f"{selector}[1h]", time=at)
        if status != 200:
            sys.exit(f"{self.name}: {status} {text[:300]}")
        return {frozenset(r["metric"].items()): [(round(float(t) * 1000), float(v)) for t, v in r["values"]]
                for r in json.loads(text)["data"]["result"]}

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(patience(20))
        except subprocess.TimeoutExpired:
            self.process.kill()
