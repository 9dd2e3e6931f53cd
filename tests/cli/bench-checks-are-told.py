# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""A model's checks compare what a script reports with what its other figures say: trials that fail one are told by stats, compare, history and advise, and
count as before. The store keeps the checks; what is no check is refused with its place."""
import json
import os

import jsonschema
import schemas
from trials import check, database, end, sonde

with open(os.environ["TOP"] + "/docs/schema/bench-stats.json", encoding="utf-8") as f:
    STATS = schemas.strict(json.load(f))


def inspection(name, indicator, trials, start="2026-01-01"):
    results = {str(i): {"exit_code": 0, "stdout": {"name": indicator, "framework": "tensorflow", "@parameters": parameters, "@result": results}, "stderr": "",
                        "hostname": "h", "script_sha256": "ab" * 32, "start_datetime": f"{start}T00:00:{i:02}.000000", "end_datetime": f"{start}T00:00:{i:02}.500000"}
               for i, (parameters, results) in enumerate(trials)}
    with open(name + ".json", "w") as f:
        json.dump({"inspection_id": name, "specification": {"script": "x", "batch_size": len(trials)}, "results": results}, f)
    sonde("import", "amun", name + ".json")


def stats(batch):
    answer = json.loads(sonde("bench", "stats", batch, "--json").stdout)
    jsonschema.Draft202012Validator(STATS).validate(answer)
    return answer["batches"][0]


# As Thoth's scripts report them: the rate is that of all products; a script that left its mini batches out, one that multiplied only one term by them, and
# one without any.
MATMUL = {"device": "cpu", "dtype": "float32", "reps": 20000, "matrix_size": 512}
OPS = 512**3 + 511 * 512**2
inspection("real", "PiMatmul", [(MATMUL, {"rate": 0.009799366109955314, "elapsed": 27366.39380455017}),
                                (MATMUL, {"rate": OPS / 26000 / 1e6, "elapsed": 26000.0})])
inspection("wrong", "PiMatmul", [({**MATMUL, "mini_batch": 40}, {"rate": 40 * OPS / 500 / 1e6, "elapsed": 500.0}),
                                 ({**MATMUL, "mini_batch": 40}, {"rate": (512**3 + 511 * 512**2 * 40) / 500 / 1e6, "elapsed": 500.0}),
                                 ({**MATMUL, "mini_batch": 40}, {"rate": OPS / 500 / 1e6, "elapsed": 500.0})], start="2026-01-02")
CONV = {"device": "cpu", "dtype": "float32", "data_format": "NHWC", "reps": 30, "mini_batch": 100, "batch": 4, "input_height": 700, "input_width": 161,
        "input_channels": 1, "filter_height": 20, "filter_width": 5, "output_channels": 32, "strides": 2, "padding": "SAME"}
OPS2 = 4 * 700 * 161 * 20 * 5 * 32 * 2 / 4
inspection("conv", "PiConv2D", [(CONV, {"rate": OPS2 * 100 / 1000 / 1e6, "elapsed": 1000.0}), (CONV, {"rate": OPS2 / 1000 / 1e6, "elapsed": 1000.0})])
check("those that agree", stats("bench:1")["doubtful"] == [], stats("bench:1"))
said = stats("bench:2")
check("those that do not", [d["trial"] for d in said["doubtful"]] == [2, 3] and said["trials"] == 3 and said["figures"]["rate"]["n"] == 3, said)
check("by how much", abs(said["doubtful"][1]["computed"] / said["doubtful"][1]["reported"] - 40) < 1e-6 and
      said["doubtful"][1]["check"].startswith("rate ~ "), said)
check("a hundred times", [(d["trial"], round(d["computed"] / d["reported"])) for d in stats("bench:3")["doubtful"]] == [(2, 100)])
text = sonde("bench", "stats", "bench:2").stdout
check("as text", "  doubtful: 2 of 3 trials fail the check rate ~ " in text and "; bench:2/2 reports " in text and " is computed" in text, text)
check("none in doubt", "doubtful" not in sonde("bench", "stats", "bench:1").stdout)
check("compared", "compare: 2 of 3 trials fail the check rate ~ " in sonde("compare", "bench:1", "bench:2", code=3).stderr)
check("over time", "bench history: 2 of 5 trials fail the check" in sonde("bench", "history", "PiMatmul", "-c", "rate").stderr)
check("of those that are asked for", "1 of 1 trial fails the check" in sonde("bench", "history", "PiConv2D", "-c", "rate", "-w", "rate<1").stderr)
check("what is not asked for", "fail" not in sonde("bench", "history", "PiMatmul", "-c", "rate", "-w", "batch=1").stderr)
check("advised", "bench advise: 2 of 5 trials fail the check" in sonde("bench", "advise", "PiMatmul", "-c", "rate").stderr)

# Of one's own: tolerance, what is not known, a figure of the trial; the store follows a change of the checks.
with open("script", "w") as f:
    f.write('#!/bin/sh\necho "{\\"name\\": \\"PiOwn\\", \\"component\\": \\"x\\", \\"@parameters\\": {\\"n\\": $1, \\"kind\\": \\"$2\\"}, \\"@result\\": {\\"twice\\": $3}}"\n')
os.chmod("script", 0o755)
MODEL = "indicator PiOwn\n  parameter n int\n  parameter kind any\n  result twice real\n"


def run(checks, n, kind, twice):
    with open("own.model", "w") as f:
        f.write(MODEL + checks)
    sonde("bench", "run", "-q", "-o", f"o{run.n}", "--model", "own.model", "./script", str(n), kind, str(twice))
    run.n += 1
    return [(d["check"], d["reported"], d["computed"]) for d in stats(f"bench:{database('SELECT MAX(id) FROM batches')[0][0]}")["doubtful"]]


run.n = 0
CHECK = "  check twice ~ 2 * n within 5%   # about\n"
check("within", run(CHECK, 100, "1", 209) == [])
check("beyond", run(CHECK, 100, "1", 211) == [("twice ~ 2 * n within 5%", 211, 200)])
check("a percent", run("  check twice ~ 2 * n\n", 100, "1", 203) == [("twice ~ 2 * n", 203, 200)] and run("  check twice ~ 2 * n\n", 100, "1", 201.9) == [])
check("exactly", run("  check twice ~ 2 * n within 0\n", 100, "1", 200.001) == [("twice ~ 2 * n within 0", 200.001, 200)])
check("a number as a text", run("  check twice ~ n + kind\n", 100, "100", 300) == [("twice ~ n + kind", 300, 200)])
check("what is not known", run("  check twice ~ n + kind\n", 100, "much", 300) == [])
check("a figure of trials", len(run("  check twice ~ duration_seconds\n", 100, "1", 1e9)) == 1)
check("several", len(run(CHECK + "  check n ~ twice / 2\n", 100, "1", 300)) == 2)
check("no longer", run("", 100, "1", 300) == [])
check("none is kept", database("SELECT checks FROM indicators WHERE name = 'PiOwn'") == [(None,)])
declared = next(i for i in json.loads(sonde("bench", "schema", "--format", "json").stdout)["indicators"] if i["name"] == "PiMatmul")
check("declared", len(declared["checks"]) == 1 and declared["checks"][0].startswith("rate ~ "), declared)

for line, at, words in (("check", 3, "check NAME ~ FORMULA"), ("check twice", 9, "check NAME ~ FORMULA"), ("check twice n", 9, "check NAME ~ FORMULA"),
                        ("check twice ~ 2 *", 20, ""), ("check twice ~", 16, ""), ("check twice ~ m", 9, "not of 'm'"), ("check other ~ n", 9, "not of 'other'"),
                        ("check twice ~ mean(n)", 9, "not of 'mean'"), ("check twice ~ n within 2", 26, "a share of less than 1"),
                        ("check twice ~ n within x%", 26, "a share of less than 1"), ("check twice ~ n within -1%", 26, "a share of less than 1"),
                        ("check twice ~ n within nan", 26, "a share of less than 1")):
    with open("own.model", "w") as f:
        f.write(MODEL + "  " + line + "\n")
    p = sonde("bench", "schema", "--model", "own.model", code=2)
    check(f"sentence for {line!r}", f"own.model:5:{at}: " in p.stderr and words in p.stderr and p.stderr.count("\n") == 1, p.stderr)
end()
