# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""Twenty specifications as Amun and Dependency Monkey have them: each runs, or is refused with everything that is wrong with it at once. Scripts by their
address are fetched only with --fetch and a digest; a Pipfile's Python is found, or its absence is the reason of that stack."""
import functools
import hashlib
import http.server
import json
import os
import resource
import subprocess
import sys
import threading

import built
import interpreters
from patience import patience

SONDE = os.environ["SONDE"]
faults = []
built.need(("database", "libsqlite3-dev"), ("yaml", "libyaml-dev"), ("http", "libcurl4-openssl-dev"))
os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {str(detail)[:1500]}")


def sweep(name, spec, *options, code=0, limit=None):
    with open(f"{name}.json", "w") as f:
        json.dump(spec, f, indent=2)
    p = subprocess.run([SONDE, "bench", "sweep", "-q", "--json", "--store", "s.sqlite", *options, f"{name}.json"], capture_output=True, text=True, timeout=patience(200),
                       preexec_fn=limit)
    check(f"status of {name}", p.returncode == code, f"{p.returncode}, wanted {code}: {p.stderr}{p.stdout}")
    return p


SCRIPT = """#!/usr/bin/env python3
import json
import os
print(json.dumps({"name": "PiMatmul", "framework": "none", "@parameters": {"device": "cpu", "dtype": "float32", "reps": 1, "matrix_size": int(os.getenv("SIZE", "4"))},
                  "@result": {"rate": 1.0, "elapsed": 2.0}}))
"""
os.mkdir("www")
for name, text in (("matmul.py", SCRIPT), ("page.py", "<!DOCTYPE html><html>a page around a script</html>"), ("empty.py", ""), ("long.py", SCRIPT + 9999 * "#\n")):
    with open(f"www/{name}", "w") as f:
        f.write(text)
fetched = []


