# SPDX-License-Identifier: Apache-2.0
"""The callbacks of LightGBM and XGBoost, called by the real packages: a mark for each iteration, and counters that hold exactly what they evaluated."""
import csv
import io
import json
import os
import pickle
import subprocess
import sys

import readers

readers.enter("venv-frameworks")
SONDE, TOP = os.environ["SONDE"], os.environ["TOP"]
os.environ["SONDE_LIBRARY"] = f"{os.environ['BUILD']}/libsonde.so.0"
os.environ["PYTHONPATH"] = f"{TOP}/python"
sys.path.insert(0, f"{TOP}/python")

PROGRAM = '''
import json
import sys
import numpy
import sonde.callbacks

assert not {"lightgbm", "xgboost", "keras", "torch"} & set(sys.modules)
random = numpy.random.default_rng(1)
x = random.random((300, 3))
y = x[:, 0] + random.normal(0, 0.1, 300)
told = {}
if sys.argv[1] == "lightgbm":
    import lightgbm as framework
    params = {"num_threads": 1, "verbosity": -1, "metric": ["l1", "l2"], "objective": "regression", "learning_rate": 2.5}
    train, valid = framework.Dataset(x[:200], y[:200]), framework.Dataset(x[200:], y[200:])
    framework.train(params, train, 50, valid_sets=[valid], valid_names=["valid"],
                    callbacks=[framework.record_evaluation(told), framework.early_stopping(3, verbose=False), sonde.callbacks.lightgbm()])
    told = {f"{data} {metric}": values for data, of in told.items() for metric, values in of.items()}
    assert len(told["valid l2"]) < 50, "it did not stop early"
elif sys.argv[1] == "xgboost":
    import xgboost as framework
    train, valid = framework.DMatrix(x[:200], y[:200]), framework.DMatrix(x[200:], y[200:])
    framework.train({"nthread": 1, "eval_metric": ["rmse", "mae"]}, train, 12, evals=[(train, "train"), (valid, "valid")], evals_result=told,
                    verbose_eval=False, callbacks=[sonde.callbacks.xgboost()])
    told = {f"{data} {metric}": values for data, of in told.items() for metric, values in of.items()}
else:
    import xgboost as framework
    seen = framework.cv({"nthread": 1}, framework.DMatrix(x, y), 5, nfold=3, as_pandas=False, callbacks=[sonde.callbacks.xgboost()])
    told = {"train rmse": seen["train-rmse-mean"], "test rmse": seen["test-rmse-mean"]}
with open("told.json", "w") as out:
    json.dump(told, out)
'''


def check(what, holds, detail=""):
    if not holds:
        sys.exit(f"FAIL: {what}: {str(detail)[:1500]}")


def table(name, run):
    text = subprocess.run([SONDE, "export", "--to", "csv", "-o", "-", "--table", name, run], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


with open("program.py", "w", encoding="utf-8") as made:
    made.write(PROGRAM)
for framework in ("lightgbm", "xgboost", "cv"):
    ran = subprocess.run([SONDE, "run", "-q", "-o", framework, "--", sys.executable, "program.py", framework], capture_output=True, text=True)
    check(f"{framework} trains", ran.returncode == 0, ran.stderr)
    with open("told.json", encoding="utf-8") as kept:
        told = json.load(kept)
    counted = {}
    for row in table("counters", framework):
        counted.setdefault(row["name"], []).append(float(row["value"]))
    check(f"{framework}: counters have what it evaluated", counted == told, (counted, told))
    n = {len(values) for values in told.values()}
    marks = [row for row in table("marks", framework) if row["name"] == "iteration"]
    check(f"{framework}: a mark for each iteration", {len(marks)} == n and min(n) >= 4, (len(marks), n))
    alone = subprocess.run([sys.executable, "program.py", framework], capture_output=True, text=True)
    check(f"{framework} without a recorder", alone.returncode == 0, alone.stderr)

import sonde.callbacks  # noqa: E402 (its place is known only here)

check("they can be copied", all(type(pickle.loads(pickle.dumps(c))).__name__ == type(c).__name__ for c in (sonde.callbacks.lightgbm(), sonde.callbacks.xgboost())))
