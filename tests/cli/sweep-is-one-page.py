# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""A sweep of a built-in benchmark, by its name and with parameters in its words, as one page; of what a specification hides (passwords, tokens)
trials get all and the store nothing."""
import json
import os
import re
import shutil
import sys

from trials import SONDE, check, database, end, script, sonde

for helper in ("yaml", "indicator"):
    if not os.path.exists(os.path.join(os.path.dirname(os.path.realpath(SONDE)), f"libexec/sonde/sonde-{helper}")):
        print(f"sonde-{helper} was not built")
        sys.exit(77)


def write(name, text):
    with open(name, "w") as f:
        f.write(text)
    return name


def sweep(*words, code=0):
    return json.loads(sonde("bench", "sweep", "-q", "--json", *words, code=code).stdout)


# A built-in one, unless a file beside the specification has its name.
BUILT_IN = """identifier: <both>
script: matmul
arguments: [--blas, none, --size, '${SIZE}', --repeats, 2, --seconds, 1ms, --threads, 1]
matrix:
  parameters: {SIZE: [8, 16, none]}
  environments: [{name: plain}, {name: loud, environment: {LOUD: 1}}]
  exclude: [{SIZE: 16, environment: loud}]
  stacks: [host, {name: away, packages: [no-such-package-anywhere]}]
