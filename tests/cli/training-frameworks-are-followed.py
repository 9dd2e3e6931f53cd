# SPDX-License-Identifier: Apache-2.0
# plain
"""The callbacks for Hugging Face's Trainer, Lightning and Keras, called as those frameworks document it by stand-ins of their base classes: marks and
counters are in the recording. What is no number is left out, and nothing is imported before a callback is made. The real LightGBM and XGBoost are in interop."""
import csv
import io
import os
import subprocess
import sys

SONDE, TOP = os.environ["SONDE"], os.environ["TOP"]
os.environ.update(SONDE_LIBRARY=f"{os.environ['BUILD']}/libsonde.so.0", PYTHONPATH=f"{TOP}/python:{os.getcwd()}")


def put(name, text):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w", encoding="utf-8") as made:
        made.write(text)


def check(what, holds, detail=""):
    if not holds:
        sys.exit(f"FAIL: {what}: {str(detail)[:1500]}")


def table(name, run):
    text = subprocess.run([SONDE, "export", "--to", "csv", "-o", "-", "--table", name, run], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


put("transformers.py", '''
class TrainerCallback:
    def on_train_begin(self, args, state, control, **kwargs): pass
    def on_step_end(self, args, state, control, **kwargs): pass
    def on_epoch_end(self, args, state, control, **kwargs): pass
    def on_log(self, args, state, control, **kwargs): pass
''')
put("keras/__init__.py", "from . import callbacks\n")
put("keras/callbacks.py", '''
class Callback:
    def set_model(self, model): self._model = model
    def on_epoch_begin(self, epoch, logs=None): pass
    def on_epoch_end(self, epoch, logs=None): pass
    def on_train_batch_end(self, batch, logs=None): pass
''')
LIGHTNING = '''
class Callback:
    def on_train_start(self, trainer, pl_module): pass
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx): pass
    def on_train_epoch_end(self, trainer, pl_module): pass
'''
put("lightning/__init__.py", "")
put("lightning/pytorch.py", LIGHTNING)
put("pytorch_lightning.py", LIGHTNING)
put("program.py", '''
import pickle
import sys
from types import SimpleNamespace

class Tensor:
    def __init__(self, value): self.value = value
    def __float__(self):
        if self.value is None:
            raise RuntimeError("a tensor of several values")
        return self.value

import sonde.callbacks
assert not {"transformers", "keras", "lightning", "pytorch_lightning"} & set(sys.modules)
what = sys.argv[1]
if what == "huggingface":
    c, state = sonde.callbacks.huggingface(), SimpleNamespace(epoch=0.0)
    more = dict(model=None, processing_class=None, optimizer=None, lr_scheduler=None, train_dataloader=None, eval_dataloader=None)
    assert isinstance(c, sys.modules["transformers"].TrainerCallback)
    c.on_train_begin(None, state, None, **more)
    for epoch in 1, 2:
        for step in 1, 2, 3:
            assert c.on_step_end(None, state, None, **more) is None
        state.epoch = float(epoch)
        c.on_epoch_end(None, state, None, **more)
        c.on_log(None, state, None, logs={"loss": 1 / epoch, "said": "text", "several": Tensor(None), "learning_rate": 0.5}, **more)
elif what == "keras":
    c = sonde.callbacks.keras()
    assert isinstance(c, sys.modules["keras"].callbacks.Callback)
    c.set_model(None)
    for epoch in 0, 1:
        c.on_epoch_begin(epoch)
        for batch in 0, 1, 2:
            c.on_train_batch_end(batch, {"loss": 9.0})
        c.on_epoch_end(epoch, {"loss": 1 / (epoch + 1), "learning_rate": 0.5})
    c.on_epoch_end(2)
else:
    if what == "pytorch_lightning":
        import pytorch_lightning
    c = sonde.callbacks.lightning()
    assert type(c).__mro__[2].__module__ == what, type(c).__mro__
    for epoch in 0, 1:
        trainer = SimpleNamespace(current_epoch=epoch, callback_metrics={"loss": Tensor(1 / (epoch + 1)), "learning_rate": Tensor(0.5), "several": Tensor(None)})
        c.on_train_start(trainer, None)
        for batch in 0, 1, 2:
            c.on_train_batch_end(trainer, None, {"loss": 9.0}, [], batch)
        c.on_train_epoch_end(trainer, None)
assert type(pickle.loads(pickle.dumps(c))).__name__ == type(c).__name__
''')
FIRST = {"huggingface": 1.0, "keras": 0.0}
for what in ("huggingface", "keras", "lightning.pytorch", "pytorch_lightning"):
    ran = subprocess.run([SONDE, "run", "-q", "-o", what, "--", sys.executable, "program.py", what], capture_output=True, text=True)
    check(f"{what} runs", ran.returncode == 0, ran.stderr)
    counted = {}
    for row in table("counters", what):
        counted.setdefault(row["name"], []).append(float(row["value"]))
    check(f"{what}: counters are its numbers", {"loss": counted.get("loss"), "learning_rate": counted.get("learning_rate")} ==
          {"loss": [1.0, 0.5], "learning_rate": [0.5, 0.5]} and not {"said", "several"} & set(counted), counted)
    marks = [row for row in table("marks", what) if row["name"] in ("step", "epoch")]
    check(f"{what}: a mark for each step", sum(row["name"] == "step" for row in marks) == 6, marks)
    epochs = [row["message"] for row in marks if row["name"] == "epoch"]
    first = FIRST.get(what, 0)
    check(f"{what}: a mark for each epoch, with its number", [float(e.split("n=")[1].split()[0]) for e in epochs[:2]] == [first, first + 1], marks)
    alone = subprocess.run([sys.executable, "program.py", what], capture_output=True, text=True)
    check(f"{what} without a recorder", alone.returncode == 0, alone.stderr)
missing = subprocess.run([sys.executable, "-S", "-c", "import sonde.callbacks; sonde.callbacks.xgboost()"], capture_output=True, text=True)
check("a framework that is missing is named", "No module named 'xgboost'" in missing.stderr, missing.stderr)