class Server(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        fetched.append(self.path)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory="www"))
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}"
SHA256 = hashlib.sha256(SCRIPT.encode()).hexdigest()
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
PYTHON = subprocess.run(["python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=True).stdout.strip()


def pipfile(version=PYTHON, packages=None):
    return {"packages": packages or {}, "dev-packages": {}, "source": [{"name": "pypi", "url": "https://pypi.example/simple", "verify_ssl": True}], "requires": {"python_version": version}}


def lock(version=PYTHON, default=None):
    return {"_meta": {"hash": {"sha256": "0" * 64}, "pipfile-spec": 6, "requires": {"python_version": version}, "sources": []}, "default": default or {}, "develop": {}}


REQUESTS = {"requests": {"cpu": "500m", "memory": "16Mi"}}
AMUN = {"identifier": "tf-matmul", "batch_size": 1, "build": {"requests": {"cpu": "1", "memory": "4Gi"}}, "run": REQUESTS, "files": [], "environment": [], "packages": [],
        "python_packages": ["micropipenv[toml]"], "package_manager": "micropipenv", "script": SCRIPT, "update": False, "send_messages": True}
LOCKED = {"requirements": pipfile(), "requirements_locked": lock()}

# These run.
runs = {
    "plain": {}, "no-packages": {"python_packages": []}, "pipenv": {"python_packages": ["pipenv"], "package_manager": "pipenv"}, "several": {"python_packages": ["pip>=20", "micropipenv [toml]==1.0"]},
    "variables": {"environment": [{"name": "SIZE", "value": "9"}, {"name": "OMP_NUM_THREADS", "value": 1}]}, "files": {"files": [{"path": "data/a.txt", "content": "a"}]},
    "created": {"@created": "2020-09-04T10:00:00.0", "@amun_service_version": "0.6.0", "@amun_api_url": "x", "@amun_deployment_name": "y", "upgrade_pip": True, "force_sync": False},
    "hardware": {"build": {"requests": {"cpu": "1", "hardware": {"cpu_family": 6, "cpu_model": 94, "physical_cpus": 32, "processor": "Skylake"}}}}, "batch": {"batch_size": 2},
}
for name, changes in runs.items():
    p = sweep(name, {**AMUN, **changes, "identifier": name})
    report = json.loads(p.stdout or "{}")
    check(f"{name} ran", [r["failed"] for r in report.get("responses", [])] == [0], p.stdout)
    wanted = [w for w in ("micropipenv", "pipenv") if w in str({**AMUN, **changes}["python_packages"])]
    check(f"{name}: what is dropped is said", not wanted or "is left out; pip makes the stacks here" in p.stderr, p.stderr)

# An address: asked once; then it is known by its digest.
by_url = {**AMUN, "script": f"{URL}/matmul.py", "identifier": "url"}
p = sweep("url", by_url, code=2)
check("nothing is fetched unasked", "nothing is fetched without --fetch" in p.stderr and not fetched, (p.stderr, fetched))
p = sweep("url", by_url, "--fetch", code=2)
check("the digest is asked for", f"script_sha256: {SHA256}" in p.stderr and "read it" in p.stderr and p.stderr.count("bench sweep:") == 1, p.stderr)
vouched = {**by_url, "script_sha256": SHA256}
sweep("url", vouched, "--fetch")
before = len(fetched)
sweep("url", {**vouched, "identifier": "url-again"})
check("it is kept", len(fetched) == before == 1, fetched)
for name, changes, words in (("changed", {"script_sha256": "0" * 64}, "has changed"), ("digest", {"script_sha256": "xyz"}, "64 digits"), ("page", {"script": f"{URL}/page.py"}, "page of HTML"),
                             ("empty", {"script": f"{URL}/empty.py"}, "is no script"), ("missing", {"script": f"{URL}/none.py"}, "status 404"), ("ftp", {"script": "ftp://x/y.py"}, "http"),
                             ("nobody", {"script": "http://127.0.0.1:1/x.py"}, "127.0.0.1:1")):
    p = sweep(name, {**by_url, **changes}, "--fetch", code=2)
    check(f"{name} is refused", words in p.stderr and p.stderr.count("bench sweep:") == 1, p.stderr)
# Where it cannot be kept whole, it is not kept.
kept = sorted(os.listdir("cache/sonde/stacks"))
p = sweep("full", {**by_url, "script": f"{URL}/long.py"}, "--fetch", code=2, limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
check("no room for it", "No space left" in p.stderr and sorted(os.listdir("cache/sonde/stacks")) == kept, p.stderr)

# All that is wrong comes at once, each with its place.
p = sweep("wrong", {**AMUN, "script": "none.py", "batch_size": 0, "python_packages": ["numpy", "micropipenv[toml]"], "environment": [{"name": "A=B", "value": 1}], "run": {"requests": {"cpu": "lots"}},
                    "files": [{"path": "../x", "content": ""}], "colour": "red", "matrix": {"stacks": [{"base": "host"}, {"name": "a"}, {"name": "a"}], "parameters": []}}, code=2)
for words in (": none.py: there is no such script", "batch_size: expected", "python_packages: numpy", "'A=B' cannot be", "cpu: 'lots'", "'../x' does not lie", "no key 'colour'", "a stack needs a name",
              "two stacks 'a'", "parameters: "):
    check(f"at once: {words}", sum(words in line and "wrong.json:" in line for line in p.stderr.splitlines()) == 1, p.stderr)
many = sweep("many", {**AMUN, **{f"k{i}": 1 for i in range(100)}}, code=2).stderr
check("their number is bounded", many.count("there is no key") == 32 and "further faults: 68" in many, many)

# Of a stack, too: image, native packages, Python; the others run.
p = sweep("stack", {**AMUN, "identifier": "stack", "base": "quay.example/s2i:1", "packages": ["which-none-a", "which-none-b"], "python": {"requirements": pipfile("2.1"), "requirements_locked": lock("2.1")}})
reason = str(json.loads(p.stdout)["skipped"])
has_runtime = "container runtime" not in reason
for words in ("native packages which-none-a, which-none-b are not installed", "its Pipfile requires Python 2.1, which python3 is not") + (() if has_runtime else ("quay.example/s2i:1",)):
    check(f"all reasons: {words}", words in reason, reason)
p = sweep("pythons", {**AMUN, "identifier": "pythons", "matrix": {"stacks": [{"name": "host"}, {"name": "other", "python": {"requirements": pipfile("2.1"), "interpreter": "python3"}},
                                                                            {"name": "unknown", "python": {"requirements": "x", "python_version": "3.8", "interpreter": "python-none"}}]}})
report = json.loads(p.stdout)
check("one runs", [r["failed"] for r in report["responses"]] == [0] and len(report["skipped"]) == 2, p.stdout)
check("a version is one", "python_version: 'new' is none" in sweep("version", {**AMUN, "python": {"requirements": "x", "python_version": "new"}}, code=2).stderr)
if not subprocess.run(["python3", "-c", "import venv, ensurepip"], capture_output=True).returncode:
    os.environ["PATH"] = os.path.dirname(interpreters.copying("/usr/bin/python3", "copies")) + ":" + os.environ["PATH"]
    p = sweep("locked", {**AMUN, "identifier": "locked", "python": LOCKED})
    check("the Python that is here", [r["failed"] for r in json.loads(p.stdout)["responses"]] == [0], p.stdout)
server.shutdown()
print("\n".join(faults))
sys.exit(bool(faults))
