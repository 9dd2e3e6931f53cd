# SPDX-License-Identifier: Apache-2.0
"""A stack of a sweep whose Python requirements are ranges, or a Pipfile, becomes concrete ones.

Run by that stack's interpreter. The one argument is a file of JSON: the stack; pip, further words for it; how many of the newest versions are taken of each
package (0: nothing is expanded), how many stacks at most, and which packages vary first. Printed is JSON: the stacks, each with "unresolved", why, where pip
finds no solution, and how many combinations there are. Else it exits with a sentence."""
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SAID_MOST = 16384  # characters of what pip printed
PIPFILE_KEYS = {"version", "extras", "markers", "hashes", "index"}


# ---- Pipfiles ----

def pipfile_of(text):
    """A Pipfile or Pipfile.lock as an object; None: pip reads this text as it is."""
    if isinstance(text, dict):
        return text
    if text.lstrip().startswith("{"):
        return json.loads(text)
    if not re.search(r"^\s*\[packages\]", text, re.M):
        return None
    try:
        import tomllib
    except ImportError:
        sys.exit(f"a Pipfile is read by Python 3.11 or later, and {sys.executable} is older")
    return tomllib.loads(text)


def lines_of(packages):
    """{NAME: "*", ">=1", or {version, extras, ...}} as pip reads it."""
    for name, wish in packages.items():
        wish = wish if isinstance(wish, dict) else {"version": wish}
        if wish.keys() - PIPFILE_KEYS:
            sys.exit(f"{name}: '{min(wish.keys() - PIPFILE_KEYS)}' of a Pipfile is not understood here; name a version")
        extras = f"[{','.join(wish['extras'])}]" if wish.get("extras") else ""
        version = "" if wish.get("version", "*") == "*" else wish["version"]
        marker = f" ; {wish['markers']}" if wish.get("markers") else ""
        yield name + extras + version + marker + "".join(f" --hash={h}" for h in wish.get("hashes", []))


def take_pipfiles(python):
    """A Pipfile.lock is a lock, wherever it stands. Which Python they require is kept."""
    required = []
    for key in ("requirements", "requirements_locked"):
        document = pipfile_of(python.get(key) or "")
        if document is None:
            continue
        is_lock = "default" in document
        requires = (document.get("_meta") or {} if is_lock else document).get("requires") or {}
        required.append(requires.get("python_full_version") or requires.get("python_version"))
        if not is_lock and (key == "requirements_locked" or "packages" not in document):
            sys.exit(f"{key}: {'a Pipfile is no lock; its Pipfile.lock is' if 'packages' in document else 'neither packages nor default are in it'}")
        del python[key]
        python["requirements_locked" if is_lock else "requirements"] = "".join(f"{line}\n" for line in lines_of(document["default" if is_lock else "packages"]))
    required = [str(v) for v in required if v]
    if required:
        python.setdefault("python_version", required[-1])


# ---- ranges ----

def pip(verb, *words):
    return subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *verb.split(), *words], capture_output=True, text=True,
                          errors="replace", stdin=subprocess.DEVNULL)


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def ranges_of(text):
    """Of each package what its version has to be, in the text's order; and the requirements that apply to this Python."""
    try:
        from pip._vendor.packaging.requirements import InvalidRequirement, Requirement
    except ImportError:
        sys.exit(f"{sys.executable} has no pip, which expand needs")
    ranges, requirements = {}, []
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        if not line:
            continue
        try:
            wish = Requirement(line)
        except InvalidRequirement:
            wish = None
        if not wish or wish.url:
            sys.exit(f"'{line[:80]}' cannot be expanded; NAME, NAME>=1 and NAME[EXTRA]<2 can")
        if not wish.marker or wish.marker.evaluate():
            ranges.setdefault(canonical(wish.name), []).append(wish.specifier)
            requirements.append(line)
    return ranges, requirements


