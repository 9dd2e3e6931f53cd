# SPDX-License-Identifier: Apache-2.0
"""docs/traps.md tells of all 22 traps, and the tests that it names are there. The traps that are in what Sonde must not do: it opens no
profiling interface of a GPU, and no rule praises a GPU's utilisation."""
import os
import re

import source


def main():
    text = source.read("docs/traps.md")
    numbers = [int(n) for n in re.findall(r"^\| (\d+) \|", text, re.M)]
    faults = [] if numbers == list(range(1, 23)) else [f"docs/traps.md: its traps are numbered {numbers}"]
    faults += [f"docs/traps.md: {path} is not there" for path in re.findall(r"`(tests/[^`]*)`", text)
               if not os.path.isfile(os.path.join(source.TOP, path))]
    for path in source.files(".c", ".h", ".def", ".rules"):
        if not path.startswith(("src/", "rules/")):
            continue
        for number, line in enumerate(source.read(path).splitlines(), 1):
            if re.search(r"dcgm|cupti|nvperf|rocprofiler", line, re.I):
                faults.append(f"{path}:{number}: trap 13: {line.strip()}")
            if path.endswith(".rules") and re.search(r"gpu.*util", line, re.I) and re.search(r"\b(good|efficient|well used)\b", line, re.I):
                faults.append(f"{path}:{number}: trap 14: {line.strip()}")
    source.report(faults)


main()
