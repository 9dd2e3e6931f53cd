#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How reading PSS affects the job: a process of 2 GB in 4 KiB pages maps and unmaps small regions continuously,
# alternately alone and recorded by Sonde with default options. About 8 minutes; QUICK=1: 15 seconds, without bars.
#
# A recorded round takes 75 s, since the PSS of so large a process is read once a minute: each includes at least one
# reading. With --pss always at 10 Hz, for information, each sample reads it. Nothing is judged if any process waited
# for a CPU for more than a fifth of the time: the scheduler's time slices are then longer than any reading.
set -eu
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-5}
ALONE=15 WATCHED=75 MEGABYTES=2048
if [ "${QUICK:-}" = 1 ]; then ROUNDS=1 ALONE=3 WATCHED=5; fi
# shellcheck source=bench/bar.sh
. bench/bar.sh

available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
if [ "$available" -lt $((MEGABYTES + 512)) ]; then
	echo "  not measured: $((MEGABYTES + 512)) MB of memory are needed, $available are available"
	exit 1
fi
scratch=$(mktemp -d)
job_PID=
finish() {
	[ -z "$job_PID" ] || kill "$job_PID" 2>/dev/null || true
	rm -rf "$scratch"
}
trap finish EXIT

coproc job { exec "$BUILD/bench/latency" $MEGABYTES; }
pid=$job_PID
read -r -u "${job[0]}" _

turns() { # SECONDS: the line that bench/latency.c prints
	local line
	echo "$1" >&"${job[1]}"
	read -r -u "${job[0]}" line
	echo "$line"
}

watched() { # SECONDS OPTION...: the same while Sonde watches, and how often it has read PSS
	local seconds=$1 line sonde
	shift
	rm -rf "$scratch/out"
	"$BUILD/sonde" attach -q -p "$pid" -o "$scratch/out" "$@" &
	sonde=$!
	until [ -e "$scratch/out" ]; do sleep 0.05; done
	line=$(turns "$seconds")
	kill -INT "$sonde"
	wait "$sonde" || true
	echo "$line $("$BUILD/sonde" export -o - --raw --metrics process.pss_bytes "$scratch/out" |
		grep -c 'process.pss_bytes.*,[0-9]' || true)"
}

stalled_us() { # how long somebody has waited for a CPU, ever
	sed -n 's/^some .*total=//p' /proc/pressure/cpu 2>/dev/null || echo 0
}

column() {
	cut -d ' ' -f "$1" "$scratch/$2" | median
}

stalled=$(stalled_us) begun=$(date +%s%6N)
for _ in $(seq "$ROUNDS"); do
	turns $ALONE >>"$scratch/alone"
	watched $WATCHED >>"$scratch/watched"
done
pressure=$((($(stalled_us) - stalled) * 100 / ($(date +%s%6N) - begun)))
watched $ALONE -i 100ms --pss always --max-overhead off >"$scratch/always"
awk '{ print $4 }' "$scratch/alone" >"$scratch/alone_p9999"
paste -d ' ' "$scratch/alone_p9999" "$scratch/watched" | awk '{ print $5 / $1 }' >"$scratch/ratio"

figure 'alone: 99.99th percentile of a turn' "$(column 4 alone)" us
figure 'watched: 99.99th percentile of a turn' "$(column 4 watched)" us
if [ "${QUICK:-}" = 1 ] || [ "$pressure" -gt 20 ]; then
	figure "watched against alone, not judged, CPU pressure $pressure %: 99.99th percentile" \
		"$(median <"$scratch/ratio")" times
else
	bar 'watched against alone: 99.99th percentile' "$(median <"$scratch/ratio")" times '<=' 2
	bar 'watched: readings of PSS in a round' "$(column 7 watched)" count '>=' 1
fi
for arm in alone watched always; do
	figure "$arm: longest turn" "$(column 5 $arm)" us
	figure "$arm: of the time, in turns longer than a millisecond" "$(column 6 $arm)" ppm
done
figure 'always, at 10 Hz: 99.99th percentile of a turn' "$(column 4 always)" us
figure 'always, at 10 Hz: readings of PSS' "$(column 7 always)" count
exit "${missed:-0}"
