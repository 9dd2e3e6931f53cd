# SPDX-License-Identifier: Apache-2.0
# plain
# limit: 300
# Spans and marks have arguments, a category and arrows to others, of C, C++ and Python; a span that begins in a process ends in another. They are in
# the tables and in both traces. What does not fit is left out and counted, and plain spans are stored as they were.
. "$TOP/tests/lib.sh"
! nm "$BUILD/libsonde.a" | grep -q __asan_init || skip "the library is built with sanitizers"
spanner=$PROGRAMS/spanner
"$SONDE" run --quiet -o out -- "$spanner" args 10000 >lost || fail "run: $?"
equal "none is lost" 0 "$(cat lost)"
"$SONDE" export --to csv -o csv out || fail "export"
"$SONDE" trace -o out.json out && "$SONDE" trace -o out.pftrace out || fail "trace"
cat >look.py <<'PY'
import csv, json, os, subprocess, sys
import traces

def rows(name):
    with open(f"csv/{name}.csv", newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))

def one(name):
    found = [s for s in spans if s["name"] == name]
    assert len(found) == 1, (name, found)
    return found[0]

spans = rows("spans")
counted = [s for s in spans if s["name"] == "counted"]
assert len(counted) == 10000 and {s["detail"] for s in counted} == {"i=7"}, (len(counted), counted[:2])
assert one("load")["detail"] == r'bytes=-9223372036854775808 share=0.1 "file=a \"b\"\n\\c" "category=input and output" "of nothing="', one("load")
assert one("request")["detail"] == "bytes=-9223372036854775808" and "async" in one("request")["track"], one("request")
assert one("lots")["detail"] == " ".join(f"n={i}" for i in range(16)), one("lots")
assert one("long")["detail"] == " ".join(["t=" + "x" * 255] * 3), one("long")
assert one("strange")["detail"] == "", one("strange")
assert [m["message"] for m in rows("marks") if m["name"] == "epoch"] == ["loss=0.31"]
send, receive, handed = one("send"), one("receive"), one("handed over")
flow = send["detail"].removeprefix("flow_out=")
assert receive["detail"] == f"flow_in={flow}" and int(flow, 16), (send, receive)
assert handed["detail"] == "by=child" and handed["track"].startswith("async") and handed["track"] != one("request")["track"], handed
assert float(handed["begin_seconds"]) <= float(send["begin_seconds"]) and float(handed["end_seconds"]) >= float(receive["end_seconds"]), (handed, receive)

with open("out.json", encoding="utf-8") as f:
    text = f.read()
events = {e["name"]: e for e in json.loads(text)["traceEvents"] if e["ph"] in "Xi"}
load = events["load"]
assert load["cat"] == "input and output" and load["args"] == {"bytes": -2.0**63, "share": 0.1, "file": 'a "b"\n\\c'}, load
assert events["epoch"]["args"]["loss"] == 0.31 and "message" not in events["epoch"]["args"], events["epoch"]
chrome = traces.read_chrome(text)
(_, id_out, at_out), (_, id_in, at_in) = sorted(chrome.flows)
assert id_out == id_in == int(flow, 16) and at_out <= at_in, chrome.flows
inside = {name: (begin, end) for _, _, name, begin, end, _ in chrome.slices}
assert inside["send"][0] <= at_out <= inside["send"][1] and inside["receive"][0] <= at_in <= inside["receive"][1], inside
perfetto = traces.read_perfetto("out.pftrace")
assert sorted(s[2:] for s in perfetto.slices) == sorted(s[2:] for s in chrome.slices)
assert not traces.faults, traces.faults
with open("out.pftrace", "rb") as f:
    decoded = subprocess.run(["protoc", "--decode=Trace", f"-I{os.environ['TOP']}/tests", "trace.proto"], stdin=f, capture_output=True, text=True, check=True).stdout
assert decoded.count(f"flow_ids: {int(flow, 16)}\n") == 2, [line for line in decoded.splitlines() if "flow_ids" in line]
PY
"$PYTHON" look.py || fail "what is recorded"
equal "what does not fit" 7 "$(figure out '.nodes[0].metadata["spans.arguments_left_out"]')"
equal "what is passed is the other process's" 1 "$(figure out '.nodes[0].metadata["spans.wrong_order"]')"
"$SONDE" show out | tr -s ' \n' ' ' >shown || fail "show"
contains shown "7 arguments of spans left out"

