# SPDX-License-Identifier: Apache-2.0
"""Programs that are damaged, replaced while they run, or have no stack where the stack pointer says: the job ends as without Sonde, its samples have
the right names or none, and what is missing is counted and said."""
# limit: 500
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from ordinary_user import need_unwind
from patience import patience
from stacks import Stacks, helper_of

SONDE, PROGRAMS = os.environ["SONDE"], os.environ["PROGRAMS"]
KINDS = PROGRAMS + "/stack_kinds"
need_unwind()


def start(name, *command, hz=499, env=None):
    return subprocess.Popen([SONDE, "run", f"--stacks={hz}", "-q", "-o", name, "--", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=env)


def ended(job, name):
    out, said = job.communicate(timeout=patience(200))
    assert job.returncode == 0 and not said, (name, job.returncode, said)
    found = Stacks(name)
    if "forbidden" in str(found.metadata.get("source.stacks")):
        print(found.metadata["source.stacks"])
        sys.exit(77)
    return out, found


def through(found, function, command=None):
    return sum(s.weight for s in found.samples if command in (None, s.command) and any(function in part for part in found.path(s.node)))


# ---- rings that overflow ----
# Nobody reads them while the helper is stopped. The kernel says how many records it had no room for with the next one of the same CPU; of a CPU that
# the job has left, and of a thread that has ended, only the event tells, from Linux 6.0 on. Each record of a busy process is a sample.
HZ = 997
CPUS = sorted(os.sched_getaffinity(0))
ON_ONE = f"import os, sys; os.sched_setaffinity(0, {{{CPUS[0]}}}); open('job.pid', 'w').write(str(os.getpid())); os.execv(sys.argv[1], sys.argv[1:])"


def used_by_job():
    """Its CPU time and that of children that have ended, in s."""
    fields = pathlib.Path(f"/proc/{pathlib.Path('job.pid').read_text()}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[13])) / os.sysconf("SC_CLK_TCK")


def overflow(name, meanwhile, *command, **more):
    """What was lost of a job that keeps a core busy; nobody reads for more than one of its seconds."""
    number = pathlib.Path("job.pid")
    number.unlink(missing_ok=True)
    job = start(name, sys.executable, "-c", ON_ONE, *command, hz=HZ, **more)
    helper, end = helper_of(name), time.monotonic() + patience(60)
    while not (number.exists() and number.read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(helper, signal.SIGSTOP)
    enough, end = used_by_job() + 1.3, time.monotonic() + patience(60)
    while used_by_job() < enough and time.monotonic() < end:
        time.sleep(0.05)
    meanwhile()
    os.kill(helper, signal.SIGCONT)
    _, seen = ended(job, name)
    shown = json.loads(subprocess.run([SONDE, "show", "--code", "--json", name], check=True, capture_output=True, text=True).stdout)
    lost, wanted = shown["missing"]["records_lost"] or 0, shown["user_seconds"] * HZ
    print(f"{name}: {lost} lost, {seen.total()} taken, {wanted:.0f} in all")
    assert lost > 100 and seen.total() > 20 and "stacks.note" not in seen.metadata, (name, lost, seen.total(), seen.metadata)
    # In rounds a thread has no event before its turn, and periods differ by an eighth.
    least, most = (0.3, 1.15) if more else (0.95, 1.05)
    assert least * wanted <= lost + seen.total() <= most * wanted, (name, lost, seen.total(), wanted)
    return lost


def on_another_cpu():
    os.sched_setaffinity(int(pathlib.Path("job.pid").read_text()), {CPUS[-1]})


lost = overflow("overflow", lambda: None, KINDS, "plain", "4")
SAID = f"{lost:.0f} samples or other records were lost for lack of room."
assert SAID in subprocess.run([SONDE, "show", "--code", "overflow"], check=True, capture_output=True, text=True).stdout
subprocess.run([SONDE, "report", "--only", "html", "-o", "overflow-page", "overflow"], check=True, capture_output=True)
assert SAID in pathlib.Path("overflow-page/report.html").read_text(encoding="utf-8")
if int(os.uname().release.split(".", maxsplit=1)[0]) >= 6:
    overflow("left-a-cpu", on_another_cpu, KINDS, "plain", "4")
    overflow("ended-meanwhile", lambda: None, "/bin/sh", "-c", f"{KINDS} plain 1.5; sleep 1.5", env={**os.environ, "SONDE_STACKS_THREADS": "4"})

# ---- a program that is built anew while it runs ----
# Both are at the same place in memory and in the file; each keeps its own name.
SOURCE = """#include <time.h>
#include <unistd.h>
volatile double sink = 1;
__attribute__((noinline)) void NAME(void) { for (int i = 0; i < 20000; i++) sink = sink * 1.0000001 + 0.1; }
int main(int c, char **v) { for (clock_t end = clock() + CLOCKS_PER_SEC; clock() < end;) NAME(); return access("again", F_OK) ? 3 : 0; }
"""
for name in ("as_it_was", "as_it_became"):
    subprocess.run(["cc", "-O1", "-g", "-no-pie", f"-DNAME={name}", "-o", name, "-x", "c", "-"], check=True, text=True, input=SOURCE)
shutil.copy("as_it_was", "program")
job = start("rebuilt", "sh", "-c", "./program & sleep 0.4; cp as_it_became new; mv new program; touch again; ./program; ./program; wait $!")
_, seen = ended(job, "rebuilt")
was, became = through(seen, "as_it_was"), through(seen, "as_it_became")
print(f"rebuilt: {was} of the first, {became} of the second")
assert 400 <= was <= 560 and 850 <= became <= 1100, (was, became, seen.ends())
assert not any({"as_it_was", "as_it_became"} <= set(seen.path(s.node)) for s in seen.samples)
assert sum("program" in str(module) for module in seen.modules.values()) == 2, seen.modules

# ---- files that end too early ----
if shutil.which("readelf"):
    program = pathlib.Path(KINDS).read_bytes()
    listed = subprocess.run(["readelf", "-lW", KINDS], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in listed.splitlines() if line.split()[:1] == ["LOAD"]]
    loaded = max(int(row[1], 16) + int(row[4], 16) for row in rows)
    for i, size in enumerate((loaded, loaded + 100, (loaded + len(program)) // 2, len(program) - 3000, len(program) - 1)):
        pathlib.Path("short").write_bytes(program[:size])
        os.chmod("short", 0o755)
        _, seen = ended(start(f"short{i}", "./short", "plain", "0.3"), f"short{i}")
        print(f"a file cut to {size} of {len(program)} bytes: {seen.total()} samples, {seen.ends()}")
        assert seen.total() >= 100, seen.metadata
        assert seen.metadata.get("stacks.helper_restarts", 0) == seen.metadata.get("stacks.files_left_out", 0), seen.metadata

# ---- a stack pointer that lies ----
# At nothing; at memory full of addresses of this very code; at the end of a page behind which there is nothing. No signal may come meanwhile.
LIES = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
__attribute__((noinline)) static void lie(uintptr_t at, long turns)
{
	__asm__ volatile("mov %%rsp, %%rbx\n\tmov %0, %%rsp\n1:\tdec %1\n\tjnz 1b\n\tmov %%rbx, %%rsp" : "+r"(at), "+r"(turns)::"rbx", "memory", "cc");
}
int main(int c, char **v)
{
	uint64_t *own = malloc(1 << 20);
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 1 << 17; i++)
		own[i] = i % 3 ? (uint64_t)(uintptr_t)lie + 8 : (uint64_t)(uintptr_t)&own[i - 1];
	munmap(page + 4096, 4096);
	const uintptr_t lies[] = { 4096, UINTPTR_MAX - 7, UINTPTR_MAX / 2, (uintptr_t)own, (uintptr_t)own + 3, (uintptr_t)page + 4088, (uintptr_t)lie };
	for (unsigned i = 0; i < sizeof lies / sizeof lies[0]; i++)
		lie(lies[i], 400000000);
	puts("survived");
	return 0;
}
"""
if os.uname().machine == "x86_64":
    subprocess.run(["cc", "-O1", "-w", "-g", "-o", "liar", "-x", "c", "-"], check=True, text=True, input=LIES)
    out, seen = ended(start("lies", "./liar"), "lies")
    own = sum(s.weight for s in seen.samples if seen.path(s.node)[-1] == "lie")
    print(f"lies: {own} of {seen.total()} in it, {seen.ends()}, {seen.metadata.get('stacks.helper_restarts')}")
    assert out == "survived\n" and own >= 0.9 * seen.total() >= 90, (out, own, seen.total(), seen.ends())
    assert "stacks.helper_restarts" not in seen.metadata or not seen.metadata["stacks.helper_restarts"], seen.metadata
    text = subprocess.run([SONDE, "show", "--code", "lies"], check=True, capture_output=True, text=True).stdout
    assert "of the stacks are not whole." in text, text