def newest_of(name, ranges, words, newest):
    said = pip("index versions", name, *words)
    found = re.search(r"^Available versions: (.*)$", said.stdout, re.M)
    if not found:
        last = (said.stderr.splitlines() or ["pip says nothing"])[-1]
        sys.exit(f"no versions of {name} were found: {last[:300]}")
    versions = [v for v in found.group(1).split(", ") if all(r.contains(v, prereleases=True) for r in ranges)]
    if not versions:
        sys.exit(f"none of the versions of {name} is asked for; the newest is {found.group(1).split(', ')[0]}")
    return versions[:newest]


def resolved(requirements, pins, words):
    """The lock, or what pip printed where there is none (sweep/known.h)."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        said = pip("install", "--dry-run", "--ignore-installed", "--report", report, *words, *requirements, *pins)
        if said.returncode:
            return {"unresolved": f"{said.stdout}\n{said.stderr}"[-SAID_MOST:]}
        with open(report, encoding="utf-8") as f:
            installed = json.load(f)["install"]
    items = [(i["metadata"], i["download_info"].get("archive_info", {})) for i in installed]
    hashes = [a.get("hashes", {}).get("sha256") or a.get("hash", "").partition("sha256=")[2] for _, a in items]
    # Where one has a hash, pip wants one of each.
    return {"requirements_locked": "".join(sorted(f"{m['name']}=={m['version']}" + (f" --hash=sha256:{h}" if all(hashes) else "") + "\n"
                                                  for (m, _), h in zip(items, hashes)))}


def right_python(python):
    """Why this is not the Python that is required; a Python that is takes over."""
    wanted = str(python.get("python_version") or "")
    if not wanted or f"{sys.version.split()[0]}.".startswith(f"{wanted}."):
        return None
    other = shutil.which(f"python{wanted}")
    again = os.environ.get("SONDE_EXPAND") == wanted
    if not other or "interpreter" in python or again or not hasattr(sys, "orig_argv"):
        return f"its Pipfile requires Python {wanted}, which {sys.executable} is not"
    os.execve(other, [other, *sys.orig_argv[1:]], {**os.environ, "SONDE_EXPAND": wanted})
    return None


def expanded(wish):
    stack, python = wish["stack"], wish["stack"]["python"]
    if "requirements_locked" in python:
        sys.exit("there is nothing to expand in a lock")
    ranges, requirements = ranges_of(python["requirements"])
    vary = [canonical(name) for name in wish["vary"]]
    if set(vary) - ranges.keys():
        sys.exit(f"vary: {min(set(vary) - ranges.keys())} is none of the requirements")
    names = vary + [name for name in ranges if name not in vary]
    versions = [newest_of(name, ranges[name], wish["pip"], wish["newest"]) for name in names]
    stacks, possible = [], 1
    for v in versions:
        possible *= len(v)
    # The last one changes fastest, so the first of vary stands there.
    for chosen in itertools.islice(itertools.product(*reversed(versions)), wish["count"]):
        pins = [f"{name}=={version}" for name, version in zip(names, reversed(chosen))]
        lock = resolved(requirements, pins, wish["pip"])
        made = {**stack, "name": " ".join([str(stack["name"]), *pins])}
        if "unresolved" in lock:
            made.update(lock)
        else:
            made["python"] = {**{k: v for k, v in python.items() if k != "requirements"}, **lock}
        stacks.append(made)
    return {"stacks": stacks, "possible": possible}


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        wish = json.load(f, parse_float=str)
    python = wish["stack"]["python"]
    python.pop("expand", None)
    try:
        take_pipfiles(python)
    except (AttributeError, TypeError, ValueError) as e:
        sys.exit(f"this is no Pipfile: {e}")
    words = wish["pip"] or []
    wish["pip"] = [words] if isinstance(words, str) else [str(w) for w in words]
    why = right_python(python) if wish["newest"] else None
    if why:
        wish["newest"], wish["stack"]["unresolved"] = 0, why
    print(json.dumps(expanded(wish) if wish["newest"] else {"stacks": [wish["stack"]], "possible": 1}))


main()
