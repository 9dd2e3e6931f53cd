# SPDX-License-Identifier: Apache-2.0
# plain
"""sonde.bench stores each call of a Python function as a batch of trials: its arguments are parameters, its dict is the result, each trial is a process of
its own, and failures are kept with their reason. Scripts, modules and other decorators work; what no other Python can import is refused."""
import os
import subprocess
import sys
import warnings

sys.path[:0] = [f"{os.environ['TOP']}/tests", f"{os.environ['TOP']}/python", os.getcwd()]
from trials import check, database, end  # noqa: E402 (its place is known only here)

os.environ["SONDE_STORE"] = "s.sqlite"
os.environ["PATH"] = os.path.dirname(os.environ["SONDE"]) + ":" + os.environ["PATH"]
with open("work.py", "w", encoding="utf-8") as made:
    made.write('''
import functools
import os
import sonde

class Real: # as numpy's are
    def __init__(self, value): self.value = value
    def item(self): return self.value

def twice(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        return {"rate": 2 * function(*args, **kwargs)["rate"]}
    return wrapped

@sonde.bench(repeat=3, tags=["decorated"], env={"KNOB": "fast"})
def work(size, kind="plain", **more):
    print("said to nobody")
    os.system("echo by a child as well")
    return {"rate": Real(size * 1.5), "pid": os.getpid(), "flag": True}

@twice
def doubled(size):
    return {"rate": size}

def breaks(size):
    if size > 1:
        raise ValueError("too large <&>")

def strange(size):
    return {"rate": object()}

def only(size, /):
    return size

class Things:
    @staticmethod
    def number(size):
        return work(size)["rate"].value # within a trial it is plain
''')
import sonde  # noqa: E402
import work  # noqa: E402


def nest():
    def inner():
        return 1
    return inner


nested = nest()


def raises(what, kind, words, function):
    try:
        function()
        check(f"{what} is refused", False)
    except kind as why:
        check(f"{what} is refused with {words}", words in str(why), why)


batch = work.work(4, more=2)
check("the batch", (batch.trials, batch.failed, batch.indicator, batch.id) == (3, 0, "work", "bench:1"), vars(batch))
check("its results", [r["rate"] for r in batch.results] == [6.0] * 3 and batch.figures["rate"]["median"] == 6.0, batch.results)
check("elapsed is known", all(0 < r["elapsed"] < r["duration_seconds"] for r in batch.results), batch.results)
check("each trial is a process", len({r["pid"] for r in batch.results} | {os.getpid()}) == 4, batch.results)
rows = [tuple(r) for r in database("SELECT size, kind, more, flag FROM trials_work")]
check("parameters, defaults included", rows == [(4, "plain", 2, 1)] * 3, rows)
facts = dict(tuple(r) for r in database("SELECT DISTINCT f.name, f.text FROM environment_facts f JOIN trials t ON t.environment_id = f.environment_id"))
check("what was chosen", facts.get("env.KNOB") == "fast", facts.get("env.KNOB"))
stored = database("SELECT origin, script_sha256 FROM batches")[0]
check("the function's file is the script", stored["origin"] == os.path.abspath("work.py") and stored["script_sha256"], tuple(stored))
check("tags", [r[0] for r in database("SELECT tag FROM batch_tags")] == ["decorated"])
check("a table for notebooks", "<td>rate</td><td>6</td>" in batch._repr_html_(), batch._repr_html_())

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    with sonde.bench(repeat=2, warmup=1, name="Other", component="mine") as bench:
        bench(work.breaks, 1)
        bench(work.breaks, size=2)
        bench(work.doubled, 5)
        bench(work.Things.number, 2)
        check("nothing is told before the end", not told, told)
check("failures are told once", len(told) == 1 and "bench:3: 2 of 2 trials failed" in str(told[0].message) and "too large <&>" in str(told[0].message)
      and told[0].filename == __file__, [str(t.message) for t in told])
good, bad, doubled, number = bench.batches
check("None is a result", good.failed == 0 and good.indicator == "Other" and 0 < good.results[0]["elapsed"], vars(good))
check("failed ones have none", bad.results == [None, None] and "ValueError" in bad.reasons[0], bad.reasons)
check("another decorator stays", [r["rate"] for r in doubled.results] == [10, 10], doubled.results)
check("a number is a result", [r["result"] for r in number.results] == [3.0, 3.0], number.results)
check("the component", {r[0] for r in database("SELECT component FROM trials WHERE batch_id = 2")} == {"mine"})
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    with sonde.bench() as bench:
        strange = bench(work.strange, 1)
check("a result of another kind", "not object" in strange.reasons[0] and len(told) == 1, strange.reasons)

with sonde.bench() as bench:
    raises("a lambda", ValueError, "top level of a file", lambda: bench(lambda: 1))
    raises("a nested function", ValueError, "top level of a file", lambda: bench(nested))
    raises("a builtin", ValueError, "top level of a file", lambda: bench(len, "x"))
    raises("a parameter without a name", TypeError, "each needs a name", lambda: bench(work.only, 1))
    raises("wrong arguments", TypeError, "unexpected keyword argument", lambda: bench(work.breaks, 1, nothing=1))
    raises("what JSON does not have", TypeError, "JSON", lambda: bench(work.breaks, object()))
raises("a wrong option", sonde.SondeError, "repeat", lambda: sonde.bench(repeat=0)(work.breaks)(1))
check("nothing of this was stored", len(database("SELECT id FROM batches")) == 6)

SCRIPT = '''
import sonde

@sonde.bench(repeat=2)
def measured(n: int):
    return {"sum": sum(range(n))}

%s
    batch = measured(10)
    print(batch.id, batch.figures["sum"]["max"])
'''
for head, code, words in (('if __name__ == "__main__":', 0, "bench:7 45"), ("if True:", 0, "which starts trials itself")):
    with open("script.py", "w", encoding="utf-8") as made:
        made.write(SCRIPT % head)
    ran = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": f"{os.environ['TOP']}/python"})
    check(f"a script with {head}", words in ran.stdout + ran.stderr, ran)
missing = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, env={**os.environ, "PATH": "/nowhere", "PYTHONPATH": f"{os.environ['TOP']}/python"})
check("without the program it says what to do", "the program sonde is not in PATH" in missing.stderr, missing.stderr)
end()
