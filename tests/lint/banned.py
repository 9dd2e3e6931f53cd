# SPDX-License-Identifier: Apache-2.0
"""Functions that are not used, who may print or exit (main and the commands only), and names that are cmocka's: a unit test that fails would call ours.
Limits of tests that do not grow with the load of the machine."""
import re

import source

BANNED = re.compile(r"\b(strcpy|strcat|sprintf|vsprintf|strtok|gets|atoi|atol|atof|localtime|gmtime|alloca)\s*\(")
SPEAKS = re.compile(r"\b(system|popen|printf|puts|putchar|perror|exit|abort|err|errx|warn|warnx)\s*\(|\b(stdout|stderr)\b")
LIMIT = re.compile(r"^(?!.*(connect|urlopen)\().*\btimeout=\d")  # those are in programs that tests run
SHELL_LIMIT = re.compile(r'\btimeout (-\S+ \S+ )*[\d.]+ "\$(SONDE|@)"')  # of a job, it is the job's
CMOCKA = re.compile(r"\bv?print_(error|message)\s*\(")

# They talk to the person who runs a command.
SPEAKERS = tuple(f"src/{room}/" for room in ("cmd", "console", "output", "perfmon", "session", "sweep", "trial"))


def main():
    faults = []
    for path in source.files(".c", ".h"):
        quiet = path.startswith("src/") and not path.startswith(SPEAKERS) and path not in ("src/main.c", "src/pack.c")
        for number, line in enumerate(source.code(source.read(path)).splitlines(), 1):
            for pattern in [BANNED] + [SPEAKS] * quiet + [CMOCKA] * path.startswith("src/"):
                match = pattern.search(line)
                if match:
                    faults.append(f"{path}:{number}: {match.group(0).strip(' (')} is not used here")
    for path in source.files(".py"):
        for number, line in enumerate(source.read(path).splitlines(), 1):
            if path.startswith("tests/") and not path.startswith("tests/causes/") and LIMIT.search(line):
                faults.append(f"{path}:{number}: write timeout=patience(...)")
    for path in source.files(".sh"):
        for number, line in enumerate(source.read(path).splitlines(), 1):
            if path.startswith("tests/") and SHELL_LIMIT.search(line) and '-- timeout' not in line:
                faults.append(f'{path}:{number}: write timeout "$(patience ...)"')
    source.report(faults)


main()
