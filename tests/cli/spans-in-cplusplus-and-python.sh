# SPDX-License-Identifier: Apache-2.0
# plain
# The C++ guard ends its span when an exception leaves its scope, the Python one too; both are in the recording, from the
# shared library as well; neither needs a recorder, and Python does not even need the library.
. "$TOP/tests/lib.sh"
! nm "$BUILD/libsonde.a" | grep -q __asan_init || skip "the library is built with sanitizers"
mkdir include && cp "$TOP"/include/*.h "$TOP"/include/*.hpp include
cat >program.cc <<'END'
#include <sonde_span.hpp>
#include <stdexcept>
#include <thread>

static void thrown(int depth)
{
	SONDE_SPAN("thrown");
	if (!depth)
		throw std::runtime_error("over");
	thrown(depth - 1);
}

int main(int argc, char **argv)
{
	static const sonde::name named{std::string("named ") + (argc > 1 ? argv[1] : "")};

	std::thread([] {
		for (int i = 0; i < 3; i++) {
			SONDE_SPAN("thread");
			SONDE_SPAN("within");
		}
	}).join();
	try {
		sonde::span outer{named};
		thrown(4);
	} catch (const std::runtime_error &) {
		sonde::mark(named);
	}
	sonde::span after{named};
	sonde::counter(named, 2.5);
	return 0;
}
END
cat >program.c <<'END'
#include <sonde_span.h>

static int leave(int how)
{
	SONDE_SPAN("left");
	for (int i = 0; i < 10; i++) {
		SONDE_SPAN("turn");
		if (i == how)
			return i;
		if (i % 2)
			continue;
	}
	return how;
}

int main(void)
{
	return leave(3) + leave(20) != 23;
}
END
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	for standard in c++11 c++20; do
		$compiler -std=$standard -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -o "cc-$compiler" program.cc "$BUILD/libsonde.a" -lzstd -lm -pthread ||
			fail "$compiler -std=$standard"
	done
done
for compiler in gcc clang; do
	$compiler -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -o "c-$compiler" program.c "$BUILD/libsonde.a" -lzstd -lm -pthread || fail "$compiler"
done
g++ -O2 -Iinclude -o cc-shared program.cc "$BUILD/libsonde.so.0" -pthread || fail "not with the shared one"
export LD_LIBRARY_PATH=$BUILD PYTHONPATH=$TOP/python:$PYTHONPATH

cat >program.py <<'END'
import os, sys, threading, time
import sonde

@sonde.span("decorated")
def recursive(n):
    return n and recursive(n - 1)

for _ in range(3):
    with sonde.span("with"):
        recursive(2)
try:
    with sonde.span("raised"):
        raise ValueError
except ValueError:
    sonde.mark("caught")
thread = threading.Thread(target=recursive, args=(0,))
thread.start()
thread.join()
sonde.counter("made", 12)
if os.fork() == 0:
    with sonde.span("child"):
        os._exit(0)  # an open one
os.wait()
sys.exit(len(sys.argv) > 1 and sonde.spans_lost())
END
cat >all.sh <<'END'
set -e
for program in ./cc-* ./c-*; do "$program" "$program"; done
"$PYTHON" program.py
END
all() {
	SONDE_LIBRARY=$BUILD/libsonde.so.0 "$@" bash all.sh
}
all env || fail "without a recorder: $?"
SONDE_LIBRARY=/nonexistent "$PYTHON" program.py || fail "without the library: $?"
all "$SONDE" run --quiet -o out -- || fail "run: $?"
"$SONDE" export --to csv -o csv out || fail "export"
count() { # NAME
	awk -F, -v name="$1" '$3 == name && $6' csv/spans.csv | wc -l
}
programs=$(find . -name 'cc-*' | wc -l)
equal "thrown" $((5 * programs)) "$(count thrown)"
equal "of a thread" $((3 * programs)) "$(count within)"
equal "named, shared library" 2 "$(count 'named ./cc-shared')"
equal "marks" $((programs + 1)) "$(grep -cE ',(named|caught)' csv/marks.csv)"
equal "blocks of C" "4 28" "$(count left) $(count turn)"
equal "decorated" 10 "$(count decorated)"
equal "with" 3 "$(count with)"
equal "raised" 1 "$(count raised)"
equal "a child's open one" 1 "$(grep -c ',child,' csv/spans.csv)"
contains csv/series.csv 'program.counter,made,'

cat >own.py <<'END'
import sonde
with sonde.SpanRecording("own"):
    with sonde.span("own"):
        pass
    try:
        sonde.SpanRecording("other")
    except sonde.SondeError as why:
        assert "already" in str(why), why
with sonde.span("nobody"):
    pass
with sonde.open("own") as run:
    assert [node.host for node in run.nodes]
END
SONDE_LIBRARY=$BUILD/libsonde.so.0 "$PYTHON" own.py || fail "a recording of its own: $?"
"$SONDE" export --to csv -o csv own || fail "export"
equal "its own" "1 0" "$(count own) $(count nobody)"
