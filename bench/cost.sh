#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU a sample, Sonde against psutil, on trees of 1, 10 and 100 sleeping processes at 10 Hz, and Sonde's resident memory.
# Both see the same tree in turns, in one run; each figure is the median of the rounds. Sonde's is the slope between a
# short and a long recording, so that its start is not in it, as psutil's first sample is not.
set -eu
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-3}
scratch=$(mktemp -d)
tree=
trap '[ -z "$tree" ] || kill "$tree"; rm -rf "$scratch"' EXIT

record() { # SECONDS: "cpu samples rss" of the recorder
	rm -rf "$scratch/out"
	"$BUILD/sonde" attach -q -p "$tree" -i 100ms --duration "$1" -o "$scratch/out"
	"$BUILD/sonde" show --json "$scratch/out" | jq -r '.monitor | "\(.cpu_seconds) \(.samples) \(.max_rss_bytes)"'
}

median() {
	sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

missed=0
bar() { # WHAT VALUE AT-LEAST|AT-MOST LIMIT
	local verdict=met
	awk "BEGIN { exit !($2 $3 $4) }" || {
		verdict=missed
		missed=1
	}
	printf '    %s: %s, wanted %s %s: %s\n' "$1" "$2" "$3" "$4" "$verdict"
}

for processes in 1 10 100; do
	"$BUILD/programs/tree" "$processes" >"$scratch/ready" &
	tree=$!
	until grep -qs ready "$scratch/ready"; do sleep 0.05; done
	: >"$scratch/sonde" && : >"$scratch/psutil" && : >"$scratch/rss"
	for _ in $(seq "$ROUNDS"); do
		read -r cpu0 samples0 _ < <(record 1s)
		/usr/bin/python3 bench/psutil_arm.py "$tree" 20 0.1 >>"$scratch/psutil"
		read -r cpu1 samples1 rss < <(record 5s)
		awk "BEGIN { print ($cpu1 - $cpu0) / ($samples1 - $samples0) }" >>"$scratch/sonde"
		echo "$rss" >>"$scratch/rss"
	done
	kill "$tree"
	wait "$tree" 2>/dev/null || true
	tree=
	sonde=$(median <"$scratch/sonde") psutil=$(median <"$scratch/psutil") rss=$(sort -g "$scratch/rss" | tail -n 1)
	ratio=$(awk "BEGIN { printf \"%.1f\", $psutil / $sonde }")
	awk "BEGIN { printf \"%d processes: psutil %.3f ms a sample, Sonde %.3f ms, %.1f times less; resident %.2f MB\n\", \
		$processes, $psutil * 1e3, $sonde * 1e3, $ratio, $rss / 1e6 }"
	case $processes in
	1) bar 'times less CPU than psutil' "$ratio" '>=' 8 ;;
	100)
		bar 'times less CPU than psutil' "$ratio" '>=' 10
		bar 'resident bytes' "$rss" '<=' 6000000
		;;
	esac
done
exit $missed
