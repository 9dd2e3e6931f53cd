# SPDX-License-Identifier: Apache-2.0
# alone
# Forked, orphaned, setsid and re-parented workers with stated CPU: the total is what they spun. What it costs to fork
# and to end is in the total, too, and not in what they say; they spin long beside it.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -i 1s -o out -- "$PROGRAMS/chain" 600 >spun || fail "run"
read -r workers _ seconds _ <spun
equal workers 9 "$workers"
total=$(figure out .job.cpu_seconds)
echo "spun: $seconds s, recorded: $total s, attributed: $(figure out .job.attributed_ratio)"
holds "total within 1 %" "$total / $seconds > 0.99 && $total / $seconds < 1.01"
perf_permitted || skip "perf events are not permitted: the total is within 1 %, the names were not checked"
holds "attributed to named processes" "$(figure out .job.attributed_ratio) >= 0.95"
