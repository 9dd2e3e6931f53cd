# SPDX-License-Identifier: Apache-2.0
# plain
# Spans of a program's ranks: their rows have the rank's number and come in its order, show says what each name takes by rank
# and how even that is, without what lies within, and spans of different ranks cross nobody's.
. "$TOP/tests/lib.sh"
! nm "$BUILD/libsonde.a" | grep -q __asan_init || skip "the library is built with sanitizers"
export SONDE_LIBRARY=$BUILD/libsonde.so.0 PYTHONPATH=$TOP/python:$PYTHONPATH
cat >rank.py <<'END'
import os, sys, time
import sonde
rank = int(os.environ["PMIX_RANK"])
time.sleep(0.02 * rank)
with sonde.span("step"):
    with sonde.span("compute"):
        time.sleep(0.8 if rank == 10 else 0.2)
    time.sleep(0.3 - 0.02 * rank)
END
cat >all.sh <<'END'
for rank in 10 2 0; do PMIX_RANK=$rank SLURM_PROCID=7 "$PYTHON" rank.py & done
wait
END
"$SONDE" run --quiet -i 100ms -o out -- bash all.sh || fail "run: $?"
"$SONDE" trace -o out.json out || fail "trace"
rows=$(jq -r '.traceEvents[] | select(.ph == "M" and .name == "thread_name") | .args.name | select(startswith("rank"))' out.json | cut -d' ' -f1,2 | paste -sd,)
equal "rows of the trace" "rank 0,rank 2,rank 10" "$rows"
"$SONDE" show --spans --json out >spans.json || fail "show --json"
equal "by rank" "rank compute 3 10" "$(jq -r '.shares | "\(.of) \(.spans[0].name) \(.spans[0].count) \(.spans[0].most_of)"' spans.json)"
"$PYTHON" - spans.json <<'PY' || fail "figures by rank"
import json, sys
shares = {s["name"]: s for s in json.load(open(sys.argv[1]))["shares"]["spans"]}
compute, step, slack = shares["compute"], shares["step"], 0.4  # of a busy machine
assert .2 <= compute["least_seconds"] <= compute["median_seconds"] < .2 + slack and .8 <= compute["most_seconds"] < .8 + slack, compute
assert abs(compute["mean_seconds"] - (compute["least_seconds"] + compute["median_seconds"] + compute["most_seconds"]) / 3) < 1e-6, compute
assert .1 <= step["least_seconds"] < .1 + slack and .3 <= step["most_seconds"] < .3 + slack, step
PY
"$PYTHON" -c 'import json, jsonschema, sys; jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' \
	spans.json "$TOP/docs/schema/spans.json" || fail "the schema does not hold"
for how in "show --spans" "show --all"; do
	"$SONDE" $how out >shown || fail "$how"
	grep -qE '^ +3 .* [4-9][0-9] %  compute \(most: rank 10\)$' shown || fail "$how says $(grep compute shown)"
done
"$SONDE" phases out >shown || fail "phases"
! grep -q "cross others" shown || fail "ranks cross each other"
"$SONDE" export --to csv -o csv out || fail "export"
equal "their tracks" 3 "$(cut -d, -f2 csv/spans.csv | sort -u | grep -c '^rank [0-9]* python')"
