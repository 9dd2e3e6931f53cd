# SPDX-License-Identifier: Apache-2.0
# limit: 400
"""Rules of real workflows have their names and figures: Snakemake (shell, script and run), cwltool, Toil, make, GNU parallel and Ninja if they are installed, and Nextflow if its
jars are in $BUILD/nextflow. The lines to paste are read by Snakemake and Nextflow themselves."""
import glob
import json
import os
import shutil
import subprocess

import readers

readers.enter("venv-pipelines")

SONDE, BUILD = os.environ["SONDE"], os.environ["BUILD"]
BIN = f"{BUILD}/venv-pipelines/bin"
HOLD = "/usr/bin/python3 -c 'import time; held = b\"x\" * (60 << 20); time.sleep(1.5)'"


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def record(name, *command, **environment):
    ended = subprocess.run([SONDE, "run", "-q", "-i", "100ms", "-o", name, "--", *command], capture_output=True, text=True, check=False,
                           env=os.environ | environment)
    assert ended.returncode == 0, ended
    document = json.loads(subprocess.run([SONDE, "show", "--pipelines", "--json", name], capture_output=True, text=True, check=True).stdout)
    return {p["tool"]: p | {"by": {r["name"]: r for r in p["rules"]}} for p in document["pipelines"]}


def has(rule, tasks, least_s, least_mb=0):
    assert rule["tasks"] == tasks and rule["wall_median_seconds"] > least_s, rule
    assert not least_mb or least_mb << 20 < rule["peak_memory_bytes"] < 4 * least_mb << 20, rule


def snakemake():
    write("plot.py", "import time\ntime.sleep(1)\nopen(snakemake.output[0], 'w').close()\n")
    rules = f'''rule all:
    input: expand("{{s}}.stat", s=["a", "b", "c"]), "plot.txt", "run.txt"
rule align:
    output: "{{s}}.sam"
    shell: {("mkdir -p x; " + HOLD.replace('{', '{{') + " > {output}")!r}
rule stats:
    input: "{{s}}.sam"
    output: "{{s}}.stat"
    shell: "sort {{input}} > {{output}}; sleep 0.7"
rule plot:
    output: "plot.txt"
    script: "plot.py"
rule made:
    output: "run.txt"
    run:
        import time
        time.sleep(1)
        open(output[0], "w").close()
'''
    write("Snakefile", rules)
    told = record("snake", f"{BIN}/snakemake", "--cores", "2", XDG_CACHE_HOME=os.getcwd())["snakemake"]
    assert set(told["by"]) == {"align", "stats", "plot", "made"}, told
    has(told["by"]["align"], 3, 1.4, 60)
    has(told["by"]["stats"], 3, 0.65)
    has(told["by"]["plot"], 1, 0.9)
    has(told["by"]["made"], 1, 0.9)
    # Snakemake reads them: each rule with what it has besides.
    lines = {r["name"]: r["paste"].split("\n", 1)[1] for r in told["rules"]}
    for name, more in lines.items():
        rules = rules.replace(f"rule {name}:\n", f"rule {name}:\n{more}")
    write("Snakefile", rules)
    said = subprocess.run([f"{BIN}/snakemake", "--cores", "2", "-n", "--forceall", "--rerun-triggers", "mtime"], capture_output=True, text=True, check=False,
                          env=os.environ | {"XDG_CACHE_HOME": os.getcwd()})
    assert said.returncode == 0 and "mem_mb=" in said.stdout + said.stderr, said
    # Without Snakemake's records the tasks of shells have the names of their programs.
    shutil.rmtree(".snakemake/metadata")
    text = subprocess.run([SONDE, "show", "--pipelines", "snake"], capture_output=True, text=True, check=True).stdout
    assert "own records of the name are not there" in text and "  python3\n" in text and "  plot\n" in text, text


def write_flow():
    write("hold.cwl", json.dumps({"cwlVersion": "v1.2", "class": "CommandLineTool", "inputs": {"number": "int"}, "outputs": [], "baseCommand": [
        "/usr/bin/python3", "-c", "import time; held = b'x' * (60 << 20); time.sleep(1.5)"]}))
    write("flow.cwl", json.dumps({"cwlVersion": "v1.2", "class": "Workflow", "requirements": [{"class": "ScatterFeatureRequirement"}],
                                  "inputs": {"numbers": "int[]"}, "outputs": [],
                                  "steps": {"hold": {"run": "hold.cwl", "scatter": "number", "in": {"number": "numbers"}, "out": []}}}))


