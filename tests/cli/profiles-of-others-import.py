# SPDX-License-Identifier: Apache-2.0
"""import perf-script and import pprof make stacks of CPU time: each stack with its exact time, exported as it came; what is bad is counted and costs nothing else."""
import collections
import gzip
import json
import os
import pathlib
import random
import re
import shutil

from timelines import importer, put, sonde

FIXTURES = pathlib.Path(os.environ["TOP"]) / "tests/fixtures/profiles"
script, pprof = importer("perf-script"), importer("pprof")


def folded(rec="rec"):
    shutil.rmtree("folded", ignore_errors=True)
    assert sonde("export", rec, "--to", "folded", "-o", "folded").returncode == 0
    lines = pathlib.Path("folded/stacks.folded").read_text(encoding="utf-8").splitlines()
    return {stack: int(us) for stack, us in (line.rsplit(" ", 1) for line in lines)}


def collapsed(text):
    """As scripts for flame graphs read it: {stack: ns}."""
    out = collections.Counter()
    for block in re.split(r"\n\s*\n", text):
        head, *frames = block.strip("\n").split("\n")
        found = re.match(r"\s*(\S.*?)\s+\d+\s+[\d.]+:\s+(\d+)", head)
        if found:
            names = [re.sub(r"\+0x[0-9a-f]+ .*", "", frame.strip().split(" ", 1)[1]) for frame in frames]
            out[";".join([found[1], *(re.sub(r"\.isra\.\d+|\.constprop\.\d+", "", n) for n in reversed(names))])] += int(found[2])
    return out


def same(got, want_ns):
    got = {re.sub(r"\.isra\.\d+|\.constprop\.\d+", "", stack): us for stack, us in got.items()}
    assert got.keys() == want_ns.keys(), (got, want_ns)
    assert all(abs(got[s] * 1000 - want_ns[s]) <= 1000 for s in got), (got, want_ns)


# What perf wrote, plain and compressed; back from pprof's form, too.
text = (FIXTURES / "perf-script.txt").read_text(encoding="utf-8")
pathlib.Path("script.gz").write_bytes(gzip.compress(text.encode()))
want = collapsed(text)
assert len(want) >= 2 and sum(want.values()) > 100_000_000, want
for path in (FIXTURES / "perf-script.txt", "script.gz"):
    script(str(path))
    same(folded(), want)
code = json.loads(sonde("show", "--code", "--json", "rec").stdout)
assert code["schema"].startswith("sonde/code/"), code["schema"]
shown = sonde("show", "rec", "--by", "process").stdout
assert re.search(r"spinc +pid \d+", shown), shown
first = folded()
shutil.rmtree("out", ignore_errors=True)
assert sonde("export", "rec", "--to", "pprof", "-o", "out").returncode == 0
pprof("out/stacks.pb.gz")
assert folded() == first

# What Go wrote: `go tool pprof -raw` says the same.
said = pprof(str(FIXTURES / "go-cpu.pb.gz"))
assert "when each sample was is not known" in said, said
INNER = "spin;runtime.main;main.main;main.outerWork;main.innerWork"
GO = {INNER: 490_000_000, INNER + ";runtime.asyncPreempt": 70_000_000, "spin;runtime.main;main.main;time.Since;time.runtimeNano;runtime.nanotime": 10_000_000}
same(folded(), GO)
said = pprof(str(FIXTURES / "go-heap.pb.gz"), code=1)
assert "has no CPU time, but alloc_objects, alloc_space, inuse_objects, inuse_space" in said, said
assert not os.path.exists("rec")


# Of which node and rank, from a file that does not say it.
for path, one in ((FIXTURES / "go-cpu.pb.gz", pprof), (FIXTURES / "perf-script.txt", script)):
    one(str(path), "--node", "far.away", "--rank", "12")
    shown = json.loads(sonde("show", "--json", "rec").stdout)
    assert [n["host"] for n in shown["nodes"]] == ["far.away"] and os.path.exists("rec/node-far.away.sonde"), shown["nodes"]
    assert "rank 12" in sonde("show", "rec", "--by", "rank").stdout, path
    assert sonde("import", "pprof" if one is pprof else "perf-script", str(path), "--into", "rec").returncode == 2


# Names with blanks, CPUs, threads, frames without names, events that are no clock; lines that are not perf's.
def sample(at, head="my prog  7/9 [001] ", event="cycles:u", frames=("main", "[unknown]")):
    return f"{head} {at}:  1000 {event}: \n" + "".join(f"\t    {i + 4096:x} {name}{'+0x1' if name[0] != '[' else ''} (/bin/a b)\n" for i, name in enumerate(frames)) + "\n"


odd = "".join(sample(f"{5 + i / 100:.6f}") for i in range(101)) + sample("7.0", event="instructions:u") + "no head\n\n"
said = script(put("odd.txt", odd), code=1)
assert "a sample of cycles:u is taken as" in said and "usual time between samples" in said, said
assert "samples of other events than cycles:u, which are skipped: 1" in said and "not perf script's: 1" in said, said
(stack, us), = folded().items()
assert stack.startswith("my prog;") and stack.endswith(";main") and abs(us / 101 - 10000) < 700, (stack, us)
header = "# event : name = cycles:u, { sample_period, sample_freq } = 200, freq = 1\n"
said = script(put("freq.txt", header + odd), code=1)
assert "5.000 ms" in said and "frequency in the file" in said, said
assert list(folded().values()) == [505000]
two = sample("1.0", event="cpu-clock", frames=("leaf", "left")) + sample("1.1", event="cpu-clock", frames=("leaf", "right"))
script(put("two.txt", two.replace(" 1000 ", " 2000000 ")))
assert folded() == {"my prog;left;leaf": 2000, "my prog;right;leaf": 2000}, folded()
assert "holds no sample" in script(put("empty.txt", "nothing\n"), code=1)
assert "holds no samples of pprof's" in pprof(put("empty.pb", "nothing"), code=1)

# A file that ends too early keeps what comes before.
whole = gzip.decompress((FIXTURES / "go-cpu.pb.gz").read_bytes())
pathlib.Path("long.gz").write_bytes(gzip.compress(text.encode())[:-40])
said = script("long.gz", code=1)
assert "what comes before is kept" in said, said

# Any damage ends with a sentence, or a recording that can be read.
rng = random.Random(29)
for _ in range(40):
    data = bytearray(whole)
    for _ in range(rng.randrange(1, 6)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    pathlib.Path("bad.pb").write_bytes(data[:rng.randrange(len(data))] if rng.random() < 0.3 else data)
    shutil.rmtree("rec", ignore_errors=True)
    ended = sonde("import", "pprof", "bad.pb", "-o", "rec")
    assert ended.returncode in (0, 1) and ended.stderr, ended
    if os.path.exists("rec"):
        shown = sonde("show", "rec", "--code")
        assert shown.returncode == 0, shown
refused = sonde("import", "pprof", "bad.pb", "--into", "rec")
assert refused.returncode == 2, refused
