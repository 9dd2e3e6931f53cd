# SPDX-License-Identifier: Apache-2.0
"""CPU time by code, of an ordinary user's programs built without frame pointers: every kind of process, library and stack is followed to its
outermost frame, with the names of its functions. That each part of a program has the share that its own clock measured is accuracy/code's."""
# limit: 300
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys

from ordinary_user import USER, enter_room, need_unwind
from stacks import FRAME_CUT, FRAME_LOST_WAY, FRAME_SPINS, FRAME_UNOPTIMIZED, Stacks

SONDE, PROGRAMS, BUILD = (os.environ[name] for name in ("SONDE", "PROGRAMS", "BUILD"))
KINDS = PROGRAMS + "/stack_kinds"
HZ = 499
need_unwind()
room = enter_room()


def record(name, *command, hz=HZ):
    subprocess.run([*USER, SONDE, "run", f"--stacks={hz}", "-q", "-o", name, "--", *command], check=True, stdout=open(name + ".out", "w"))
    if USER:
        subprocess.run(["chmod", "-R", "a+rX", name], check=True)
    found = Stacks(name)
    if not found.samples and "forbidden" in str(found.metadata.get("source.stacks")):
        print(found.metadata["source.stacks"])
        sys.exit(77)
    assert found.total() > 10, (name, found.metadata)
    assert found.metadata["stacks.period_ns"] == 10**9 // hz
    assert all(s.instance in found.instances and s.unit == 10**9 // hz for s in found.samples), name
    return found


def whole(found):
    """Of all samples, those whose outermost frame was reached."""
    flags = [found.frames[f].flags for n, f in found.nodes.values()]
    assert not any(f & ~(FRAME_CUT | FRAME_LOST_WAY | FRAME_UNOPTIMIZED | FRAME_SPINS) for f in flags)
    return sum(s.weight for s in found.samples if not found.path(s.node)[0].startswith("(")) / found.total()


def through(found, *functions):
    """The part of the samples in which these follow each other, the outermost first."""
    part = 0
    for s in found.samples:
        names = iter(found.path(s.node))
        part += s.weight * all(any(function in name for name in names) for function in functions)
    return part / found.total()


shutil.copy(KINDS, "deleted")
os.chmod("deleted", 0o755)
subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", "library.so", "-x", "c", "-"], check=True, text=True, input="""
#include <time.h>
static volatile double sink = 1;
__attribute__((noinline)) static void library_inner(double much)
{ clock_t end = clock() + much * CLOCKS_PER_SEC; while (clock() < end) for (int i = 0; i < 20000; i++) sink = sink * 1.0000001 + 0.1; }
void library_burn(double much) { library_inner(much); sink += 1; }
""")
for what, options in (("static", ["-static"]), ("position", ["-no-pie"]), ("stripped", ["-s"]), ("compressed", ["-g", "-gz=zlib"])):
    subprocess.run(["cc", "-O2", "-w", *options, "-o", what, os.environ["TOP"] + "/tests/programs/stack_kinds.c", "-pthread"], check=True,
                   stderr=subprocess.DEVNULL)

CASES = {
    "plain": ([KINDS, "plain", "0.4"], ["_start", "main", "burn"]),
    "signal": ([KINDS, "signal", "0.4"], ["_start", "main", "interrupted", "on_alarm", "burn"]),
    "threads": ([KINDS, "threads", "0.3"], ["in_thread", "burn"]),
    "fork": ([KINDS, "fork", "0.4"], ["_start", "main", "by_fork", "burn"]),
    "exec": ([KINDS, "exec", "0.8", "3"], ["_start", "main", "by_exec", "burn"]),
    "library": ([KINDS, "library", "0.4", os.path.abspath("library.so")], ["main", "by_library", "library_burn", "library_inner"]),
    "vdso": ([KINDS, "vdso", "0.4"], ["_start", "main", "by_vdso", "clock_gettime"]),
    "deleted": (["./deleted", "deleted", "0.4"], ["_start", "main", "burn"]),
    "static": (["./static", "plain", "0.4"], ["_start", "main", "burn"]),
    "position": (["./position", "plain", "0.4"], ["_start", "main", "burn"]),
    "compressed": (["./compressed", "plain", "0.4"], ["_start", "main", "burn"]),
    "deep": ([KINDS, "deep", "0.4", "20"], ["_start", "main", *["recursive"] * 10, "burn"]),
}
for kind, (command, functions) in CASES.items():
    seen = record("kind-" + kind, *command)
    print(kind, seen.total(), whole(seen), through(seen, *functions))
    assert whole(seen) >= 0.98, (kind, seen.ends())
    assert through(seen, *functions) >= 0.9, (kind, functions, seen.ends())

# A function and its line; the file is the source's.
seen = Stacks("kind-plain")
burn = [f for f in seen.frames.values() if f.function == "burn"]
source = pathlib.Path(os.environ["TOP"], "tests/programs/stack_kinds.c").read_text().splitlines()
assert burn and all(f.file.endswith("stack_kinds.c") and 0 < f.line <= len(source) for f in burn), burn
assert any("sink * 1.0000001" in source[f.line - 1] for f in burn), burn

# Without symbols there are addresses, and callers all the same.
seen = record("no-names", "./stripped", "plain", "0.4")
assert whole(seen) >= 0.98 and through(seen, "stripped+0x", "stripped+0x") >= 0.9, seen.ends()

# More than is copied of a stack is said to be cut; the innermost frames are there.
seen = record("cut", "sh", "-c", f"if ulimit -s 400000 2>/dev/null; then exec {KINDS} deep 0.4 1000000; else exec {KINDS} deep 0.4 20000; fi")
assert through(seen, "(cut)", "recursive", "burn") >= 0.9, seen.ends()

# What is inlined is there, with the line of the call: of a method, and of a function that its compiler lists within a namespace.
METHOD = """struct Worker { template <class T> __attribute__((noinline)) unsigned work(T n) { unsigned s = 0;
for (T i = 0; i < n; i++) s += twist<unsigned>(i); return s; } };
"""
FUNCTION = """namespace solver { struct Worker { template <class T> unsigned work(T n); }; __attribute__((noinline)) unsigned worked(int n) { unsigned s = 0;
for (int i = 0; i < n; i++) s += twist<unsigned>(i); return s; }
template <> unsigned Worker::work<int>(int n) { return worked(n) + 1; } } using solver::Worker;
"""
for compiler, body in (("c++", METHOD), ("clang++", FUNCTION)):
    if not shutil.which(compiler):
        continue
    subprocess.run([compiler, "-O2", "-g", "-o", "inlined", "-x", "c++", "-"], check=True, text=True, input=f"""#include <ctime>
template <class T> static inline __attribute__((always_inline)) T twist(T x)
{{ for (int i = 0; i < 50; i++) x = x * 1664525u + 1013904223u; return x; }}
{body}int main() {{ volatile unsigned s = 0; Worker w; for (clock_t end = clock() + 0.4 * CLOCKS_PER_SEC; clock() < end;) s = s + w.work<int>(1000000 + (s & 1)); }}
""")
    seen = record("inlined-calls-of-" + compiler, "./inlined")
    work = "solver::worked(int)" if body == FUNCTION else "Worker::work<int>"
    assert through(seen, "main", work, "twist<unsigned") >= 0.9, seen.ends()
    # Templates' names are short where people read them, and whole in exports.
    name = "inlined-calls-of-" + compiler
    subprocess.run([SONDE, "export", "--to", "folded", "-o", name + "-export", name], check=True)
    shown = json.loads(subprocess.run([SONDE, "show", "--code", "--json", name], check=True, capture_output=True, text=True).stdout)["function"]
    assert "twist<unsigned" in pathlib.Path(name + "-export", "stacks.folded").read_text()
    assert "twist" in [row["name"] for row in shown] and not [row["name"] for row in shown if "<" in row["name"]], shown
    inner = [f for f in seen.frames.values() if "twist<unsigned" in f.function and f.outer]
    assert inner and all(seen.frames[f.outer].line in (4, 5) and f.line in (0, 2, 3) for f in inner) and any(f.line == 3 for f in inner), inner

# A function that was compiled without optimization is known as such, and a verdict says so; the same one with -O2 is not.
LOOP = "int main(void) { volatile double s = 1; for (clock_t end = clock() + 2.1 * CLOCKS_PER_SEC; clock() < end;) for (int i = 0; i < 100000; i++) s = s * 1.0000001 + 0.1; }"
for level, wanted in (("-O0", True), ("-O2", False)):
    subprocess.run(["gcc", level, "-g", "-o", "program" + level, "-x", "c", "-include", "time.h", "-"], check=True, text=True, input=LOOP)
    seen = record("loop" + level, "./program" + level, hz=99)
    marked = {f.function for f in seen.frames.values() if f.flags & FRAME_UNOPTIMIZED}
    said = json.loads(subprocess.run([SONDE, "show", "--json", "loop" + level], check=True, capture_output=True, text=True).stdout)
    assert ("main" in marked) == wanted, (level, marked)
    assert ("code-unoptimized" in [v["rule"] for v in said["verdicts"]]) == wanted, (level, said["verdicts"])

# Compilers that keep no options in their debug information are known by where their variables are: clang's, and Rust's, whose advice is its own.
RUST = """fn count(n: u64, by: u64) -> u64 { let mut sum = 0u64; for i in 0..n { if i % by == 0 { sum = sum.wrapping_add(i * i); } } sum }
extern "C" { fn clock() -> i64; }
fn main() { let mut all = 0u64; let mut k = 2u64;
while unsafe { clock() } < 2_100_000 { all = all.wrapping_add(count(300000 + (all & 1), k)); k = 2 + k % 7; } println!("{}", all); }
"""
rust_home = None
for compiler, source, levels in (("clang", LOOP, {"-O0": True, "-O1": False, "-O2": False}), ("rustc", RUST, {"-Copt-level=0": True, "-Copt-level=1": False, "-O": False})):
    home = {**os.environ, "HOME": pwd.getpwuid(os.getuid()).pw_dir}  # where rustup keeps its compilers
    if not shutil.which(compiler) or subprocess.run([compiler, "--version"], env=home, capture_output=True, check=False).returncode:
        continue
    rust_home = home if compiler == "rustc" else None
    for level, wanted in levels.items():
        if "1" in level and not os.environ.get("LONG"):
            continue
        name = compiler + level.replace("=", "")
        pathlib.Path("program.rs").write_text(source)
        words = [compiler, level, "-g", "-o", "./" + name] + (["program.rs"] if compiler == "rustc" else ["-x", "c", "-include", "time.h", "-"])
        subprocess.run(words, check=True, text=True, input=source, env=home)
        record(name + "-run", "./" + name, hz=99)
        said = json.loads(subprocess.run([SONDE, "show", "--json", name + "-run"], check=True, capture_output=True, text=True).stdout)
        sentences = [v["sentence"] for v in said["verdicts"] if v["rule"] == "code-unoptimized"]
        assert bool(sentences) == wanted, (name, said["verdicts"])
        assert not sentences or ("cargo build --release" if compiler == "rustc" else "-O2") in sentences[0], sentences

# Rust's symbols (v0) are as people write them: of what the program has of the standard library, too, without debug information.
if rust_home:
    pathlib.Path("names.rs").write_text("""use std::collections::HashMap;
trait Work { fn work(&self, n: u64) -> u64; }
struct Part<T>(T);
impl<T: Copy + Into<u64>> Work for Part<T> { #[inline(never)] fn work(&self, n: u64) -> u64 { let mut all = HashMap::new();
for i in 0..n { *all.entry(i * self.0.into() % 5003).or_insert(0u64) += i; } all.len() as u64 } }
extern "C" { fn clock() -> i64; }
fn main() { let mut all = 0; while unsafe { clock() } < 1_500_000 { all += Part(3u32).work(50000 + all % 2); } println!("{}", all); }
""")
    subprocess.run(["rustc", "-Csymbol-mangling-version=v0", "-Copt-level=1", "-o", "names", "names.rs"], check=True, env=rust_home)
    found = record("names-run", "./names", hz=99)
    functions = {f.function for f in found.frames.values()}
    assert not [f for f in functions if f.startswith("_R")], functions
    assert through(found, "names::main", "<names::Part<u32> as names::Work>::work") > 0.9, functions
    code = subprocess.run([SONDE, "show", "--code", "names-run"], check=True, capture_output=True, text=True).stdout
    assert "names::Part::work" in code, code

# The one place that most of the time went to, with who calls it, comes before what it means for the cores. A loop that waits without sleeping
# is known by its instructions, whatever its function is called; one that adds numbers up is none, and neither is one that follows a list.
WAITING = """#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <unistd.h>
std::atomic<int> ready; int frame[4096];
int main() { std::thread camera([] { for (int i = 1; i; i++) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); ready.store(i); } });
long sum = 0; for (int i = 1; clock() < 2.2 * CLOCKS_PER_SEC; i++) { while (ready.load(std::memory_order_acquire) < i) { } for (int k = 0; k < 4096; k++) sum += frame[k] & 255; }
_exit(sum == 1); }
"""
ADDING = """#include <ctime>
#include <vector>
static __attribute__((noinline)) double image(const std::vector<float> &m, int n) { double t = 0; for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) t += m[(long)i * n + j]; return t; }
int main() { std::vector<float> m(2048L * 2048, 1); volatile double t = 0; for (clock_t end = clock() + 2.2 * CLOCKS_PER_SEC; clock() < end;) t = t + image(m, 2048); }
"""
LIST = """#include <ctime>
struct node { node *next; long x[7]; } nodes[100001];
static __attribute__((noinline)) node *last(node *n) { while (n->next) n = n->next; return n; }
int main() { for (int i = 0; i < 100000; i++) nodes[i].next = &nodes[i + 1]; node *volatile n; for (clock_t end = clock() + 2.2 * CLOCKS_PER_SEC; clock() < end;) n = last(nodes); }
"""
# Two thirds of its time in a function of a library: whichever part has had less than its share, by the program's clock, comes next.
MIXED = """#include <cmath>
#include <ctime>
static double x = 1e5;
static __attribute__((noinline)) double mixed(long own, long library) { volatile double t = x; for (long i = 0; i < own; i++) t = t * 0.5 + 1; for (long i = 0; i < library; i++) t = t + sin(x + i); return t; }
static double seconds(long own, long library) { clock_t begin = clock(); x += mixed(own, library) * 1e-9; return (double)(clock() - begin) / CLOCKS_PER_SEC; }
int main() { double own = 0, library = 0; while (own + library < 2.2) if (library < 2 * own) library += seconds(0, 200000); else own += seconds(2000000, 0); }
"""
DEDUP = """import time
seen, end, i = list(range(80000)), time.process_time() + 2.2, 0
def again(x):
    return x in seen
