# SPDX-License-Identifier: Apache-2.0
"""Whatever names a metric or a key of metadata names one that there is: a row of the catalogue of metrics (`sonde metrics`, with rates) or of
src/metas.def. That is held of C above the recording, JavaScript, rules, phases, maps, dashboards and docs, so that a source which renames
what it measures is noticed. And the reverse: what is stored as metadata has a row, and each row is of something that is stored.
docs/metadata-keys.md is printed from the rows."""
import glob
import json
import os
import re
import subprocess

import source

SONDE = os.path.join(os.environ.get("BUILD") or source.TOP + "/build", "sonde")
# These rooms make the names, or take them from files of others.
BELOW = tuple(f"src/{room}/" for room in ("base", "core", "source", "sampler", "job", "recording", "indicator", "unwind", "waits", "iterator", "nvml"))
STORED_BY = BELOW + ("src/import/", "src/bench/", "src/trial/", "src/sweep/", "src/lib/")
# Names of other programs: files, columns, tags, names in foreign documents.
FOREIGN = re.compile(r".*\.(c|h|js|css|html|json|csv|txt|bin|so|def|model|map|rules|sqlite|lock|licence|note|pdf|gz|folded|sonde|md|py|sh|yml|yaml|png|svg"
                     r"|bash|fish|1)|run\.info\..*|perf\.test\..*|sonde\.(bench|callbacks|counter|command|imported|job_id|nodes|peak_memory_kind|platform|push|batch|component|git_\w+|host|indicator|lock|reason|script\w*|"
                     r"stack_fingerprint|sweep|tags|trial)(\..*)?"
                     # attributes of OpenTelemetry
                     r"|host\.name|process\.(pid|command_line|exit\.code)|sonde\.(run\.id|track|rank|detail|end)")
# Figures that a summary makes, and what only imports have.
MADE = {"job.memory_limit_used_ratio", "node.energy_joules", "job.resident_ratio"}
# The beginning of a name, which a macro ends.
BEGINNING = re.compile(r"\b(BYTES|PACKETS)\(")
EXAMPLE = {"docs/events.md": {"perf.atomics.locked", "perf.atomics.locked_per_instruction"}}
NAME = r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+"


def rows():
    """The keys of metadata, each as a pattern."""
    keys = " ".join(re.findall(r'^KEYS\("([^"]*)"', source.read("src/metas.def"), re.M)).split()
    return {key: re.compile(re.sub("NAME", ".+", re.sub(r"N(?!AME)", "[0-9][a-z]?", re.escape(key)))) for key in keys}


def metrics():
    """Names of the catalogue, of rates, and of what a machine's counters and imports may add."""
    catalogue = json.loads(subprocess.run([SONDE, "metrics", "--json"], check=True, capture_output=True).stdout)["metrics"]
    names = {row["name"] for row in catalogue}
    return names | set(re.findall(r"Rate: `([\w.]+)`", source.read("docs/metrics.md")))


def named(path):
    """(line, name) of each literal that may be a name."""
    text = source.read(path)
    if path.endswith((".c", ".h", ".def", ".js")):
        text = source.without_comments(text)
        literal = rf"[\"']({NAME})[\"']"
    elif path.endswith(".md"):
        literal = rf"`({NAME})`"
    elif path.endswith(".map"):
        literal = rf"(?<![\w./]){NAME}(?![\w./])"
    else:
        text = re.sub(r"\"[^\"\n]*\"|#[^\n]*", "", text) # sentences of rules, comments
        literal = rf"(?<![\w./])({NAME})(?![\w./(])"
    for number, line in enumerate(text.splitlines(), 1):
        for match in re.finditer(literal, line):
            if BEGINNING.search(line[:match.start() + 1]):
                continue
            yield number, match.group(match.lastindex or 0)


def stored_names():
    """All names in what stores metadata and on other machines' lists; and of those which are given to a function of metadata, where."""
    names, called = set(), {}
    for path in glob.glob(source.TOP + "/tests/golden/platform-*.txt"):
        names |= set(re.findall(r"^(\S+) = ", source.read(path), re.M))
    for path in source.files(".c", ".h"):
        if path.startswith(STORED_BY):
            text = source.without_comments(source.read(path))
            names |= set(re.findall(rf'"(?:M )?({NAME})[ "]', text)) # M: a line of marks
            called |= {name: path for name in re.findall(rf'\b(?:sample_meta_text|sample_meta_integer|add_meta|metas?_\w+)\([^;{{}}"]*"({NAME})"', text)}
    return names, called


def json_paths():
    """A key of `sonde show --json` is named as in job.wall_seconds, too."""
    return {f"job.{name}" for name in json.loads(source.read("docs/schema/show.json"))["properties"]["job"]["properties"]}


def reads_names(path):
    if path.startswith("src/"):
        return path.endswith((".c", ".h", ".def", ".js")) and not path.startswith(BELOW) and path != "src/metas.def"
    return path.startswith(("rules/", "phases/", "maps/")) or path.startswith("docs/") and path.endswith(".md")


def main():
    keys, known = rows(), metrics()
    domains = {name.split(".")[0] for name in known | set(keys)}

    def is_key(name):
        return any(p.fullmatch(name) for p in keys.values())

    def exists(name):
        return name in known | MADE or is_key(name) or re.fullmatch(r"perf\.\w+\.set\d_\w+", name) or \
            name[-1] in "._" and any(other.startswith(name) for other in known | set(keys))

    stored, called = stored_names()
    faults = [] if len(keys) > 200 and len(known) > 500 else [f"{len(keys)} keys, {len(known)} metrics: this lint looks in the wrong place"]
    faults += [f"{where}: {key} has no row in src/metas.def" for key, where in sorted(called.items()) if not is_key(key) and key not in known]
    faults += [f"src/metas.def: nothing stores {key}" for key in keys if not re.search("NAME|N(?=[._]|$)", key) and key not in stored]
    if subprocess.run([SONDE, "docs", "metadata"], check=True, capture_output=True, text=True).stdout != source.read("docs/metadata-keys.md"):
        faults.append("docs/metadata-keys.md is old: ./dev golden")
    for path in source.files():
        if not reads_names(path):
            continue
        other = EXAMPLE.get(path, set()) | (json_paths() if path.startswith("docs/") else set())
        faults += [f"{path}:{number}: no source has {name}" for number, name in named(path)
                   if name.split(".")[0] in domains and name not in other and not FOREIGN.fullmatch(name) and not exists(name)]
    source.report(faults)


main()
