# SPDX-License-Identifier: Apache-2.0
"""docs/format.md has every number of the format: kinds of events and of metrics, units, combinations."""
import os
import re
import sys

top = os.environ["TOP"]
document = open(top + "/docs/format.md").read()
headers = "".join(open(f"{top}/src/core/{name}.h").read() for name in ["metric", "phase/event"])
headers = re.sub(r"/\*.*?\*/", "", headers, flags=re.S)
faults = 0


def numbered(enum):
    """(number, name) of each of an enum's constants."""
    body = re.search(r"enum " + enum + r" \{(.*?)\}", headers, re.S).group(1)
    found, number = [], 0
    for word in filter(None, map(str.strip, body.split(","))):
        name, _, value = (part.strip() for part in word.partition("="))
        number = int(value) if value else number
        found.append((number, name.split("_", 1)[1]))
        number += 1
    return [(number, name) for number, name in found if not name.endswith("NUMBER_OF")]


def wants(what, pattern):
    global faults
    if not re.search(pattern, document, re.S):
        print(f"docs/format.md does not have {what}")
        faults += 1


for number, name in numbered("event_kind"):
    if number:
        wants(f"event {number} {name}", rf"\| {number} \| {name} \|")
for number, name in numbered("kind"):
    wants(f"kind {number} {name.lower()}", rf"u8 kind[^\n]*\b{number} {name.lower()}\b")
for number, _ in numbered("unit"):
    wants(f"unit {number}", rf"u8 unit[^#]*?\b{number} [a-z1].*?u8 kind")
for number, name in numbered("combine"):
    wants(f"combination {number} {name.lower()}", rf"u8 over instances[^\n]*\b{number} {name.lower()}\b")
sys.exit(1 if faults else 0)
