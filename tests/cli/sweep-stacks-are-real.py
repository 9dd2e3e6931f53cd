# SPDX-License-Identifier: Apache-2.0
# limit: 600
"""Software stacks of a sweep: virtual environments that pip fills from wheels made here (no network), one made by the real interpreter, the others by one
that copies them (interpreters.py), made once and used again, with locks that pip checks; environment modules; images that a runtime would run; what
cannot be made is skipped with its reason, and the rest runs."""
import base64
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile

import built
import interpreters
from patience import patience

SONDE = os.environ["SONDE"]
PYTHON = os.environ["PYTHON"]
faults = []
built.need(("database", "libsqlite3-dev"), ("yaml", "libyaml-dev"))
if subprocess.run([PYTHON, "-c", "import venv, ensurepip"], capture_output=True).returncode:
    print("python3-venv is not installed")
    sys.exit(77)
os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")
STORE = ["--store", os.path.abspath("s.sqlite")]


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {str(detail)[:1500]}")


def sweep(text, code=0, options=(), **variables):
    with open("spec.yaml", "w") as f:
        f.write(text)
    p = subprocess.run([SONDE, "bench", "sweep", "-q", "--json", *STORE, *options, "spec.yaml"], capture_output=True, text=True, timeout=patience(500),
                       env={**os.environ, **variables})
    check(f"status of {text}", p.returncode == code, f"{p.returncode}: {p.stderr}{p.stdout}")
    return json.loads(p.stdout) if p.stdout else {"responses": [], "skipped": []}, p.stderr


