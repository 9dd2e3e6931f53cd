# SPDX-License-Identifier: Apache-2.0
"""The dashboards and alert rules of examples/grafana, and what Grafana puts in place of their variables and macros."""
import glob
import json
import os
import re

PLACE = os.path.join(os.environ["TOP"], "examples/grafana/")


def boards():
    """{name of the file: dashboard}, of the files that are no alert rules."""
    found = {}
    for path in sorted(glob.glob(PLACE + "*.json")):
        with open(path, encoding="utf-8") as f:
            read = json.load(f)
        if "panels" in read:
            found[os.path.basename(path)] = read
    return found


def targets(board):
    """(title, target) of each panel's queries."""
    return [(panel["title"], target) for panel in board["panels"] for target in panel["targets"]]


def alert_queries():
    """(title, SQL, the number that the threshold compares with) of the alert rules for PostgreSQL."""
    with open(PLACE + "alerts-postgresql.json", encoding="utf-8") as f:
        rules = [r for group in json.load(f)["groups"] for r in group["rules"]]
    return [(r["title"], r["data"][0]["model"]["rawSql"], r["data"][1]["model"]["conditions"][0]["evaluator"]["params"][0]) for r in rules]


def alert_expressions():
    """Those of the rules for Prometheus."""
    with open(PLACE + "alerts.yaml", encoding="utf-8") as f:
        return re.findall(r"^    expr: (.*)$", f.read(), re.MULTILINE)


def expand(text, variables, macros):
    """`text` with the values of its dashboard's variables; `macros` replaces what the data source does itself: [(pattern, replacement)]."""
    for pattern, replacement in macros:
        text = re.sub(pattern, replacement, text)
    for name, value in variables.items():
        text = re.sub(r"\$(?:\{" + name + r"\}|" + name + r"\b)", lambda _: value, text)
    if "$" in text:
        raise ValueError(f"nothing replaces a variable of {text}")
    return text
