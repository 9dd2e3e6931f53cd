#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sonde scale: jobs that sleep as long as Amdahl's law says of a serial part of 0.2, by an environment variable, by numbers that are given
# and by cores; what cannot be compared is refused in one sentence; a failed job is left out; the chart is a file of its kind.
. "$TOP/tests/lib.sh"

for step in 1:2.0 2:1.2 4:0.8; do
	for i in 1 2; do
		OMP_NUM_THREADS=${step%:*} "$SONDE" run -q -o "runs/${step%:*}-$i" -- sleep "${step#*:}"
	done
done
OMP_NUM_THREADS=8 "$SONDE" run -q -o runs/8-failed -- sh -c 'sleep 0.1; exit 3' && fail "the job did not fail"

"$SONDE" scale --by OMP_NUM_THREADS --json -o chart.svg runs >scale.json 2>said || fail "scale ended with $?"
contains said "leaving out runs/8-failed"
equal "steps" "1 2 4" "$(jq -r '[.steps[].amount] | join(" ")' scale.json)"
equal "law" amdahl "$(jq -r .law.name scale.json)"
holds "the serial part" "$(jq '.law.serial_ratio.value' scale.json) > 0.12 && $(jq '.law.serial_ratio.value' scale.json) < 0.28"
holds "its interval" "$(jq '.law.serial_ratio.low' scale.json) < $(jq '.law.serial_ratio.high' scale.json)"
holds "efficiency with 4" "$(jq '.steps[2].efficiency.value' scale.json) > 0.5 && $(jq '.steps[2].efficiency.value' scale.json) < 0.75"
jq -e '.steps[] | ([.lost[] | select(. != null)] | add) - .lost_all | fabs < 1e-9' scale.json >/dev/null || fail "the parts do not add up"
jq -e '.steps[] | (1 - .efficiency.value) - .lost_all | fabs < 0.01' scale.json >/dev/null || fail "they are not what is lost"
contains chart.svg "Amdahl"
[ "$(stat -c %a chart.svg)" = 600 ] || fail "others may read the chart"

# The same by hand, in another order; text.
"$SONDE" scale 4=runs/4-1,runs/4-2 1=runs/1-1 2=runs/2-2 >text
contains text "N=4"
contains text "Serial part (Amdahl's law):"
contains text "Ask for N=2"
"$SONDE" scale --weak 1=runs/1-1 2=runs/1-2 >weak
contains weak "Each doubling"

refused() { # TEXT ARGUMENTS...
	refused_as_usage scale "$@"
}
refused "the runs have the same number of cores" runs/1-1 runs/2-1
refused "give two runs or more" runs/1-1
refused "all runs have" --by cores runs/1-1 runs/2-1
refused "does not know its number of NOBODY" --by NOBODY runs/1-1 runs/2-1
refused "ends with .svg" -o chart.gif 1=runs/1-1 2=runs/2-1
equal "exit code without a recording" 1 "$(status_of "$SONDE" scale nothing here 2>said)"
one_sentence said
