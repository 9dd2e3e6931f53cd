# SPDX-License-Identifier: Apache-2.0
# limit: 180
"""Secrets in words, variables, texts and names of marks, names of files and of the working directory are in nothing that is made of a recording;
a site's and a user's own list add to what is masked, and a list that cannot be understood masks everything and is said."""
import json
import os
import subprocess
import sys

from patience import patience

SONDE = os.environ["SONDE"]
HUSH = "Zq7hush"
LIST = "# of this site\nname license_code\ntoken acme_ 12\n"
JOB = f"""#!/bin/sh
"$SONDE" mark "acme_{HUSH}c" "token={HUSH}d" license_code={HUSH}e note=acme_{HUSH}f
sleep 0.5
exit 7
"""


def fail(what):
    print("FAIL:", what, file=sys.stderr)
    sys.exit(1)


def run(directory, **more):
    words = ["sh", f"./password={HUSH}g.sh", "--password", f"{HUSH}h", f"--license_code={HUSH}i", f"acme_{HUSH}j", f"https://me:{HUSH}k@host/"]
    environment = dict(os.environ, DB_PASSWORD=f"{HUSH}l", MY_LICENSE_CODE=f"{HUSH}m", HARMLESS=f"acme_{HUSH}n", **more)
    done = subprocess.run([SONDE, "run", "--quiet", "-i", "50ms", "-o", directory, "--", *words], env=environment, timeout=patience(60), stderr=subprocess.PIPE,
                          text=True)
    if done.returncode != 7:
        fail(f"the job's exit code is {done.returncode}: {done.stderr}")
    return done.stderr


def made_of(directory):
    """Everything that is made of it, by name."""
    def output(*words):
        return subprocess.run([SONDE, *words], check=True, timeout=patience(60), stdout=subprocess.PIPE).stdout

    made = {"show": output("show", directory), "json": output("show", "--json", directory), "ls": output("ls", "--json", directory)}
    subprocess.run([SONDE, "export", directory, "--to", "csv,json,sqlite", "-o", "tables"], check=True, timeout=patience(60), stdout=subprocess.DEVNULL)
    subprocess.run([SONDE, "report", directory, "--only", "html"], check=True, timeout=patience(60), stdout=subprocess.DEVNULL)
    subprocess.run([SONDE, "trace", directory, "-o", "trace.json"], check=True, timeout=patience(60), stdout=subprocess.DEVNULL)
    for where in ("tables", directory, "trace.json"):
        for folder, _, names in os.walk(where) if os.path.isdir(where) else [("", [], [where])]:
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    made[os.path.join(folder, name)] = file.read()
    return made


def without_secrets(directory):
    """The same; none of it has one."""
    made = made_of(directory)
    for name, text in made.items():
        if HUSH.encode() in text:
            at = text.index(HUSH.encode())
            fail(f"a secret is in {name}: {text[max(0, at - 60):at + 40]}")
    return made


def metadata(directory):
    shown = subprocess.run([SONDE, "show", "--json", directory], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(shown)["nodes"][0]["metadata"]


where = f"token={HUSH}b"
os.mkdir(where)
os.chdir(where)
for name, text in ((f"password={HUSH}g.sh", JOB), ("list", LIST), ("bad", LIST + "nam x\n")):
    with open(name, "w") as file:
        file.write(text)

said = run("first", SONDE_SECRETS="list")
if said:
    fail(f"it said {said}")
made = without_secrets("first")
if b"acme_" in made["json"] or made["json"].count(b"***") < 8:
    fail("what was masked is not shown as masked")

# Paths of the code that had CPU time, of files and pipes that threads wait for, and the stacks of a job that hangs.
WAITER = """import os, subprocess, sys, time
end = time.process_time() + 2.5
def busy():
    while time.process_time() < end:
        sum(range(1000))
busy()
kept = [bytearray(1 << 20) for _ in range(64)]
os.mkfifo("fifo")
subprocess.run(["timeout", "7", "cat", os.path.abspath("fifo")])
sys.exit(7)
"""
with open("waiter.py", "w") as file:
    file.write(WAITER)
done = subprocess.run([SONDE, "run", "--quiet", "--stacks=99", "--waits", "--memory", "-o", "second", "--", sys.executable, os.path.abspath("waiter.py")],
                      timeout=patience(100))
if done.returncode != 7:
    fail(f"the job that waits: exit code {done.returncode}")
made = without_secrets("second")
shown = json.loads(made["json"])
if "***" not in shown["nodes"][0]["metadata"].get("job.silent_where", ""):
    fail(f"a hang's FIFO is not shown as masked: {shown['nodes'][0]['metadata']}")
if not any("***" in (row.get("file") or "") for row in shown["code"]["python"]["function"]):
    fail(f"a script's path is not shown as masked: {shown['code']['python']}")

for name, sentence in (("bad", "bad: line 4: it begins with name"), ("none", "cannot open the list of secrets none")):
    said = run(name + "_run", SONDE_SECRETS=name)
    if sentence not in said or "masked whole" not in said or len(said.splitlines()) != 1:
        fail(f"of a list that is {name} was said {said}")
    told = metadata(name + "_run")
    if told["job.environment.PATH"] != "***" or "sh" in told["job.command"]:
        fail(f"with a list that is {name} not everything is masked: {told}")

if os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"]).returncode == 0:
    command = 'mount -t tmpfs none /etc && mkdir /etc/sonde && cp list /etc/sonde/secrets && exec "$@"'
    subprocess.run(["unshare", "-m", "sh", "-c", command, "sh", SONDE, "run", "--quiet", "-o", "site", "--", "true", f"acme_{HUSH}"], check=True,
                   timeout=patience(60))
    if metadata("site")["job.command"] != "true '***'":
        fail(f"the site's list is not taken: {metadata('site')['job.command']}")
