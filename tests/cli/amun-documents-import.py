# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""Single documents become batches and trials with all of their results: whole inspections of each year of Amun and thoth-storages, aggregates of several,
reports of Dependency Monkey; each once only. What is truncated, foreign or hostile is left out, and nothing fails unsaid."""
import json
import os

from trials import check, database, end, sonde


def result(i, elapsed, **changes):
    printed = {"name": "PiMatmul", "framework": "tensorflow", "@parameters": {"device": "cpu", "dtype": "float32", "matrix_size": 512, "reps": 10},
               "@result": {"elapsed": elapsed, "rate": 1.5}}
    return {"stdout": printed, "stderr": "", "exit_code": 0, "script_sha256": "cd" * 32, "hwinfo": {"cpu_info": {"count": 4}}, **changes}


def wrapped(i, elapsed):
    return result(i, elapsed, hwinfo={}, usage={"ru_utime": 1.0}, start_datetime=f"2020-09-04T10:00:{i:02d}.0", end_datetime=f"2020-09-04T10:00:{i + 1:02d}.5")


def put(name, document):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w") as f:
        f.write(document if isinstance(document, str) else json.dumps(document))
    return name


def imported(name, document, code=0, words=()):
    p = sonde("import", "amun", put(name, document), code=code)
    for w in words:
        check(f"{name} says {w}", w in p.stderr, p.stderr)
    return p


def trials(uid):
    return [tuple(t) for t in database(f"SELECT number, state, elapsed FROM trials t JOIN batches b ON b.id = t.batch_id LEFT JOIN pi_matmul m ON m.trial_id = t.id "
                                       f"WHERE b.uid = 'amun:{uid}' ORDER BY number")]


SPECIFICATION = {"base": "fedora:29", "script": "https://example.org/matmul.py", "@created": "2019-06-06T10:40:00.0", "build": {}, "run": {}, "files": [], "packages": [],
                 "python": {"requirements": {}, "requirements_locked": {"default": {"tensorflow": {"version": "==1.13.1"}}}}}
FIVE = [result(i, 10.0 + i) for i in range(5)]
WHOLE = {"inspection_id": "inspection-1a2b3c4d", "created": "2019-06-06T10:40:30.0", "specification": SPECIFICATION, "build_log": "built",
         "status": {"build": {"exit_code": 0}, "job": {"exit_code": 0, "started_at": "2019-06-06T10:41:04Z", "finished_at": "2019-06-06T10:41:09Z"}}}

# One result of 2019: times are the cluster's.
imported("one.json", {**WHOLE, "job_log": result(0, 27.5)}, words=["inspections: 1, trials: 1, failed: 0"])
check("job_log", trials("inspection-1a2b3c4d") == [(1, "ok", 27.5)], trials("inspection-1a2b3c4d"))
t = database("SELECT t.*, b.origin, b.start_ns AS created FROM trials t JOIN batches b ON b.id = t.batch_id")[0]
check("times and origin", (t["start_ns"], t["end_ns"], t["origin"], t["created"]) == (1559817664 * 10**9, 1559817669 * 10**9, SPECIFICATION["script"], 1559817600 * 10**9), dict(t))
facts = dict(tuple(r) for r in database(f"SELECT name, text FROM environment_facts WHERE environment_id = {t['environment_id']}"))
check("facts", facts == {"hwinfo.cpu_info.count": "4", "package.tensorflow": "1.13.1"}, facts)
# Five at once: as a list, by number, as texts, in each of the names.
for key, kept in (("job_logs", FIVE), ("job_log", FIVE), ("job_logs", {str(i): r for i, r in enumerate(FIVE)}), ("job_logs", [json.dumps(r) for r in FIVE]),
                  ("results", [{"result": r, "hwinfo": {"cpu_info": {"count": 8}}, "job_logs": "said"} for r in FIVE])):
    name = f"inspection-{key.replace('_', '')}-{type(kept).__name__}{type(kept[0]).__name__ if isinstance(kept, list) else ''}"
    imported(f"{name}.json", {**WHOLE, "inspection_id": name, key: kept}, words=["trials: 5, failed: 0"])
    check(f"five of {name}", trials(name) == [(i + 1, "ok", 10.0 + i) for i in range(5)], trials(name))
# Without a name it is known by its content, and imported once.
for _ in range(2):
    p = imported("nameless.json", {"specification": SPECIFICATION, "job_logs": FIVE})
check("once", "imported earlier: 5" in p.stderr and "trials: 0" in p.stderr, p.stderr)
# Several by their ids, as the processing of reports keeps them; a list of results; what the service answers.
imported("aggregate.json", {"inspection-x-01": {"results": [{"result": wrapped(0, 1.0), "hwinfo": {"cpu_info": {"count": 2}}, "requirements": {}}], "specification": SPECIFICATION,
                                                "build_logs": "built"}, "inspection-x-02": {"results": [{"result": wrapped(i, 2.0 + i)} for i in range(3)]}},
         words=["inspections: 2, trials: 4"])
check("aggregate", [len(trials(f"inspection-x-0{i}")) for i in (1, 2)] == [1, 3])
check("hwinfo beside a result", database("SELECT f.text FROM environment_facts f JOIN trials t USING (environment_id) JOIN batches b ON b.id = t.batch_id "
                                         "WHERE b.uid = 'amun:inspection-x-01' AND name = 'hwinfo.cpu_info.count'")[0][0] == "2")
imported("list.json", [wrapped(0, 1.0), wrapped(1, 2.0)], words=["inspections: 1, trials: 2"])
imported("service.json", {"inspection_id": "inspection-y", "parameters": {"item": 0}, "result": wrapped(0, 3.0)}, words=["trials: 1, failed: 0"])
check("of the service", trials("inspection-y") == [(1, "ok", 3.0)], trials("inspection-y"))

# What failed is said, one by one, and the exit code is 1.
imported("failed.json", {**WHOLE, "inspection_id": "inspection-f", "job_logs": [result(0, 1.0, exit_code=139), "Segmentation fault", {}, result(3, 1.0, stdout="oops")]}, code=1,
         words=["inspection-f, result 0 failed: it ended with exit code 139", "inspection-f, result 1 failed: no result is in it", "inspection-f, result 2: no result is in it; it is left out",
                "inspection-f, result 3 failed", "trials: 3, failed: 3", "not imported: 1"])
check("a log is kept", database("SELECT stderr FROM trials t JOIN batches b ON b.id = t.batch_id WHERE b.uid = 'amun:inspection-f' AND number = 2")[0][0] == "Segmentation fault")
imported("unbuilt.json", {**WHOLE, "inspection_id": "inspection-u"}, code=1, words=["inspection-u has no result"])

# Dependency Monkey: its stacks are the combinations of a sweep, with the trials of what was imported.
def response(i, version):
    return {"response": f"inspection-dm-{i}", "product": {"score": 0.25 * i, "justification": [], "advised_runtime_environment": None, "project": {
        "requirements": {"packages": {"tensorflow": "*"}, "dev-packages": {}}, "requirements_locked": {"default": {"tensorflow": {"version": version}, "numpy": {"version": "==1.19.1"}}}}}}


MONKEY = {"metadata": {"analyzer": "thoth-adviser", "datetime": "2020-09-04T09:00:00.5", "arguments": {"dependency-monkey": {"decision_type": "random", "seed": 42, "context": {"batch_size": 3}}}},
          "result": {"error": False, "error_msg": None, "parameters": {}, "report": {"skipped": 2, "responses": [response(1, "==2.2.0"), response(2, "==2.3.0"), response(3, "==2.1.0")]}}}
for i in (1, 2):
    imported(f"dm-{i}.json", {**WHOLE, "inspection_id": f"inspection-dm-{i}", "job_logs": [result(k, 10.0 * i + k) for k in range(3)]})
imported("dependency-monkey-ab12.json", MONKEY, code=1, words=["stacks: 3", "of 1 stacks the results are missing", "2 stacks were not sent to Amun"])
points = [tuple(r) for r in database("SELECT combination, stack, parameters, skipped, b.uid FROM sweep_points p LEFT JOIN batches b ON b.id = p.batch_id ORDER BY 1")]
check("stacks", [(c, s[:18], p, w, u) for c, s, p, w, u in points] ==
      [(0, "tensorflow==2.2.0 ", '{"adviser_score":"0.25"}', None, "amun:inspection-dm-1"), (1, "tensorflow==2.3.0 ", '{"adviser_score":"0.5"}', None, "amun:inspection-dm-2"),
       (2, "tensorflow==2.1.0 ", '{"adviser_score":"0.75"}', "inspection-dm-3 was not imported", None)], points)
sweep = dict(database("SELECT * FROM sweeps")[0])
check("sweep", (sweep["identifier"], sweep["decision"], sweep["seed"], sweep["batch_size"], sweep["start_ns"]) == ("dependency-monkey-ab12", "random", 42, 3, 1599210000500000000), sweep)
imported("dm-3.json", {**WHOLE, "inspection_id": "inspection-dm-3", "job_logs": [result(k, 30.0 + k) for k in range(3)]})
p = sonde("import", "amun", "--json", "dependency-monkey-ab12.json")
check("complete now", json.loads(p.stdout)["sweeps"] == 1 and "missing" not in p.stderr and database("SELECT count(*) FROM sweep_points WHERE batch_id IS NULL")[0][0] == 0, p.stderr)
advice = sonde("bench", "advise", "sweep:dependency-monkey-ab12", "-c", "elapsed").stdout
check("advice names the stack", "tensorflow" in advice and "2.2.0" in advice, advice)
for name, document in (("old.json", {"skipped": 0, "responses": ["inspection-dm-1", {"response": None, "product": {}}]}), ("empty.json", {"result": {"report": {"skipped": 0, "responses": []}}})):
    imported(name, document, code=name == "old.json")

# Truncated, foreign and hostile ones leave nothing.
before = [tuple(r) for r in database("SELECT (SELECT count(*) FROM batches), (SELECT count(*) FROM trials), (SELECT count(*) FROM sweeps)")]
text = json.dumps({**WHOLE, "inspection_id": "inspection-cut", "job_logs": FIVE})
for name, document, words in (("cut.json", text[:len(text) // 2], "it is not JSON"), ("foreign.json", {"results": [1, 2], "version": "5.1"}, "neither a result"),
                              ("benchmarks.json", {"benchmarks": [{"name": "x", "stats": {"mean": 1}}], "machine_info": {}}, "neither a result"), ("number.json", "7", "neither a result"),
                              ("deep.json", "[" * 100000, "it is not JSON"), ("deep.json", '{"a":' * 50 + json.dumps(result(0, 1)) + "}" * 50, "neither a result"),
                              ("nul.json", '{"job_logs": "\\u0000"}', "not JSON")):
    p = imported(name, document, code=1)
    check(f"{name} says why", (words in p.stderr or "neither a result" in p.stderr) and p.stderr.count("\n") == 1, p.stderr)
check("nothing came of them", before == [tuple(r) for r in database("SELECT (SELECT count(*) FROM batches), (SELECT count(*) FROM trials), (SELECT count(*) FROM sweeps)")])
imported("hostile.json", {"inspection_id": "../x'; DROP TABLE trials; --\x1b[31m", "specification": [1], "status": 3, "created": "x" * 5000,
                          "job_logs": {"99999999999": result(0, 1.0), "-1": None, "0": [[[]]], "7": result(7, 2.0, usage=[], hwinfo="x", stderr={})}}, code=1)
check("numbers are bounded", [t[0] for t in trials("../x''; DROP TABLE trials; --\x1b[31m")] == [1, 8], trials("../x''; DROP TABLE trials; --\x1b[31m"))
# An id that is too long for one is none: two that begin alike stay two.
imported("long.json", [{"inspection_id": "i" * 400 + end, "job_logs": FIVE[:2]} for end in "ab"], words=["inspections: 2, trials: 4"])
imported("answers.json", {"skipped": 0, "responses": ["i" * 400 + "b"]}, code=1, words=["of 1 stacks the results are missing"])
# Which number is whose is not guessed.
imported("twice.json", {"inspection_id": "inspection-twice", "job_logs": {"1": result(0, 1.0), "pod": result(0, 2.0), "01": result(0, 3.0)}}, code=1,
         words=["inspection-twice, result 1 is in it more than once; the first is taken", "trials: 1, failed: 0, imported earlier: 0", "not imported: 2"])
# Many packages without names.
imported("nameless-packages.json", '{"skipped": 0, "responses": [{"product": {"project": {"requirements": {"packages": {' + ", ".join(['"": 1'] * 90000) +
         '}}, "requirements_locked": {"default": {' + ", ".join(['"a": 1'] * 90000) + "}}}}}]}", code=1)
# A folder of documents, as thoth-storages keeps them.
put("folder/inspection-p", {**WHOLE, "inspection_id": "inspection-p", "job_log": result(0, 5.0)})
put("folder/inspection-q", text[:100])
put("folder/README", "no document")
p = sonde("import", "amun", "folder", code=1)
check("a folder", trials("inspection-p") == [(1, "ok", 5.0)] and "inspection-q" in p.stderr and "not imported: 1" in p.stderr, p.stderr)
end()
