# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""Scripts in Python, shell and C keep the contract; every way to break it is a stored failed trial that says why, beside what wait4(2)
tells of the script itself; `sonde bench check` says of each what is wrong and in which line."""
import json
import os
import shutil
import subprocess

from trials import SONDE, check, database, end, script, sonde

PROGRAMS = os.environ["PROGRAMS"]


def processes_here():
    """Names of processes that work in this folder."""
    names = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd") == os.getcwd():
                with open(f"/proc/{pid}/comm") as f:
                    names.append(f.read().strip())
        except OSError:
            pass
    return names


def newest():
    return database("SELECT * FROM trials ORDER BY id DESC LIMIT 1")[0]


# The example of the document that this contract is from.
EXAMPLE = """{
"name": "PiMatmul",
"framework": "tensorflow",
"tensorflow_aicoe_buildinfo": null,
"tensorflow_upstream_buildinfo": null,
"@parameters": {
"dtype": "float32",
"device": "cpu",
"reps": 20000,
"matrix_size": 512
},
"@result": {
"rate": 0.009799366109955314,
"elapsed": 27366.39380455017
},
"overall_score": 0.3
}
"""
with open("example.json", "w") as f:
    f.write(EXAMPLE)
p = sonde("bench", "check", "example.json")
check("the document's example", p.stdout == "PiMatmul (tensorflow) meets the contract: 4 parameters, 2 results\n", p.stdout)

# As Amun stores it: what the script printed is under stdout; and older layouts, where it is not.
document = json.loads(EXAMPLE)
usage = {"ru_utime": 1.5, "ru_maxrss": 1000}
for layout in ({"stdout": document, "exit_code": 0, "usage": usage}, {**document, "exit_code": 0, "usage": usage},
               {"metadata": {}, "result": {"stdout": document, "exit_code": 0}}):
    with open("amun.json", "w") as f:
        json.dump(layout, f)
    said = json.loads(sonde("bench", "check", "--json", "amun.json").stdout)
    check("a stored result", said["keeps_contract"] and said["parameters"] == document["@parameters"] and
          said["result"] == document["@result"] and said["overall_score"] == 0.3, said)
with open("amun.json", "w") as f:
    json.dump({"stdout": "Traceback", "exit_code": 1, "usage": usage}, f)
check("stored text", "a text was printed" in sonde("bench", "check", "amun.json", code=1).stdout)

# What the languages say, and what is captured beside it.
python = script("in_python", """#!/usr/bin/env python3
import json, os, sys
print("to whom it may concern", file=sys.stderr)
big = bytearray(50 << 20)
for i in range(0, len(big), 4096):
    big[i] = 1
print(json.dumps({"name": "PiSome", "framework": "python", "version": "7", "@parameters": {"size": int(os.environ["SIZE"]), "list": [1, 2]},
                  "@result": {"elapsed": 1.25, "fine": True, "note": "x'; DROP TABLE trials; --"}}))
