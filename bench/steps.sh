#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How well steps are found in made jobs with known truth and fixed seeds (bench/steps.c, tests/made_steps.h): 100 loops of 0.2 to 20 s with up to 15 %
# of jitter, warm-up, slow steps and checkpoints, seen 4.5 to 60 times a step; and 100 jobs that do not iterate: random walks, bursts, builds, ramps,
# noise. Half of the seeds were kept aside while the code was written. Likewise a second family, with other shapes, jitter, drift, checkpoints and
# sampling (tests/made_rounds.h), written before its author read the code. Then loops whose steps are too short for the samples and may beat with them. Then real programs that iterate, with the real recorder, beside what they
# measured themselves (bench/steps_real.py), of two families; half of the second was kept aside; and of a third and fourth (bench/steps_varied.py, bench/steps_told.py),
# half of each kept, too. QUICK=1 leaves those out. On a busy machine their steps
# differ by far more than 2 %: the load is shown.
set -eu
# shellcheck source=bench/bar.sh
. bench/bar.sh
BUILD=${BUILD:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

value() { # FILE KEY
	awk -F '\t' -v key="$2" '$1 == key { print $2 }' "$scratch/$1"
}

for half in open:1 kept:900001 open,_second_family:1:rounds kept,_second_family:900001:rounds; do
	IFS=: read -r name seed family <<<"$half"
	name=${name//_/ }
	"$BUILD/bench/steps" "$seed" 50 ${family:+"$family"} >"$scratch/$name"
	bar "50 loops, $name: mean step within 2 %" "$(value "$name" mean)" % ">=" 95
	figure "50 loops, $name: median step within 2 %" "$(value "$name" median)" %
	figure "50 loops, $name: nothing found" "$(value "$name" none)" %
	figure "50 loops, $name: slow steps found" "$(value "$name" slow)" %
	bar "50 jobs without steps, $name: some found" "$(value "$name" invented)" % "<=" 2
done
for half in open:1 kept:900001; do
	"$BUILD/bench/steps" "${half#*:}" 140 beats >"$scratch/beats"
	bar "120 even loops of half an interval to twice it, ${half%:*}: longer steps found" "$(value beats beats)" % "<=" 10
	figure "20 more that only memory shows, ${half%:*}: longer steps found" "$(value beats memory)" %
done
if [ -z "${QUICK:-}" ]; then
	SONDE=$(realpath "$BUILD/sonde")
	export SONDE
	python3 -m venv "$scratch/venv" && "$scratch/venv/bin/pip" install -q numpy pandas && export STEPS_PYTHON="$scratch/venv/bin/python"
	for family in "real:first:20 real programs:8" "real:open:15 real programs of other structures:10" "real:kept:15 real programs of other structures, kept:10" \
		"varied:open:8 varied real programs:4" "varied:kept:8 varied real programs, kept:4" "told:open:8 real programs of other kinds:4" "told:kept:8 real programs of other kinds, kept:4"; do
		IFS=: read -r file half what others <<<"$family"
		figure "load before $what" "$(cut -d ' ' -f 1 /proc/loadavg)" ""
		python3 "bench/steps_$file.py" "$half" >"$scratch/real"
		bar "$what: median plain step within 2 % of their own" "$(value real median)" % ">=" 95
		figure "$what: some found" "$(value real found)" %
		figure "$what: median off by more than 10 %" "$(value real wrong)" %
		if [ "$file" = told ]; then
			figure "$what, where some are found: begins found" "$(value real begins)" %
			figure "$what, where some are found: begins that are some" "$(value real real)" %
		fi
		bar "$others without steps, of the same family and half as $what: some found" "$(value real invented)" % "<=" 2
	done
fi
exit $missed
