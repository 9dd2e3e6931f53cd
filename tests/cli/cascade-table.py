# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""import cascade asks the table itself: signed in each way, page by page, again where it is asked to come later, as configuration files say; no key comes out."""
import csv
import json
import os
import pathlib
import random
import shutil
import subprocess

import azure_server as azure
import cascade_pools as made
from patience import patience

SONDE = os.environ["SONDE"]
rng = random.Random(81)
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("AZURE_", "SHIPYARD_", "SONDE_AZURE", "http", "HTTP"))}
KEYED = {"AZURE_STORAGE_KEY": azure.KEY}
partition, nodes = made.make_pool(rng, 6, pool="it's=my&pool", together=0)
other, theirs = made.make_pool(rng, 2, pool="other", together=0)
ROWS = made.entities(partition, nodes) + made.entities(other, theirs)
said = []  # all that was ever printed


def sonde(*words, **variables):
    ended = subprocess.run([SONDE, *words], capture_output=True, text=True, errors="replace", check=False, timeout=patience(300), env=ENVIRONMENT | variables)
    said.append(ended.stdout + ended.stderr)
    return ended


def imported(*words, code=0, **variables):
    shutil.rmtree("rec", ignore_errors=True)
    ended = sonde("import", "cascade", *words, "-o", "rec", **variables)
    assert ended.returncode == code, ended
    assert code or ended.stderr.count("\n") == 1, ended
    return ended.stderr


def holds(*wanted):
    shutil.rmtree("csv", ignore_errors=True)
    assert sonde("export", "rec", "--to", "csv", "-o", "csv").returncode == 0
    with open("csv/marks.csv", encoding="utf-8", newline="") as f:
        found = sorted((r["node"], r["name"], r["message"]) for r in csv.DictReader(f))
    assert found == sorted((n.name, event, message or "") for n in wanted for _, event, message in n.events)


# Each way to be let in, in pages of which some are empty.
for page, empty in ((1000, 0), (7, 0), (7, 3), (1, 2)):
    server = azure.Server(ROWS, page, empty)
    imported(server.url, partition, **KEYED)
    holds(*nodes)
    assert server.schemes == {"SharedKey"} and (page == 1000) == (len(server.seen) == 1), server.schemes
    server.close()
server = azure.Server(ROWS, 20)
imported(server.url, partition, SONDE_AZURE_AUTH="shared-key-lite", **KEYED)
assert server.schemes == {"SharedKeyLite"}, server.schemes
holds(*nodes)
for sas in (azure.SAS, "?" + azure.SAS):
    server.schemes.clear()
    imported(server.url, "other", AZURE_STORAGE_SAS_TOKEN=sas)
    assert server.schemes == {"SAS"}, server.schemes
    holds(*theirs)
imported(server.url, **KEYED)
holds(*nodes, *theirs)
imported(server.url, partition, AZURE_STORAGE_ACCOUNT=azure.ACCOUNT, **KEYED)

# What is refused, and why; no recording is left.
wrong = "A" * 86 + "=="
for words, variables, why in (
        ([server.url], {"AZURE_STORAGE_KEY": wrong}, "refuses with status 403 AuthenticationFailed"),
        ([server.url], {"AZURE_STORAGE_SAS_TOKEN": "sig=wrong"}, "refuses with status 403"),
        ([server.url], {}, "AZURE_STORAGE_KEY has the account's key"),
        ([server.url], {"AZURE_STORAGE_KEY": "no base 64!"}, "is not base64"),
        ([server.url], KEYED | {"SONDE_AZURE_AUTH": "none"}, "shared-key-lite"),
        ([server.endpoint + "/else"], KEYED, "refuses with status 404 TableNotFound"),
        (["http://127.0.0.1"], KEYED, "names no table"),
        ([server.url + "?sig=x"], KEYED, "AZURE_STORAGE_SAS_TOKEN has the signature"),
        ([server.url, "none"], KEYED, "no start-up event of the pool none"),
        (["http://127.0.0.1:1/a/b", "--patience", "0"], KEYED, "cannot reach http://127.0.0.1:1/a/b")):
    text = imported(*words, code=1, **variables)
    assert why in text and not os.path.exists("rec"), (words, why, text)
server.close()

# A server that is busy is asked again; one that stays so, or never ends, is left.
server = azure.Server(ROWS, 30, fail=lambda n: {2: (503, 1), 3: (429, None), 5: (500, 0)}.get(n))
imported(server.url, partition, "--patience", "60s", **KEYED)
holds(*nodes)
server.fail = lambda n: (503, None)
assert "status 503 again and again" in imported(server.url, "--patience", "1s", code=1, **KEYED)
server.fail = lambda n: None
for server.endless in (1, 2, 5):
    server.seen.clear()
    assert "the same pages again and again" in imported(server.url, code=1, **KEYED)
    assert len(server.seen) < 150, (server.endless, len(server.seen))
server.endless = 0

# Batch Shipyard's three files, of which later ones add to earlier ones or replace what they say.
FILES = {
    "credentials.json": {"credentials": {"batch": {"account": "nobody"},
                                         "storage": {"mine": {"account": azure.ACCOUNT, "account_key": wrong, "endpoint": "core.windows.net"}}}},
    "config.json": {"batch_shipyard": {"storage_account_settings": "mine"},
                    "credentials": {"batch": {"account": "shipacct"}, "storage": {"mine": {"account_key": azure.KEY, "endpoint": server.endpoint}}}},
    "pool.json": {"pool_specification": {"id": "it's=my&pool"}, "batch_shipyard": {"storage_entity_prefix": ""}},
}


def configure(change=lambda files: None):
    files = json.loads(json.dumps(FILES))
    change(files)
    for name, content in files.items():
        os.makedirs("config", exist_ok=True)
        pathlib.Path("config", name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


configure()
imported("--configdir", "config")
holds(*nodes)
imported("--credentials", "config/credentials.json", "--config", "config/config.json", "--pool", "config/pool.json")
os.rename("config/pool.json", "elsewhere.json")
imported("--configdir", "config", "--pool", "elsewhere.json")
holds(*nodes)
assert "cannot open" in imported("--configdir", "config", code=1)
assert "--configdir" in imported("--pool", "elsewhere.json", code=1)
for change, why in ((lambda f: f["pool.json"]["pool_specification"].clear(), "do not say pool_specification.id"),
                    (lambda f: f["config.json"].pop("batch_shipyard"), "storage_account_settings"),
                    (lambda f: f["config.json"]["batch_shipyard"].update(storage_account_settings="x"), "account and endpoint"),
                    (lambda f: f["pool.json"]["batch_shipyard"].update(storage_entity_prefix="other"), "status 404"),
                    (lambda f: f["config.json"]["credentials"]["storage"]["mine"].update(endpoint=server.endpoint + "?sig=abc%2Bdef"), "without user and query"),
                    (lambda f: f.update({"config.json": "{"}), "config.json: it is not JSON"),
                    (lambda f: f.update({"pool.json": "[]"}), "holds no object")):
    configure(change)
    assert why in imported("--configdir", "config", code=1), why
server.close()

# Usage, and nothing that is secret anywhere.
for words in (["cascade"], ["perfmon", "--configdir", "config"], ["cascade", "x", "--configdir", "config"], ["perfmon", "a", "--pool", "b"]):
    assert sonde("import", *words).returncode == 2, words
for text in said:
    assert azure.KEY not in text and "abc%2Bdef" not in text and wrong not in text, text
for path in pathlib.Path("rec").glob("*") if os.path.exists("rec") else ():
    assert azure.KEY.encode() not in path.read_bytes(), path
