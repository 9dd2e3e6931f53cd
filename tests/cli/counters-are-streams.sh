# SPDX-License-Identifier: Apache-2.0
# plain
# Each value that a program gives a counter is recorded with its time, up to a rate; beyond that the least, the most and the
# last of an interval, and that is said. They are in exports, the trace, show, the page and what MLflow gets.
. "$TOP/tests/lib.sh"
! nm "$BUILD/libsonde.a" | grep -q __asan_init || skip "the library is built with sanitizers"
record() { # RECORDING ARGUMENTS...
	local to=$1
	shift
	"$SONDE" run --quiet -i 100ms -o "$to" -- "$PROGRAMS/spanner" "$@" >lost || fail "run $*: $?"
	"$SONDE" export --to csv -o "csv-$to" "$to" 2>said || fail "export of $to"
}
record all values 350 2
"$PYTHON" - csv-all/counters.csv <<'PY' || fail "values of a counter"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
own = [r for r in rows if r["process"] == rows[0]["process"]]
assert [float(r["value"]) for r in own] == [min(i, 350 - i) * (1 if i % 2 else -1) for i in range(350)], len(own)
at = [float(r["seconds"]) for r in own]
assert at == sorted(at) and 0.7 <= at[-1] - at[0] < 60, (at[0], at[-1])
assert [(r["name"], float(r["value"])) for r in rows if r not in own] == [("loss", 1e6)]
PY
"$SONDE" trace -o all.json all || fail "trace"
equal "in the trace" 350 "$(jq '[.traceEvents[] | select(.ph == "C" and (.name | startswith("loss")))] | group_by(.name) | map(length) | max' all.json)"
equal "one for each process" 2 "$(jq '[.traceEvents[] | select(.ph == "C" and (.name | startswith("loss"))) | .name] | unique | length' all.json)"
equal "show --json" "350 -174 175" "$("$SONDE" show --json all | jq -r '.own.series[] | select(.n > 1) | "\(.n) \(.least) \(.most)"')"
"$SONDE" show --all all >shown || fail "show"
grep -q '^  loss (process.* -174 to 175, last 1' shown || fail "show says $(grep loss shown)"
"$SONDE" show --all --json all >/dev/null || fail "show --json"
"$SONDE" report --only page all >/dev/null 2>&1 || "$SONDE" report all >/dev/null || fail "report"
contains all/report.html "own:loss"

record often values 30000 0
kept=$(grep -c ',loss,' csv-often/counters.csv)
holds "no more than the rate allows" "$kept > 1000 && $kept < 6000"
"$PYTHON" - csv-often/counters.csv <<'PY' || fail "the extremes are not kept"
import csv, sys
values = [float(r["value"]) for r in csv.DictReader(open(sys.argv[1])) if float(r["value"]) < 1e5]
assert min(values) == -15000 and max(values) == 14999 and values[-1] == 1, (min(values), max(values), values[-1])
PY
equal "the rest is counted" 30001 $((kept + $(figure often '.nodes[0].metadata["counters.values_left_out"]')))
"$SONDE" show often >shown || fail "show"
contains shown "values of counters not kept one by one"
