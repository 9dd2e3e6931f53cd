# SPDX-License-Identifier: Apache-2.0
"""The Python package, installed by pip into an environment of its own beside pandas and pyarrow: a recording as tables, held against the CSV that
sonde writes; a sampler that survives what callbacks raise and what a fork does; a report for a tracker."""
import csv
import io
import json
import math
import os
import subprocess
import sys
import time
import warnings

import readers
from patience import patience

readers.enter()
TOP, BUILD, SONDE = os.environ["TOP"], os.environ["BUILD"], os.environ["SONDE"]
PATIENCE = patience(60)


def check(what, holds):
    if not holds:
        sys.exit(f"FAIL: {what}")


def install():
    """Into a folder beside this environment's packages. Building takes setuptools, which pip fetches."""
    source = os.path.abspath("python")
    subprocess.run(["cp", "-r", f"{TOP}/python", source], check=True)
    done = subprocess.run([os.path.join(os.environ["BUILD"], "pip/bin/pip"), "--python", sys.executable, "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", "site", source],
                          capture_output=True, text=True)
    if done.returncode and "setuptools" in done.stderr:
        print("pip cannot fetch setuptools: no network")
        sys.exit(77)
    check(f"pip installs it: {done.stderr[-500:]}", done.returncode == 0)
    sys.path.insert(0, os.path.abspath("site"))


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        check(f"waited in vain: {what}", time.monotonic() < end)
        time.sleep(0.01)


