# SPDX-License-Identifier: Apache-2.0
"""Two builds of a program that asks another one over a pipe, who answers later in the second: recorded with --waits four times each, compare names
that wait and its function, and not the one that is as before; the parts add up. Runs without waits are refused by a sentence; explain says the same."""
# limit: 300
import json
import os
import subprocess
import sys

from ordinary_user import need_unwind
from patience import patience

SONDE = os.environ["SONDE"]
os.environ["SONDE_HISTORY"] = "off"
RUNS = 4
SOURCE = """
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static void rest(long ms) { nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL); }
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *hold(void *unused) { pthread_mutex_lock(&mutex); rest(900); pthread_mutex_unlock(&mutex); return unused; }
__attribute__((noinline)) static void settle(void)
{
	pthread_t t;

	pthread_create(&t, NULL, hold, NULL);
	rest(100);
	pthread_mutex_lock(&mutex); /* at an address that is another one in each run */
}
__attribute__((noinline)) static void ask(int to, int from) { char c = 'x'; for (int i = 0; i < 10; i++) if (write(to, &c, 1) != 1 || read(from, &c, 1) != 1) _exit(1); }
int main(void)
{
	int question[2], answer[2];
	char c;

	if (pipe(question) || pipe(answer))
		return 1;
	if (!fork()) {
		prctl(PR_SET_NAME, "server");
		close(question[1]);
		while (read(question[0], &c, 1) == 1) {
			rest(ANSWER_MS);
			if (write(answer[1], &c, 1) != 1)
				return 1;
		}
		return 0;
	}
	close(question[0]);
	rest(1200); /* until it is watched */
	settle();
	ask(question[1], answer[0]);
	return 0;
}
"""
need_unwind()


def build(folder, ms):
    os.mkdir(folder)
    subprocess.run(["cc", "-O2", "-g", f"-DANSWER_MS={ms}", "-pthread", "-o", folder + "/asker", "-x", "c", "-"], input=SOURCE, text=True, check=True)


def record(out, program, *options):
    subprocess.run([SONDE, "run", *options, "-q", "-o", out, "--", f"./{program}/asker"], check=True, timeout=patience(100))
    return out


def sonde(*args, code=(0, 1, 3)):
    ended = subprocess.run([SONDE, *args], capture_output=True, text=True, check=False)
    assert ended.returncode in code, ended
    return ended.stdout


build("old", 60)
build("new", 250)
runs = {"old": [], "new": []}
for number in range(RUNS):
    for name, taken in runs.items():
        taken.append(record(f"{name}{number}", name, "--waits"))
a, b = ",".join(runs["old"]), ",".join(runs["new"])
if json.loads(sonde("show", "--waits", "--json", "old0"))["not_recorded"]:
    print("no waits are recorded here")
    sys.exit(77)
found = json.loads(sonde("compare", "--json", a, b))["blame_time"]
print(found["sentence"])
blamed = [part for part in found["object"] if part["blamed"]]
assert "waits for data from a pipe: server" in [part["name"] for part in blamed], found["object"]
pipe = next(part for part in blamed if "pipe: server" in part["name"])
assert 1.5 < pipe["difference_seconds"] < 2.4, pipe  # ten times 190 ms
functions = {part["name"]: part for part in found["function"]}
assert functions["ask"]["blamed"] and functions["ask"]["module"] == "asker", functions
assert functions["settle"]["a_seconds"] > 0.5 and not functions["settle"]["blamed"], functions
mutex = [part for part in found["object"] if "mutex" in part["name"]]
assert [part["name"] for part in mutex] == ["waits for a mutex"], found["object"]
for level in ("class", "function", "object"):
    whole = sum(part["difference_seconds"] for part in found[level])
    assert abs(whole - found["whole"]["difference_seconds"]) < 1e-9, (level, whole, found["whole"])
said = sonde("compare", a, b)
assert "by what was waited for" in said and "all time of threads" in said, said
assert "Where the difference in time of threads lies" in sonde("compare", "--markdown", a, b)

explained = json.loads(sonde("explain", "--json", a, b))
waits = [finding for finding in explained["findings"] if finding["topic"] == "wait"]
assert any("time of threads" in finding["claim"] for finding in waits), explained

# One side without waits.
refused = json.loads(sonde("compare", "--json", a, record("bare", "new")))["blame_time"]
assert "the runs of B have no waits: record both sides with --waits" in refused["refused"] and not refused["object"], refused
