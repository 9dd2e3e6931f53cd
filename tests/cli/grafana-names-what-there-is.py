# SPDX-License-Identifier: Apache-2.0
"""The Grafana dashboards and alert rules name metrics that Sonde has, and have the form that Grafana's documentation gives. That Grafana's
schema has their fields and that their queries run is in tests/interop/grafana-*."""
import glob
import json
import os
import re

TOP = os.environ["TOP"]
PLACE = TOP + "/examples/grafana/"

with open(TOP + "/docs/metrics.md", encoding="utf-8") as f:
    document = f.read()
rows = re.findall(r"^\| `([a-z0-9_.]+)` \| [^|]* \| (\w+) \|", document, re.MULTILINE)
metrics = {name for name, _ in rows} | set(re.findall(r"Rate: `([a-z0-9_.]+)`", document))
known = {"sonde_recording_open", "sonde_sample_timestamp_seconds", "sonde_job_info"}
known |= {"sonde_" + name.replace(".", "_") + ("_total" if kind == "counter" else "") for name, kind in rows if kind != "derived"}
assert "sonde_job_cpu_seconds_total" in known and len(known) > 200, len(known)


def check_expression(where, text):
    names = re.findall(r"sonde_[a-z0-9_]+", text)
    assert names, where
    for name in names:
        assert name in known, f"{where}: no metric {name}"




def check_query(where, text):
    """That it runs is in tests/interop/grafana-queries-run.py."""
    assert "FROM sonde." in text or "FROM file('$lake'" in text, where
    for name in re.findall(r"metric = '([a-z0-9_.]+)'", text):
        assert name in metrics, f"{where}: no metric {name}"


def check_panel(where, panel):
    assert {"id", "title", "type", "gridPos", "targets", "datasource", "fieldConfig"} <= set(panel), where
    place = panel["gridPos"]
    assert 0 <= place["x"] and place["x"] + place["w"] <= 24 and place["h"] > 0, where
    for target in panel["targets"]:
        assert target["refId"] and target["datasource"] == panel["datasource"], where
        if "expr" in target:
            check_expression(where, target["expr"])
        else:
            assert target["format"] in ("table", "time_series", 0, 1), where
            check_query(where, target["rawSql"])


boards = sorted(set(glob.glob(PLACE + "*.json")) - {PLACE + "alerts-postgresql.json"})
assert len(boards) == 3, boards
uids = set()
for path in boards:
    with open(path, encoding="utf-8") as f:
        board = json.load(f)
    assert board["title"] and board["schemaVersion"] >= 36 and board["uid"] not in uids, path
    uids.add(board["uid"])
    variables = {v["name"] for v in board["templating"]["list"]}
    assert len({p["id"] for p in board["panels"]}) == len(board["panels"]), path
    for panel in board["panels"]:
        check_panel(f"{path}: {panel['title']}", panel)
    for name in re.findall(r"\$\{?([a-z]+)\b", json.dumps(board)):
        assert name in variables or name.startswith("__"), f"{path}: no variable {name}"
with open(PLACE + "alerts.yaml", encoding="utf-8") as f:
    rules = re.findall(r"^    expr: (.*)$", f.read(), re.MULTILINE)
assert len(rules) == 4, rules
for rule in rules:
    check_expression("alerts.yaml", rule)
