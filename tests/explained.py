# SPDX-License-Identifier: Apache-2.0
"""For tests of sonde explain: its document, held against its schema, its bound and the documents that its numbers come from."""
import json
import os
import subprocess
import time

import jsonschema
import schemas
from patience import patience

SONDE = os.environ["SONDE"]
with open(os.environ["TOP"] + "/docs/schema/explain.json", encoding="utf-8") as file:
    SCHEMA = jsonschema.Draft202012Validator(schemas.strict(json.load(file)))
MOST_BYTES = 8000  # 2,000 tokens of four bytes


def output(*words):
    return subprocess.run([SONDE, *words], capture_output=True, check=False).stdout


def state(directory):
    """All that is in it, with times and sizes."""
    paths = [os.path.join(top, name) for top, folders, names in os.walk(directory) for name in folders + names]
    return sorted((path, os.stat(path).st_mtime_ns, os.stat(path).st_size) for path in paths if os.path.exists(path))


def settled(directory):
    """The same, once recorders have written their last there."""
    until, was = time.monotonic() + patience(20), state(directory)
    while time.monotonic() < until:
        time.sleep(0.5)
        if was == state(directory):
            break
        was = state(directory)
    return was


def at(document, pointer):
    """The value of a JSON Pointer without escapes."""
    for word in pointer.split("/")[1:]:
        document = document[int(word)] if isinstance(document, list) else document[word]
    return document


def sources(runs):
    """The documents that numbers are from, read once they are needed."""
    words = {"show": ["show", "--json"], "waits": ["show", "--waits", "--json"], "steps": ["show", "--steps", "--json"], "peers": ["show", "--peers", "--json"],
             "mpi": ["show", "--mpi", "--json"], "compare": ["compare", "--json"]}
    read = {}

    def of(name):
        if name not in read:
            read[name] = json.loads(output(*words[name], *runs))
        return read[name]
    return of


def check_numbers(told, runs):
    """Every number is the one of the document that it names. Returns how many there are."""
    of, count = sources(runs), 0
    for finding in told["findings"]:
        for number in finding["numbers"]:
            document, pointer = number["at"].split(":", 1)
            assert at(of(document), pointer) == number["value"], (finding["about"], number, at(of(document), pointer))
            count += 1
            if "low" in number:
                assert number["low"] <= number["value"] <= number["high"], number
    for name, value in told.get("job", {}).items():
        if name not in ("command", "ended"):
            assert of("show")["job"][name] == value, (name, value)
    return count


def explain(*runs, ask="all"):
    """The document, once it was found to be right in all that can be checked without knowing the run."""
    text = output("explain", "--json", "--ask", ask, *runs)
    assert text == output("explain", "--json", "--ask", ask, *runs), "not the same bytes"
    assert len(text) <= MOST_BYTES, len(text)
    told = json.loads(text)
    SCHEMA.validate(told)
    check_numbers(told, runs)
    return told


def finding(told, about):
    """The first of a kind, or None."""
    return next((f for f in told["findings"] if f["about"] == about), None)
