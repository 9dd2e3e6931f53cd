# SPDX-License-Identifier: Apache-2.0
"""One trial of a function, as the script that `sonde bench run` starts: python -msonde._trial FILE MODULE:FUNCTION JSON. It prints the JSON object of
the contract; whatever the function prints goes to standard error."""
import importlib
import json
import os
import runpy
import sys
import time
from typing import Any, Dict

from . import trials

MAIN = "__sonde_trial__"


def _function(file: str, target: str) -> Any:
    module, _, name = target.partition(":")
    first, *rest = name.split(".")
    names = runpy.run_path(file, run_name=MAIN) if module == "__main__" else vars(importlib.import_module(module))
    if first not in names:
        raise SystemExit(f"{file} has no {first} when it is imported: define it before `if __name__ == \"__main__\":`")
    found = names[first]
    for part in rest:
        found = getattr(found, part)
    return found


def _plain(value: Any) -> Any:
    """numpy's numbers, and those like them."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"a result is a number, a text, a truth value or None, not {type(value).__name__}")


def _results(made: Any, elapsed: float) -> Dict[str, Any]:
    if made is None:
        made = {}
    elif not isinstance(made, dict):
        made = {"result": made}
    return made if any(str(key).lower() == "elapsed" for key in made) else {**made, "elapsed": elapsed}


def main() -> None:
    output = os.dup(1)
    os.dup2(2, 1)
    file, target, given = sys.argv[1:]
    said = json.loads(given)
    trials.state.loading = True
    function = _function(file, target)
    trials.state.loading, trials.state.running = False, True
    begin = time.perf_counter()
    made = function(**said["@parameters"])
    said["@result"] = _results(made, time.perf_counter() - begin)
    sys.stdout.flush()
    with os.fdopen(output, "w", encoding="utf-8") as out:
        json.dump(said, out, default=_plain)


if __name__ == "__main__":
    main()
