# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""What the real pytest-benchmark, Google Benchmark, asv and hyperfine write here is imported: each value once, with the machine and commit that the tool saw."""
import glob
import json
import os
import platform
import shutil
import subprocess
import sys

from patience import patience

sys.path.insert(0, os.environ["TOP"] + "/tests")
from readers import enter

enter("venv-suites")
from trials import check, database, end, sonde

BIN = os.path.dirname(sys.executable)
GIT = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


def run(*words, code=0, cwd=None):
    p = subprocess.run(words, capture_output=True, text=True, timeout=patience(200), cwd=cwd, env={**os.environ, **GIT, "HOME": os.getcwd(), "PATH": BIN + ":" + os.environ["PATH"]})
    check(f"status of {words}", p.returncode == code, f"{p.returncode}: {p.stdout[-500:]}{p.stderr[-500:]}")
    return p.stdout.strip()


def put(name, text):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w") as f:
        f.write(text)


def values(table, columns):
    return [tuple(r) for r in database(f"SELECT {columns} FROM trials t JOIN {table} x ON x.trial_id = t.id ORDER BY t.id")]


def fact(suite, name):
    found = database("SELECT f.text FROM environment_facts f JOIN trials t ON t.environment_id = f.environment_id JOIN batches b ON b.id = t.batch_id "
                     "WHERE b.source = ? AND f.name = ? LIMIT 1", suite, name)
    return found[0][0] if found else None


put("project/test_sums.py", """
import pytest
@pytest.mark.parametrize("n", [10, 100])
def test_sum(benchmark, n):
    benchmark.pedantic(lambda: sum(range(n)), rounds=6, iterations=3)
""")
put("project/suite/bm/__init__.py", "")
put("project/suite/bm/benchmarks.py", """
class TimeSums:
    params = [[10, 100], ["a", "b"]]
    param_names = ["n", "kind"]
    def time_sum(self, n, kind):
        sum(range(n))
def track_items():
    return 42
track_items.unit = "items"
def time_broken():
    raise ValueError
""")
put("project/suite/asv.conf.json", '{"version": 1, "project": "sums", "repo": "..", "benchmark_dir": "bm", "environment_type": "existing", "branches": ["HEAD"]}')
put("sums.py", """
import google_benchmark as b
@b.register
@b.option.arg(8)
@b.option.unit(b.kMillisecond)
def sums(state):
    while state:
        sum(range(state.range(0)))
    state.counters["things"] = 3
@b.register
def broken(state):
    state.skip_with_error("no luck")
b.main()
""")
run("git", "init", "-q", "-b", "trunk", "project")
run("git", "add", ".", cwd="project")
run("git", "commit", "-qm", "sums", cwd="project")
commit = run("git", "rev-parse", "HEAD", cwd="project")

run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--benchmark-json=../p.json", "--benchmark-save-data", "test_sums.py", cwd="project")
sonde("import", "pytest-benchmark", "p.json")
with open("p.json") as f:
    wanted = [("test_sums.py::test_sum", str(b["params"]["n"]), v) for b in json.load(f)["benchmarks"] for v in b["stats"]["data"]]
check("pytest-benchmark", len(wanted) == 12 and values("trials_pytest_benchmark", "benchmark, n, seconds") == wanted, (wanted, values("trials_pytest_benchmark", "benchmark, n, seconds")))
check("commit of pytest-benchmark", (fact("pytest-benchmark", "script.git_commit"), fact("pytest-benchmark", "script.git_branch")) == (commit, "trunk"), commit)
check("machine of pytest-benchmark", (fact("pytest-benchmark", "host.architecture"), fact("pytest-benchmark", "runtime.version")) == (platform.machine(), platform.python_version()))

run(sys.executable, "sums.py", "--benchmark_min_time=0.001s", "--benchmark_repetitions=3", "--benchmark_out=g.json", "--benchmark_out_format=json")
sonde("import", "google-benchmark", "g.json", code=1)
with open("g.json") as f:
    single = [b for b in json.load(f)["benchmarks"] if b["run_type"] == "iteration" and "error_message" not in b]
seen = values("trials_google_benchmark", 'benchmark, arguments, seconds, x."counter.things"')
check("Google Benchmark", len(seen) == 3 and [s[:2] + s[3:] for s in seen] == [("sums", "8", 3)] * 3 and all(abs(s[2] - b["real_time"] * 1e-3) <= 1e-12 * s[2] for s, b in zip(seen, single)), seen)
check("its errors", [r[0] for r in database("SELECT reason FROM trials WHERE state = 'failed'")] == ["no luck"] * 3)
check("its machine", fact("google-benchmark", "host.cpus_count") == str(os.cpu_count()), fact("google-benchmark", "host.cpus_count"))

run("asv", "machine", "--yes", "--machine", "box", cwd="project/suite")
run("asv", "run", "--python=same", "--quick", "--record-samples", "--machine", "box", "--set-commit-hash=" + commit, code=2, cwd="project/suite")
result = [f for f in glob.glob("project/suite/results/box/*.json") if not f.endswith("machine.json")]
sonde("import", "asv", *result, code=1)
with open(result[0]) as f:
    times = json.load(f)["results"]["benchmarks.TimeSums.time_sum"][0]
wanted = [("benchmarks.TimeSums.time_sum", n, k, times[i]) for i, (n, k) in enumerate((n, k) for n in ("10", "100") for k in "ab")]
check("asv", values("trials_asv", "benchmark, n, kind, seconds")[:4] == wanted, (wanted, values("trials_asv", "benchmark, n, kind, seconds")))
check("asv's track", values("trials_asv", "benchmark, unit, value")[4:] == [("benchmarks.track_items", "items", 42)], values("trials_asv", "benchmark, unit, value"))
check("commit of asv", fact("asv", "script.git_commit") == commit)

if shutil.which("hyperfine"):
    run("hyperfine", "-N", "-r", "3", "-L", "n", "1,2", "--export-json", "h.json", "sleep 0.0{n}")
else:  # Its form, from Sonde itself.
    sonde("compare", "-n", "3", "--export-json", "h.json", "-L", "n", "1,2", "--", "sleep 0.0{n}")
sonde("import", "hyperfine", "h.json")
with open("h.json") as f:
    wanted = [(r["command"], r["parameters"]["n"], v) for r in json.load(f)["results"] for v in r["times"]]
check("hyperfine", len(wanted) == 6 and values("trials_hyperfine", "command, n, seconds") == wanted, (wanted, values("trials_hyperfine", "command, n, seconds")))
sonde("compare", "-n", "3", "--export-json", "own.json", "--", "true", "sleep 0.01")
sonde("import", "hyperfine", "own.json")
check("Sonde's own in its form", len(values("trials_hyperfine", "command")) == 12, values("trials_hyperfine", "command"))
end()
