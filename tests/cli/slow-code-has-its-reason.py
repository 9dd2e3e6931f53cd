# SPDX-License-Identifier: Apache-2.0
"""Of real programs the first verdict says why the code is slow, where the functions that were sampled show it: before where it is, and before cores that
were not used; of a program that only computes it gives no reason."""
# limit: 300
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from patience import patience

SONDE = os.environ["SONDE"]
SORT = """#include <algorithm>
#include <ctime>
#include <string>
#include <vector>
static bool before(const std::string &a, const std::string &b) { return std::stol(a.substr(a.find('-') + 1)) < std::stol(b.substr(b.find('-') + 1)); }
int main() { std::vector<std::string> v; unsigned x = 1; for (int i = 0; i < 100000; i++) v.push_back("item-" + std::to_string(x = x * 1103515245 + 12345));
while (clock() < 3.0 * CLOCKS_PER_SEC) { auto w = v; std::sort(w.begin(), w.end(), before); } }
"""
LAMBDA = """#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>
static int minutes(const std::string &s) { int h, m; sscanf(s.c_str(), "%d:%d", &h, &m); return h * 60 + m; }
int main() { std::vector<std::string> v; unsigned x = 1; for (int i = 0; i < 100000; i++) { x = x * 1103515245 + 12345;
v.push_back(std::to_string(x % 24) + ":" + std::to_string(x / 24 % 60)); }
while (clock() < 3.0 * CLOCKS_PER_SEC) { auto w = v; std::stable_sort(w.begin(), w.end(), [](auto &a, auto &b) { return minutes(a) < minutes(b); }); } }
"""
GO = """package main
import ("fmt"; "sort"; "strings")
func main() {
	names := make([]string, 40000)
	for i := range names { names[i] = fmt.Sprintf("name-%d", i*7919%40000) }
	for k := 0; k < 25; k++ { c := append([]string{}, names...); sort.Slice(c, func(i, j int) bool { return strings.ToUpper(c[i]) < strings.ToUpper(c[j]) }) }
}
"""
CHAINS = """#include <ctime>
#include <string>
#include <unordered_map>
struct point { long x, y; bool operator==(const point &o) const { return x == o.x && y == o.y; } };
struct hash { size_t operator()(const point &p) const { return (p.x ^ p.y) % 16; } };
int main() { std::unordered_map<point, int, hash> m; volatile long sum = 0; for (long i = 0; i < 4000; i++) m[point{i, i * 3}] = 1;
while (clock() < 3.0 * CLOCKS_PER_SEC) for (long i = 0; i < 200; i++) sum = sum + m.find(point{i, i * 3})->second; }
"""
FLUSH = """#include <ctime>
#include <fstream>
int main() { std::ofstream f("lines.txt"); while (clock() < 3.0 * CLOCKS_PER_SEC) { f.seekp(0); for (int i = 0; i < 20000; i++) f << i << std::endl; } }
"""
COMPUTES = """#include <ctime>
static __attribute__((noinline)) double sum(const double *a, int n) { double s = 0; for (int i = 0; i < n; i++) s = s * 0.5 + a[i]; return s; }
int main() { static double a[4096]; volatile double t = 0; while (clock() < 3.0 * CLOCKS_PER_SEC) for (int i = 0; i < 100; i++) t = t + sum(a, 4096); }
"""
# Beside others Python is seen too often where it asks the kernel: seldom, then.
COPY = """import copy, time
state = {"board": [[0] * 20 for _ in range(20)], "moves": [{"a": i} for i in range(50)]}
def step(s):
    return copy.deepcopy(s)
while time.process_time() < 3:
    for _ in range(300): state = step(state)
"""
FIXTURE = """import pytest, time
@pytest.fixture
def model():
    end = time.process_time() + 0.3
    while time.process_time() < end: sum(range(2000000))
@pytest.mark.parametrize("n", range(10))
def test_of(model, n): assert n >= 0
"""
PERL = """my @v; my $x = 1; for (1..20000) { $x = ($x * 1103515245 + 12345) % 2147483648; push @v, "name-$x-end" }
while ((times)[0] < 3) { my @s = sort { my ($p) = $a =~ /-(\\\\d+)-/; my ($q) = $b =~ /-(\\\\d+)-/; $p <=> $q } @v }
"""
CPP = ["c++", "-O2", "-g", "-o", "./program", "program.cc"]


