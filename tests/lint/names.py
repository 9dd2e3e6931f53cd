# SPDX-License-Identifier: Apache-2.0
"""No sink names a metric: what it writes comes from the catalogue's rows."""
import re

import source


def main():
    declared = set()
    for path in source.files(".c"):
        if path.startswith(("src/source/", "src/sampler/")):
            declared |= set(re.findall(r'"([a-z]+\.[a-z][a-z0-9_.]*)"', source.without_comments(source.read(path))))
    if len(declared) < 20:
        source.report([f"only {len(declared)} metrics found in src/source: this lint looks in the wrong place"])
    faults = []
    for path in source.files(".c", ".h"):
        if not path.startswith("src/sink/"):
            continue
        for number, line in enumerate(source.without_comments(source.read(path)).splitlines(), 1):
            faults += [f"{path}:{number}: names the metric {name}"
                       for name in re.findall(r'"([^"]*)"', line) if name in declared]
    source.report(faults)


main()
