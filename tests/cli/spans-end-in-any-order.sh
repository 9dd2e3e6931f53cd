# SPDX-License-Identifier: Apache-2.0
# plain
# limit: 300
# Spans that end in another thread or order than the stack's have their own times, in rows in which they do not cross: in C,
# C++, and Python's tasks, generators and pools. An end of what is not the innermost is counted and said. Names are neither
# lost nor put together, and threads are called what they are called.
. "$TOP/tests/lib.sh"
! nm "$BUILD/libsonde.a" | grep -q __asan_init || skip "the library is built with sanitizers"
spanner=$PROGRAMS/spanner
record() { # RECORDING ARGUMENTS...
	local to=$1
	shift
	"$SONDE" run --quiet -o "$to" -- "$spanner" "$@" >lost || fail "run $*: $?"
	"$SONDE" export --to csv -o "csv-$to" "$to" 2>said || fail "export of $to"
}
count() { # RECORDING NAME
	awk -F, -v name="$2" '$3 == name && $6' "csv-$1/spans.csv" | wc -l
}
cat >rows.py <<'END'
import csv, sys
def spans(path):
    return [(r["track"], float(r["begin_seconds"]), float(r["end_seconds"]), r["name"]) for r in csv.DictReader(open(path)) if r["end_seconds"]]
def crossing(rows):
    """Those of a row that begin within another one of it and end behind that."""
    found, open_ = [], {}
    for track, begin, end, name in sorted(rows, key=lambda r: (r[0], r[1], -r[2])):
        stack = open_.setdefault(track, [])
        while stack and stack[-1][0] <= begin:
            stack.pop()
        if stack and stack[-1][0] < end - 1e-9:
            found.append((track, name, stack[-1][1]))
        stack.append((end, name))
    return found
if __name__ == "__main__":
    assert not crossing(spans(sys.argv[1])), crossing(spans(sys.argv[1]))[:9]
END

# Handles that end in the next thread, by the thousand.
record handed handed 1500 8
equal "handed, and parts of them" "12000 12000" "$(count handed handed) $(count handed part)"
equal "none is lost" 0 "$(cat lost)"
record fewer handed 400 8 # no more than there are rows
"$PYTHON" rows.py csv-fewer/spans.csv || fail "spans of a row cross"
equal "no end is wrong" none "$(figure handed '.nodes[0].metadata["spans.wrong_order"] // "none"')"

# Two that cross.
record crossed crossed
"$PYTHON" - csv-crossed/spans.csv <<'PY' || fail "times of crossing spans"
import sys, rows
took = {name: end - begin for _, begin, end, name in rows.spans(sys.argv[1])}
for name, ms in {"a": 20, "b": 40, "p": 20, "q": 40, "r": 40}.items():
    assert ms / 1e3 <= took[name] < ms / 1e3 + .3, (name, took)
assert took["a"] < took["b"] and took["p"] < took["q"], took
assert {name for _, name, _ in rows.crossing(rows.spans(sys.argv[1]))} <= {"b"}, rows.crossing(rows.spans(sys.argv[1]))
PY
equal "wrong ends" 4 "$(figure crossed '.nodes[0].metadata["spans.wrong_order"]')"
"$SONDE" show crossed >shown || fail "show"
contains shown "4 ends of spans in a wrong order"

# Names: of more than the head has places for, and of any length.
record named named 3000
equal "names" 3002 "$(tail -n +2 csv-named/spans.csv | cut -d, -f3 | sort -u | wc -l)"
equal "none is blank" 0 "$(tail -n +2 csv-named/spans.csv | cut -d, -f3 | grep -c '^$')"
equal "long ones are whole" 1500 "$(cut -d, -f3 csv-named/spans.csv | grep -cE '^name [0-9]+ 0{100}$')"
record many named 20000
equal "of more names than there are numbers, all spans" 20002 "$(($(wc -l <csv-many/spans.csv) - 1 + $(cat lost)))"
others=$(figure many '.nodes[0].metadata["spans.nameless"]')
holds "some names are put together" "$others > 3000 && $others < 4000"
equal "... and counted" "$others" "$(count many '(other names)')"
"$SONDE" show many | tr -s ' \n' ' ' >shown || fail "show"
contains shown "names of spans put together as (other names)"

export SONDE_LIBRARY=$BUILD/libsonde.so.0 PYTHONPATH=$TOP/python:$PYTHONPATH
cat >tasks.py <<'END'
import asyncio, concurrent.futures, contextlib, time
import sonde

async def work(name, seconds):
    with sonde.span(name):
        await asyncio.sleep(seconds)
        with sonde.span(name + " part"):
            await asyncio.sleep(0.02)

@sonde.span("coroutine")
async def coroutine():
    await asyncio.sleep(0.05)
    return 5

