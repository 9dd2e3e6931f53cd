# SPDX-License-Identifier: Apache-2.0
"""The last lines that a failed job wrote to the file that is its standard error are recorded, clean and without secrets, and the first verdict
names the error. Nothing older is read, nothing of a terminal, a pipe or a success, and nothing of it leaves the machine."""
import json
import os
import re
import subprocess
import sys

SONDE, PYTHON = os.environ["SONDE"], sys.executable
KEY = "job.error_text"


def run(name, command, stderr="err.log", options=(), mode="ab", stdout=subprocess.DEVNULL):
    """Records the command with its standard error there; gives what is recorded of it, and the first verdict."""
    with open(stderr, mode) as log:
        code = subprocess.run([SONDE, "run", "-q", "-o", name, *options, "--", *command], stdin=subprocess.DEVNULL, stdout=stdout, stderr=log, check=False).returncode
    assert code, f"{name}: it did not fail"
    return recorded(name)


def show(name, *options):
    return subprocess.run([SONDE, "show", *options, name], stdout=subprocess.PIPE, check=True).stdout.decode()


def recorded(name):
    x = json.loads(show(name, "--json"))
    return {k: v for k, v in x["nodes"][0]["metadata"].items() if k.startswith(KEY)}, [v["sentence"] for v in x["verdicts"]], x


def script(text):
    return [PYTHON, "-c", text]


# What was there before is not read, and what comes is, to the byte.
with open("err.log", "w", encoding="utf-8") as f:
    f.write("of an older job: error: nonsense\n" * 3)
said, verdicts, whole = run("python", script("open('/nowhere/x')"))
lines = said.pop(KEY).split("\n")
assert not said and lines[0] == "Traceback (most recent call last):", (said, lines)
assert lines[-1] == "FileNotFoundError: [Errno 2] No such file or directory: '/nowhere/x'", lines
assert re.match(r"Failed: exit code 1 after [\d.]+ [mu]?s\. FileNotFoundError: \[Errno 2\] No such file or directory: '/nowhere/x'\. Check the path", verdicts[0]), verdicts
assert "nonsense" in open("err.log", encoding="utf-8").read()

# Where it is shown: all figures, the page, JSON.
assert whole["printed"] == {"line": lines[-1], "is_error": True, "kind": "no_file", "from": "standard error", "text": "\n".join(lines), "absent": None,
                            "advice": whole["printed"]["advice"]} and whole["printed"]["advice"].startswith("Check the path"), whole["printed"]
assert "\nLast lines of standard error:\n  Traceback (most recent call last):\n" in show("python", "--all"), show("python", "--all")
assert "Last lines" not in show("python")

# A file that the job truncates, and writes from its begin on.
with open("cut.log", "w", encoding="utf-8") as f:
    f.write("old error: of before\n" * 500)
said, verdicts, _ = run("cut", ["sh", "-c", "echo lost >&2; : >cut.log; echo 'cat: in.csv: Permission denied' >&2; exit 2"], "cut.log")
assert said == {KEY: "cat: in.csv: Permission denied"}, said
assert "cat: in.csv: Permission denied. The job's user may not do that" in verdicts[0], verdicts

# A line that is there a thousand times, as of a recursion without an end, does not hide what stands before it.
said, verdicts, _ = run("deep", script("import sys; print('error: java.lang.StackOverflowError\\n' + '\\tat Deep.down(Deep.java:16)\\n' * 1024 + 'bye\\nbye', file=sys.stderr); sys.exit(1)"))
assert said == {KEY: "error: java.lang.StackOverflowError\n\tat Deep.down(Deep.java:16)\n[the line above 1023 more times]\nbye\nbye"}, said
assert "StackOverflowError. A recursion went deeper" in verdicts[0], verdicts

# Where standard error is no file, that of standard output, which is named; where neither is, the reason why not.
with open("out.log", "wb") as out:
    x = subprocess.Popen([SONDE, "run", "-q", "-o", "output", "--", "sh", "-c", "echo 'fatal: all is lost'; exit 9"], stdout=out, stderr=subprocess.PIPE)
    x.communicate()
