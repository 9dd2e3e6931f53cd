# SPDX-License-Identifier: Apache-2.0
# limit: 120
# Samples that are read after their process has ended have names, too: what it has mapped is read when its sampling begins. The helper
# is stopped from then on until the process has ended.
. "$TOP/tests/lib.sh"
need jq
perf_permitted || skip "perf events are not permitted"

samples() { # RECORDER: its helper has an event that samples, and is stopped
	local helper
	for helper in $(pgrep -P "$1" -x sonde-unwind); do
		[ -n "$(find "/proc/$helper/fd" -lname '*perf_event*' -print -quit 2>/dev/null)" ] && kill -STOP "$helper" && echo "$helper"
	done | grep .
}

"$SONDE" run --quiet -o out -- sh -c '"$0" 2; : >done; sleep 1' "$PROGRAMS/known_parts" >said &
sonde=$!
wait_for 30 recorder_of out >recorder
until samples "$(cat recorder)" >helper; do
	[ ! -e "done" ] || skip "this machine is too busy"
	sleep 0.001
done
wait_for 60 test -e "done"
kill -CONT "$(cat helper)"
wait $sonde || fail "run"
unknown=$(figure out '[.code.function[] | select(.module == null) | .self_seconds] | add // 0')
sampled=$(figure out '.code.sampled_seconds')
echo "$unknown of $sampled s have no module"
holds "samples are known" "$sampled > 0 && $unknown < 0.1 * $sampled"
