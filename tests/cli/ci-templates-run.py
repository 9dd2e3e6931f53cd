# SPDX-License-Identifier: Apache-2.0
"""The GitHub action and the GitLab template do what they say, run step by step in a shell with the environment that each documents: on the base branch
recordings are kept, on another branch it is compared with them; the command's exit code is the step's; a difference fails only where that was asked for."""
import os
import re
import shutil
import subprocess
import sys

import yaml

CI = os.path.join(os.environ["TOP"], "examples/ci")
SPIN = os.path.join(os.environ["PROGRAMS"], "spin")


def sh(script, env):
    return subprocess.run(["sh", "-e", "-c", script], env=os.environ | env, capture_output=True, text=True, check=False)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def substituted(text, values):
    """${{ x }} as GitHub replaces it; what is not known here is a fault of the template."""
    return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda m: values[m[1]], text)


def github(branch, command, fail_if=""):
    """(exit code, the step summary) of the action; what it uploads and caches must be there."""
    action = yaml.safe_load(read(os.path.join(CI, "github/action.yml")))
    inputs = {k: v.get("default") for k, v in action["inputs"].items()} | {"command": command, "fail-if": fail_if}
    values = {"github.ref_name == github.event.repository.default_branch && 10 || 0": "10" if branch == "main" else "0"}
    values |= {f"inputs.{k}": v for k, v in inputs.items()} | {"runner.os": "Linux", "github.run_id": "7"}
    code = 0
    shutil.rmtree("sonde-recording-sonde", ignore_errors=True)
    with open("step-summary.md", "w", encoding="utf-8"):
        pass
    for step in action["runs"]["steps"]:
        condition = step.get("if", "success()")
        if (code and "always()" not in condition) or ("default_branch" in condition and branch != "main"):
            continue
        if "run" not in step:
            path = substituted(step["with"]["path"], values)
            assert "restore" in step["uses"] or os.path.isdir(path), (step["uses"], path)
            continue
        env = {k: substituted(v, values) for k, v in step.get("env", {}).items()}
        ran = sh(step["run"], env | {"GITHUB_STEP_SUMMARY": os.path.abspath("step-summary.md"), "GITHUB_ACTION_PATH": CI})
        print(ran.stderr, file=sys.stderr)
        code = code or ran.returncode
    return code, read("step-summary.md")


def gitlab(branch, command, fail_if=""):
    """(exit code, sonde.md) of a job that extends the template."""
    job = yaml.safe_load(read(os.path.join(CI, "gitlab.yml")))[".sonde"]
    env = {k: str(v) for k, v in job["variables"].items()} | {"SONDE_COMMAND": command, "SONDE_FAIL_IF": fail_if,
                                                              "CI_COMMIT_BRANCH": branch, "CI_DEFAULT_BRANCH": "main"}
    for path in job["artifacts"]["paths"]:
        subprocess.run(["rm", "-rf", path], check=True)
    os.makedirs("ci", exist_ok=True)
    shutil.copy(os.path.join(CI, "record.sh"), "ci/record.sh")
    ran = sh("\n".join(job["script"]), env)
    print(ran.stderr, file=sys.stderr)
    after = sh("\n".join(job["after_script"]), env).stdout
    assert all(os.path.exists(path) for path in job["artifacts"]["paths"]), os.listdir()
    assert after == read("sonde.md")
    return ran.returncode, after


def check(ci, base):
    short, long = f"{SPIN} 50000", f"{SPIN} 900000"
    code, said = ci("a-branch", short)
    assert code == 0 and "### Succeeded" in said and "No recording of the base branch" in said, (code, said)
    assert not os.path.exists(base)
    for _ in range(12):
        code, said = ci("main", short)
        assert code == 0 and "### Succeeded" in said, (code, said)
    assert len(os.listdir(base)) == 10, os.listdir(base)
    code, said = ci("main", "exit 4")
    assert code == 4 and len(os.listdir(base)) == 10, (code, said)
    code, said = ci("a-branch", long)
    assert code == 0 and "### Sonde: " in said, (code, said)
    code, said = ci("a-branch", long, "cpu_seconds>+0.3\n\nwall_seconds>+600")
    assert code == 1 and "cpu_seconds" in said, (code, said)
    code, said = ci("a-branch", "exit 5", "cpu_seconds>+0.3")
    assert code == 5 and "exit code 5" in said, (code, said)
    code, said = ci("a-branch", "echo `uname` '$HOME' | cat && exit 3")
    assert code == 3, (code, said)


for ci, base in ((github, "sonde-base-sonde"), (gitlab, "sonde-base")):
    os.mkdir(ci.__name__)
    os.chdir(ci.__name__)
    check(ci, base)
    os.chdir("..")
