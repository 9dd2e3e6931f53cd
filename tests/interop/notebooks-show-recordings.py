# SPDX-License-Identifier: Apache-2.0
"""In a real IPython: %%sonde records its process while a cell runs and shows the summary, whatever the cell does; recordings, reports and batches are
shown as escaped HTML that loads nothing."""
import html.parser
import os
import subprocess
import sys
import warnings

import readers

readers.enter("venv-frameworks")
os.environ["SONDE_LIBRARY"] = f"{os.environ['BUILD']}/libsonde.so.0"
os.environ["IPYTHONDIR"] = os.path.abspath("ipython")
os.environ["PATH"] = os.path.dirname(os.environ["SONDE"]) + ":" + os.environ["PATH"]
sys.path.insert(0, f"{os.environ['TOP']}/python")
warnings.simplefilter("ignore")
import sonde  # noqa: E402 (its place is known only here)
from IPython.core.interactiveshell import InteractiveShell  # noqa: E402
from IPython.utils.capture import capture_output  # noqa: E402

SONDE = os.environ["SONDE"]
HOSTILE = "<script src=http://x/>&\"'"


def check(what, holds, detail=""):
    if not holds:
        sys.exit(f"FAIL: {what}: {str(detail)[:1500]}")


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = set(), [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def harmless(what, text):
    seen = Tags(text)
    check(f"{what} has tables and text alone", seen.tags <= {"p", "pre", "table", "thead", "tbody", "tr", "th", "td"} and not seen.attributes, text)
    return seen.text


shell = InteractiveShell.instance()


def cell(text):
    with capture_output() as output:
        ran = shell.run_cell(text)
    return ran, output


ran, output = cell("%load_ext sonde")
check("it is loaded", ran.success, output.stdout)
ran, output = cell("%%sonde -o kept --all\nimport time\nend = time.process_time() + 0.3\nwhile time.process_time() < end:\n    pass\nprint('by the cell')\n6 * 7")
check("the cell ran", ran.success and ran.result == 42 and shell.user_ns["end"] > 0 and "by the cell" in output.stdout, output.stdout)
shown = [o for o in output.outputs if "text/html" in o.data]
check("one summary is shown", len(shown) == 1, output.outputs)
text = harmless("the summary", shown[0].data["text/html"])
check("it is that of sonde show", text == subprocess.run([SONDE, "show", "--all", "kept"], capture_output=True, text=True).stdout, text)
check("as text, too", shown[0].data["text/plain"].rstrip() == text.rstrip(), shown[0].data["text/plain"])
with sonde.open("kept") as run:
    check("this process was recorded", str(os.getpid()) in run.metadata["job.command"], run.metadata)
    check("the recording ended with the cell", [n.complete for n in run.nodes] == [True], run.nodes)
    check("it is shown by itself", harmless("a recording", run._repr_html_()) == run.summary().text)
check("no recorder is left", not open(f"/proc/self/task/{os.getpid()}/children").read())

ran, output = cell("%%sonde\nfirst = 1\nraise KeyError('of the cell')\n")
check("what a cell raises is raised, and shown once", isinstance(ran.error_in_exec, KeyError) and shell.user_ns["first"] == 1
      and output.stdout.count("Traceback (most recent call last)") == 1, output.stdout)
check("and its summary is shown", len([o for o in output.outputs if "text/html" in o.data]) == 1, output.outputs)
for line, words in (("--what", "%%sonde takes"), ("-o kept", "kept"), ("-i never", "never")):
    ran, output = cell(f"%%sonde {line}\nran = True")
    check(f"%%sonde {line} is refused", not ran.success and words in str(ran.error_in_exec) and "ran" not in shell.user_ns, (ran.error_in_exec, output.stdout))

subprocess.run([SONDE, "run", "-q", "-o", "hostile", "--", "sh", "-c", ": " + f"'{HOSTILE}'".replace("\"'", "\"")], check=True)
with sonde.open("hostile") as run:
    check("texts are escaped", "<script" in harmless("a hostile one", run._repr_html_()), run.summary().text)
    os.environ["PATH"], path = "/nowhere", os.environ["PATH"]
    text = harmless("without the program", run._repr_html_())
    check("without the program the nodes are shown", os.uname().nodename in text and "<script src=http://x/>" in text, text)
check("a closed one says so", "closed" in harmless("a closed one", run._repr_html_()))
os.environ["PATH"] = path
ran, output = cell("%%sonde -o kept\n1")
check("an existing directory is refused before anything is started", isinstance(ran.error_in_exec, FileExistsError), ran.error_in_exec)
report = sonde.Report()
report.add(0, [sonde.Sample(1e9 + i, i, 1.0, 0.5, 0.25, 0.75, 0.5, *[float(i)] * 7) for i in range(1, 4)], cpus=8)
check("a report is a table", "cpu_avg_utilization_pct50" in harmless("a report", report._repr_html_()))
batch = sonde.Batch({"batch": 1, "indicator": HOSTILE, "trials": 1, "failed": [], "figures": {HOSTILE: dict.fromkeys(("median", "mean", "sd", "min", "max"), 1.5)
                    | {"unit": None}}}, {"trials": []})
check("a batch is a table", HOSTILE in harmless("a batch", batch._repr_html_()))