# Plain spans have their 8 bytes beside those with arguments.
"$SONDE" run --quiet -o plain -- "$spanner" many 40000 2 >lost || fail "run: $?"
holds "stored in at most 8 bytes each" "$(cat plain/*.sonde | wc -c) <= 8 * 80000"

export SONDE_LIBRARY=$BUILD/libsonde.so.0 PYTHONPATH=$TOP/python:$PYTHONPATH
cat >args.py <<'END'
import asyncio, os
import sonde
arrow = sonde.flow()
with sonde.span("produce", category="io", flow_out=arrow, file="a b") as s:
    s.set(bytes=5, ratio=0.25, fine=True)
if not os.fork():
    with sonde.span("consume", flow_in=[arrow]):
        pass
    os._exit(0)
os.wait()

@sonde.span("coroutine", n=3)
async def work():
    with sonde.span("inner", huge=2**70) as s:
        s.set(bytes=6)
        await asyncio.sleep(0)

@sonde.span("function", n=4)
def function():
    pass

asyncio.run(work())
function()
with sonde.span("plain"):
    pass
END
"$SONDE" run --quiet -o python -- "$PYTHON" args.py || fail "run: $?"
"$SONDE" export --to csv -o csv-python python || fail "export"
tr -d '\r' <csv-python/spans.csv | cut -d, -f3,9- | tail -n +2 | sed 's/flow_\(out\|in\)=[0-9a-f]*/flow_\1/' | sort >got
cat >wanted <<'END'
consume,flow_in
coroutine,n=3
function,n=4
inner,huge=1180591620717411303424 bytes=6
plain,
produce,"category=io flow_out ""file=a b"" bytes=5 ratio=0.25 fine=True"
END
diff wanted got || fail "arguments of Python"
equal "an arrow has one number" 1 "$(grep -o 'flow_[a-z]*=[0-9a-f]*' csv-python/spans.csv | cut -d= -f2 | sort -u | wc -l)"

mkdir include && cp "$TOP"/include/*.h "$TOP"/include/*.hpp include
cat >args.cc <<'END'
#include <sonde_span.hpp>

int main()
{
	const sonde::name step{ "step" }, n{ "n" };
	sonde::span span{ step };
	sonde::async_span other{ step };

	span.end(sonde::args{}.integer(n, 5).category(sonde::name{ "io" }).text(n, "x").number(n, 0.5));
	other.end(sonde::args{}.flow_out(1).flow_in(2));
	sonde::mark(step, sonde::args{}.integer(n, 6));
	{
		sonde::span within{ step, sonde::args{}.integer(n, 8).text(n, std::string("a b").c_str()) };
		sonde::async_span beside{ step, sonde::args{}.integer(n, 9) };

		beside.end(sonde::args{}.integer(n, 10));
	}
	sonde_begin_with(step.number(), sonde::args{}.integer(n, 11).begin(), 1);
	sonde_end();
	return 0;
}
END
cat >stub.c <<'END'
#include "sonde_stub.h"

int main(void)
{
	struct sonde_arg args[] = { sonde_arg_number(1, 2.0), sonde_arg_text(1, "x"), sonde_arg_flow_in(5) };
	struct sonde_passed passed = { 0 };

	sonde_span_end_with(sonde_begin(sonde_name("step")), args, 3);
	sonde_mark_with(1, args, 3);
	sonde_span_end(sonde_begin_with(1, args, 3));
	sonde_span_end(sonde_span_begin_with(1, 0, args, 3));
	return sonde_span_pass(1, &passed) || sonde_span_take(&passed) || sonde_flow();
}
END
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	$compiler -std=c++11 -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -o args args.cc "$BUILD/libsonde.a" -lzstd -lm -pthread || fail "$compiler"
	"$SONDE" run --quiet -o "out-$compiler" -- ./args || fail "args: $?"
	"$SONDE" export --to csv -o "csv-$compiler" "out-$compiler" || fail "export"
	equal "arguments of $compiler" '"n=8 ""n=a b""";flow_out=1 flow_in=2;n=11;n=5 category=io n=x n=0.5;n=9 n=10' "$(tr -d '\r' <"csv-$compiler/spans.csv" | tail -n +2 | cut -d, -f9- | sort | paste -sd';')"
	contains "csv-$compiler/marks.csv" n=6
done
cc -std=gnu11 -Wall -Wextra -Wno-unused-value -Werror -Iinclude -o stub stub.c || fail "the stub"
./stub || fail "the stub does something"
