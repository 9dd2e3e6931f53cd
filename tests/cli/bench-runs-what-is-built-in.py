# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""The built-in benchmarks are found by name, keep the contract and their models, verify what they computed, leave nothing behind, and refuse
what does not fit. Nothing here looks at how fast they are."""
import json
import math
import os
import signal
import subprocess
import time

from patience import patience
from trials import SONDE, check, database, end, script, sonde

HELPER = os.path.join(os.path.dirname(os.path.realpath(SONDE)), "libexec/sonde/sonde-indicator")
FAKE_BLAS = os.path.join(os.environ["BUILD"], "stubs/fake_blas.so")
FAST = ("--repeats", "2", "--seconds", "1ms")


def said(*words, code=0, **variables):
    p = subprocess.run([HELPER, *words], capture_output=True, text=True, timeout=patience(100), env={**os.environ, **variables})
    check(f"status of {words}", p.returncode == code, f"{p.returncode}, wanted {code}: {p.stderr}")
    if code:
        check(f"a sentence of {words} alone", not p.stdout and p.stderr.startswith(words[0] + ": ") and p.stderr.count("\n") == 1, p)
        return p.stderr
    return json.loads(p.stdout)


# By name: listed, checked, run, stored with typed columns.
listed = json.loads(sonde("bench", "list", "--builtin", "--json").stdout)["benchmarks"]
OPTIONS = {"matmul": ("--size", "40", "--blas", "none"), "stream": ("--size", "1"), "spawn": (), "files": ("--files", "9")}
MAIN = {"matmul": ["rate"], "stream": ["copy_rate", "scale_rate", "add_rate", "triad_rate"], "files": ["create_rate", "stat_rate", "read_rate", "unlink_rate", "rate"],
        "spawn": [f"{k}_{f}" for k in ("fork", "exec") for f in ("rate", "latency_median", "latency_p99")]}
check("the list", [b["name"] for b in listed] == list(OPTIONS) and all(b["what"] for b in listed), listed)
check("for people", all(name in sonde("bench", "list", "--builtin").stdout for name in OPTIONS))
os.mkdir("files")  # is no script
for name, options in OPTIONS.items():
    document = json.loads(sonde("bench", "check", "--json", name, *options, *FAST).stdout)
    check(f"{name} keeps the contract", document["keeps_contract"] and not document["faults"] and document["component"], document)
    p = sonde("bench", "run", "-q", "--json", "-n", "1", name, *options, *FAST)
    figures = json.loads(p.stdout)["batches"][0]["figures"]
    check(f"figures of {name}", all(figures[f]["unit"] and figures[f + "_min"]["mean"] <= figures[f]["mean"] <= figures[f + "_max"]["mean"] for f in MAIN[name]), figures)
    r = document["result"]
    for f in MAIN[name]:
        half = (r[f + "_max"] - r[f + "_min"]) / 2  # of two values
        check(f"variance of {name} {f}", r[f] > 0 and math.isclose(r[f + "_stdev"], half * math.sqrt(2), rel_tol=1e-6, abs_tol=1e-9) and
              math.isclose(r[f + "_cv"], r[f + "_stdev"] / r[f], rel_tol=1e-6, abs_tol=1e-12), r)
trials = database("SELECT t.*, i.name, b.origin, b.command FROM trials t JOIN indicators i ON i.id = t.indicator_id JOIN batches b ON b.id = t.batch_id ORDER BY t.id")
check("stored", [(t["name"], t["state"], t["origin"]) for t in trials] == [(f"Sonde{n.capitalize()}", "ok", f"built-in:{n}") for n in OPTIONS], [tuple(t) for t in trials])
check("its own words", trials[1]["command"].startswith("stream --size 1 "), trials[1]["command"])
check("absent is null", [tuple(r) for r in database("SELECT blas, blas_rate, typeof(residual) FROM trials_sonde_matmul")] == [(None, None, "real")])
check("nothing left behind", not [f for f in os.listdir(".") if f.startswith("sonde-files")], os.listdir("."))

# What they say of themselves.
one = said("stream", "--size", "1", "--repeats", "1", "--seconds", "1ms")
check("one repeat has no spread", one["@result"]["copy_rate_stdev"] is None and one["@result"]["copy_rate_min"] == one["@result"]["copy_rate"], one)
check("score", math.isclose(one["overall_score"], max(-1, min(1, math.log10(one["@result"]["triad_rate"] / 10))), rel_tol=1e-9), one)
check("formulas", "STREAM's convention" in one["info"]["formula"] and one["info"]["verified"] and one["@parameters"]["size"] == 1, one["info"])

# Each measurement takes as long as is asked at least, however fast the work gets when it is warm.
for words in (("matmul", "--size", "8", "--blas", "none"), ("files", "--files", "99")):
    begin = time.monotonic()
    said(*words, "--repeats", "3", "--seconds", "100ms")
    check(f"{words[0]} takes its time", time.monotonic() - begin >= 0.3, time.monotonic() - begin)

# Who ignores what tells of ended children counts them all the same.
p = subprocess.run([HELPER, "spawn", *FAST], preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN), capture_output=True, timeout=patience(100))
check("children of who ignores them", p.returncode == 0, p.stderr)

# Products of all shapes of blocks are right, by any number of threads; a BLAS that is wrong by one number is found out.
for size in (1, 2, 3, 5, 66, 129, 257):
    for threads in (1, 3):
        product = said("matmul", "--size", str(size), "--threads", str(threads), "--blas", FAKE_BLAS, *FAST)
        check(f"product of {size}", product["@result"]["residual"] < 1 and product["@result"]["blas_residual"] < 1 and
              product["@parameters"]["blas"] == FAKE_BLAS and product["@result"]["blas_rate"] > 0, product)
check("a wrong product", "fake_blas.so is wrong" in said("matmul", "--size", "64", "--blas", FAKE_BLAS, *FAST, code=1, FAKE_BLAS_WRONG="1"))
check("a BLAS of 64-bit numbers", said("matmul", "--size", "9", "--blas", FAKE_BLAS, *FAST, FAKE_BLAS_WIDE="1")["@result"]["blas_residual"] < 1)
check("no such BLAS", "not a library with dgemm_" in said("matmul", "--size", "8", "--blas", "./nothing.so", *FAST, code=2))

# What does not fit is refused before anything is taken; a trial of it has failed.
check("memory", "no more than a quarter" in said("stream", "--size", str(1 << 24), code=2))
check("disk", "more than a quarter" in said("files", "--size", str(16 << 20), "--files", "1000000", "--threads", "1000", code=2))
check("no directory", "nowhere" in said("files", "--directory", "nowhere", code=2))
check("an unknown option", "--sizes" in said("matmul", "--sizes", "1", code=2))
check("an operand", "12" in said("matmul", "12", code=2))
sonde("bench", "run", "-q", "stream", "--size", str(1 << 24), code=1)
last = database("SELECT * FROM trials ORDER BY id DESC LIMIT 1")[0]
check("a failed trial", last["reason"].startswith("it ended with exit code 2") and "no more than a quarter" in last["stderr"], dict(last))

# Files: threads have files of their own; a signal ends the round and nothing is left.
os.mkdir("here")
files = said("files", "--directory", "here", "--threads", "3", "--files", "5", "--size", "3", "--sync", *FAST)
check("files", files["component"] == files["@parameters"]["file_system"] != "unknown" and files["@parameters"]["sync"] is True, files)
for number in (signal.SIGTERM, signal.SIGINT):
    p = subprocess.Popen([HELPER, "files", "--directory", "here", "--seconds", "1h"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + patience(60)
    while not (os.listdir("here") and os.listdir(os.path.join("here", os.listdir("here")[0]))) and time.monotonic() < until:
        time.sleep(0.01)
    p.send_signal(number)
    out, err = p.communicate(timeout=patience(60))
    check("ended by a signal", p.returncode == 1 and not out and "signal" in err, (p.returncode, err))
    check("files are gone", os.listdir("here") == [], os.listdir("here"))

# A file of that name is what is meant, and so is a program in PATH.
script("matmul", '#!/bin/sh\necho \'{"name": "PiOwn", "component": "x", "@parameters": {}, "@result": {"x": 1}}\'\n')
check("a script of that name", "PiOwn" in sonde("bench", "check", "matmul").stdout)
check("by its name alone", "SondeSpawn" in sonde("bench", "check", "spawn", *FAST).stdout)
check("no such", "there is no such script" in sonde("bench", "check", "matmull", code=2).stderr)
before = database("SELECT COUNT(*) FROM trials")[0][0]
for verb in ("run", "check"):
    check(f"bench {verb} NAME --help", "--size" in sonde("bench", verb, "spawn", "--help").stdout)
check("help is no trial", database("SELECT COUNT(*) FROM trials")[0][0] == before)
check("their options", "--blas" in subprocess.run([HELPER, "matmul", "--help"], capture_output=True, text=True, check=True).stdout)
end()
