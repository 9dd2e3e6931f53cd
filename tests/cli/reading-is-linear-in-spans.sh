# SPDX-License-Identifier: Apache-2.0
# limit: 240
# Four times the spans take four times the work, counted in instructions.
. "$TOP/tests/lib.sh"
need valgrind
[ -x "$BUILD/bench/profiles" ] || skip "bench/profiles is not built"
[ -x "$BUILD/bench/cost_of" ] || skip "bench/cost_of is not built"
case $(nm "$SONDE") in *__asan_init* | *__tsan_init*) skip "valgrind and a sanitizer exclude each other" ;; esac

spans_of() { # NUMBER
	"$BUILD/bench/profiles" make "db$1" "$1" || fail "profiles make $1"
	"$SONDE" import scanner "db$1" 1 -o "n$1" >said 2>&1 || fail "import of $1: $(cat said)"
}

linear() { # NUMBER COMMAND...: and of four times as many
	local few many n=$1
	shift
	few=$(instructions "$SONDE" "$@" "n$n") many=$(instructions "$SONDE" "$@" "n$((4 * n))")
	echo "$* of $n spans and of four times as many: $few, $many"
	# What is linear takes at most four times as much; what is quadratic takes up to sixteen times.
	holds "$* of four times the spans" "$many <= 4.3 * $few"
}

for n in 4000 16000 64000 256000; do
	spans_of $n
done
linear 4000 phases --json
linear 16000 trace -o t.json
linear 16000 show
linear 16000 show --spans
# Half a kilobyte of JSON a phase.
each=$((($(instructions "$SONDE" phases --json n16000) - $(instructions "$SONDE" phases --json n4000)) / 12000))
echo "phases --json: $each instructions a span"
holds "instructions of phases --json a span" "$each <= 26000"
# The document is written as it is made: it takes no memory beside the phases.
resident() { # COMMAND...: MB
	"$BUILD/bench/cost_of" 1 "$@" | cut -d ' ' -f 2
}
text=$(resident "$SONDE" phases n64000) json=$(resident "$SONDE" phases --json n64000)
echo "phases of 64,000 spans: $text MB resident, with --json $json MB"
holds "memory of phases --json, of that of phases" "$json <= 1.1 * $text"
# What is small beside the rest of some ten thousands is not of more.
linear 64000 show --spans
