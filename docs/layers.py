# SPDX-License-Identifier: Apache-2.0
"""The picture of docs/architecture.md: layers.py prints docs/layers.svg, made from the table of allowed includes in that page.

A room stands above all that it may include; a line leads to what it includes that none of the others leads to. ./dev golden writes it anew.
"""
import os
import re
import sys

BOX, GAP, ROW, LEFT = (78, 24), 14, 62, 20
TEXT = "font: 12px sans-serif; text-anchor: middle; dominant-baseline: central"


def table():
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "architecture.md")
    with open(page, encoding="utf-8") as f:
        block = re.search(r"```layers\n(.*?)```", f.read(), re.S).group(1)
    return {room: set(below.split()) for room, below in (line.split(":") for line in block.splitlines())}


def heights(rooms):
    height = {}

    def of(room):
        if room not in height:
            height[room] = 1 + max((of(below) for below in rooms[room]), default=-1)
        return height[room]
    for room in rooms:
        of(room)
    return height


def edges(rooms):
    """Without those that follow from others."""
    def reached(room):
        return rooms[room] | {far for below in rooms[room] for far in reached(below)}
    for room, belows in rooms.items():
        for below in sorted(belows):
            if not any(below in reached(other) for other in belows if other != below):
                yield room, below


def places(rooms):
    """The middle of each room's box: rows by height, in a row near what it stands on."""
    height, at = heights(rooms), {}
    lines = list(edges(rooms))
    widest = max(list(height.values()).count(h) for h in set(height.values()))
    width = widest * (BOX[0] + GAP) + 2 * LEFT
    top = max(height.values())
    for h in range(top + 1):
        def aim(room):
            below = [at[b][0] for a, b in lines if a == room]
            return sum(below) / len(below) if below else width / 2
        row = sorted((room for room in rooms if height[room] == h), key=lambda room: (aim(room), room))
        step = width / (len(row) + 1)
        for i, room in enumerate(row, 1):
            at[room] = round(i * step), (top - h) * ROW + 30
    return at, width, (top + 1) * ROW


def main():
    rooms = table()
    at, width, height = places(rooms)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">')
    print("<title>Which room may include which</title>")
    print(f'<rect width="{width}" height="{height}" fill="#fff"/>')
    for a, b in edges(rooms):
        (x1, y1), (x2, y2) = at[a], at[b]
        print(f'<line x1="{x1}" y1="{y1 + BOX[1] // 2}" x2="{x2}" y2="{y2 - BOX[1] // 2}" stroke="#8aa" stroke-width="1"/>')
    for room, (x, y) in at.items():
        print(f'<rect x="{x - BOX[0] // 2}" y="{y - BOX[1] // 2}" width="{BOX[0]}" height="{BOX[1]}" rx="4" fill="#eef3f3" stroke="#477"/>'
              f'<text x="{x}" y="{y}" style="{TEXT}">{room}</text>')
    print("</svg>")


sys.exit(main())
