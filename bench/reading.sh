#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Reading recordings of many nodes: `sonde show` compared with decoding alone (bench/decode_alone.c), which opens every
# file of the same directory in turn and decodes every block, with all checks. Takes 4 minutes and 1 GB in TMPDIR;
# QUICK=1 takes 20 s.
#
# First an hour of 1,000 nodes, 300 series at 1 Hz: 1.08 billion values, written by bench/make_nodes.c. Then a minute
# of 10 to 10,000 nodes: the time per node counts, with at most 1,024 open files. Ratios are computed per round, and
# the median round counts.
set -eu
. bench/bar.sh
BUILD=${BUILD:-build} ROUNDS=${ROUNDS:-3} NODES=1000 MOST=10000 SERIES=300
[ -z "${QUICK:-}" ] || ROUNDS=1 NODES=100 MOST=1000
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ulimit -n 1024

free_kb=$(df --output=avail -k "$scratch" | tail -n 1)
if [ "$free_kb" -lt $((NODES * 1000 + MOST * 60)) ]; then
	echo "reading: $scratch has no room for $NODES nodes of an hour" >&2
	exit 1
fi

cost() { # COMMAND...: CPU seconds, resident MB
	"$BUILD/bench/cost_of" "${times:-1}" "$@"
}

quotient() { # A B
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f\n", a / b }'
}

at_most() { # DIR SHOW RSS: what reading very many short recordings may take
	read -r alone _ < <(cost "$BUILD/bench/decode_alone" "$1")
	read -r json json_rss < <(cost "$BUILD/sonde" show --json "$1")
	bar "show of a minute of $MOST nodes, of decoding alone" "$(quotient "$2" "$alone")" times '<=' 2
	bar "show of a minute of $MOST nodes, resident at most" "$3" MB '<=' 256
	figure "show --json of a minute of $MOST nodes" "$json" 'CPU s'
	bar "show --json of a minute of $MOST nodes, resident, of show's" "$(quotient "$json_rss" "$3")" times '<=' 1.5
}

mkdir "$scratch/hour"
"$BUILD/bench/make_nodes" "$scratch/hour" "$NODES" 3600 "$SERIES"
values=$("$BUILD/bench/decode_alone" "$scratch/hour")
for _ in $(seq "$ROUNDS"); do
	read -r alone _ < <(cost "$BUILD/bench/decode_alone" "$scratch/hour")
	read -r show rss < <(cost "$BUILD/sonde" show "$scratch/hour")
	echo "$alone" >>"$scratch/alone"
	echo "$show" >>"$scratch/show"
	echo "$rss" >>"$scratch/rss"
	quotient "$show" "$alone" >>"$scratch/times"
done
read -r json _ < <(cost "$BUILD/sonde" show --json "$scratch/hour")
read -r ls _ < <(cost "$BUILD/sonde" ls "$scratch/hour")
read -r report report_rss < <(cost "$BUILD/sonde" report --only html "$scratch/hour" -o "$scratch")
figure "values in an hour of $NODES nodes" "$values" values
figure 'decoding alone' "$(median <"$scratch/alone")" 'CPU s'
figure 'show' "$(median <"$scratch/show")" 'CPU s'
bar 'show, of decoding alone' "$(median <"$scratch/times")" times '<=' 1.5
bar 'show, resident' "$(sort -g "$scratch/rss" | tail -n 1)" MB '<=' 256
figure 'show --json, with statistics of all metrics' "$json" 'CPU s'
figure 'ls' "$ls" 'CPU s'
figure 'report' "$report" 'CPU s'
figure 'report, resident' "$report_rss" MB
figure 'report.html' "$(awk -v b="$(stat -c %s "$scratch/report.html")" 'BEGIN { printf "%.1f", b / 1e6 }')" MB
rm -rf "$scratch/hour"

for ((nodes = 10; nodes <= MOST; nodes *= 10)); do
	mkdir "$scratch/$nodes"
	"$BUILD/bench/make_nodes" "$scratch/$nodes" "$nodes" 60 "$SERIES"
	: >"$scratch/costs"
	times=$((nodes < 1000 ? 1000 / nodes : 1))
	for _ in $(seq "$ROUNDS"); do
		read -r show rss < <(cost "$BUILD/sonde" show "$scratch/$nodes")
		awk -v s="$show" -v n="$nodes" 'BEGIN { printf "%.1f\n", s / n * 1e6 }' >>"$scratch/costs"
	done
	us[nodes]=$(median <"$scratch/costs")
	figure "show of a minute, a node of $nodes" "${us[nodes]}" 'CPU us'
	figure "show of a minute of $nodes nodes, resident" "$rss" MB
	[ "$nodes" != "$MOST" ] || at_most "$scratch/$nodes" "$show" "$rss"
	rm -rf "${scratch:?}/$nodes"
done
bar "a node of $MOST, of one of 10" "$(quotient "${us[MOST]}" "${us[10]}")" times '<=' 1.5
bar "a node of $MOST, of one of 100" "$(quotient "${us[MOST]}" "${us[100]}")" times '<=' 1.5
exit $missed
