# SPDX-License-Identifier: Apache-2.0
"""show --json is what docs/schema/show.json says, of a job that ended, one that was killed, one that was cut."""
import glob
import json
import os
import subprocess
import sys

import jsonschema
import schemas

SONDE = os.environ["SONDE"]
SPIN = os.environ["PROGRAMS"] + "/spin"
with open(os.environ["TOP"] + "/docs/schema/show.json", encoding="utf-8") as f:
    VALIDATOR = jsonschema.Draft202012Validator(json.load(f), format_checker=jsonschema.FormatChecker())


def shown(directory, status=0):
    ended = subprocess.run([SONDE, "show", "--json", directory], capture_output=True, check=False)
    assert ended.returncode == status, (directory, ended)
    summary = json.loads(ended.stdout)
    VALIDATOR.validate(summary)
    jsonschema.Draft202012Validator(schemas.strict(VALIDATOR.schema)).validate(summary)
    return summary


def record(directory, *command):
    subprocess.run([SONDE, "run", "-q", "-i", "50ms", "-o", directory, "--", *command], check=False)


record("ended", "sh", "-c", f"{SPIN} 100000; sleep 0.2; exit 3")
job = shown("ended")["job"]
assert job["exit_code"] == 3 and job["signal"] is None, job
assert job["cpu_seconds"] >= 0.0995 and job["wall_seconds"] >= 0.3, job
assert job["peak_memory_bytes"] > 0 and job["peak_memory_kind"] in ("cgroup", "pss", "rss"), job
tried = {m["name"]: m for m in shown("ended")["mechanisms"]}
assert tried["cpu_clock"]["state"] == "used" and tried["cpu_clock"]["reason"] is None, tried
assert tried["exit_records"]["state"] == "used" or tried["exit_records"]["reason"], tried
assert "files_kept_at_most" not in tried, tried
names = [c["name"] for c in shown("ended")["commands"]]
assert names[0] == "spin" and "sleep" in names, names
assert shown("ended")["processes"]["by_cpu"][0]["name"] == "spin"
assert {m["unit"] for m in shown("ended")["metrics"] if m["name"] == "job.cpu_cores"} == {"cores"}

record("killed", "sh", "-c", "kill -TERM $$")
job = shown("killed")["job"]
assert job["exit_code"] is None and job["signal"] == 15, job
assert shown("killed")["verdicts"][0]["rule"] == "killed"

# Cut in the middle: the end is not known, and nothing of it is invented.
[path] = glob.glob("ended/*.sonde")
for tail in glob.glob("ended/*.tail"):
    os.unlink(tail)
os.truncate(path, os.path.getsize(path) * 2 // 3)
cut = subprocess.run([SONDE, "show", "--json", "ended"], capture_output=True, check=False)
assert cut.returncode in (0, 1), cut
summary = json.loads(cut.stdout)
VALIDATOR.validate(summary)
assert summary["job"]["exit_code"] is None and not summary["job"]["complete"], summary["job"]
assert "recording-incomplete" in [v["rule"] for v in summary["verdicts"]], summary["verdicts"]
sys.exit(0)