def of_csv(*options):
    text = subprocess.run([SONDE, "export", "--to", "csv", "-o", "-", *options, "rec"], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def same_number(text, value):
    return (value is None or math.isnan(value)) if text == "" else value is not None and math.isclose(float(text), value, rel_tol=1e-12)


def check_recording(sonde):
    import pandas as pd

    subprocess.run([SONDE, "run", "-q", "-i", "20ms", "-o", "rec", "--", "sh", "-c", "seq 1 300000 | sort -n >/dev/null; sleep 0.2"], check=True)
    with sonde.open("rec") as run:
        check("nodes", [(n.host, n.complete) for n in run.nodes] == [(os.uname().nodename, True)])
        check("metadata", run.metadata["job.command"].startswith("sh -c") and run.metadata["job.exit_code"] == 0)
        check("metrics", {"node.load_1min", "job.cpu_seconds"} <= {m.name for m in run.metrics} and all(m.help for m in run.metrics))
        wanted = of_csv()
        frame, table = run.to_pandas(), run.to_arrow()
        check(f"as many rows: {len(wanted)} {len(frame)} {table.num_rows}", len(wanted) == len(frame) == table.num_rows)
        check("columns", list(frame.columns) == table.column_names and set(frame.columns) == set(wanted[0]))
        for column in ("node", "metric", "instance"):
            texts = [row[column] or None for row in wanted]
            check(f"{column} in pandas", [None if pd.isna(v) else v for v in frame[column]] == texts)
            check(f"{column} in Arrow", table[column].to_pylist() == texts)
        check("values", all(same_number(row["value"], a) and same_number(row["value"], b)
                            for row, a, b in zip(wanted, frame["value"], table["value"].to_pylist())))
        check("times are instants", str(frame["time"].dtype) == "datetime64[ns, UTC]" and frame["time"].iloc[0].value == run.start_ns)
        wide = run.to_pandas(metrics="node.load_*,node.memory_total_bytes", wide=True)
        check("wide", {"node.load_1min", "node.memory_total_bytes"} <= set(wide.columns) and wide.attrs["units"]["node.memory_total_bytes"] == "bytes")
        check("units in Arrow", run.to_arrow(metrics="node.memory_total_bytes", wide=True).schema.field("node.memory_total_bytes")
              .metadata[b"unit"] == b"bytes")
        check("processes", len(run.to_pandas("processes")) == len(of_csv("--table", "processes")))
        check("no marks", len(run.to_pandas("spans")) == 0 == run.to_arrow("spans").num_rows)
        for bad in (lambda: run.to_pandas("tables"), lambda: run.to_arrow(metrics="no.such")):
            try:
                bad()
                check("what is not there is refused", False)
            except (ValueError, sonde.SondeError) as why:
                check("it says what", str(why))
    try:
        run.to_pandas()
        check("a closed recording is refused", False)
    except ValueError:
        pass
    try:
        sonde.open("nowhere")
        check("no recording is refused", False)
    except sonde.SondeError as why:
        check("as what it is", isinstance(why, OSError) and "nowhere" in str(why) and why.errno == 2)


def check_sampler(sonde):
    seen, exits = [], []

    def fragile(sample):
        seen.append(sample)
        if len(seen) == 2:
            raise KeyError("what a callback raises")

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with sonde.Sampler(interval=0.01, max_length=6, on_sample=fragile, on_exit=lambda: exits.append(1)) as s:
            wait_for("samples", lambda: s.taken >= 20)
            check("it runs on", s.running)
            child = os.fork()
            if child == 0:
                os._exit(0 if not s.running and s.taken and s.samples else 1)
            check("a child has it, not running", os.waitpid(child, 0)[1] == 0)
        s.stop()
    check("what was raised is told, once, when it stops", len(told) == 1 and "what a callback raises" in str(told[0].message)
          and "what a callback raises" in s.errors[0] and len(s.errors) == 1)
    check("exit is called once", exits == [1] and not s.running and len(seen) == s.taken)
    check("the store is bounded", 3 <= len(s.samples) <= 6 and s.samples[-1].seconds == seen[-1].seconds)
    check("memory is a ratio", all(0 < x.memory < 1 for x in s.samples))
    return s


def check_report(sonde, sampler):
    report, logged = sonde.Report(), []
    other = [sonde.Sample(1e9 + i, i, 1.0, 0.5, 0.25, 0.75, 0.5, *[float(i)] * 7) for i in range(1, 4)]
    report.add(1, other, cpus=8)
    report.add(0, sampler)
    n = report.emit(lambda key, value, step: logged.append((key, value, step)))
    check("figures of both nodes, in their order", n == len(logged) >= 30 and [x[2] for x in logged] == sorted(x[2] for x in logged))
    figures = report.figures()
    check("the other node's CPUs", math.isclose(figures[1]["node_cpu_hours"], 3 * 8 / 3600) and figures[1]["cpu_avg_utilization_pct"] == 50)
    made = report.save()
    check("a file is made", os.path.exists(made) and made.endswith(".json"))
    with open(made) as text:
        kept = json.load(text)
    os.unlink(made)
    check("of every sample", len(kept["0"]) == len(sampler.samples) and [x["mem_percent"] for x in kept["1"]] == [50, 50, 50])
    check("where it is asked for", report.save("kept.json") == "kept.json" and os.path.exists("kept.json"))
    check("none is a result, too", sonde.Report().emit(print) == 0 and sonde.Report().figures() == {})
    never = sonde.Sampler()
    never.stop()
    report.add(2, never)
    check("one that never ran", never.samples == [] and not never.running)


def check_forgotten():
    """One that runs when Python ends, or that nobody holds any more, ends nothing else."""
    program = """if True:
        import gc, sonde, time
        s = sonde.Sampler(interval=0.001, on_sample=lambda x: None).start()
        t = sonde.Sampler(interval=0.001, on_sample=lambda x: None).start()
        time.sleep(0.05)
        del t
        held = []

        def let_go(sample):
            held.clear()
            seen.append(bytearray(999))

        seen = []
        for _ in range(20):
            seen.clear()
            held.append(sonde.Sampler(interval=0.001, on_sample=let_go, on_exit=lambda: None).start())
            while len(seen) < 2:
                gc.collect()
            gc.collect()
        print("done")
        """
    done = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, PYTHONPATH=os.path.abspath("site")), capture_output=True, text=True)
    check(f"Python ends as ever: {done}", (done.returncode, done.stdout, done.stderr) == (0, "done\n", ""))


def main():
    install()
    os.environ["SONDE_LIBRARY"] = f"{BUILD}/libsonde.so.0"
    import sonde

    check("its version is that of sonde", subprocess.run([SONDE, "--version"], capture_output=True, text=True).stdout.split()[1] == sonde.version())
    check("and the package's", f'version = "{sonde.version()}"' in open(f"{TOP}/python/pyproject.toml").read())
    check_recording(sonde)
    check_report(sonde, check_sampler(sonde))
    check_forgotten()
    missing = subprocess.run([sys.executable, "-c", "import sonde; sonde.open('x')"], capture_output=True, text=True,
                             env=dict(os.environ, PYTHONPATH=os.path.abspath("site"), SONDE_LIBRARY="/nowhere/libsonde.so.0"))
    check("without the library it says what to do", "SONDE_LIBRARY" in missing.stderr and "LibraryNotFound" in missing.stderr
          and "ignored" not in missing.stderr)
    missing = subprocess.run([sys.executable, "-c", "import sys, sonde; sys.modules['pandas'] = None; sonde.open('rec').to_pandas()"],
                             capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=os.path.abspath("site")))
    check("without pandas, too", missing.stderr.rstrip().endswith("tables need pandas: pip install pandas"))


main()
