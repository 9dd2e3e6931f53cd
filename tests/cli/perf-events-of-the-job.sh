# SPDX-License-Identifier: Apache-2.0
# Perf events are counted of the job, of what runs already, of the node; a recording without them says why.
. "$TOP/tests/lib.sh"

"$SONDE" doctor | grep -q 'available *process.exit_records' || skip "perf events are not permitted"

largest() { # DIR METRIC: of the raw values
	"$SONDE" export "$1" --raw --to csv -o "$1.csv" 2>/dev/null
	awk -F, -v metric="$2" '$2 == metric && $6 > top { top = $6 } END { print top + 0 }' "$1.csv/series.csv"
}

"$SONDE" run -q --perf software -o job -- "$PYTHON" -c 'bytearray(64 << 20)'
faults=$(largest job perf.software.page_faults)
[ "$faults" -ge 16384 ] || fail "64 MiB were touched in $faults page faults"
awk -v t="$(largest job perf.software.task_clock_seconds)" 'BEGIN { exit !(t > 0 && t < 60) }' || fail "task clock"

sleep 30 &
"$SONDE" attach -q -p $! --perf software --duration 300ms -o attached || fail "attach"
kill $!
grep -q 'perf.software.task_clock' <("$SONDE" export attached --raw --to csv -o attached.csv 2>/dev/null; cat attached.csv/series.csv) ||
	fail "nothing was counted of what runs already"

for scope in node cgroup; do
	"$SONDE" run -q --perf software --perf-scope $scope -i 100ms -o $scope -- "$PROGRAMS/spin" 400000 || fail "scope $scope"
done
if [ "$(id -u)" = 0 ]; then
	awk -v t="$(largest node perf.software.task_clock_seconds)" 'BEGIN { exit !(t > 0.2) }' || fail "the node's task clock"
fi

"$SONDE" run -q --perf off -o none -- true
"$SONDE" export none --raw --to csv 2>/dev/null
! grep -q ',perf\.' none/series.csv || fail "something was counted though perf events are off"
