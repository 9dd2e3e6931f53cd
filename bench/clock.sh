#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The clock: the cost of short intervals, the number of late samples, none silently lost, no drift. About 20 minutes,
# half of them for the drift (DRIFT_SECONDS, default 600); QUICK=1: 40 seconds.
#
# The sampled processes run between any two samples (at 100 Hz 3 of the 10 do), so that their files are read, too. A
# sample is late if it began more than a tenth of the interval after its deadline or was skipped. This is not judged if
# any process waited for a CPU for more than a fifth of the rounds, or if a bare timer (clock_floor.c), alternating
# with Sonde, was as late. With all cores computing it is a figure without a bar.
#
# At 1 Hz caches are cold whenever Sonde wakes. That row covers 330 s, so that it includes a sealed block, with all
# sources except PSS; with PSS, Sonde's default, it is a figure. The floor (floor.c) reads from the same tree and node
# what Sonde reads in each second, but neither threads nor open files, which Sonde samples in rounds.
set -eu
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-3}
SECONDS_A_ROUND=10
DRIFT_SECONDS=${DRIFT_SECONDS:-600}
CALM_SECONDS=330 FLOOR_SECONDS=60
if [ "${QUICK:-}" = 1 ]; then ROUNDS=1 SECONDS_A_ROUND=4 DRIFT_SECONDS=6 CALM_SECONDS=8 FLOOR_SECONDS=4; fi
# shellcheck source=bench/bar.sh
. bench/bar.sh
# shellcheck source=bench/floor.sh
. bench/floor.sh
scratch=$(mktemp -d)
started=()
finish() {
	[ ${#started[@]} = 0 ] || kill "${started[@]}" 2>/dev/null || true
	rm -rf "$scratch"
}
trap finish EXIT

start_tree() { # COUNT ACTIVE-PERCENT PERIOD-MS; its pid in $tree
	"$BUILD/programs/tree" "$1" 10 "$2" "$3" >"$scratch/ready" &
	tree=$!
	started+=("$tree")
	until grep -qs ready "$scratch/ready"; do sleep 0.05; done
	rm "$scratch/ready"
}

arm() { # PID INTERVAL SECONDS [OPTION...]: the line of clock_arm.py
	local pid=$1 interval=$2 seconds=$3
	shift 3
	rm -rf "$scratch/out"
	python3 bench/clock_arm.py "$BUILD/sonde" "$pid" "$interval" "$seconds" "$scratch/out" "$@"
}

column() {
	cut -d ' ' -f "$1" "$2" | median
}

stalled_us() { # how long somebody has waited for a CPU, ever
	sed -n 's/^some .*total=//p' /proc/pressure/cpu 2>/dev/null || echo 0
}

late() { # WHAT VALUE
	if [ "$pressure" -gt 20 ] || awk "BEGIN { exit !($floor > 0.5) }"; then
		figure "$1, not judged: CPU pressure was $pressure %, a bare timer $floor % late" "$2" %
	else
		bar "$1" "$2" % '<=' 0.5
	fi
}

start_tree 10 30 10
ten=$tree
start_tree 10 30 900
calm=$tree
start_tree 1 100 1
one=$tree
stalled=$(stalled_us) begun=$(date +%s%6N)
for _ in $(seq "$ROUNDS"); do
	arm "$ten" 0.01 "$SECONDS_A_ROUND" >>"$scratch/100hz"
	arm "$one" 0.001 "$SECONDS_A_ROUND" >>"$scratch/1khz"
	"$BUILD/bench/clock_floor" $SECONDS_A_ROUND >>"$scratch/floor"
done
pressure=$((($(stalled_us) - stalled) * 100 / ($(date +%s%6N) - begun)))
floor=$(median <"$scratch/floor")
bar '100 Hz, 10 processes: share of a core' "$(column 1 "$scratch/100hz")" % '<=' 1.5
bar '1 kHz, 1 process: share of a core' "$(column 1 "$scratch/1khz")" % '<=' 7
late '100 Hz, 10 processes: late' "$(column 2 "$scratch/100hz")"
late '1 kHz, 1 process: late' "$(column 2 "$scratch/1khz")"
figure 'a bare timer of 1 kHz: late' "$floor" %
figure '1 kHz, 1 process: begins after its time, median' "$(column 4 "$scratch/1khz")" us
figure '1 kHz, 1 process: begins after its time, 99th percentile' "$(column 5 "$scratch/1khz")" us

what='1 Hz, 10 processes, 30 % active'
mapfile -t group < <(group_files 1000 6)
arm "$calm" 1 "$CALM_SECONDS" --pss off >"$scratch/1hz"
bar "$what, without PSS: share of a core" "$(column 1 "$scratch/1hz")" % '<=' 0.05
"$BUILD/bench/floor" moved "$calm" "$FLOOR_SECONDS" 1000 "${group[@]}" |
	awk '{ printf "%.3f\n", $1 / 1e4 }' >"$scratch/calm_floor"
figure "$what, the floor of what is read each second: share of a core" "$(cat "$scratch/calm_floor")" %
arm "$calm" 1 "$FLOOR_SECONDS" >"$scratch/pss_1hz"
figure "$what, with PSS: share of a core" "$(column 1 "$scratch/pss_1hz")" %

arm "$ten" 0.1 "$DRIFT_SECONDS" >"$scratch/10hz"
if [ "$DRIFT_SECONDS" -ge 60 ]; then
	bar "10 Hz for $DRIFT_SECONDS s: drift" "$(column 6 "$scratch/10hz")" ppm '<=' 1
else
	figure "10 Hz for $DRIFT_SECONDS s, too short to judge: drift" "$(column 6 "$scratch/10hz")" ppm
fi

for _ in $(seq "$(nproc)"); do
	"$BUILD/programs/spin" $(((SECONDS_A_ROUND + 5) * 1000000)) &
	started+=($!)
done
arm "$one" 0.001 "$SECONDS_A_ROUND" >"$scratch/loaded"
figure '1 kHz, 1 process, all cores computing: share of a core' "$(column 1 "$scratch/loaded")" %
figure '1 kHz, 1 process, all cores computing: late' "$(column 2 "$scratch/loaded")" %
figure '1 kHz, 1 process, all cores computing: drift' "$(column 6 "$scratch/loaded")" ppm

bar 'all of these: samples silently lost' "$(cat "$scratch"/*hz "$scratch/loaded" | cut -d ' ' -f 3 | sort -g | tail -n 1)" count '<=' 0
exit "${missed:-0}"
