# SPDX-License-Identifier: Apache-2.0
"""Which code a difference in CPU time lies in, of recordings whose stacks are known (tests/programs/blamed_run.c): the function, the version of its
library, parts that add up, and how far down it is certain: functions that were renamed, inlined or are new, programs under another name, single runs,
runs without stacks or with other rates."""
import html
import json
import os
import re
import subprocess

import jsonschema
import schemas

SONDE, PROGRAMS, TOP = os.environ["SONDE"], os.environ["PROGRAMS"], os.environ["TOP"]
os.environ["SONDE_HISTORY"] = "off"
NOISE = (0, 3, -2, 1, -3)
APP, OLD, NEW = "/opt/app", "/lib/libz.so.1.2.13", "/lib/libz.so.1.3.1"
HOSTILE = "f\033|x"
with open(f"{TOP}/docs/schema/compare.json", encoding="utf-8") as f:
    SCHEMA = json.load(f)
made = 0


def group(functions, program=APP, library=OLD, build="aa", system=400, runs=5):
    """Runs of these functions, each a little more or less; in time between those of other groups."""
    global made  # pylint: disable=global-statement
    made += 1
    names = []
    for i, noise in enumerate(NOISE[:runs]):
        names.append(f"g{made}_{i}")
        words = [f"{name}={n if name in ('period', 'after') else n + noise * (1 + k % 3)}" for k, (name, n) in enumerate(functions.items())]
        subprocess.run([f"{PROGRAMS}/blamed_run", names[-1], str(1000 * i + 10 * made), program, library, build, str(system), *words], check=True)
    return ",".join(names)


def compare(a, b, *words, status=None):
    ended = subprocess.run([SONDE, "compare", *words, a, b], capture_output=True, check=False)
    assert ended.returncode in ((0, 1, 3) if status is None else (status,)), (words, ended)
    return ended.stdout.decode().replace("\n  ", " ") if "--fail-if" in words else ended.stdout.decode()


def blame(a, b):
    document = json.loads(compare(a, b, "--json"))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    jsonschema.Draft202012Validator(schemas.strict(SCHEMA)).validate(document)
    found = document["blame"]
    if found and not found["refused"]:
        for level in ("class", "function", "command"):
            for key in ("a_seconds", "b_seconds", "difference_seconds"):
                if found[level]:
                    assert abs(sum(part[key] for part in found[level]) - found["whole"][key]) < 1e-9, (level, key, found)
    return found


def flame_of(path, said):
    """Of the page's flame graph by name: class, row, seconds of A and B as written, width."""
    with open(path, encoding="utf-8") as f:
        page = f.read()
    assert said in page and "<script" not in page
    boxes = re.findall(r'<rect class="(\w+)" x="[\d.]+" y="(\d+)" width="([\d.]+)" height="\d+"/><title>(.*?): (.* points)</title>', page)
    return {html.unescape(name): (colour, int(y), words, float(width)) for colour, y, width, name, words in boxes}


def brief(found):
    return found["sentence"], found["note"], [(part["name"], part["kind"], part["blamed"]) for part in found["function"]]


def blamed(found, level="function"):
    return [(part["name"], part["module"]) for part in found[level] if part["blamed"]]


WORK = {"solve": 500, "assemble": 200, "z:deflate": 200, "memcpy": 100}
base = group(WORK)

# ---- a function of a library of another version ----
slow = group(WORK | {"z:deflate": 260}, library=NEW, build="bb", system=410)
found = blame(base, slow)
assert found["sentence"] == "+5.8 % [3.4, 8.2] CPU: deflate +5.7 points (libz 1.2.13 -> 1.3.1); rest +0.1 points", found["sentence"]
assert blamed(found) == [("deflate", "libz.so")] and blamed(found, "class") == [("compression", None)], brief(found)
(deflate,) = (part for part in found["function"] if part["name"] == "deflate")
assert deflate["low_seconds"] > 0 and 0.59 < deflate["difference_seconds"] < 0.61 and deflate["samples_b"] > 1200, deflate
assert deflate["low_seconds"] <= deflate["counted_low_seconds"] + 1e-12 and deflate["p_corrected"] <= 0.01, deflate
assert {part["kind"] for part in found["function"]} == {"named", "not sampled", "kernel"} and found["parts"] == 12, brief(found)
assert [part["name"] for part in found["function"]][:2] == ["solve", "deflate"] and len(deflate["values_a"]) == 5, brief(found)
text = compare(base, slow)
assert "\n" + found["sentence"] + "\n" in text.replace("\n  ", " "), text
assert "\n*    1.99 s    2.59 s    +5.7 " in text and "deflate (libz.so)\n" in text and "all CPU time" in text, text
assert max(len(line) for line in text.splitlines()) <= 80, text
paper = compare(base, slow, "--markdown", "--html", "diff.html")
assert "| **deflate (libz.so)** | 1.99 s | 2.59 s | +5.7 |" in paper and "deflate +5.7 points" in paper, paper
flame = flame_of("diff.html", "deflate +5.7 points (libz 1.2.13 -&gt; 1.3.1)")
assert flame["all"][0] == flame["deflate (libz.so)"][0] == "m3" and flame["solve"][0] == flame["memcpy"][0] == "e", flame
assert flame["deflate (libz.so)"][2] == "1.99 s in A, 2.59 s in B, +5.7 points", flame
assert abs(sum(width for _, y, _, width in flame.values() if y == 17) - flame["all"][3]) < 1, flame
back = blame(slow, base)["sentence"]
assert back.startswith("-5.5 % [-7.8, -3.3] CPU: deflate -5.4 points (libz 1.3.1 -> 1.2.13)"), back
same_name = blame(base, group(WORK | {"z:deflate": 260}, build="cc"))
assert "deflate +5.7 points (another build of libz.so.1.2.13)" in same_name["sentence"], same_name["sentence"]

