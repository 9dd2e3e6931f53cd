# SPDX-License-Identifier: Apache-2.0
"""docs/metadata.md has every key that tells of the machine and of the batch job, and no key that nothing says.

Keys are those of the golden files, and those that stand in the code as they are.
"""
import glob
import re

import source

SAID_BY = ("src/source/platform", "src/sampler/recorder_metas.c", "src/source/limits.c", "src/sampler/tree/tree_looks.c", "src/sampler/tree/tree_unwaited.c",
           "src/sampler/hang.c", "src/sampler/pauses.c", "src/job/environment.c", "src/job/lastlines.c", "src/job/scheduler")


def said():
    keys = set()
    for path in source.files(".c"):
        if path.startswith(SAID_BY):
            keys |= set(re.findall(r'"((?:host|job)\.[a-z0-9_.]*[a-z])"', source.without_comments(source.read(path))))
    for path in glob.glob(source.TOP + "/tests/golden/platform-*.txt"):
        keys |= set(re.findall(r"^(\S+) = ", source.read(path), re.M))
    return keys


def pattern(documented):
    return re.compile(re.sub(r"NAME", ".+", re.sub(r"N(?!AME)", "[0-9][a-z]?", re.escape(documented))))


def main():
    keys = said()
    documented = {key: pattern(key) for key in re.findall(r"`((?:host|job)\.[\w.]*)`", source.read("docs/metadata.md"))}
    faults = [] if len(keys) > 80 else [f"only {len(keys)} keys found: this lint looks in the wrong place"]
    faults += [f"docs/metadata.md lacks {key}" for key in sorted(keys) if not any(p.fullmatch(key) for p in documented.values())]
    faults += [f"docs/metadata.md: nothing says {name}" for name, p in documented.items()
               if not any(p.fullmatch(key) for key in keys) and name not in ("job.environment.NAME", "job.waited.NAME_ns", "job.waited.NAME_in")]
    source.report(faults)


main()
