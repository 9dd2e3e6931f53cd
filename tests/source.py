# SPDX-License-Identifier: Apache-2.0
"""What the lints share: the files of the tree, and C text without its comments and strings."""
import os
import re
import subprocess
import sys

TOP = os.environ.get("TOP") or os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))


def files(*endings):
    """Paths, relative to the tree, of what git has or would add."""
    listed = subprocess.run(
        ["git", "-C", TOP, "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True).stdout.decode()
    paths = [p for p in listed.split("\0") if p and os.path.isfile(os.path.join(TOP, p))]
    return sorted(p for p in set(paths) if not endings or p.endswith(endings))


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8", errors="surrogateescape") as f:
        return f.read()


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


COMMENT_OR_STRING = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''


def code(text):
    """Comments, strings and characters blanked; lines and columns stay."""
    return re.sub(COMMENT_OR_STRING, _blank, text, flags=re.S)


def without_comments(text):
    def keep_strings(match):
        return match.group(0) if match.group(0)[0] in "\"'" else _blank(match)
    return re.sub(COMMENT_OR_STRING, keep_strings, text, flags=re.S)


def report(faults):
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)
