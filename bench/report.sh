#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report of a large run: `sonde report` of 64 nodes of a day, 200 series at 1 Hz, 1.1 billion values, written by
# bench/make_nodes.c. Takes 2 minutes and 1 GB in TMPDIR; QUICK=1, an hour of them, takes 10 s.
#
# Reading may take twice what decoding alone takes (bench/decode_alone.c: every block of every file once, all checks on).
# What is left of the report is drawing: it is taken from that of five minutes of the same nodes, which has as many plots
# and nodes and next to nothing to read. CPU of all processes counts, that of the helper that paints included; quotients
# are made in each round, and the median round counts. With 420 series 8 cores of each node are among them, which are drawn one
# by one. The page opens in headless Chromium (bench/paint.py), where there is one.
set -eu
. bench/bar.sh
BUILD=${BUILD:-build} ROUNDS=${ROUNDS:-3} NODES=64 SECONDS_OF_RUN=86400
[ -z "${QUICK:-}" ] || ROUNDS=1 SECONDS_OF_RUN=3600
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

free_kb=$(df --output=avail -k "$scratch" | tail -n 1)
if [ "$free_kb" -lt $((NODES * SECONDS_OF_RUN / 4)) ]; then
	echo "report: $scratch has no room for $NODES nodes of $SECONDS_OF_RUN seconds" >&2
	exit 2
fi

cost() { # COMMAND...: CPU seconds, resident MB
	"$BUILD/bench/cost_of" 1 "$@"
}

nodes() { # NAME NODES SECONDS SERIES
	mkdir "$scratch/$1"
	"$BUILD/bench/make_nodes" "$scratch/$1" "$2" "$3" "$4"
}

report() { # NAME [ARGUMENTS...]: its cost, and files in NAME.out
	cost "$BUILD/sonde" report "$scratch/$1" -o "$scratch/$1.out" "${@:2}"
}

kilobytes() { # NAME
	awk -v b="$(stat -c %s "$scratch/$1.out/report.html")" 'BEGIN { printf "%.0f", b / 1e3 }'
}

times() { # NAME SECONDS SERIES: sets what they cost, and the quotients
	nodes "$1" "$NODES" "$2" "$3"
	nodes short "$NODES" 300 "$3"
	: >"$scratch/quotients"
	for _ in $(seq "$ROUNDS"); do
		read -r alone _ < <(cost "$BUILD/bench/decode_alone" "$scratch/$1")
		read -r drawing _ < <(report short)
		read -r whole rss < <(report "$1")
		awk -v w="$whole" -v d="$drawing" -v a="$alone" 'BEGIN { printf "%.2f\n", (w - d) / a }' >>"$scratch/quotients"
	done
	rm -r "$scratch/short"
}

times run "$SECONDS_OF_RUN" 200
figure "values of $NODES nodes" "$("$BUILD/bench/decode_alone" "$scratch/run")" values
figure 'decoding alone' "$alone" 'CPU s'
figure 'drawing page, PDF and plots' "$drawing" 'CPU s'
figure 'page, PDF and plots' "$whole" 'CPU s'
bar 'without the drawing, of decoding alone' "$(median <"$scratch/quotients")" times '<=' 2
bar 'resident' "$rss" MB '<=' 512
bar 'report.html' "$(kilobytes run)" kB '<=' 4000
rm -rf "$scratch/run"

times wide "$((SECONDS_OF_RUN / 4))" 420
figure 'a quarter of it with 420 series, without the drawing, of decoding alone' "$(median <"$scratch/quotients")" times
bar 'report.html of 420 series' "$(kilobytes wide)" kB '<=' 4000
rm -rf "$scratch/wide"

nodes hour 1 3600 420
read -r whole rss < <(report hour)
figure 'a node of an hour, 420 series' "$whole" 'CPU s'
bar 'report.html of it' "$(kilobytes hour)" kB '<=' 400

if command -v chromium >/dev/null; then
	read -r first asked < <(cd "$scratch" && python3 "$OLDPWD/bench/paint.py" run.out/report.html)
	bar "first paint of $NODES nodes in Chromium" "$first" ms '<=' 1000
	bar 'requests to a network' "$asked" requests '<=' 0
fi
exit $missed
