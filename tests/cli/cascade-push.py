# SPDX-License-Identifier: Apache-2.0
"""push --to azure-table writes the entities that Batch Shipyard's nodes write, each once, however often it is begun; what a job's marks say comes back by import."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import time

import azure_server as azure
import cascade_pools as made
from patience import patience

SONDE = os.environ["SONDE"]
rng = random.Random(82)
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("AZURE_", "AZ_", "SHIPYARD_", "SONDE_AZURE", "http", "HTTP"))}
said = []


def sonde(*words, **variables):
    ended = subprocess.run([SONDE, *words], capture_output=True, text=True, errors="replace", check=False, timeout=patience(300), env=ENVIRONMENT | variables)
    said.append(ended.stdout + ended.stderr)
    return ended


def content(server):
    return sorted((e["PartitionKey"], e["RowKey"], e["Event"], e["NodeId"], e.get("Message")) for e in server.entities.values())


def wanted(rows):
    return sorted((e["PartitionKey"], e["RowKey"], e["Event"], e["NodeId"], e.get("Message")) for e in rows)


partition, nodes = made.make_pool(rng, 4, pool="it's 100%", together=0)
rows = made.entities(partition, nodes)
pathlib.Path("dump.json").write_text(json.dumps(rows), encoding="utf-8")
assert sonde("import", "cascade", "dump.json", "-o", "rec").returncode == 0

# All of it, once; a push that was broken off goes on.
server = azure.Server(fail=lambda n: (400, None) if n == 9 else (503, 0) if n == 4 else None)
keyed = {"SONDE_AZURE_TABLE_URL": server.url, "AZURE_STORAGE_KEY": azure.KEY}
ended = sonde("push", "--to", "azure-table", "rec", **keyed)
assert ended.returncode == 1 and "status 400" in ended.stderr and "run the same command again to continue" in ended.stderr, ended
assert len(server.entities) == 7, len(server.entities)
ended = sonde("push", "--to", "azure-table", "--json", "rec", **keyed)
assert ended.returncode == 0 and json.loads(ended.stdout)["values"] == len(rows) - 7, ended
assert content(server) == wanted(rows)
ended = sonde("push", "--to", "azure-table", "rec", **keyed)
assert ended.returncode == 0 and "already" in ended.stderr and content(server) == wanted(rows), ended
server.close()

# A recording without events has nothing to send, and that is no success.
assert sonde("run", "-q", "-o", "plain", "--", "true").returncode == 0
ended = sonde("push", "--to", "azure-table", "plain", **keyed)
assert ended.returncode == 1 and "no start-up events" in ended.stderr, ended

# Another event has the key: this one moves on by a microsecond, as often as it takes, and the next push finds it there.
first = rows[0]
taken = [dict(first, RowKey=made.key(round(float(first["RowKey"]) * 1e6) + i), NodeId="another") for i in range(3)]
server = azure.Server(taken)
server.schemes.clear()
shipyard = {"SHIPYARD_STORAGE_ENV": f"{azure.ACCOUNT}:{server.endpoint}:{azure.KEY}"}
for _ in range(2):
    assert sonde("push", "--to", "azure-table", "rec", **shipyard).returncode == 0
moved = [e for e in server.entities.values() if e["NodeId"] == first["NodeId"] and e["Event"] == first["Event"]]
assert len(server.entities) == len(rows) + 3 and len(moved) == 1 and moved[0]["RowKey"] > taken[2]["RowKey"], moved
server.close()

# What a job of a node says; its key is in no recording.
STAMP = f"{int(time.time()) - 3}.25"
server = azure.Server()
shipyard = {"SHIPYARD_STORAGE_ENV": f"{azure.ACCOUNT}:{server.endpoint}:{azure.KEY}"}
batch = {"AZ_BATCH_ACCOUNT_NAME": "shipacct", "AZ_BATCH_POOL_ID": "mypool", "AZ_BATCH_NODE_ID": "tvm-1"}
script = (f'"{SONDE}" mark --source nodeprep --event START --message offer=a,sku=b && '
          f'"{SONDE}" mark --source cascade --event gr-done --ts {STAMP} && "{SONDE}" mark epoch n=1')
assert sonde("run", "--quiet", "-o", "job", "--", "sh", "-c", script, **batch, **shipyard).returncode == 0
assert sonde("push", "--to", "azure-table", "job", **shipyard).returncode == 0
found = {e["Event"]: e for e in server.entities.values()}
assert set(found) == {"nodeprep:start", "cascade:gr-done"}, found
assert all(e["PartitionKey"] == "shipacct$mypool" and e["NodeId"] == "tvm-1" for e in found.values()), found
assert found["nodeprep:start"]["Message"] == "offer=a,sku=b" and "Message" not in found["cascade:gr-done"], found
assert abs(float(found["cascade:gr-done"]["RowKey"]) - float(STAMP)) < 0.05, found
assert sonde("import", "cascade", server.url, "mypool", "-o", "back", AZURE_STORAGE_KEY=azure.KEY).returncode == 0
for path in pathlib.Path("job").glob("*"):
    assert not path.is_file() or azure.KEY.encode() not in path.read_bytes(), path

# A recording whose pool nobody knows, a wrong key, no table.
assert sonde("run", "--quiet", "-o", "alone", "--", SONDE, "mark", "--source", "a", "--event", "b").returncode == 0
ended = sonde("push", "--to", "azure-table", "alone", **shipyard)
assert ended.returncode == 1 and "whose pool is not known are left out: 1" in ended.stderr, ended
shipyard["SHIPYARD_STORAGE_ENV"] = f"{azure.ACCOUNT}:{server.endpoint}:AAAA"
assert "status 403" in sonde("push", "--to", "azure-table", "job", **shipyard).stderr
for bad in ("", ":", "a:b"):
    ended = sonde("push", "--to", "azure-table", "job", SHIPYARD_STORAGE_ENV=bad)
    assert ended.returncode in (1, 2) and ("where is the table" in ended.stderr or "is not ACCOUNT:ENDPOINT:KEY" in ended.stderr), ended
assert not any(azure.KEY in text for text in said)
shutil.rmtree("back")
