# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""Inspections of Amun become batches and trials, with all that Amun says of them: in folders, with gaps and short batches, in older layouts,
damaged; once only. They compare with trials that sonde ran."""
import json
import os

from trials import check, database, end, sonde

USAGE = {f"ru_{n}": i for i, n in enumerate("maxrss ixrss idrss isrss minflt majflt nswap inblock oublock msgsnd msgrcv nsignals nvcsw nivcsw".split(), 100)}
HWINFO = {"cpu_info": {"brand_raw": "Xeon", "hz_actual": [2100000000, 0]}, "platform": {"node": "n1"}, "cpu_features": {"flags": ["avx", "fma"]}}


def result(i, elapsed, **changes):
    printed = {"name": "PiConv1D", "component": "pytorch", "@parameters": {"device": "cpu", "dtype": "float32", "padding": i if i % 2 else "SAME"},
               "@result": {"elapsed": elapsed, "rate": 1}, "overall_score": None}
    return {"hwinfo": HWINFO, "stdout": printed, "stderr": "warm\n", "exit_code": 0, "script_sha256": "ab" * 32,
            "usage": {"ru_utime": 1.25, "ru_stime": 0.5, **USAGE}, "start_datetime": f"2020-03-01T12:00:{i:02d}.500000", "end_datetime": f"2020-03-01T12:00:{i + 2:02d}.750000",
            "os_release": {"id": "fedora"}, "runtime_environment": {"python_version": "3.8"}, "hostname": "n1", **changes}


def inspection(name, results, specification=None):
    os.makedirs(f"{name}/build")
    if specification is not None:
        with open(f"{name}/build/specification", "w") as f:
            json.dump(specification, f)
    for i, document in results.items():
        os.makedirs(f"{name}/results/{i}")
        with open(f"{name}/results/{i}/result", "w") as f:
            f.write(document if isinstance(document, str) else json.dumps(document, sort_keys=True, indent=2))


SPECIFICATION = {"base": "fedora:32", "batch_size": 5, "script": "https://example.org/conv1d.py", "@created": "2020-03-01T11:59:00.000000",
                 "python": {"requirements": {}, "requirements_locked": {"default": {"torch": {"version": "==1.4.0"}}}}}
inspection("all/inspection-a-0001", {0: result(0, 10.0), 1: result(1, 11), 3: result(3, 12, exit_code=1)}, SPECIFICATION)
inspection("all/inspection-b-0002", {0: {**result(0, 20.0)["stdout"], "exit_code": 0, "usage": {}, "datetime": "2020-03-01T12:00:00"},
                                     1: result(1, 1, stdout="Traceback (most recent call last):"), 2: "{", 10: result(10, 21.0, stdout={})})
os.mkdir("all/notes")
p = sonde("import", "amun", "all", code=1)
for words in ("1 of 4 results are missing", "a batch of 5 was requested, but 4 results came", "results/2/result: it is not JSON", "inspections: 2, trials: 6, failed: 3"):
    check(f"says {words}", words in p.stderr, p.stderr)
trials = database("SELECT t.*, b.uid, b.origin FROM trials t JOIN batches b ON b.id = t.batch_id ORDER BY b.uid, number")
check("trials", [(t["uid"], t["number"], t["state"]) for t in trials] ==
      [("amun:inspection-a-0001", 1, "ok"), ("amun:inspection-a-0001", 2, "ok"), ("amun:inspection-a-0001", 4, "failed"), ("amun:inspection-b-0002", 1, "ok"),
       ("amun:inspection-b-0002", 2, "failed"), ("amun:inspection-b-0002", 11, "failed")], [tuple(t) for t in trials])
t = trials[0]
check("usage", t["ru_utime"] == 1.25 and t["ru_stime"] == 0.5 and [t[n] for n in USAGE] == list(USAGE.values()), dict(t))
check("times", t["duration_seconds"] == 2.25 and t["start_ns"] == 1583064000500000000, dict(t))
check("who", t["host"] == "n1" and t["version"] == "ab" * 32 and t["stderr"] == "warm\n" and t["origin"] == SPECIFICATION["script"], dict(t))
check("unknown is null", trials[3]["ru_utime"] is None and trials[3]["duration_seconds"] is None and trials[3]["start_ns"] == 1583064000000000000, dict(trials[3]))
check("typed", [tuple(r) for r in database("SELECT padding, elapsed, rate FROM pi_conv1d ORDER BY trial_id")][:3] == [("SAME", 10, 1), ("1", 11, 1), ("3", 12, 1)])
facts = {r["name"]: r["text"] for r in database(f"SELECT * FROM environment_facts WHERE environment_id = {t['environment_id']}")}
check("facts", facts == {"hwinfo.cpu_info.brand_raw": "Xeon", "hwinfo.platform.node": "n1", "hwinfo.cpu_features.flags": '["avx","fma"]', "os_release.id": "fedora",
                         "runtime_environment.python_version": "3.8", "package.torch": "1.4.0"}, facts)
check("one environment", trials[1]["environment_id"] == t["environment_id"])
before = [tuple(r) for r in database("SELECT * FROM trials ORDER BY id")]
p = sonde("import", "amun", "--json", "all", code=1)
with open(os.environ["TOP"] + "/docs/schema/import-amun.json") as f:
    members = json.load(f)["properties"]
check("as its schema says", set(json.loads(p.stdout)) == set(members) and json.loads(p.stdout)["schema"] == members["schema"]["const"], p.stdout)
check("once only", json.loads(p.stdout)["trials"] == 0 and json.loads(p.stdout)["there_already"] == 6 and
      before == [tuple(r) for r in database("SELECT * FROM trials ORDER BY id")], p.stdout)
with open("single.json", "w") as f:
    json.dump(result(5, 13.5), f)
sonde("import", "amun", "single.json")
check("one document", [*database("SELECT state, path FROM trials ORDER BY id DESC")[0]] == ["ok", os.path.abspath("single.json")])
with open("partly.json", "w") as f:
    json.dump(result(6, 14, usage={"ru_utime": 1.999999, "ru_stime": "x", "ru_maxrss": 1e300}), f)
sonde("import", "amun", "partly.json")
used = dict(database("SELECT * FROM trials ORDER BY id DESC")[0])
check("what was not said is null", used["ru_utime"] == 1.999999 and [n for n in ("ru_stime", *USAGE) if used[n] is not None] == [], used)
# Where there is no result, the log says why; where it says nothing on standard error, too.
inspection("logged", {0: result(0, 1, stderr=""), 2: result(2, 1)})
os.mkdir("logged/results/1")
for i in range(3):
    with open(f"logged/results/{i}/log", "w") as f:
        f.write("x" * 70000 + f"the end {i}\n")
sonde("import", "amun", "logged", code=1)
logged = database("SELECT * FROM trials ORDER BY id DESC LIMIT 3")[::-1]
check("a log is kept", [t["stderr"][-10:] for t in logged] == ["the end 0\n", "the end 1\n", "warm\n"] and len(logged[0]["stderr"]) == 65536, logged)
check("a log without a result", [t["state"] for t in logged] == ["ok", "failed", "ok"] and "cannot open the result" in logged[1]["reason"], logged[1]["reason"])
# What there is no room for is said.
inspection("large", {0: result(0, 1), 1: result(1, 2, hwinfo=None)}, {"python": {"requirements_locked": {"default": {f"p{i}": {"version": "==1"} for i in range(6000)}}}})
with open("large/results/1/hwinfo", "w") as f:
    f.write("{")
p = sonde("import", "amun", "large")
check("facts without room", "results/0/result: 1005 facts of its machine and software are left out" in p.stderr, p.stderr)
check("a broken hwinfo", "results/1/hwinfo: it is not JSON" in p.stderr and "the facts in it are left out" in p.stderr, p.stderr)
os.remove("s.sqlite")
sonde("import", "amun", "all", code=1)
sonde("import", "amun", "single.json")
sonde("import", "amun", "partly.json")
batches = json.loads(sonde("bench", "list", "--json").stdout)["batches"]
check("list", [(b["source"], b["indicator"], b["trials"], b["failed"]) for b in batches] ==
      [("amun", "PiConv1D", 3, 1), ("amun", "PiConv1D", 3, 2), ("amun", "PiConv1D", 1, 0), ("amun", "PiConv1D", 1, 0)], batches)
for path, words in (("nowhere", "cannot read nowhere"), ("all/notes", "there is no inspection"), ("all/inspection-b-0002/results/2/result", "it is not JSON")):
    p = sonde("import", "amun", path, code=1)
    check(f"sentence for {path}", words in p.stderr and p.stderr.count("\n") == 1, p.stderr)
end()
