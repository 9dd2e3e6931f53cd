# SPDX-License-Identifier: Apache-2.0
"""What a user reads uses the words of docs/words.md: documents, literals of C, the page, Python, examples. Names of options,
metrics and keys, and single words of small letters in code, are not prose."""
import re
import sys

import source

LIST = "docs/words.md"
NAME = re.compile(r"--[\w-]+|\w*[_.]\w[\w.]*|https?://\S+|`[^`\n]*`|\b(?:%s)\b" % "|".join(["PRId64", "PRIu64"]))
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`')
C_TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"(?:(?:\s|PRI\w+)*"(?:\\.|[^"\\\n])*")*')
RUN = re.compile(r"[\w-]+")  # what a phrase begins with; a phrase of which a text has none is not looked for
SOURCES = (".c", ".h", ".def")


def phrases():
    """(phrase, what to write) of the table's rows."""
    for row in re.findall(r"^\| (.+?) \| .+? \| (`.+`) \|$", source.read(LIST), re.M):
        for phrase in re.findall(r"`([^`]+)`", row[1]):
            yield phrase, row[0]


def pattern_of(found):
    words = "|".join(re.escape(p).replace(r"\ ", r"\s+") for p in sorted(found, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.I)


def is_prose(literal):
    return bool(re.search(r"[A-Za-z]\S* +\S|^.[A-Z]", literal)) and not re.match(r".(SELECT|INSERT|CREATE|ALTER|UPDATE)\b", literal)


def keep(text, pieces):
    """text with all but these (from, to) blanked; lines stay."""
    kept, at = [], 0
    for start, end in pieces:
        kept += [re.sub(r"[^\n]", " ", text[at:start]), text[start:end]]
        at = end
    return "".join(kept) + re.sub(r"[^\n]", " ", text[at:])


def joined(literal):
    """Adjacent literals as one, of the same length."""
    return re.sub(r'"(\s|PRI\w+)*"', lambda m: re.sub(r"[^\n]", " ", m.group(0)), literal.replace("\\n", "  "))


def prose_of(path, text):
    if path.endswith(SOURCES):
        text = source.without_comments(text)
        text = C_TEXT.sub(lambda m: joined(m.group(0)), text)
        return keep(text, [m.span() for m in re.finditer(r'"[^"]*"', text) if is_prose(m.group(0))])
    if path.endswith(".js"):
        text = source.without_comments(text)
        return keep(text, [m.span() for m in LITERAL.finditer(text) if is_prose(m.group(0))])
    if path.endswith(".md"):
        return re.sub(r"^(    |\t).*|^```.*?^```", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.M | re.S) \
            if path == "CHANGELOG.md" else text
    return text


def is_read(path):
    if path.startswith("src/") and path.endswith(SOURCES + (".js", ".html")):
        return "node_modules" not in path
    return path == "README.md" or (path.startswith("docs/") and path.endswith(".md") and path != LIST) \
        or path.startswith(("rules/", "examples/"))


def faults_of(path, better):
    text = NAME.sub(lambda m: " " * len(m.group(0)), prose_of(path, source.read(path)))
    there = set(RUN.findall(text.lower()))
    found = [phrase for phrase in better if RUN.match(phrase).group(0) in there]
    for match in pattern_of(found).finditer(text) if found else ():
        said = re.sub(r"\s+", " ", match.group(0))
        line = text.count("\n", 0, match.start()) + 1
        yield f'{path}:{line}: not "{said}" but {better[said.lower()]} ({LIST})'


def main():
    better = {phrase.lower(): instead for phrase, instead in phrases()}
    if not better:
        sys.exit(f"{LIST} has no table of words")
    faults = []
    for path in filter(is_read, source.files()):
        faults += faults_of(path, better)
    source.report(faults)


main()
