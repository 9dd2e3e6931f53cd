# SPDX-License-Identifier: Apache-2.0
"""What the documents tell people to type exists: verbs and options of sonde, verbs of ./dev, make targets, files, metrics."""
import os
import re
import subprocess

import source

SONDE = os.environ["SONDE"]


def help_of(verb, seen={}):
    if verb not in seen:
        done = subprocess.run([SONDE, *verb.split(), "--help"], capture_output=True, text=True)
        seen[verb] = done.stdout if done.returncode == 0 else None
    return seen[verb]


def faults_of_sonde(words):
    """words: what follows "sonde" on a line."""
    if not words or not re.fullmatch(r"[a-z]+", words[0]):
        return
    text = help_of(words[0])
    if text is not None and "\nverbs:\n" in text and len(words) > 1 and re.fullmatch(r"[a-z]+", words[1]):
        words = [f"{words[0]} {words[1]}"] + words[2:]
        text = help_of(words[0])
    if text is None:
        yield f"sonde has no verb {words[0]}"
        return
    for word in words[1:]:
        if word == "--":
            return
        if re.fullmatch(r"--?[a-z][a-z-]*", word) and not re.search(re.escape(word) + r"\b", text):
            yield f"sonde {words[0]} has no option {word}"


def faults_of_line(line):
    line = re.sub(r"\s# .*", "", line)
    for match in re.finditer(r"(?<![\w./-])sonde ((?:(?! {2,}|`|\|| ; ).)*)", line):
        yield from faults_of_sonde(match.group(1).split())
    for verb in re.findall(r"\./dev ([a-z]+)", line):
        if not re.search(rf"^\s*{verb}\b.*\)|^demo \|.*\b{verb}\b.*\)|^{verb}\(\)", source.read("dev"), re.M):
            yield f"./dev has no verb {verb}"
    for target in re.findall(r"\bmake ([a-z]+)\b", line):
        if not re.search(rf"^{target}:", source.read("Makefile"), re.M):
            yield f"make has no target {target}"


def main():
    faults = []
    metrics = subprocess.run([SONDE, "metrics"], capture_output=True, text=True, check=True).stdout.split()
    for path in ["README.md"] + source.files(".md"):
        text = source.read(path)
        for number, line in enumerate(text.splitlines(), 1):
            typed = line if line.startswith("    ") else " ; ".join(re.findall(r"`([^`]+)`", line))
            faults += [f"{path}:{number}: {fault}" for fault in faults_of_line(typed)]
        for name in re.findall(r"""metric ==? ['"]([\w.]+)['"]""", text):
            if name not in metrics:
                faults.append(f"{path}: asks for the metric {name}, which is not there")
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            if not os.path.exists(os.path.join(source.TOP, os.path.dirname(path), target)):
                faults.append(f"{path}: links to {target}, which is not there")
    source.report(sorted(set(faults)))


main()