def cwl():
    write_flow()
    told = record("cwl", f"{BIN}/cwltool", "flow.cwl", "--numbers", "1", "--numbers", "2")["cwl"]
    has(told["by"]["python3"], 2, 1.4, 60)
    assert "ResourceRequirement:" in told["by"]["python3"]["paste"], told


def toil():
    """The same steps by Toil: in its own process, or in workers that it starts."""
    write_flow()
    told = record("toil", f"{BIN}/toil-cwl-runner", "--jobStore", "store", "--disableProgress", "flow.cwl", "--numbers", "1", "--numbers", "2",
                  PATH=f"{BIN}:{os.environ['PATH']}")
    # On a busy machine a sample may see Toil's own stat and du.
    assert set(told) == {"cwl"} and set(told["cwl"]["by"]) <= {"python3", "stat", "du"}, told
    has(told["cwl"]["by"]["python3"], 2, 1.4, 60)


def parallel():
    told = record("parallel", "parallel", "-j2", "--will-cite", HOLD + "; : {}", ":::", "1", "2", "3")["parallel"]
    has(told["by"]["python3"], 3, 1.4, 60)
    assert told["paste"].startswith("parallel -j") and "--memfree" in told["paste"], told


def make():
    """The lines to paste are words that make takes: -jN."""
    write("Makefile", "all: a b c\na b c:\n\t@cd . && " + HOLD.replace("$", "$$") + "\n")
    told = record("make", "make", "-j2")["make"]
    has(told["by"]["python3"], 3, 1.4, 60)
    subprocess.run([*told["paste"].split(), "-n"], check=True, capture_output=True)


def ninja():
    write("build.ninja", "rule hold\n  command = cd . && " + HOLD.replace("$", "$$") + "\nbuild a: hold\nbuild b: hold\nbuild c: hold\n")
    told = record("ninja", "ninja", "-j2")["ninja"]
    has(told["by"]["python3"], 3, 1.4, 60)
    subprocess.run([*told["paste"].split(), "-n"], check=True, capture_output=True)


def nextflow(jars):
    write("main.nf", "process ALIGN {\n  input: val x\n  output: path \"${x}.txt\"\n  script: \"\"\"\n  " + HOLD + "\n  echo $x > ${x}.txt\n  \"\"\"\n}\n"
          "process COUNT {\n  input: path f\n  output: stdout\n  script: \"wc -l $f; sleep 1\"\n}\n"
          "workflow { ALIGN(Channel.of('a', 'b', 'c')) | COUNT | view }\n")
    told = record("nextflow", "java", "-cp", jars, "nextflow.cli.Launcher", "run", "main.nf", NXF_OFFLINE="true", NXF_HOME=os.getcwd() + "/home")["nextflow"]
    assert set(told["by"]) == {"ALIGN", "COUNT"}, told
    has(told["by"]["ALIGN"], 3, 1.4, 60)
    has(told["by"]["COUNT"], 3, 0.9)
    write("nextflow.config", "".join(r["paste"] for r in told["rules"]))
    said = subprocess.run(["java", "-cp", jars, "nextflow.cli.Launcher", "config"], capture_output=True, text=True, check=False,
                          env=os.environ | {"NXF_OFFLINE": "true", "NXF_HOME": os.getcwd() + "/home"})
    assert said.returncode == 0 and "withName:ALIGN" in said.stdout and "memory" in said.stdout, said


tried = []
for name, run, there in [("Snakemake", snakemake, True), ("cwltool", cwl, True), ("Toil", toil, os.path.exists(f"{BIN}/toil-cwl-runner")), ("GNU parallel", parallel, shutil.which("parallel")),
                         ("make", make, True), ("Ninja", ninja, shutil.which("ninja")),
                         ("Nextflow", lambda: nextflow(f"{BUILD}/nextflow/*"), glob.glob(f"{BUILD}/nextflow/nextflow-*.jar") and shutil.which("java"))]:
    if there:
        os.makedirs(name)
        os.chdir(name)
        run()
        os.chdir("..")
    tried.append(name if there else f"{name} is not there")
print("; ".join(tried))
