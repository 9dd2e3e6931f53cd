# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""Azurite, a real server of Azure Table storage, takes what push --to azure-table writes and gives it back to import, over several pages; a wrong key is refused."""
import base64
import csv
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse

import cascade_pools as made
from patience import patience

SONDE = os.environ["SONDE"]
SERVER = os.path.join(os.environ["BUILD"], "azurite/node_modules/.bin/azurite-table")
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # which Azurite tells everybody
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("AZURE_", "AZ_", "SHIPYARD_", "SONDE_AZURE", "http", "HTTP"))}
rng = random.Random(83)

if not os.path.exists(SERVER) or not shutil.which("node"):
    print("azurite is not there: ./dev check fetches it from npm")
    sys.exit(77)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


PORT = free_port()
URL = f"http://127.0.0.1:{PORT}/{ACCOUNT}/shipyardperf"
log = open("azurite.log", "w", encoding="utf-8")
process = subprocess.Popen([SERVER, "--silent", "--tableHost", "127.0.0.1", "--tablePort", str(PORT), "--location", "data", "--disableTelemetry"],
                           stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def ask(method, path, body=None):
    """A request of another hand than Sonde's."""
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())
    sign = base64.b64encode(hmac.digest(base64.b64decode(KEY), f"{date}\n/{ACCOUNT}/{ACCOUNT}/{path}".encode(), hashlib.sha256)).decode()
    c = http.client.HTTPConnection("127.0.0.1", PORT, timeout=patience(30))
    c.request(method, f"/{ACCOUNT}/{path}", body, {"x-ms-date": date, "x-ms-version": "2019-02-02", "Content-Type": "application/json",
                                                   "Accept": "application/json;odata=nometadata", "Authorization": f"SharedKeyLite {ACCOUNT}:{sign}"})
    answer = c.getresponse()
    return answer.status, answer.read()


def wait():
    end = time.monotonic() + patience(120)
    while process.poll() is None and time.monotonic() < end:
        try:
            return ask("POST", "Tables", json.dumps({"TableName": "shipyardperf"}))
        except OSError:
            time.sleep(0.3)
    sys.exit("azurite does not come up: " + pathlib.Path("azurite.log").read_text(encoding="utf-8")[-2000:])


def sonde(*words, code=0, **variables):
    ended = subprocess.run([SONDE, *words], capture_output=True, text=True, errors="replace", check=False, timeout=patience(300), env=ENVIRONMENT | variables)
    assert ended.returncode == code and KEY not in ended.stdout + ended.stderr, ended
    return ended.stderr


def events(where):
    sonde("export", where, "--to", "csv", "-o", where + "-csv")
    with open(where + "-csv/marks.csv", encoding="utf-8", newline="") as f:
        return sorted((r["node"], r["time"], r["name"], r["message"]) for r in csv.DictReader(f))


def signature():
    """A shared access signature of the account, for reading tables."""
    fields = {"sv": "2019-02-02", "ss": "t", "srt": "sco", "sp": "r", "se": "2099-01-01T00:00:00Z"}
    text = f"{ACCOUNT}\nr\nt\nsco\n\n{fields['se']}\n\n\n{fields['sv']}\n"
    fields["sig"] = base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), hashlib.sha256)).decode()
    return urllib.parse.urlencode(fields)


try:
    status, text = wait()
    assert status == 201, (status, text)
    partition, nodes = made.make_pool(rng, 5, pool="it's 100%", together=0)
    rows = made.entities(partition, nodes)
    pathlib.Path("dump.json").write_text(json.dumps(rows), encoding="utf-8")
    sonde("import", "cascade", "dump.json", "-o", "first")
    shipyard = f"{ACCOUNT}:http://127.0.0.1:{PORT}/{ACCOUNT}:{KEY}"
    sonde("push", "--to", "azure-table", "first", SHIPYARD_STORAGE_ENV=shipyard)
    assert "already" in sonde("push", "--to", "azure-table", "first", SHIPYARD_STORAGE_ENV=shipyard, SONDE_AZURE_AUTH="shared-key-lite")
    for i, variables in enumerate(({"AZURE_STORAGE_KEY": KEY}, {"AZURE_STORAGE_KEY": KEY, "SONDE_AZURE_AUTH": "shared-key-lite"}, {"AZURE_STORAGE_SAS_TOKEN": signature()})):
        sonde("import", "cascade", URL, partition, "-o", f"back{i}", **variables)
        assert events(f"back{i}") == events("first"), i
    said = sonde("import", "cascade", URL, "-o", "no", code=1, AZURE_STORAGE_KEY="A" * 86 + "==")
    assert "refuses with status 403" in said and not os.path.exists("no"), said

    # More than a page holds: entities of another pool, put there by another hand.
    more = [{"PartitionKey": "shipacct$many", "RowKey": f"{1500000000 + i}.5", "Event": "nodeprep:start", "NodeId": f"n{i % 3}"} for i in range(1100)]
    for e in more:
        assert ask("POST", "shipyardperf", json.dumps(e))[0] == 201, e
    sonde("import", "cascade", URL, "many", "-o", "many", AZURE_STORAGE_KEY=KEY)
    assert len(events("many")) == len(more)
finally:
    process.kill()
    process.wait()
