# SPDX-License-Identifier: Apache-2.0
"""Includes point inward, as the table in docs/architecture.md says; no command includes another. docs/layers.svg is
drawn from that table."""
import re
import subprocess
import sys

import source


def table():
    block = re.search(r"```layers\n(.*?)```", source.read("docs/architecture.md"), re.S).group(1)
    rooms = dict(line.split(":") for line in block.splitlines() if ":" in line)
    return {room.strip(): set(allowed.split()) for room, allowed in rooms.items()}


def included(path):
    for number, line in enumerate(source.without_comments(source.read(path)).splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if match:
            yield number, match.group(1)


def room_of(path):
    parts = path.split("/")
    return parts[0] if len(parts) > 1 else "main"


def fault_of(path, target, allowed, commands):
    room = room_of(path[len("src/"):])
    if room not in allowed:
        return f"the room {room} is not in the table of docs/architecture.md"
    if target.endswith(".def"):
        return None
    if "/" not in target:
        return f'write "{target}" with its room' if target != "sonde.h" else None
    other = room_of(target)
    if other not in allowed[room] | {room}:
        return f"{room} may not include {other}"
    name = target[len("cmd/"):-len(".h")] if other == "cmd" else None
    if name in commands and path != f"src/cmd/{name}.c":
        return f"a command is not included by others ({target})"
    return None


def main():
    allowed = table()
    commands = set(re.findall(r"^COMMAND\((\w+)\)", source.read("src/commands.def"), re.M))
    faults = []
    for path in source.files(".c", ".h"):
        if not path.startswith("src/"):
            continue
        for number, target in included(path):
            fault = fault_of(path, target, allowed, commands)
            if fault:
                faults.append(f"{path}:{number}: {fault}")
    picture = subprocess.run([sys.executable, source.TOP + "/docs/layers.py"], check=True, capture_output=True, text=True).stdout
    if picture != source.read("docs/layers.svg"):
        faults.append("docs/layers.svg is old: ./dev golden")
    source.report(faults)


main()
