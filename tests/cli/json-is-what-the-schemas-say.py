# SPDX-License-Identifier: Apache-2.0
"""--json of each command is what its schema says, and so is the error where there is no such document."""
import json
import os
import subprocess

import jsonschema
import schemas

SONDE = os.environ["SONDE"]
FOLDER = os.environ["TOP"] + "/docs/schema/"
OUTPUT = {"export": ["-o", "tables"], "report": ["--only", "html"], "trace": ["-o", "job.json"], "recover": ["-o", "clean"]}


def check(name, text):
    with open(FOLDER + name + ".json", encoding="utf-8") as file:
        schema = json.load(file)
    document = json.loads(text)
    jsonschema.Draft202012Validator(schemas.strict(schema), format_checker=jsonschema.FormatChecker()).validate(document)
    return document


def sonde(*words, status=0):
    ended = subprocess.run([SONDE, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == status, (words, ended)
    return ended


subprocess.run([SONDE, "run", "-q", "-i", "50ms", "-o", "job", "--", "sh", "-c", "sleep 0.1; exit 3"], check=False)
subprocess.run([SONDE, "run", "-q", "-i", "50ms", "-o", "good", "--", "sleep", "0.1"], check=True)
os.mkdir("bad")
with open("bad/node-x.sonde", "w", encoding="utf-8") as f:
    f.write("this is no recording")

listed = check("ls", sonde("ls", "--json").stdout)["recordings"]
assert {x["recording"]: x["state"] for x in listed} == {"job": "complete", "good": "complete", "bad": "unreadable"}, listed
assert check("path", sonde("show", "--path", "--json", "good").stdout)["parts"]
assert not check("pipelines", sonde("show", "--pipelines", "--json", "good").stdout)["pipelines"]
assert not check("steps", sonde("show", "--steps", "--json", "good").stdout)["steps"]
assert check("scale", sonde("scale", "--json", "1=good", "2=good").stdout)["steps"]
assert check("usage", sonde("usage", "--json").stdout)["groups"]
sonde("export", "good", "--lake", "lake")
assert check("usage", sonde("usage", "--lake", "lake", "--json").stdout)["groups"]
assert check("doctor", sonde("doctor", "--json").stdout)["sources"]
assert check("metrics", sonde("metrics", "--json").stdout)["metrics"]
for verb, words in OUTPUT.items():
    told = check("written", sonde(verb, "--json", "job", *words).stdout)
    assert told["schema"] == f"sonde/{verb}/1" and told["recording"] in ("job", "clean") and told["files"], told
    assert all(os.path.getsize(path) for path in told["files"]), told
ran = subprocess.run([SONDE, "run", "--json", "-o", "third", "--", "true"], capture_output=True, text=True, check=True)
assert check("show", ran.stderr)["recording"] == "third"

for status, words in ((1, ["show", "nowhere"]), (2, ["show", "--nonsense"]), (2, ["show", "a", "b"]), (1, ["ls", "nowhere"]),
                      (1, ["report", "bad"]), (2, ["export", "--to", "tape", "job"]), (1, ["trace", "nowhere"]),
                      (2, ["compare", "--fail-if", "wall_seconds>5%", "job", "good"]), (2, ["usage", "more"]), (2, ["phases", "a", "b"])):
    ended = sonde(*words, "--json", status=status)
    error = check("error", ended.stdout)
    assert error["command"] == words[0], error
    assert ended.stderr.splitlines()[-1] == "sonde: " + error["error"], (ended.stderr, error)
# run leaves standard output to the job: its document, or the error, is on standard error, after the message.
for status, words in ((125, ["run", "--json"]), (125, ["run", "--json", "--nonsense", "--", "true"]), (127, ["run", "--json", "no-such-command"]),
                      (0, ["run", "--json", "-o", "/proc/nowhere/job", "--", "true"]), (2, ["bench", "run", "--json", "nowhere"]),
                      (2, ["bench", "check", "--json", "nowhere"]), (1, ["bench", "export", "--json", "bench:99"])):
    ended = sonde(*words, status=status)
    of_run = words[0] == "run"
    error = check("error", ended.stderr[ended.stderr.index("{"):] if of_run else ended.stdout)
    assert error["error"] in ended.stderr and (ended.stdout == "") == of_run, (words, ended)
ended = sonde("run", "--json", "-o", "fourth", "--", "sh", "-c", "exit 5", "--json", status=5)
assert check("show", ended.stderr)["job"]["exit_code"] == 5, ended
assert "{" not in sonde("run", "no-such-command", "--json", status=127).stderr, "the --json of a job is its own"
assert "wall_seconds>+5%" in sonde("compare", "--fail-if", "wall_seconds>5%", "job", "good", status=2).stderr
# What could be read of a damaged one is the document, though the exit code is 1.
with open("job/" + next(n for n in os.listdir("job") if n.endswith(".sonde")), "r+b") as f:
    f.seek(300)
    f.write(b"\xff\xff\xff\xff")
assert check("show", sonde("show", "--json", "job", status=1).stdout)["damages"] >= 1
assert sonde("show", "nowhere", status=1).stdout == "", "an error as JSON that nobody asked for"