# ---- the gate ----
text = compare(base, slow, "--fail-if", "time(deflate)>+5%", status=1)
assert "worse, fails on time(deflate)>+5%: time(deflate) +30 % (" in text, text
(gate,) = json.loads(compare(base, slow, "--fail-if", "time(compression)>+5%", "--json"))["gate"]
assert gate["verdict"] == "worse" and gate["unit"] == "seconds" and [round(v, 6) for v in gate["values_a"]] == [2, 2.09, 1.94, 2.03, 1.91], gate
compare(base, slow, "--fail-if", "time(\"sol*\")>+5%", status=0)
compare(base, slow, "--fail-if", "time(deflate)/cpu_seconds>+5%", status=1)
text = compare(base, slow, "--fail-if", "time(no_such)>+5%", status=3)
assert "time(no_such) is unknown for all runs of" in text, text
rare = compare(base, group({"solve": 500, "assemble": 200, "memcpy": 100, "rare": 3}), "--fail-if", "time(rare)>+5%", "--json", status=3)
assert [v and round(v, 6) for v in json.loads(rare)["gate"][0]["values_b"]] == [0.03, 0.06, 0.01, 0.04, 0]
assert "is unknown for all runs of B" in compare(base, group({"solve": 500}), "--fail-if", "time(assemble)>+5%", status=3)

# ---- nothing changed ----
found = blame(base, group(WORK))
assert not any(blamed(found, level) for level in ("class", "function", "command")), brief(found)
assert found["sentence"].endswith(" CPU: no function, kind of code or command differs for certain"), found["sentence"]

# ---- how far down it is certain ----
found = blame(base, group({"solve_fast": 600, "assemble": 200, "z:deflate": 200, "memcpy": 100}))
assert blamed(found) == [("renamed or inlined", "app")] and "functions of app +9.6 points" in found["sentence"], found["sentence"]
assert found["note"].startswith("Functions of app that only A or only B has"), found["note"]
assert "solve" not in [part["name"] for part in found["function"]], brief(found)
found = blame(base, group({"solve": 700, "z:deflate": 200, "memcpy": 100}))  # assemble was inlined into solve
kinds = {part["kind"] for part in found["function"] if part["module"] == "app"}
assert not blamed(found) and kinds == {"named", "renamed or inlined"}, brief(found)
found = blame(base, group(WORK | {"extra": 80}))  # it is new, and nothing is gone
assert blamed(found) == [("extra", "app")] and not found["note"], brief(found)
found = blame(base, group(WORK | {"solve": 560}, program="/opt/app_new"))
assert blamed(found) == [("solve", "app")], brief(found)
assert found["note"] == "The program app of A is taken for app_new of B. The command app of A is taken for app_new of B. ", found["note"]

# ---- what cannot be told ----
found = blame(group(WORK, runs=1), group(WORK | {"z:deflate": 260}, runs=1))
assert not blamed(found) and found["whole"]["low_seconds"] is None, brief(found)
assert "so no code is blamed; the largest part is deflate" in found["sentence"], found["sentence"]
assert all(part["p_corrected"] is None and part["counted_high_seconds"] is not None for part in found["function"]), brief(found)
bare = group({}, runs=5)
found = blame(base, bare)
assert found["refused"] == found["sentence"] == "no code is blamed, since the runs of B have no stacks: record both sides with --stacks", brief(found)
assert found["whole"] is None and not found["function"], brief(found)
assert "no code is blamed, since the runs of A have no stacks" in compare(bare, base).replace("\n  ", " ")
assert blame(bare, group({}, runs=2)) is None and "stacks" not in compare(bare, bare)
found = blame(base, group(WORK | {"period": 5000000}))
assert "stacks were sampled 100 times a second in some runs and 200 times in others" in found["refused"], brief(found)
found = blame(group(WORK | {"after": 1000000000}), base)
assert found["refused"] == ("no code is blamed, since some runs have samples of long processes only, as by default, and others of all: "
                            "record all with the same --stacks"), brief(found)
assert not blame(group(WORK | {"after": 1000000000}), group(WORK | {"after": 1000000000}))["refused"]
found = blame(base, group({"after": 1000000000}, runs=5))
assert found["refused"] == ("no code is blamed, since the processes of B were too short for the samples that are taken by default: "
                            "record both sides with --stacks"), brief(found)
found = blame(base + "," + bare.split(",", maxsplit=1)[0], slow)
assert blamed(found) == [("deflate", "libz.so")] and found["note"] == "1 run of A without stacks is left out. ", brief(found)

# ---- hostile names ----
found = blame(base, group(WORK | {HOSTILE: 80}))
assert blamed(found) == [(HOSTILE, "app")], brief(found)
last = f"g{made}_0,g{made}_1,g{made}_2,g{made}_3,g{made}_4"
assert "\033" not in compare(base, last) and "f&#92;x1b&#124;x" in compare(base, last, "--markdown")
compare(base, last, "--html", "hostile.html")
assert "f\\x1b|x" in flame_of("hostile.html", "f\\x1b|x +")
