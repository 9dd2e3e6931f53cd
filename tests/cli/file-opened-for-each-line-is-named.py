# SPDX-License-Identifier: Apache-2.0
"""A file that a script opens and closes for each line that it writes is named, with who does that; one that stays open is not, however small its writes."""
# limit: 120
import json
import os
import shutil
import subprocess
import sys

from patience import patience

SONDE = os.environ["SONDE"]
if not shutil.which("bash"):
    print("there is no bash")
    sys.exit(77)
with open("each.sh", "w", encoding="utf-8") as f:
    f.write("end=$((SECONDS + 8))\nwhile [ $SECONDS -lt $end ]; do echo line >>log.txt; done\n")
with open("once.sh", "w", encoding="utf-8") as f:
    f.write("end=$((SECONDS + 8))\nwhile [ $SECONDS -lt $end ]; do echo line; done >>log.txt\n")


def recorded(how, attempt=""):
    subprocess.run([SONDE, "run", "-q", "-o", how + attempt, "--", "bash", f"{how}.sh"], check=True, timeout=patience(60))
    shown = json.loads(subprocess.run([SONDE, "show", "--json", how + attempt], check=True, capture_output=True, text=True).stdout)
    return shown["nodes"][0]["metadata"], {one["rule"]: one["sentence"] for one in shown["verdicts"]}, shown


metadata, said, _ = recorded("once")
assert "job.reopened_file" not in metadata and "file-reopened" not in said, (metadata, said)
# Where the script and the recorder take the same core, the file stands still while it is looked at: then once more.
for attempt in range(4):
    metadata, said, shown = recorded("each", str(attempt))
    if "file-reopened" in said:
        break
else:
    print("the script and the recorder did not run side by side")
    sys.exit(77)
assert metadata["job.reopened_file"].endswith("/log.txt"), metadata
assert 3 <= metadata["job.reopened_closed_looks"] <= metadata["job.reopened_looks"], metadata
assert "bash each.sh (pid " in said["file-reopened"] and "opened and closed " in said["file-reopened"], said
assert shown["verdicts"][0]["rule"] == "file-reopened", said
