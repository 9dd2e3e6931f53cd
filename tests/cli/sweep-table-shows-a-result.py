# SPDX-License-Identifier: Apache-2.0
# limit: 60
"""The table of a sweep shows what decides: the result that the specification names, else the score, else a result of which is known what is better, else any."""
import json

from trials import check, end, script, sonde

MODEL = "indicator PiKnown\n  parameter n int\n  result first real\n  result speed real unit=GB/s\n"


def table(name, results, *words, **more):
    script(name, f"""#!/bin/sh
echo '{json.dumps({"name": name, "component": "x", "@parameters": {"n": 1}, "@result": results, **({"overall_score": 0.25} if name == "PiScore" else {})})}'
""")
    with open(name + ".json", "w") as f:
        json.dump({"script": "./" + name, "batch_size": 1, "matrix": {"parameters": {"X": [1]}}, **more}, f)
    lines = sonde("bench", "sweep", *words, name + ".json").stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("BATCH"))
    return lines[at].split()[4], lines[at + 1].split()[4]


with open("known.model", "w") as f:
    f.write(MODEL)
check("a score", table("PiScore", {"a": 7}) == ("SCORE", "0.25"))
check("no score", table("PiAny", {"a": 7, "b": 8}) == ("a", "7"))
check("what is known to be better", table("PiKnown", {"first": 7, "speed": 8}, "--model", "known.model") == ("speed", "8"))
check("what decides", table("PiNamed", {"a": 7, "b": 8}, decision={"type": "all", "result": "b", "better": "less"}) == ("b", "8"))
end()
