# SPDX-License-Identifier: Apache-2.0
# limit: 900
"""The twenty specifications of tests/fixtures/monkey, in the layouts of Amun and Dependency Monkey: each runs, or is refused or skipped with all
its reasons at once. Wheels are made here, and pip's own variables name them instead of an index; scripts come from a server of this machine."""
import base64
import functools
import hashlib
import http.server
import json
import os
import sqlite3
import subprocess
import sys
import threading
import zipfile

import built
import interpreters
from patience import patience

SONDE = os.environ["SONDE"]
FOLDER = os.path.join(os.environ["TOP"], "tests/fixtures/monkey")
faults = []
built.need(("database", "libsqlite3-dev"), ("yaml", "libyaml-dev"), ("http", "libcurl4-openssl-dev"))
if subprocess.run(["python3", "-c", "import venv, ensurepip, tomllib"], capture_output=True, check=False).returncode:
    print("python3 is older than 3.11, or python3-venv is not installed")
    sys.exit(77)
os.environ.update(XDG_CACHE_HOME=os.path.abspath("cache"), PIP_NO_INDEX="1", PIP_FIND_LINKS=os.path.abspath("wheels"))


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {str(detail)[:1500]}")


def wheel(name, version, requires=()):
    path = f"wheels/{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {f"{name}.py": f"version = '{version}'\n",
             f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {r}\n" for r in requires),
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(t.encode()).digest()).rstrip(b'=').decode()},{len(t)}\n" for n,
                     t in files.items())
    with zipfile.ZipFile(path, "w") as z:
        for n, t in {**files, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            z.writestr(n, t)
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


os.environ["PATH"] = os.path.dirname(interpreters.copying("/usr/bin/python3", "copies")) + ":" + os.environ["PATH"]
os.mkdir("wheels")
os.mkdir("www")
HASH = [wheel("thing", v) for v in ("1.0", "1.1", "2.0")][1]
wheel("part", "0.2", ["thing>=2"])
SCRIPT = """#!/usr/bin/env python3
import json, os
try:
    import thing
    version = thing.version
except ImportError:
    version = "none"
print(json.dumps({"name": "PiMonkey", "framework": "none", "@parameters": {"size": int(os.getenv("SIZE", "4"))},
                  "@result": {"thing": version, "elapsed": 1.5}}))
"""
with open("www/matmul.py", "w") as script:
    script.write(SCRIPT)


class Server(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory="www"))
threading.Thread(target=server.serve_forever, daemon=True).start()
VERSION = subprocess.run(["python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True,
                         check=True).stdout.strip()
is_debian = not subprocess.run(["which", "dpkg-query"], capture_output=True, check=False).returncode
PLACES = {"@SCRIPT@": json.dumps(SCRIPT)[1:-1], "@URL@": f"http://127.0.0.1:{server.server_port}",
          "@SHA256@": hashlib.sha256(SCRIPT.encode()).hexdigest(),
          "@HASH@": HASH, "@VERSION@": VERSION, "@NATIVE@": "dpkg" if is_debian else "rpm"}


def sweep(name, *options):
    with open(os.path.join(FOLDER, name)) as f:
        text = f.read()
    for place, value in PLACES.items():
        text = text.replace(place, value)
    with open(name, "w") as f:
        f.write(text)
    return subprocess.run([SONDE, "bench", "sweep", "-q", "--json", "--store", "s.sqlite", *options, name], capture_output=True, text=True,
                          timeout=patience(200), check=False)


def versions(batches):
    """Of each batch, what its trials imported."""
    with sqlite3.connect("s.sqlite") as db:
        return [db.execute("SELECT DISTINCT x.thing FROM trials t JOIN trials_pi_monkey x ON x.trial_id = t.id WHERE t.batch_id = ?",
                           (b,)).fetchall() for b in batches]


# What runs: the numbers of combinations and trials, and what the trials import.
RUNS = {"plain.json": (1, 2, "none"), "pipenv.yaml": (1, 1, "none"), "pipfile-lock.json": (1, 1, "1.1"), "pipfile-text.json": (1, 1, "1.0"),
        "requirements-text.json": (1, 1, "1.1"), "script-address.json": (1, 1, "none"), "service-fields.json": (1, 1, "none"),
        "native-package.json": (1, 1, "none"),
        "parameters.yaml": (6, 6, "none"), "ranges.yaml": (1, 1, "1.1"), "halving.yaml": (4, 8, "none")}
# What is refused: a piece of each line that says why, and no other line.
REFUSED = {
    "python-packages.json": ["python_packages: numpy:", "python_packages: scipy>=1.5:", "batch_size: expected", "'A=B' cannot be"],
    "address-unknown.json": ["nothing is fetched without --fetch", "'/etc/x' does not lie", "timeout: "],
    "address-changed.json": ["has changed", "cpu: 'lots'", "memory: '1GiB'"],
    "pipfile-git.json": ["'git' of a Pipfile is not understood", "none.py: there is no such script", "no key 'colour'"],
    "pipfile-no-lock.json": ["a Pipfile is no lock", "batch_size: expected"],
    "matrix-faults.yaml": ["no key 'scripts'", "count: how many", "order: expected", "SIZE: which values", "two stacks 'a'", "a stack needs a name",
                           "no parameter 'COLOUR'"]}
# What is skipped: of each stack, all its reasons.
SKIPPED = {
    "stacks.yaml": {"clash": ["conflict: The user requested thing<2; part 0.2 depends on thing>=2"],
                    "missing": ["Could not find a version that satisfies the requirement thing>=9"],
                    "old-python": ["requires Python 2.1"]},
    "image-and-native.json": {"python": ["native packages which-none-a, which-none-b are not installed", "its Pipfile requires Python 2.1"]},
    "hardware.json": {"host": ["4000 CPUs were requested", "GiB of memory were requested"]}}
check("twenty", sorted([*RUNS, *REFUSED, *SKIPPED]) == sorted(os.listdir(FOLDER)) and len(os.listdir(FOLDER)) == 20, os.listdir(FOLDER))
with open("/proc/cpuinfo") as cpuinfo:
    text = cpuinfo.read()
SKIPPED["hardware.json"]["host"] += [words for line, words in (("cpu family\t", "the cpu family is"), ("model\t", "the model is"),
                                                               ("model name\t", "the processor is")) if line in text]

for name, (combinations, trials, imported) in RUNS.items():
    p = sweep(name, *(["--fetch"] if name == "script-address.json" else []))
    answers = json.loads(p.stdout or "{}").get("responses", [])
    check(f"{name} runs", p.returncode == 0 and len(answers) == combinations and sum(r["trials"] for r in answers) == trials and
          not any(r["failed"] for r in answers), (p.stderr, p.stdout))
    check(f"{name}: what it imports", versions(r["batch"] for r in answers) == combinations * [[(imported,)]], versions(r["batch"] for r in answers))
for name, words in REFUSED.items():
    p = sweep(name, *(["--fetch"] if name == "address-changed.json" else []))
    lines = p.stderr.splitlines()
    check(f"{name} is refused", p.returncode == 2 and len(lines) == len(words), p.stderr)
    for piece in words:
        check(f"{name}: {piece}", sum(piece in line for line in lines) == 1, p.stderr)
for name, stacks in SKIPPED.items():
    p = sweep(name)
    reasons = {s["stack"]: s["reason"] for s in json.loads(p.stdout or "{}").get("skipped", [])}
    check(f"{name} is skipped", reasons.keys() == stacks.keys(), (p.stderr, p.stdout))
    for stack, words in stacks.items():
        check(f"{name}: {stack}", all(piece in reasons.get(stack, "") for piece in words), reasons.get(stack))
ran = [r["stack"] for r in json.loads(sweep("stacks.yaml").stdout)["responses"]]
check("the other stacks run", ran == ["host", "locked"], ran)
server.shutdown()
print("\n".join(faults))
sys.exit(bool(faults))
