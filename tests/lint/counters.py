# SPDX-License-Identifier: Apache-2.0
"""Counters that sources add up stop at the largest: in src/source what is declared int64_t is added to by number_add (src/base/text/number.h), and
not by += or =. What a kernel or a driver prints may be as large as the type holds."""
import re

import source

DECLARED = re.compile(r"\bint64_t\b([^;(){}]*)")
ADDED = re.compile(r"(\b(\w+)(?:\[[^][]*(?:\[[^]]*\])?[^][]*\])*)\s*\+=")
AGAIN = re.compile(r"((?:\b|\*)(\w+)(?:\[[^][]*\])*) = [^=;]*\b\2\b[^;*]* \+ ")


def declared(code):
    """The names that are int64_t: of variables, arrays, parameters and members."""
    names = set()
    for match in DECLARED.finditer(code):
        for part in match.group(1).split(","):
            word = re.fullmatch(r"[\s*]*(\w+)(?:\s*\[[^]]*\])*(?:\s*=.*)?\s*", part, re.S)
            if not word:
                break
            names.add(word.group(1))
    return names


def parts(code):
    """(number of the first line, text) of each function or type."""
    first, part = 1, []
    for number, line in enumerate(code.splitlines(), 1):
        part.append(line)
        if line.startswith("}"):
            yield first, "\n".join(part)
            first, part = number + 1, []


def main():
    faults = []
    texts = {path: source.code(source.read(path)) for path in source.files(".c", ".h") if path.startswith("src/source/")}
    for path, code in texts.items():
        if not path.endswith(".c"):
            continue
        members = set()
        for header in re.findall(r'#include "(source/[^"]*)"', source.read(path)):
            members |= declared(texts.get("src/" + header, ""))
        for _, part in parts(code):
            members |= declared(part) if part.endswith("};") else set()
        for first, part in parts(code):
            names = members | declared(part)
            for number, line in enumerate(part.splitlines(), first):
                for match in list(ADDED.finditer(line)) + list(AGAIN.finditer(line)):
                    if match.group(2) in names:
                        faults.append(f"{path}:{number}: {match.group(1)} is a count, which number_add adds to")
    source.report(faults)


main()