def wheel(name, version, requires=()):
    path = f"wheels/{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {f"{name}.py": f"version = '{version}'\n",
             f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {r}\n" for r in requires),
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(t.encode()).digest()).rstrip(b'=').decode()},{len(t)}\n" for n, t in files.items())
    with zipfile.ZipFile(path, "w") as z:
        for n, t in {**files, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            z.writestr(n, t)
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


COPYING = interpreters.copying(PYTHON, "copying")
os.mkdir("wheels")
digest = {v: wheel("thing", v) for v in ("1.0", "1.1", "2.0")}
wheel("part", "0.1", ["thing<2"])
wheel("part", "0.2", ["thing>=2"])
with open("which.py", "w") as f:
    f.write("""#!/usr/bin/env python3
import json
try:
    import thing
    version = thing.version
except ImportError:
    version = "none"
print(json.dumps({"name": "PiWhich", "component": "thing", "@parameters": {"thing": version}, "@result": {"n": 1}}))
""")
os.chmod("which.py", 0o755)
PIP = "pip: [--no-index, --find-links=wheels]"


def things():
    """Of each stack, what its trial imported."""
    with sqlite3.connect("s.sqlite") as db:
        return dict(db.execute("SELECT p.stack, x.thing FROM sweep_points p JOIN trials t ON t.batch_id = p.batch_id "
                               "JOIN trials_pi_which x ON x.trial_id = t.id ORDER BY t.id").fetchall())


def facts(stack):
    with sqlite3.connect("s.sqlite") as db:
        return dict(db.execute("SELECT f.name, f.text FROM sweep_points p JOIN trials t ON t.batch_id = p.batch_id "
                               "JOIN environment_facts f ON f.environment_id = t.environment_id WHERE p.stack = ?", [stack]).fetchall())


report, said = sweep(f"""script: which.py
matrix:
  stacks:
    - name: host
    - name: ranged
      python: {{interpreter: {COPYING}, requirements: 'thing<2', {PIP}}}
    - name: locked
      python:
        interpreter: {PYTHON}
        requirements_locked: 'thing==1.0 --hash=sha256:{digest["1.0"]}'
        {PIP}
    - name: forged
      python: {{interpreter: {COPYING}, requirements_locked: 'thing==2.0 --hash=sha256:{digest["1.0"]}', {PIP}}}
    - name: clash
      python: {{interpreter: {COPYING}, requirements: "thing<2\\npart==0.2", {PIP}}}
    - name: nowhere
      python: {{interpreter: python-that-is-not-there, requirements: thing}}
    - name: unpacked
      packages: [no-such-package-anywhere]
    - name: module
      modules: [no-such-module/1]
    - name: image
      base: /nowhere/image.sif
""")
check("what was run", [r["stack"] for r in report["responses"]] == ["host", "ranged", "locked"] and not any(r["failed"] for r in report["responses"]), report)
check("what was imported", things() == {"host": "none", "ranged": "1.1", "locked": "1.0"}, things())
reasons = {s["stack"]: s["reason"] for s in report["skipped"]}
for stack, words in (("forged", "THESE PACKAGES DO NOT MATCH THE HASHES"), ("clash", "could not be made: conflict: The user requested thing<2; part 0.2 depends on thing>=2"), ("nowhere", "python-that-is-not-there"),
                     ("unpacked", "native package no-such-package-anywhere is not installed"), ("module", "module"), ("image", "apptainer")):
    check(f"reason of {stack}", words in reasons.get(stack, ""), reasons.get(stack))
f = facts("locked")
check("facts", f.get("stack.name") == "locked" and len(f.get("stack.fingerprint", "")) == 64 and f.get("package.thing") == "1.0" and
      f.get("runtime.interpreter", "").startswith(os.path.abspath("cache/sonde/stacks")), f)
check("a fingerprint of each", f["stack.fingerprint"] != facts("ranged")["stack.fingerprint"] and "stack.fingerprint" not in facts("host"))
made = sorted(d for d in os.listdir("cache/sonde/stacks") if not d.endswith(".lock"))
locks = [open(f"cache/sonde/stacks/{d}/requirements.lock").read() for d in made if os.path.exists(f"cache/sonde/stacks/{d}/requirements.lock")]
check("locks", len(locks) == 2 and any("--hash=sha256:" in t for t in locks) and any("thing==1.1" in t for t in locks), locks)

# Of an index that says which Python each version requires: pip lists first, as errors, what it ignored.
for package, version, attribute in (("thing", "1.0", ""), ("thing", "1.1", ' data-requires-python="&lt;3"'), ("thing", "2.0", ' data-requires-python="&lt;3"')):
    os.makedirs(f"simple/{package}", exist_ok=True)
    with open(f"simple/{package}/index.html", "a") as f:
        f.write(f'<a href="../../wheels/{package}-{version}-py3-none-any.whl"{attribute}>{package}-{version}-py3-none-any.whl</a>\n')
report, said = sweep(f"identifier: index\nscript: which.py\npython: {{interpreter: {COPYING}, requirements: 'thing>=1.1', pip: [--index-url, 'file://{os.path.abspath('simple')}']}}\n")
reason = report["skipped"][0]["reason"]
check("what is ignored is no reason", "ERROR: Could not find a version that satisfies the requirement thing>=1.1" in reason and "Ignored" not in reason, reason)

# Another sweep finds what was made.
times = {d: os.stat(f"cache/sonde/stacks/{d}/pyvenv.cfg").st_mtime_ns for d in made}
report, said = sweep(f"identifier: again\nscript: which.py\npython: {{interpreter: {COPYING}, requirements: 'thing<2', {PIP}}}\n")
check("used again", "making" not in said and [r["stack"] for r in report["responses"]] == ["python"] and
      times == {d: os.stat(f"cache/sonde/stacks/{d}/pyvenv.cfg").st_mtime_ns for d in made}, said)

# What was left half made is made anew.
half = next(d for d in made if os.path.exists(f"cache/sonde/stacks/{d}/sonde.fingerprint"))
os.remove(f"cache/sonde/stacks/{half}/sonde.fingerprint")
report, said = sweep(f"identifier: half\nscript: which.py\nmatrix: {{stacks: [{{name: ranged, python: {{interpreter: {COPYING}, requirements: 'thing<2', {PIP}}}}},"
                     f"{{name: locked, python: {{interpreter: {PYTHON}, requirements_locked: 'thing==1.0 --hash=sha256:{digest['1.0']}', {PIP}}}}}]}}\n")
check("made anew", said.count("making the stack") == 1 and len(report["responses"]) == 2 and not any(r["failed"] for r in report["responses"]), said)

# Ranges become stacks that pip resolved, what is varied first fastest; what does not resolve is skipped. A sweep that goes on has the same ones.
text = f"""identifier: expanded
script: which.py
python: {{interpreter: {COPYING}, requirements: 'thing==1.0', {PIP}}}
matrix:
  stacks:
    - name: both
      python:
        requirements: |
          thing>=1.1   # not the oldest
          part
          other; python_version < '3'
        expand: {{newest: 2, vary: [Part]}}
"""
names = ["both part==0.2 thing==2.0", "both part==0.1 thing==2.0", "both part==0.2 thing==1.1", "both part==0.1 thing==1.1"]
if subprocess.run([PYTHON, "-m", "pip", "index", "--help"], capture_output=True).returncode == 0:
    planned, said = sweep(text, options=["--dry-run"])
    report, said = sweep(text)
    conflict = {s["stack"]: s["reason"] for s in report["skipped"]}
    check("resolved", [r["stack"] for r in report["responses"]] == [names[0], names[3]] and not any(r["failed"] for r in report["responses"]), (report, said))
    check("not resolved", list(conflict) == names[1:3] and all("cannot be resolved: conflict: The user requested thing" in r for r in conflict.values()) and
          "part 0.2 depends on thing>=2" in conflict[names[2]] and "part 0.1 depends on thing<2" in conflict[names[1]], report)
    check("the plan of it", [r["stack"] for r in planned["would_run"]] == [names[0], names[3]] and [s["stack"] for s in planned["skipped"]] == names[1:3] and
          planned["sweep"] == report["sweep"], planned)
    check("what the locked ones imported", (things().get(names[0]), things().get(names[3])) == ("2.0", "1.1"), things())
    with sqlite3.connect("s.sqlite") as db:
        check("hashes", digest["2.0"] in db.execute("SELECT specification FROM sweeps WHERE identifier = 'expanded'").fetchone()[0])
    wheel("thing", "3.0")
    again, said = sweep(text)
    check("the same after a new version", again == report, again)
    report, said = sweep(text.replace("identifier: expanded", "identifier: fewer").replace("newest: 2", "newest: 2, count: 1"), options=["--dry-run"])
    check("fewer", [r["stack"] for r in report["would_run"] + report["skipped"]] == ["both part==0.2 thing==3.0"] and
          "spec.yaml:8:9: 1 of 4 stacks are taken" in said, (report, said))
    for old, new, sentence in (("  part\n", "  part\n          nothing-like-it\n", "no versions of nothing-like-it were found"), ("thing>=1.1", "thing>=9", "none of the versions of thing"),
                               ("thing>=1.1", "-r other.txt", "'-r other.txt' cannot be expanded"), ("[Part]", "[parts]", "vary: parts is none of")):
        report, said = sweep(text.replace("expanded", "wrong").replace(old, new), code=2)
        check(f"{new.strip()}: {sentence}", said.startswith("sonde: bench sweep: spec.yaml:8:9: ") and sentence in said and said.count("\n") == 1, said)
    for new, sentence in (("newest: 0", "newest: expected a whole number from 1 to 100"), ("newset: 2", "did you mean newest")):
        report, said = sweep(text.replace("newest: 2", new), code=2)
        check(new, "spec.yaml:12:" in said and sentence in said, said)

# A Pipfile and its lock.
with open("Pipfile", "w") as f:
    f.write("[[source]]\nname = 'pypi'\n[packages]\nthing = {version = '==1.0', markers = \"python_version > '3'\"}\n")
with open("Pipfile.lock", "w") as f:
    json.dump({"_meta": {}, "default": {"thing": {"version": "==1.1", "index": "pypi", "hashes": [f"sha256:{digest['1.1']}"]}}}, f)
if subprocess.run([PYTHON, "-c", "import tomllib"], capture_output=True).returncode == 0:
    stack = "{name: %s, python: {interpreter: " + COPYING + ", %s: %s, " + PIP + "}}"
    report, said = sweep(f"script: which.py\nmatrix:\n  stacks:\n    - {stack % ('pipfile', 'requirements', 'Pipfile')}\n"
                         f"    - {stack % ('pipfile.lock', 'requirements_locked', 'Pipfile.lock')}\n")
    check("a Pipfile", (things().get("pipfile"), things().get("pipfile.lock")) == ("1.0", "1.1") and report["skipped"] == [], (report, said))
    report, said = sweep(f"script: which.py\npython: {{interpreter: {COPYING}, requirements_locked: Pipfile}}\n", code=2)
    check("no lock", said == "sonde: bench sweep: spec.yaml:2:9: requirements_locked: a Pipfile is no lock; its Pipfile.lock is\n", said)

# Modules, where there are any: of a directory of our own.
lmod = "/usr/share/lmod/lmod/libexec/lmod"
if os.environ.get("LMOD_CMD") or os.path.exists(lmod):
    os.makedirs("modules/speed")
    with open("modules/speed/2.lua", "w") as f:
        f.write('setenv("SPEED", "two")\nprepend_path("PATH", "/opt/speed/bin")\n')
    report, said = sweep("script: |\n  #!/bin/sh\n  printf '{\"name\": \"PiSpeed\", \"component\": \"sh\", \"@parameters\": {\"speed\": \"%s\", \"path\": \"%s\"}, \"@result\": {}}' "
                         "\"$SPEED\" \"${PATH%%:*}\"\nmatrix: {stacks: [{name: speed, modules: [speed/2]}, {name: none, modules: [speed/3]}]}\n",
                         MODULEPATH=os.path.abspath("modules"))
    with sqlite3.connect("s.sqlite") as db:
        check("a module", db.execute("SELECT speed, path FROM trials_pi_speed").fetchall() == [("two", "/opt/speed/bin")] and
              [s["stack"] for s in report["skipped"]] == ["none"], (report, said))

# An image, as far as a stand-in for its runtime shows it.
os.mkdir("bin")
with open("bin/apptainer", "w") as f:
    f.write("#!/bin/sh\necho \"$*\" >>\"$SAID\"\nshift 6\nexec \"$@\"\n")
os.chmod("bin/apptainer", 0o755)
report, said = sweep(f"script: which.py\nbase: /images/x.sif\nenvironment: {{SAID: {os.path.abspath('said')}}}\n", PATH=os.path.abspath("bin") + ":" + os.environ["PATH"])
check("an image", len(report["responses"]) == 1 and report["responses"][0]["failed"] == 0 and open("said").read().startswith("exec --bind ") and
      "/images/x.sif" in open("said").read(), (report, said))
shutil.rmtree("cache")
print("\n".join(faults))
sys.exit(bool(faults))