while time.process_time() < end:
    again(-1)
"""


def verdicts_of(name):
    shown = json.loads(subprocess.run([SONDE, "show", "--json", name], check=True, capture_output=True, text=True).stdout)
    return {v["rule"]: v["sentence"] for v in shown["verdicts"]}  # in their order


for name, source, flags in (("waiting", WAITING, FRAME_SPINS), ("adding", ADDING, 0), ("list", LIST, 0)):
    subprocess.run(["c++", "-O2", "-pthread", "-o", name + "-program", "-x", "c++", "-"], check=True, text=True, input=source)
    seen = record(name, "./" + name + "-program", hz=99)
    marked = sum(s.weight for s in seen.samples if seen.frames[seen.nodes[s.node][1]].flags & FRAME_SPINS) / seen.total()
    said = verdicts_of(name)
    print(name, f"{marked:.2f}", said)
    assert (marked > 0.8) == bool(flags) and (marked == 0) == (not flags) or os.uname().machine != "x86_64", (name, marked)
    if flags:
        # Beside others it may have waited for the thread that had no core, which is no fault of its own.
        assert {"crowded", "low-priority"} & set(said) or "main" in said["code-spinning"] and "without sleeping" in said["code-spinning"] and "single-core" not in said, said
    else:
        place = said["code-place"]
        assert ("image" if name == "adding" else "last") in place and "called by main" in place and f"./{name}-program" in place, place
        assert list(said).index("code-place") < list(said).index("single-core") if "single-core" in said else True, said
subprocess.run(["c++", "-O1", "-o", "mixed-program", "-x", "c++", "-"], check=True, text=True, input=MIXED)
record("mixed", "./mixed-program", hz=99)
said = verdicts_of("mixed")
place = said.get("code-place", said.get("code-reason", ""))  # of mathematical functions, where they have a little more
print(said)
assert not place and {"crowded", "low-priority"} & set(said) or re.search(r"goes to mixed \(mixed-program\), [567]\d % of it in \S*sin", place), said
pathlib.Path("dedup.py").write_text(DEDUP)
record("dedup", "/usr/bin/python3", "dedup.py", hz=99)
said = verdicts_of("dedup")
place = said.get("code-reason", said.get("code-place", ""))
print(said)
# Beside others there may be too little of it for a verdict.
assert not place and {"crowded", "low-priority"} & set(said) or "again (dedup.py:4)" in place and "dedup.py, " in place and ("`in` of a list: " in place and "a set" in place or "which spends it" not in place), place

# Lines from a compressed file of debug information beside the program: once the job has used five hundred times what it takes to inflate it.
# A large one is not worth it for a short job, which has the functions' names all the same.
for what, padding in (("small", 0), ("large", 15000)):
    types = "".join(f"struct padding_{i} {{ int first_{i}; long second_{i}; }} padding_{i};\n" for i in range(padding))
    source = pathlib.Path(os.environ["TOP"], "tests/programs/stack_kinds.c").read_text() + types
    subprocess.run(["cc", "-O2", "-w", "-g", "-o", what, "-x", "c", "-", "-pthread"], check=True, text=True, input=source)
    subprocess.run(["objcopy", "--only-keep-debug", "--compress-debug-sections", what, what + ".debug"], check=True)
    subprocess.run(["objcopy", "--strip-debug", "--add-gnu-debuglink=" + what + ".debug", what], check=True)
    os.chmod(what, 0o755)
    seen = record("beside-" + what, "./" + what, "plain", "1.5")
    burn = [f for f in seen.frames.values() if f.function == "burn"]
    print(what, os.stat(what + ".debug").st_size, [(f.file, f.line) for f in burn])
    assert burn and all(bool(f.line) == (what == "small") for f in burn), (what, burn)
    assert through(seen, "_start", "main", "burn") >= 0.9, (what, seen.ends())

# Too few samples to say which code it was: no view names any, but the tables that were asked for.
def text_of(*arguments):
    return subprocess.run([os.environ["SONDE"], *arguments], check=True, capture_output=True, text=True).stdout


for name, seconds, hz in (("thin", "0.9", 19), ("shortest", "0.03", HZ)):
    seen = record(name, KINDS, "plain", seconds, hz=hz)
    assert 0 < seen.total() < 20, seen.total()
    briefly = text_of("show", name)
    text_of("report", "--only", "html", "-o", name + "-page", name)
    page = pathlib.Path(name + "-page/report.html").read_text(encoding="utf-8")
    static = page[page.index('id="h-code"'):page.index('id="h-charts"') if 'id="h-charts"' in page else len(page)].split("<script", 1)[0]
    assert "hot spots" not in briefly and ("code with too few samples" in briefly) == (name == "thin") == ("\ncode  " in briefly), briefly
    assert "too few to say which code it was." in static and "Functions that used the most CPU time." not in static and "burn" not in static, static
    assert "too few to say which code it was." in text_of("show", "--code", name) and "burn" in text_of("show", "--code", name)
    assert "too few to say which code it was" in text_of("explain", "--json", name) and " of the CPU time was in " not in text_of("explain", "--json", name)