said, verdicts, _ = recorded("output")
assert said == {KEY: "fatal: all is lost", KEY + "_from": "standard output"} and "fatal: all is lost" in verdicts[0], (said, verdicts)
subprocess.run([SONDE, "run", "-q", "-o", "pipe", "--", "sh", "-c", "echo gone >&2; exit 9"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
assert recorded("pipe")[0] == {KEY + "_absent": "standard error is a pipe"}, recorded("pipe")[0]
said, verdicts, _ = run("silent", ["sh", "-c", "exit 9"])
assert said == {KEY + "_absent": "nothing was printed"} and re.fullmatch(r"Failed: exit code 9 after [\d.]+ [mu]?s\.", verdicts[0]), (said, verdicts)
said, verdicts, _ = run("refused", ["sh", "-c", "echo 'error: no' >&2; exit 9"], options=["--no-error-text"])
assert said == {KEY + "_absent": "--no-error-text was given"} and "error: no" not in verdicts[0], (said, verdicts)

# A success keeps nothing.
with open("err.log", "ab") as log:
    subprocess.run([SONDE, "run", "-q", "-o", "good", "--", "sh", "-c", "echo 'error: none' >&2"], stderr=log, check=True)
assert not recorded("good")[0] and recorded("good")[2]["printed"] is None

# Hostile text: escape sequences, markup, invalid bytes, a carriage return, secrets, also within escape sequences.
said, verdicts, _ = run("hostile", script("""
import os, sys
os.write(2, b"\\x1b[31mred\\x1b[0m \\x1b]0;title\\x07pass\\x1b[1mword=hunter2hunter2 tail\\n")
os.write(2, b"curl -H 'Authorization: Bearer abcdefghijklmnop0123' https://me:geheim99@site.org/\\n")
os.write(2, b"\\xc2\\x9b31m  10%\\r 20%\\r \\xff\\xfe \\x00\\x08 99%\\n")
os.write(2, b"error: <script>alert(1)</script> | `x` \\xe2\\x82\\xac\\n\\n\\n")
sys.exit(3)"""))
text = said[KEY]
assert text.startswith("red password=*** tail\n") and "title" not in text, text
assert not any(s in text for s in ("hunter2", "geheim99", "abcdefghijklmnop", "\x1b", "\x9b", "\x00", "\r", "10%")), text
assert "\ufffd" in text and text.endswith("error: <script>alert(1)</script> | `x` €"), text
assert "error: <script>alert(1)</script> | `x` €" in verdicts[0], verdicts
subprocess.run([SONDE, "report", "hostile"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
page = open("hostile/report.html", encoding="utf-8").read()
assert "<summary>Last lines of standard error</summary><pre>red password=*** tail\n" in page
assert "<script>alert(1)" not in page and "&lt;script&gt;alert(1)" in page

# The bounds: 20 lines, 4 KiB, and of one line that is longer than that nothing, since a secret's name may be cut off.
said, _, _ = run("many", script("import sys\nfor i in range(5000): print(f'line {i}', file=sys.stderr)\nsys.exit(3)"))
assert said[KEY].split("\n") == [f"line {i}" for i in range(4980, 5000)], said
said, _, _ = run("long", script("import os\nos.write(2, b'password=' + b'x' * 10_000_000)\nos._exit(3)"))
assert said == {KEY + "_absent": "its last line is longer than 4096 bytes"}, said
said, _, _ = run("key", script("import os\nos.write(2, b'A' * 5000 + b'\\nQUJD\\n-----END PRIVATE KEY-----\\n')\nos._exit(3)"))
assert said == {KEY: "***"}, said

# Of two tasks that fail, that of the first.
environment = {**os.environ, "SLURM_JOB_ID": "5", "SLURM_STEP_ID": "0", "SLURM_JOB_NODELIST": "n1", "SLURMD_NODENAME": "n1", "SLURM_GTIDS": "0,1"}
ranks = []
for rank, text in ((0, "import time, sys; time.sleep(4); sys.exit('late words: connection refused')"), (1, "import time; time.sleep(1); raise MemoryError('rank 1')")):
    with open(f"rank.{rank}", "wb") as log:
        ranks.append(subprocess.Popen([SONDE, "run", "-q", "-o", "tasks", "--", *script(text)], env={**environment, "SLURM_PROCID": str(rank)}, stderr=log))
assert [r.wait() for r in ranks] == [1, 1]
_, verdicts, whole = recorded("tasks")
assert verdicts[0].startswith("First to fail: rank 1") and "MemoryError: rank 1. A request for memory was refused" in verdicts[0], verdicts

# A copy that is given to others is without it.
subprocess.run([SONDE, "recover", "--without-environment", "python", "-o", "copy"], stderr=subprocess.DEVNULL, check=True)
assert not recorded("copy")[0]
subprocess.run([SONDE, "recover", "--without-environment", "tasks", "-o", "tasks-copy"], stderr=subprocess.DEVNULL, check=True)
assert b"MemoryError" not in b"".join(open(f"tasks-copy/{f}", "rb").read() for f in os.listdir("tasks-copy"))
assert recorded("tasks")[1][0] != recorded("tasks-copy")[1][0] and "MemoryError" not in recorded("tasks-copy")[1][0]

# What the launcher reads of it, and how it hears that it was read, is not input and output of the job.
for code in (0, 3):
    with open(f"counted.{code}", "wb") as log:
        subprocess.run([SONDE, "run", "-q", "-o", f"counts{code}", "--", "sh", "-c", f"head -c 50000 /dev/zero >&2; exit {code}"], stderr=log, check=False)
    job = recorded(f"counts{code}")[2]["job"]
    assert job["written_bytes"] == 50000 and 50000 <= job["read_bytes"] < 95000, (code, job["written_bytes"], job["read_bytes"])