""")
shell = script("in_shell", """#!/bin/sh
printf '{"name": "PiShell", "component": "sh", "@parameters": {}, "@result": {"answer": 42}}'
""")
STORE = ("--store", "s.sqlite")
p = sonde("bench", "run", "-q", "-n", "3", "--warmup", "1", "--env", "SIZE=9", "-o", "py", *STORE, "--json", python)
stats = json.loads(p.stdout)["batches"][0]
check("statistics", stats["trials"] == 3 and stats["failed"] == [] and stats["figures"]["elapsed"]["mean"] == 1.25, stats)
rows = database("SELECT * FROM trials ORDER BY number")
check("trials of a run", [r["number"] for r in rows] == [1, 2, 3] and all(r["state"] == "ok" for r in rows))
t = rows[0]
names = """ru_utime ru_stime ru_maxrss ru_ixrss ru_idrss ru_isrss ru_minflt ru_majflt ru_nswap ru_inblock ru_oublock ru_msgsnd ru_msgrcv
    ru_nsignals ru_nvcsw ru_nivcsw""".split()
check("sixteen of them", all(t[n] is not None for n in names), dict(t))
check("its own memory", 50 << 10 < t["ru_maxrss"] < 150 << 10, t["ru_maxrss"])
check("its own CPU time", 0 < t["ru_utime"] + t["ru_stime"] <= t["duration_seconds"] + 0.1, dict(t))
check("times", t["start_ns"] < t["end_ns"] and abs((t["end_ns"] - t["start_ns"]) / 1e9 - t["duration_seconds"]) < 0.5)
check("kept", t["stderr"] == "to whom it may concern\n" and json.loads(t["stdout"])["name"] == "PiSome" and t["exit_code"] == 0, dict(t))
shown = json.loads(sonde("bench", "show", "--json", "bench:1/1").stdout)["trial"]
check("times are shown", shown["start"][:2] == "20" and shown["start"] < shown["end"] and "  end  " in sonde("bench", "show", "bench:1/1").stdout, shown)
check("load", t["load_1m"] is not None and t["host"])
check("typed", [tuple(r) for r in database("SELECT size, list, elapsed, fine, note FROM trials_pi_some")] ==
      [(9, "[1,2]", 1.25, 1, "x'; DROP TABLE trials; --")] * 3, [tuple(r) for r in database("SELECT * FROM trials_pi_some")])
facts = {r["name"]: r["text"] for r in database("SELECT * FROM environment_facts WHERE environment_id = ?", t["environment_id"])}
check("facts", {"host.kernel_release", "host.architecture", "node.memory_bytes", "runtime.libc", "runtime.interpreter"} <= set(facts) and
      facts.get("runtime.version", "").startswith("Python 3"), facts)
# What a Python would import counts, whatever else lies about; also of a Python that is named itself.
for place, version in (("first", "2.0"), ("second", "1.0")):
    os.makedirs(f"{place}/some_package-{version}.dist-info")
    with open(f"{place}/some_package-{version}.dist-info/METADATA", "w") as f:
        f.write(f"Metadata-Version: 2.1\nName: some-package\nVersion: {version}\n")
os.mkdir("first/broken-1.dist-info")
for name, words in (("as_script", [script("nothing", "#!/usr/bin/env python3\n")]), ("named", ["python3", "nothing"])):
    sonde("bench", "run", "-q", "-o", name, "--env", f"PYTHONPATH={os.getcwd()}/first:second", *STORE, *words, code=1)
    packages = dict(database("SELECT name, text FROM environment_facts WHERE environment_id = ?", newest()["environment_id"]))
    check(f"packages {name}", packages.get("package.some-package") == "2.0" and packages.get("runtime.version", "").startswith("Python 3"), packages)
check("one environment", len({r["environment_id"] for r in rows}) == 1)
batch = database("SELECT * FROM batches")[0]
with open("in_python", "rb") as f:
    import hashlib
    check("hash", batch["script_sha256"] == hashlib.sha256(f.read()).hexdigest(), dict(batch))
# Behind an interpreter's options, the script is what it runs.
with open("nothing", "rb") as f:
    digest = hashlib.sha256(f.read()).hexdigest()
for name, words, wanted in (("behind", ["python3", "-u", "nothing"], True), ("words", ["python3", "-c", "pass"], False), ("not_run", ["/bin/cat", "nothing"], False)):
    sonde("bench", "run", "-q", "-o", name, *STORE, *words, code=1)
    batch = database("SELECT * FROM batches ORDER BY id DESC")[0]
    check(f"hash {name}", (batch["script_sha256"] == digest) == wanted == (batch["origin"] == os.path.abspath("nothing")), dict(batch))
batch = database("SELECT * FROM batches")[0]
check("evidence", "in_python" in sonde("show", "--json", "py/sonde_0002").stdout)
check("where it is", t["path"] == os.path.abspath("py/sonde_0001") and database("SELECT path FROM runs WHERE id = ?", t["run_id"])[0][0] == t["path"], t["path"])
check("its run", database("SELECT uid FROM runs WHERE id = ?", t["run_id"]), t["run_id"])
modes = {os.stat(os.path.join(d, f)).st_mode & 0o77 for d, _, fs in os.walk("py") for f in fs}
check("private files", modes == {0}, modes)
sonde("bench", "run", "-q", "-o", "sh", *STORE, shell)
check("shell", newest()["state"] == "ok" and database("SELECT answer FROM trials_pi_shell")[0][0] == 42)
sonde("bench", "run", "-q", "-o", "c", *STORE, PROGRAMS + "/indicator")
check("C", newest()["state"] == "ok" and database("SELECT n FROM trials_pi_sum")[0][0] == 1000000)

# Each way to fail: exit code, words of the reason, and whether check says so, too.
GOOD = '{"name": "PiBad", "component": "x", "@parameters": {"a": 1}, "@result": {"b": 2.5}}'


def failing(name, text, reason, options=()):
    path = script(name, text)
    sonde("bench", "run", "-q", "-o", "d_" + name, *STORE, *options, path, code=1)
    t = newest()
    check(f"trial of {name}", t["state"] == "failed" and reason in t["reason"], t["reason"])
    check(f"check of {name}", reason in sonde("bench", "check", *[o for o in options], path, code=1).stdout, reason)
    return t


t = failing("raises", "#!/usr/bin/env python3\nimport sys\nprint('warming up', file=sys.stderr)\nraise SystemExit('no \x1b[31mluck \xff')\n",
            r"it ended with exit code 1; it said last: no \x1b[31mluck")
check("no more of it", "warming" not in t["reason"] and "\x1b" not in t["reason"], t["reason"])
sonde("bench", "run", "-q", "-o", "d_crash", *STORE, PROGRAMS + "/indicator", "alas", code=1)
check("C that crashes", newest()["signal"] == 6 and newest()["reason"].endswith("; it said last: alas: it is all over"), newest()["reason"])
t = failing("mute", "#!/bin/sh\necho >&2 'no input'\n", "nothing was printed, expected one JSON object")
check("why it is mute", t["reason"].endswith("; it said last: no input"), t["reason"])
failing("no_interpreter", "#!/nowhere/python\n", "it could not be started: ")


def says(name, document, reason):
    failing(name, "#!/bin/sh\ncat <<'END'\n" + document + "\nEND\n", reason)


t = failing("status", f"#!/bin/sh\necho '{GOOD}'\nexit 3\n", "it ended with exit code 3")
check("what a failed one said", t["exit_code"] == 3 and t["indicator_id"] and database("SELECT b FROM trials_pi_bad")[0][0] == 2.5, dict(t))
t = failing("signal", "#!/bin/sh\nkill -SEGV $$\n", "it was ended by signal 11")
check("signal", t["signal"] == 11 and t["exit_code"] is None)
t = failing("hangs", "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n", "it took longer than it was given", ("--timeout", "300ms"))
check("time of one that hangs", 0.3 <= t["duration_seconds"] < 60, t["duration_seconds"])
says("deep", '{"name": "PiBad", "component": "x", "@parameters": {}, "@result": {"b": ' + "[" * 100 + "1" + "]" * 100 + "}}", "more than 64 levels")
failing("no_utf8", "#!/bin/sh\nprintf '{\"name\": \"PiBad\", \"component\": \"x\", \"@parameters\": {\"\\377\": 1}, \"@result\": {\"b\": 1}}'\n", "is not UTF-8")
failing("many_keys", f"#!/bin/sh\nawk 'BEGIN {{ printf \"{{\"; for (i = 0; i < 300000; i++) printf \"\\\"k%d\\\": 1,\", i }}'\necho '{GOOD[1:]}'\n", "more than 4096 keys")
failing("silent", "#!/bin/sh\n", "nothing was printed")
says("no_json", "rate: 12", "not one JSON object")
says("a_list", "[1, 2]", "a list was printed")
says("two", GOOD + "\n" + GOOD, "not one JSON object: it is not JSON: something behind its end in line 2")
says("overlap", '{"name": "PiBad", "component": "x",\n "@parameters": {"a": 1},\n "@result": {"a": 2}}', 'line 3: the key "a" is in @parameters and in @result')
says("case", '{"name": "PiBad", "component": "x", "@parameters": {"a": 1}, "@result": {"A": 2}}', "capital and in small letters")
says("nan", '{"name": "PiBad", "component": "x", "@parameters": {},\n "@result": {"b": NaN}}', "line 2: @result.b: no number")
says("huge", '{"name": "PiBad", "component": "x", "@parameters": {}, "@result": {"b": 1e999}}', "@result.b: a number that is too large")
says("inner_nan", '{"name": "PiBad", "component": "x", "@parameters": {}, "@result": {"b": {"c": [1, -Infinity]}}}', "@result.b: no number")
says("no_name", '{"component": "x", "@parameters": {}, "@result": {}}', 'the key "name" is missing')
says("no_component", '{"name": "PiBad", "@parameters": {}, "@result": {}}', 'the key "framework" is missing, or "component"')
says("no_result", '{"name": "PiBad", "component": "x", "@parameters": {}}', 'the key "@result" is missing')
says("list_result", '{"name": "PiBad", "component": "x", "@parameters": {}, "@result": []}', "@result: a list, expected an object")
says("number_name", '{"name": 7, "component": "x", "@parameters": {}, "@result": {}}', "name: a number, expected a text")
says("bad_name", '{"name": "a; b", "component": "x", "@parameters": {}, "@result": {}}', "name: 'a; b' is none")
says("text_score", '{"name": "PiBad", "component": "x", "@parameters": {}, "@result": {}, "overall_score": "1"}', "overall_score: a text")
says("build", '{"name": "PiBad", "component": "x", "@parameters": {}, "@result": {}, "x_buildinfo": 1}', "x_buildinfo: a number")
says("trial_id", '{"name": "PiBad", "component": "x", "@parameters": {"trial_id": 1}, "@result": {}}', "cannot be a column's name")
t = failing("flood", "#!/bin/sh\nhead -c 100000000 /dev/zero | tr '\\0' x\n", "more than 16 MiB were printed")
check("what is kept of a flood", len(t["stdout"]) == 65536, len(t["stdout"]))
t = failing("binary", f"#!/bin/sh\nhead -c 1000 /dev/urandom >&2\nprintf '\\000\\377' >&2\necho '{GOOD}'\nexit 1\n", "it ended with exit code 1")
t = failing("stays", f"#!/bin/sh\nsleep 1000 &\nsetsid sleep 1000 >/dev/null 2>&1 &\necho '{GOOD}'\n", "behind (")
check("what stayed is gone", "sleep" not in processes_here(), processes_here())
# A result that does not fit the columns that there are.
sonde("bench", "run", "-q", "-o", "fits_d", *STORE, script("fits", f"#!/bin/sh\necho '{GOOD}'\n"))
t = script("unfit", f"#!/bin/sh\necho '{GOOD.replace('1}', chr(34) + 'one' + chr(34) + '}')}'\n")
sonde("bench", "run", "-q", "-o", "unfit_d", *STORE, t, code=1)
check("another type", newest()["state"] == "failed" and "@parameters.a: a text, and as a column of PiBad it is int" in newest()["reason"], newest()["reason"])
# Of a declared one, also at the first.
t = script("unknown", "#!/bin/sh\nprintf '%s' '" + EXAMPLE.replace('"reps"', '"repeats"') + "'\n")
sonde("bench", "run", "-q", "-o", "unknown_d", *STORE, t, code=1)
check("an undeclared column", "@parameters.repeats is none of the columns that are declared of PiMatmul" in newest()["reason"], newest()["reason"])
sonde("bench", "run", "-q", "-o", "unknown_again", *STORE, t, code=1)
check("they are of their indicator", database("SELECT i.name, COUNT(*) FROM trials t JOIN indicators i ON i.id = t.indicator_id WHERE t.reason LIKE '%PiMatmul%' "
                                              "GROUP BY i.name") == [("PiMatmul", 2)] and database("SELECT * FROM pi_matmul") == [])
check("a warning", "warning: line 1: component: 'X' has capital" in
      sonde("bench", "check", script("capital", "#!/bin/sh\necho '" + GOOD.replace('"x"', '"X"') + "'\n")).stdout)

# What is no script, or nothing to run it with, is said, and nothing is kept.
n = database("SELECT COUNT(*) FROM batches")[0][0]
open("plain", "w").close()
for words, text in ((["nowhere"], "there is no such script"), (["./plain"], "chmod +x"), ([], "no script given"),
                    (["--env", "x", shell], "NAME=VALUE"), (["--model", "nowhere", shell], "cannot open the model")):
    p = sonde("bench", "run", *STORE, *words, code=2)
    check(f"sentence for {words}", text in p.stderr and p.stderr.count("\n") == 1, p.stderr)
p = sonde("bench", "run", "-o", "py", *STORE, shell, code=1)
check("a directory that is there", "existing directories are not changed" in p.stderr, p.stderr)
check("no verb", "unknown command 'nonsense'" in sonde("bench", "nonsense", code=2).stderr)
shutil.rmtree("d_flood", ignore_errors=True)
end()
