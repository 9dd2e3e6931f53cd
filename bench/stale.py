# SPDX-License-Identifier: Apache-2.0
"""Which sections of docs/performance.md are older than the code that they measure: stale.py mark|check DOCUMENT.

A section is stale if, since the commit at which it was measured, more than a tenth of the lines of its bench and of what that
measures have changed; one that only moved, as into another file, has not. `mark` writes so into the document, which `check` refuses if it does not say it, or says it of a section that is
not stale. So everyday changes are no fault, and figures of other code are never shown as those of this one. Without git nothing is known.
"""
import collections
import re
import subprocess
import sys

SHARE = 0.1
SAMPLING = ["src/sampler", "src/source", "src/core", "src/job"]
WRITING = ["src/recording", "src/core"]
READING = ["src/recording", "src/core", "src/report"]
MEASURES = {
    "cost": SAMPLING, "peers": SAMPLING, "clock": SAMPLING, "slowdown": SAMPLING, "storm": SAMPLING, "uss": ["src/sampler"],
    "latency": ["src/sampler"], "memory": [*SAMPLING, "src/recording"], "iterator": ["src/iterator", "src/sampler"],
    "startup": [*SAMPLING, "src/recording"], "sources": ["src/source"], "recording": WRITING, "sampler": SAMPLING,
    "spans": ["src/lib", "src/source/program/spans.c", "src/recording"], "reading": READING, "report": [*READING, "src/chart", "src/draw"],
    "export": ["src/sink", "src/recording", "src/core"], "columns": ["src/sink"], "hdf5": ["src/hdf5", "src/sink"],
    "stacks": ["src/unwind", "src/source/program", "src/core/stacks"], "waits": ["src/unwind", "src/waits", "src/source/program"],
    "trials": ["src/bench", "src/store", "src/database"], "profiles": ["src/import", "src/sink", "src/recording"], "annotations": ["src/inject", "src/lib/span_make.c", "src/lib/span_args.c"],
}
MEASURED = re.compile(r"^Measured on (\d{4}-\d\d-\d\d) at commit ([0-9a-f]{7,40})(?:-dirty)?, .*Again: `\./dev bench (\w+)`\.")
MARK = re.compile(r" \*\*Stale\*\*: [^.]*\.$")


def git(*args):
    done = subprocess.run(["git", *args], capture_output=True, text=True, errors="replace", check=False)
    return done.stdout if done.returncode == 0 else None


def changed_share(name, commit, date):
    """Of the lines that the section measures, how many are others than when it was; None: not known."""
    paths = [f"bench/{name}.sh", *MEASURES.get(name, ["src"])]
    if git("cat-file", "-e", commit + "^{commit}") is None: # a commit that was rebased: the last one of that day
        commit = (git("rev-list", "-1", f"--before={date}T23:59:59Z", "HEAD") or "").strip()
    diff = git("diff", "--no-renames", "--unified=0", commit, "HEAD", "--", *paths) if commit else None
    files = git("ls-files", "--", *paths)
    if diff is None or not files:
        return None
    gone, new = (collections.Counter(line[1:].strip() for line in diff.splitlines() if line.startswith(sign) and not line.startswith(3 * sign))
                 for sign in "-+")
    changed = max((gone - new).total(), (new - gone).total())
    lines = 0
    for path in files.splitlines():
        try:
            with open(path, "rb") as f:
                lines += f.read().count(b"\n")
        except OSError:
            continue
    return changed / max(lines, 1)


def marked(line):
    """The line that says when a section was measured, with what is true of it now; other lines as they are."""
    found = MEASURED.match(line)
    if not found:
        return line
    share = changed_share(found[3], found[2], found[1])
    bare = MARK.sub("", line)
    if share is None or share <= SHARE:
        return bare
    return line if MARK.search(line) else f"{bare} **Stale**: {100 * min(share, 1):.0f} % of the lines that it measures have changed since."


def stale(lines):
    """The names of the benches whose sections say that they are stale."""
    return [MEASURED.match(line)[3] for line in lines if MEASURED.match(line) and MARK.search(line)]


def main():
    verb, path = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        before = f.read().splitlines()
    if git("rev-parse", "HEAD") is None or (git("rev-parse", "--is-shallow-repository") or "").strip() == "true":
        print("no history of this tree: whether sections are stale is not known")
        return 77
    after = [marked(line) for line in before]
    if verb == "mark":
        with open(path, "w", encoding="utf-8") as f:
            print("\n".join(after), file=f)
        print("stale: " + (", ".join(stale(after)) or "none"))
        return 0
    wrong = sorted(set(stale(before)) ^ set(stale(after)))
    for name in wrong:
        print(f"{path}: the section of `./dev bench {name}` " +
              ("is older than the code that it measures" if name in stale(after) else "is said to be stale, and is not") +
              f": measure it (./dev bench {name}) or say so (./dev bench mark)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
