# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""Kept files of pytest-benchmark, Google Benchmark, asv and hyperfine become batches and trials, with their units, machine and commit; the same again changes
nothing. What is truncated, foreign or hostile leaves nothing, and nothing fails unsaid."""
import json
import os
import shutil

import jsonschema

from trials import check, database, end, sonde

KEPT = os.environ["TOP"] + "/tests/fixtures/suites/"
with open(os.environ["TOP"] + "/docs/schema/import-suite.json") as f:
    SCHEMA = json.load(f)


def load(name):
    with open(KEPT + name) as f:
        return json.load(f)


def put(name, document):
    with open(name, "w") as f:
        f.write(document if isinstance(document, str) else json.dumps(document))
    return name


def imported(suite, path, code=0, words=()):
    p = sonde("import", suite, path, code=code)
    for w in words:
        check(f"{suite} {path} says {w}", w in p.stderr, p.stderr)
    return p


def rows(table, columns):
    return [tuple(r) for r in database(f"SELECT {columns} FROM trials t JOIN {table} x ON x.trial_id = t.id ORDER BY t.id")]


def facts(suite):
    return dict(tuple(r) for r in database("SELECT f.name, f.text FROM environment_facts f WHERE environment_id = (SELECT environment_id FROM trials t "
                                           "JOIN batches b ON b.id = t.batch_id WHERE b.source = ? LIMIT 1)", suite))


def units(indicator):
    return {r[0]: r[1] for r in database("SELECT c.name, c.unit FROM indicator_columns c JOIN indicators i ON i.id = c.indicator_id WHERE i.name = ? AND unit IS NOT NULL", indicator)}


def counts():
    return [tuple(r) for r in database("SELECT (SELECT count(*) FROM batches), (SELECT count(*) FROM trials), (SELECT count(*) FROM environments)")]


# pytest-benchmark: each round is a trial, in seconds.
pytest = load("pytest-benchmark.json")
imported("pytest-benchmark", KEPT + "pytest-benchmark.json", words=["benchmarks: 3, trials: 14, failed: 0, imported earlier: 0"])
expected = [("test_b.py::test_fib", str(b["params"]["n"]), v) if b["params"] else (b["fullname"], None, v) for b in pytest["benchmarks"] for v in b["stats"]["data"]]
check("pytest-benchmark's rounds", rows("trials_pytest_benchmark", "benchmark, n, seconds") == expected, rows("trials_pytest_benchmark", "benchmark, n, seconds"))
f = facts("pytest-benchmark")
check("machine and commit of pytest-benchmark", (f["host.cpu_model"], f["host.cpus_count"], f["script.git_commit"], f["script.git_dirty"], f["script.git_branch"], f["machine.system"]) ==
      (pytest["machine_info"]["cpu"]["brand_raw"], "2", pytest["commit_info"]["id"], "false", "master", "Linux"), f)
check("a frequency of that moment is no fact", not [k for k in f if "hz_actual" in k], f)
check("unit of pytest-benchmark", units("PytestBenchmark") == {"seconds": "s"}, units("PytestBenchmark"))
t = database("SELECT t.host, t.start_ns, b.start_ns, b.specification FROM trials t JOIN batches b ON b.id = t.batch_id WHERE t.id = 1")[0]
check("host and time of pytest-benchmark", tuple(t)[:3] == ("box", 1795851345046729000, 1795851345046729000), tuple(t))
check("what else it states is kept", json.loads(t[3])["stats"]["iterations"] == 10 and "data" not in json.loads(t[3])["stats"], t[3])
imported("pytest-benchmark", KEPT + "pytest-benchmark.json", words=["trials: 0, failed: 0, imported earlier: 14"])
# Without the rounds: the median.
for b in pytest["benchmarks"]:
    del b["stats"]["data"]
pytest["benchmarks"][0]["params"] = {"seconds": 3, "list": [1, 2], "benchmark": "x", "none": None}
imported("pytest-benchmark", put("medians.json", pytest), words=["no single values: 3; each is one trial, its median", "trials: 3, failed: 0"])
check("medians", [r[0] for r in rows("trials_pytest_benchmark", "seconds")[14:]] == [b["stats"]["median"] for b in pytest["benchmarks"]])
check("a parameter may be called like a column", rows("trials_pytest_benchmark", "parameter_seconds, list, parameter_benchmark, x.\"none\"")[14] == ("3", "[1,2]", "x", None),
      rows("trials_pytest_benchmark", "parameter_seconds, list, parameter_benchmark, x.\"none\"")[14])

# Google Benchmark: its time unit becomes seconds; counters; errors; aggregates only where there is nothing else.
google = load("google-benchmark.json")
imported("google-benchmark", KEPT + "google-benchmark.json", code=1, words=["broken, trial 1 failed: no luck", "benchmarks: 3, trials: 6, failed: 2"])
single = [e for e in google["benchmarks"] if e["run_type"] == "iteration" and not e.get("error_occurred")]
seen = rows("trials_google_benchmark", 'benchmark, arguments, threads, seconds, cpu_seconds, x."counter.things"')
check("Google's repeats", [s[:3] for s in seen] == [("sum_n", e["run_name"].split("/")[1], 1) for e in single] and all(s[5] == 3 for s in seen), seen)
check("Google's units", all(abs(s[3] / (e["real_time"] * 1e-6) - 1) < 1e-12 and abs(s[4] / (e["cpu_time"] * 1e-6) - 1) < 1e-12 for s, e in zip(seen, single)), seen)
check("machine of Google's", (facts("google-benchmark").get("host.cpus_count"), facts("google-benchmark").get("machine.library_version")) == ("2", "1.9.5"), facts("google-benchmark"))
t = database("SELECT t.host, t.load_1m, t.start_ns, b.origin FROM trials t JOIN batches b ON b.id = t.batch_id WHERE b.source = 'google-benchmark'")[0]
check("host, load, time and origin of Google's", tuple(t) == ("box", google["context"]["load_avg"][0], 1795851385 * 10**9, "./sums.py"), tuple(t))
for zone, hours in (("+02:00", -2), ("-05:30", 5.5), ("Z", 0)):
    document = {"context": {**google["context"], "date": "2026-11-28T07:36:25" + zone}, "benchmarks": [{**single[0], "run_name": f"zone{hours}", "time_unit": "s", "bytes_per_second": 5}]}
    imported("google-benchmark", put("zone.json", document))
    t = database("SELECT t.start_ns, x.seconds, x.bytes_per_second FROM trials t JOIN trials_google_benchmark x ON x.trial_id = t.id ORDER BY t.id DESC LIMIT 1")[0]
    check(f"time with {zone}", tuple(t) == (1795851385 * 10**9 + int(hours * 3600) * 10**9, single[0]["real_time"], 5), tuple(t))
aggregates = {**google, "benchmarks": [e for e in google["benchmarks"] if e["run_type"] == "aggregate"]}
imported("google-benchmark", put("aggregates.json", aggregates), words=["no single values: 2", "trials: 2, failed: 0"])

# asv: names of parameters and units from benchmarks.json; samples, else its figure.
imported("asv", KEPT + "asv/box/0457e39b.json", code=1, words=["benchmarks.time_fail, trial 1 failed: asv has no result of it", "benchmarks: 7, trials: 7, failed: 1"])
asv = load("asv/box/0457e39b.json")
values = asv["results"]["benchmarks.TimeSuite.time_sum"][0]
seen = rows("trials_asv", "benchmark, n, kind, unit, seconds, bytes, value")
check("asv's values", seen == [("benchmarks.TimeSuite.time_sum", n, k, None, values[i], None, None) for i, (n, k) in enumerate((("10", "a"), ("10", "b"), ("100", "a"), ("100", "b")))] +
      [("benchmarks.peakmem_list", None, None, None, None, 24727552, None), ("benchmarks.track_len", None, None, "items", None, None, 3)], seen)
f = facts("asv")
check("machine and commit of asv", (f["host.cpu_model"], f["host.architecture"], f["script.git_commit"], f["package.numpy"], f["runtime.version"]) ==
      ("Some CPU", "x86_64", asv["commit_hash"], "1.26", "/usr/bin/python3"), f)
check("units of asv", units("Asv") == {"seconds": "s", "bytes": "B"}, units("Asv"))
asv["results"]["benchmarks.new_time"] = [[float("nan"), None, 5.0], [["1", "2", "3"]], "v"]
imported("asv", put("later.json", asv), code=1, words=["skipped by their own choice, and left out: 1", "trials: 7, failed: 1, imported earlier: 2"])
os.makedirs("results/box")
shutil.copy(KEPT + "asv/benchmarks.json", "results")
imported("asv", put("results/box/again.json", asv), code=0, words=["trials: 0, failed: 0, imported earlier: 9"])

# hyperfine: exit codes and memory.
hyperfine = load("hyperfine.json")
p = sonde("import", "hyperfine", KEPT + "hyperfine.json", "--json")
jsonschema.validate(json.loads(p.stdout), SCHEMA)
check("hyperfine's JSON", [json.loads(p.stdout)[k] for k in ("benchmarks", "trials", "failed", "there_already", "left_out")] == [2, 6, 0, 0, 0], p.stdout)
check("hyperfine's runs", rows("trials_hyperfine", "command, n, seconds") == [(r["command"], r["parameters"]["n"], v) for r in hyperfine["results"] for v in r["times"]])
hyperfine["results"] = [{**hyperfine["results"][0], "command": "false", "times": [1.0, 2.0, 3.0], "exit_codes": [0, 3, None], "memory_usage_byte": [4096]}]
imported("hyperfine", put("failed.json", hyperfine), code=1, words=["false, trial 2 failed: it ended with exit code 3", "false, trial 3 failed: it did not exit: a signal ended it", "failed: 2"])
t = database("SELECT state, exit_code, peak_memory_bytes FROM trials ORDER BY id DESC LIMIT 3")
check("exit codes and memory", [tuple(r) for r in t] == [("failed", None, None), ("failed", 3, None), ("ok", 0, 4096)], [tuple(r) for r in t])
# What they are for.
first = database("SELECT min(id) FROM batches WHERE source = 'hyperfine'")[0][0]
p = sonde("compare", f"bench:{first}", f"bench:{first + 1}", code=1)
check("compare", "seconds" in p.stdout and "worse" in p.stdout, p.stdout)
check("what the file does not state is not shown", p.stdout.startswith("A  3 runs\n") and " UTC" not in p.stdout, p.stdout)

# Truncated, foreign and hostile ones leave nothing.
before = counts()
files = {"pytest-benchmark": "pytest-benchmark.json", "google-benchmark": "google-benchmark.json", "asv": "asv/box/0457e39b.json", "hyperfine": "hyperfine.json"}
for suite, name in files.items():
    with open(KEPT + name) as f:
        text = f.read()
    for bad, document, words in (("cut.json", text[:len(text) // 2], "it is not JSON"), ("number.json", "7", f"not a result file of {suite}"), ("empty.json", "", "it is not JSON"),
                                 ("deep.json", "[" * 100000, "it is not JSON"), ("list.json", "[{}]", f"not a result file of {suite}"),
                                 ("odd.json", '{"results": 5, "benchmarks": "x", "context": [], "machine_info": 1, "result_columns": {}}', f"not a result file of {suite}")):
        p = imported(suite, put(bad, document), code=1)
        check(f"{suite} {bad} says why", words in p.stderr and p.stderr.count("\n") == 1, p.stderr)
    for other, foreign in files.items():
        if other != suite:
            imported(suite, KEPT + foreign, code=1, words=[f"not a result file of {suite}"])
with open("latin.json", "wb") as f:
    f.write(b'{"results": [{"command": "\xe9", "times": [1]}]}')
imported("hyperfine", "latin.json", code=1, words=["it is not UTF-8"])
imported("hyperfine", "missing.json", code=1, words=["cannot read missing.json"])
check("nothing came of them", before == counts(), (before, counts()))
# Values that are none are left out, and said; names are only names.
evil = "x'; DROP TABLE trials; --\x1b[31m"
imported("hyperfine", put("hostile.json", {"results": [{"command": evil, "times": [1.0, "2", None, {}], "parameters": {"a" * 70: 1, "": 2}}, {"times": 1}, 5, {"command": "y", "times": []}]}), code=1,
         words=["cannot be a column's name", "left out: 6"])
imported("pytest-benchmark", put("hostile.json", {"machine_info": {evil: {"a": [1]}}, "benchmarks": [None, {"stats": 1}, {"name": evil, "stats": {"data": [1e400, 0.5]}, "params": {evil: 1}}]}), code=1,
         words=["trials: 1, failed: 1", "left out: 3"])
imported("google-benchmark", put("hostile.json", {"context": {}, "benchmarks": [{"name": "a/b", "real_time": 1, "time_unit": "weeks"}, {"name": 1, "real_time": 1, "time_unit": "s"}]}), code=1,
         words=["trials: 0", "left out: 2"])
imported("asv", put("hostile.json", {"result_columns": [1, "result", "params"], "results": {"time_x": [0, [1.5, "x"], [["1"] * 9, []]], "y": 1, "time_z": []}}), code=1,
         words=["trials: 1, failed: 0", "left out: 3"])
check("trials are still there", database("SELECT count(*) FROM trials")[0][0] > 40)
imported("hyperfine", put("many.json", {"results": [{"command": "many", "times": [1.0] * 10003}]}), code=1, words=["trials: 10000", "left out: 3"])
end()