"""
report = sweep("-o", "d", write("built_in.yaml", BUILT_IN), code=1)
check("built in", [(r["parameters"]["SIZE"], r["environment"], r["failed"]) for r in report["responses"]] ==
      [("8", "plain", 0), ("16", "plain", 0), ("none", "plain", 1), ("8", "loud", 0), ("none", "loud", 1)], report)
rows = database("SELECT b.origin, b.command FROM batches b ORDER BY b.id")
check("as bench run tells it", tuple(rows[0]) == ("built-in:matmul", "matmul --blas none --size 8 --repeats 2 --seconds 1ms --threads 1"), rows[0])
check("the size that was asked for", sorted(r[0] for r in database("SELECT size FROM trials_sonde_matmul")) == [8, 8, 16])
# Its nodes read what was written, wherever that lies.
shutil.copy("d/specification.json", "again.json")
check("the same sweep", sweep("again.json", code=1)["sweep"] == report["sweep"] and database("SELECT COUNT(*) FROM trials")[0][0] == 5)
os.mkdir("other")
script("other/matmul", "#!/bin/sh\necho '{\"name\": \"PiOther\", \"component\": \"sh\", \"@parameters\": {}, \"@result\": {\"n\": 1}}'\n")
write("other/spec.yaml", "script: matmul\n")
sweep("other/spec.yaml")
check("a file wins", database("SELECT origin FROM batches ORDER BY id DESC LIMIT 1")[0][0] == os.path.abspath("other/matmul"))
p = sonde("bench", "sweep", write("none.yaml", "script: nothing-like-this\n"), code=2)
check("neither", "none.yaml:1:9: nothing-like-this: there is no such script, here or in PATH" in p.stderr, p.stderr)

# A specification as Amun's service keeps it: what is for the service alone is no part of the sweep.
amun = {"base": "host", "batch_size": 1, "build": {"requests": {"cpu": "500m", "memory": "256Mi"}}, "run": {"requests": {"cpu": "500m", "memory": "256Mi"}},
        "environment": [{"name": "A", "value": "1"}], "files": [], "identifier": "amun", "packages": [], "python_packages": [], "script": "#!/bin/sh\nexit 3\n"}
service = {"package_manager": "micropipenv", "update": False, "upgrade_pip": False, "send_messages": True, "@created": "2020-06-01T12:00:00", "force_sync": False}
names = [json.loads(sonde("bench", "sweep", "--dry-run", "--json", write("amun.json", json.dumps({**amun, **more}))).stdout)["sweep"] for more in ({}, service)]
check("the same sweep without the service's words", names[0] == names[1], names)
p = sonde("bench", "sweep", write("amun.json", json.dumps({**amun, "python_packages": ["numpy"]})), code=2)
check("no packages beside", "put it into its requirements" in p.stderr, p.stderr)

# Its page: what differs in its matrix tells trials apart, also what the script says nothing of; what has no result stands there with the reason.
p = sonde("bench", "report", "sweep:<both>")
check("named after it", p.stderr == f"sonde: bench report: sweep_{report['sweep']}.html\n", p.stderr)
with open(f"sweep_{report['sweep']}.html") as f:
    page = f.read()
tried, gaps = page.split('id="h-tried"')[1].split('id="h-gaps"')
labels = re.findall(r'<tr id="g\d+"><th scope="row" class="name" title="([^"]*)"', tried)
check("rows", len(labels) == 3 and sorted(re.sub(r".*environment=(\w+).*", r"\1", x) for x in labels) == ["loud", "plain", "plain"], labels)
check("once by its own name", "size=8" in labels[0] and "SIZE" not in labels[0], labels)
check("without a result", gaps.count('<tr><th scope="row"') == 2 + 5 and gaps.count("no-such-package-anywhere is not installed") == 5 and
      "host, loud: SIZE=none" in gaps and "it ended with exit code" in gaps, gaps[:3000])
check("how many", "<b>7</b> without a result" in page)
check("escaped", "<both>" not in page)
sonde("bench", "report", f"sweep:{report['sweep']}", "-w", "environment=loud", "-o", "loud.html")
with open("loud.html") as f:
    check("conditions hold, too", f.read().count('<tr id="g') == 1)
p = sonde("bench", "report", "sweep:none", code=1)
check("no such sweep", "no sweep 'none' is kept in" in p.stderr and p.stderr.count("\n") == 1, p.stderr)

# Results that are texts stay what they are beside what the matrix says.
script("said.sh", """#!/bin/sh
echo '{"name": "PiSaid", "component": "sh", "@parameters": {}, "@result": {"n": 1, "backend": "avx", "exact": true}}'
""")
said = sweep(write("said.yaml", "script: said.sh\nmatrix: {parameters: {A: [1, 2], B: [3, 4], C: [5, 6]}}\n"))["sweep"]
sonde("bench", "report", f"sweep:{said}", "-w", "backend=avx", "-w", "exact=true", "-w", "C=5", "-o", "said.html")
with open("said.html") as f:
    check("texts", f.read().count('<tr id="g') == 4)

# Secrets.
script("login.sh", """#!/bin/sh
[ "$DB_PASSWORD$API_TOKEN$WHERE" = Gehe1mHush1https://me:S3cret@example.org/ ] || exit 9
echo '{"name": "PiLogin", "component": "sh", "@parameters": {}, "@result": {"n": 1}}'
""")
SECRET = """script: login.sh
environment: [{name: DB_PASSWORD, value: Gehe1m}, {name: WHERE, value: 'https://me:S3cret@example.org/'}]
arguments: [--token=Hush2, --password, Hush3, --size, 8]
matrix:
  environments: [{name: in, environment: {API_TOKEN: Hush1, PLAIN: seen}}]
  parameters: {KEY_BYTES: [16, 32]}
"""
report = sweep("-o", "secret", write("secret.yaml", SECRET))
check("trials get them", [r["failed"] for r in report["responses"]] == [0, 0], report)
with open("s.sqlite", "rb") as f:
    stored = f.read()
check("the store does not", not re.search(b"Gehe1m|Hush|S3cret", stored), re.findall(b".{40}(?:Gehe1m|Hush|S3cret).{40}", stored)[:3])
kept = json.loads(database("SELECT specification FROM sweeps ORDER BY id DESC LIMIT 1")[0][0])
check("what is kept", kept["environment"] == [{"name": "DB_PASSWORD", "value": "***"}, {"name": "WHERE", "value": "https://***@example.org/"}] and
      kept["matrix"]["environments"][0]["environment"] == {"API_TOKEN": "***", "PLAIN": "seen"} and
      kept["matrix"]["parameters"] == {"KEY_BYTES": ["16", "32"]} and kept["arguments"] == ["--token=***", "--password", "***", "--size", "8"], kept)
check("where they are", "Gehe1m" in open("secret/specification.json").read() and os.stat("secret/specification.json").st_mode & 0o77 == 0)
check("it goes on", sweep("secret.yaml") == report)
write("secret.yaml", SECRET.replace("Gehe1m", "Other"))
check("another secret, another sweep", sweep("-o", "secret2", "secret.yaml", code=1)["sweep"] != report["sweep"])
end()