@sonde.span("generator")
def generator(n):
    for i in range(n):
        time.sleep(0.01)
        yield i
    return "done"

@sonde.span("async generator")
async def async_generator():
    try:
        for i in range(3):
            await asyncio.sleep(0.01)
            yield i
    except ValueError:
        yield "caught"

def pool(seconds):
    with sonde.span("pool"):
        time.sleep(seconds)

def each(name, seconds):
    with sonde.span(name), sonde.span(name + " in"):
        yield 1
        time.sleep(seconds)
        yield 2

async def main():
    with sonde.span("main"):
        assert (await asyncio.gather(work("long", 0.5), work("short", 0.1), work("middle", 0.3), coroutine()))[3] == 5
        async with sonde.span("awaited"):
            await asyncio.sleep(0.03)
        assert [x async for x in async_generator()] == [0, 1, 2]
        thrown = async_generator()
        assert await thrown.asend(None) == 0 and await thrown.athrow(ValueError()) == "caught"
        await thrown.aclose()
        await asyncio.get_running_loop().run_in_executor(None, pool, 0.02)

asyncio.run(main())
a, b = each("first", 0.05), each("second", 0.02)
next(a), next(b), next(a), next(b), list(a)
time.sleep(0.05)
list(b)
assert list(generator(2)) == [0, 1]
with contextlib.ExitStack() as stack:
    stack.enter_context(sonde.span("stacked"))
    time.sleep(0.01)
with concurrent.futures.ThreadPoolExecutor(3, thread_name_prefix="workers") as workers:
    list(workers.map(pool, [0.01] * 6))
again = sonde.span("again")
with again, again:
    pass
assert not again._entries
END
"$SONDE" run --quiet -o tasks -- "$PYTHON" tasks.py || fail "run: $?"
"$SONDE" export --to csv -o csv-tasks tasks || fail "export"
"$PYTHON" - csv-tasks/spans.csv <<'PY' || fail "spans of tasks"
import collections, sys, rows
spans = rows.spans(sys.argv[1])
took = collections.defaultdict(list)
for _, begin, end, name in spans:
    took[name].append(end - begin)
slack = 0.3  # of a busy machine
for name, seconds in {"long": .52, "short": .12, "middle": .32, "long part": .02, "coroutine": .05, "awaited": .03, "generator": .02,
                      "async generator": .03, "first": .07, "second": .12, "stacked": .01}.items():
    assert seconds <= max(took[name]) + .002 and max(took[name]) < seconds + slack, (name, seconds, took[name])
assert not rows.crossing(spans), rows.crossing(spans)
counts = {name: len(v) for name, v in took.items()}
assert counts["pool"] == 7 and counts["again"] == 2 and counts["async generator"] == 2, counts
tracks = collections.defaultdict(set)
for track, _, _, name in spans:
    tracks[name].add(track)
assert all(t.startswith("workers_") or t.startswith("asyncio_") for t in tracks["pool"]), tracks["pool"]
assert tracks["long part"] == tracks["long"] and tracks["short"] != tracks["long"], tracks
PY
equal "none is wrong" none "$(figure tasks '.nodes[0].metadata["spans.wrong_order"] // "none"')"

mkdir include && cp "$TOP"/include/*.h "$TOP"/include/*.hpp include
cat >moved.cc <<'END'
#include <sonde_span.hpp>
#include <chrono>
#include <thread>
#include <vector>

static void rest()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

static sonde::span made()
{
	return sonde::span{ sonde::name{ "made" } };
}

int main()
{
	const sonde::name task{ "task" };
	std::vector<sonde::async_span> tasks;

	for (int i = 0; i < 3; i++)
		tasks.emplace_back(task);
	sonde::async_span part{ sonde::name{ "part" }, tasks[2] };
	sonde::span held = made();
	std::thread([](sonde::async_span) { sonde::thread_name("taker"); rest(); }, std::move(tasks[0])).join();
	rest();
	held.end();
	tasks[1] = std::move(tasks[2]);
	part.end();
	sonde::span whole{ task };
	return 0;
}
END
compiled=0
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	$compiler -std=c++11 -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -o moved moved.cc "$BUILD/libsonde.a" -lzstd -lm -pthread || fail "$compiler"
	"$SONDE" run --quiet -o "out-$compiler" -- ./moved || fail "moved: $?"
	"$SONDE" export --to csv -o "csv-$compiler" "out-$compiler" || fail "export"
	equal "moved ones end once" "4 1 1" "$(count "$compiler" task) $(count "$compiler" part) $(count "$compiler" made)"
	equal "none is wrong" none "$(figure "out-$compiler" '.nodes[0].metadata["spans.wrong_order"] // "none"')"
	compiled=$((compiled + 1))
done
holds "some compiler" "$compiled > 0"
