# SPDX-License-Identifier: Apache-2.0
"""The dashboards have the types that Grafana publishes for them (@grafana/schema), as TypeScript's compiler sees it: no field that it does
not have, none of another type. promtool takes the rules for Prometheus."""
import json
import os
import subprocess
import sys

import grafana
from patience import patience

FOLDER = os.path.join(os.environ["BUILD"], "grafana")
PROMTOOL = os.path.join(os.environ["BUILD"], "servers/promtool")
if not os.path.exists(os.path.join(FOLDER, "fetched")):
    print("Grafana's schema is missing: ./dev check fetches it from npm")
    sys.exit(77)
if subprocess.run(["sh", "-c", "command -v node"], stdout=subprocess.DEVNULL).returncode:
    print("node is not installed")
    sys.exit(77)


def without_queries(board):
    """Grafana's schema leaves the queries of annotations to their data source."""
    notes = [a | {"target": {"refId": a["target"]["refId"]}} for a in board["annotations"]["list"]]
    return board | {"panels": [], "annotations": {"list": notes}}


def compile_all(folder, boards):
    """What the compiler says of `boards`, each a constant of the type Dashboard."""
    os.makedirs(folder)
    os.symlink(os.path.join(FOLDER, "node_modules"), os.path.join(folder, "node_modules"))
    for name, board in boards.items():
        with open(os.path.join(folder, name.replace(".json", ".ts")), "w", encoding="utf-8") as f:
            f.write(f"import {{ Dashboard, Panel }} from '@grafana/schema';\nexport const board: Dashboard = {json.dumps(without_queries(board))};\n"
                    f"export const panels: Panel[] = {json.dumps(board['panels'])};\n")
    files = [name.replace(".json", ".ts") for name in boards]
    done = subprocess.run(["node", os.path.join(FOLDER, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022",
                           "--module", "nodenext", "--moduleResolution", "nodenext", *files], cwd=folder, capture_output=True, text=True, timeout=patience(240))
    return done.returncode, done.stdout + done.stderr


boards = grafana.boards()
assert len(boards) == 3, list(boards)
code, text = compile_all("good", boards)
assert code == 0, text
broken = json.loads(json.dumps(boards["jobs-in-postgresql.json"]))
broken["panels"][0]["gridPos"]["w"] = "wide"
broken["panels"][1]["titel"] = "Failed"
code, text = compile_all("bad", {"broken.json": broken})
assert code != 0 and "gridPos" in text or "'string' is not assignable to type 'number'" in text, text
assert "titel" in text, text
if os.access(PROMTOOL, os.X_OK):
    done = subprocess.run([PROMTOOL, "check", "rules", grafana.PLACE + "alerts.yaml"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and f"SUCCESS: {len(grafana.alert_expressions())} rules found" in done.stdout, done.stdout + done.stderr
