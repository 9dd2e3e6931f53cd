# SPDX-License-Identifier: Apache-2.0
"""Callbacks of training frameworks: a mark at each iteration, step and epoch, and counters of what the framework evaluated or logged. They do nothing
unless Sonde records the program. A framework is imported when its callback is made, not with sonde.

    lightgbm.train(..., callbacks=[sonde.callbacks.lightgbm()])
    xgboost.train(..., callbacks=[sonde.callbacks.xgboost()])
    transformers.Trainer(..., callbacks=[sonde.callbacks.huggingface()])
    lightning.Trainer(..., callbacks=[sonde.callbacks.lightning()])
    model.fit(..., callbacks=[sonde.callbacks.keras()])
"""
import importlib
import sys
from typing import Any, Callable, Mapping, Optional, Tuple

from .spans import counter, mark


def _count(values: Optional[Mapping[Any, Any]]) -> None:
    """Numbers alone: frameworks log texts, too."""
    for name, value in (values or {}).items():
        try:
            number = float(value)
        except (TypeError, ValueError, RuntimeError):
            continue
        counter(str(name), number)


class _LightGBM:
    """What lightgbm.train calls after each iteration."""

    def __init__(self) -> None:
        self.order = 25  # before early stopping (30), which ends the iteration by an exception; LightGBM reads no attribute of the class

    def __call__(self, env: Any) -> None:
        mark("iteration")
        _count({f"{data} {metric}": value for data, metric, value, *_ in env.evaluation_result_list or ()})


class _XGBoost:
    def after_iteration(self, model: Any, epoch: int, evals_log: Mapping[str, Mapping[str, Any]]) -> bool:
        mark("iteration")
        last = {f"{data} {metric}": values[-1] for data, of in evals_log.items() for metric, values in of.items()}
        _count({name: value[0] if isinstance(value, tuple) else value for name, value in last.items()})  # of cv: mean and deviation
        return False


class _HuggingFace:
    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        mark("step")

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        mark("epoch", n=state.epoch)

    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Mapping[str, Any]] = None, **_: Any) -> None:
        _count(logs)


class _Lightning:
    """Metrics are read once an epoch: on a GPU each read waits for it."""

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        mark("step")

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        mark("epoch", n=trainer.current_epoch)
        _count(trainer.callback_metrics)


class _Keras:
    def on_train_batch_end(self, batch: int, logs: Optional[Mapping[str, Any]] = None) -> None:
        mark("step")

    def on_epoch_end(self, epoch: int, logs: Optional[Mapping[str, Any]] = None) -> None:
        mark("epoch", n=epoch)
        _count(logs)


def _module(*names: str) -> Any:
    """The first that the program imported; else the first that is installed."""
    for name in names:
        if name in sys.modules:
            return sys.modules[name]
    for name in names[:-1]:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    return importlib.import_module(names[-1])


def _of(own: type, base: type, make: Callable[[], Any]) -> Any:
    """Frameworks take their own classes only, or call more methods than these; a copy in another process is made by `make`."""
    parts: Tuple[type, ...] = (own, base)
    return type(f"Sonde{own.__name__[1:]}", parts, {"__module__": __name__, "__reduce__": lambda self: (make, ())})()


def lightgbm() -> Any:
    """For callbacks= of lightgbm.train, lightgbm.cv and fit."""
    return _LightGBM()


def xgboost() -> Any:
    """For callbacks= of xgboost.train, xgboost.cv and XGBClassifier and others."""
    return _of(_XGBoost, _module("xgboost").callback.TrainingCallback, xgboost)


def huggingface() -> Any:
    """For callbacks= of transformers.Trainer."""
    return _of(_HuggingFace, _module("transformers").TrainerCallback, huggingface)


def lightning() -> Any:
    """For callbacks= of lightning.Trainer, or of pytorch_lightning.Trainer."""
    return _of(_Lightning, _module("lightning.pytorch", "pytorch_lightning").Callback, lightning)


def keras() -> Any:
    """For callbacks= of a Keras model's fit, and of tf.keras."""
    return _of(_Keras, _module("keras", "tensorflow.keras").callbacks.Callback, keras)
