#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report of a large run: `sonde report` of 64 nodes over a day, 200 series at 1 Hz, 1.1 billion values, written by
# bench/make_nodes.c. Takes 2 minutes and 1 GB in TMPDIR; QUICK=1, for an hour, takes 10 s.
#
# Reading may take twice the time of decoding alone (bench/decode_alone.c: every block of every file once, with all
# checks). The rest of the report is drawing: its time is that of a report of five minutes of the same nodes, which has
# as many plots and nodes and almost nothing to read. CPU time of all processes counts, including the helper that
# renders; ratios are computed per round, and the median round counts. The 420 series include 8 cores of each node,
# which are drawn one by one. Headless Chromium, if installed, opens the page (bench/paint.py).
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
began=$EPOCHREALTIME
read -r explained _ < <(cost "$BUILD/sonde" explain --json "$scratch/run")
ended=$EPOCHREALTIME
bar 'findings (sonde explain)' "$explained" 'CPU s' '<=' 1
figure "findings (sonde explain), from start to end, on $(nproc) CPUs" "$(awk "BEGIN { printf \"%.2f\", $ended - $began }")" s
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