def with_pytest():
    for python in (sys.executable, "/usr/bin/python3", shutil.which("python3")):
        if python and subprocess.run([python, "-c", "import pytest"], capture_output=True, check=False).returncode == 0:
            return python
    return None


JOBS = [  # its files, how it is compiled, its command, the reason, what it also says
    ("sort", {"program.cc": SORT}, CPP, ["./program"], "A sort whose comparisons parse or copy", ["before (program.cc:", "once"]),
    ("lambda", {"program.cc": LAMBDA}, CPP, ["./program"], "A sort whose comparisons parse or copy", ["minutes (program.cc:6)", "once"]),
    ("chains", {"program.cc": CHAINS}, CPP, ["./program"], "Long chains in a hash table", ["main (program.cc:", "hash function"]),
    ("flush", {"program.cc": FLUSH}, CPP, ["./program"], "Output that is flushed piece by piece", ["main (program.cc:", "std::endl"]),
    ("computes", {"program.cc": COMPUTES}, CPP, ["./program"], "", ["sum (program.cc:"]),
    ("copy", {"copies.py": COPY}, None, ["/usr/bin/python3", "copies.py"], "copy.deepcopy", ["step (copies.py:4)"]),
]
if shutil.which("perl"):
    JOBS.append(("perl", {"sort.pl": PERL.replace("\\\\", "\\")}, None, ["perl", "sort.pl"], "A sort whose comparisons match patterns", ["map {"]))
if shutil.which("go"):
    JOBS.append(("go", {"main.go": GO}, ["go", "build", "-o", "program", "main.go"], ["./program"], "A sort whose comparisons parse or allocate", ["Compute each key once"]))
if with_pytest():
    JOBS.append(("fixture", {"test_it.py": FIXTURE}, None, [with_pytest(), "-m", "pytest", "-q", "test_it.py"], "Setting up a fixture of pytest", ["model (test_it.py:"]))
for name, files, compiled, command, reason, words in JOBS:
    pathlib.Path(name).mkdir()
    for path, text in files.items():
        pathlib.Path(name, path).write_text(text, encoding="utf-8")
    if compiled:
        subprocess.run(compiled, check=True, cwd=name)
    subprocess.run([SONDE, "run", "-q", "-i", "100ms", "--stacks=199", "-o", "rec", "--", *command], check=True, cwd=name, timeout=patience(90),
                   stdout=subprocess.DEVNULL)
    shown = json.loads(subprocess.run([SONDE, "show", "--json", "rec"], check=True, cwd=name, capture_output=True, text=True).stdout)
    said = [(one["rule"], one["sentence"]) for one in shown["verdicts"]]
    print(name, said)
    if name == "flush":
        if not shown["code"]["kernel"]:
            continue  # what the kernel does for it, more than half of it, may not be sampled
        assert int(re.search(r": (\d+) % of the CPU time", dict(said)["code-reason"])[1]) >= 80, said
    if name == "go":  # the threads that carry one goroutine do not wait for each other; beside others they may want all cores
        assert not any(one[0].startswith("takes-turns") for one in said), said
        if "code-reason" not in dict(said):
            continue
    # First, but for what other users of the machine took, and for small writes, which flushes make.
    rule, sentence = next((one for one in said if one[0] not in ("crowded", "low-priority", "low-priority-beside-own", "small-io")), ("", ""))
    if reason:
        assert rule == "code-reason" and re.match(re.escape(reason) + "[^:]*: ", sentence) and all(word in sentence for word in words), said
    else:
        assert "code-reason" not in dict(said), said
