# SPDX-License-Identifier: Apache-2.0
# limit: 120
# A moment of work near the end, too little for half a second, does not make a hole of the idle tail around it: the same
# time is not told twice.
# A job that still runs has no end: it is idle now.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -i 50ms -o running -- sh -c "$PROGRAMS/spin 2000000; sleep 100" &
recorder=$!
trap 'kill $recorder 2>/dev/null' EXIT
is_idle() {
	"$SONDE" show running >shown && grep -qE "Idle (now|at the end)|until (now|the end)|Waited nearly" shown
}
wait_for 40 is_idle
! grep -qE "at the end|the end:" shown || fail "a job that runs has no end: $(cat shown)"
contains shown now
kill $recorder
wait $recorder
trap - EXIT
"$SONDE" run --quiet -i 50ms -o out -- sh -c "$PROGRAMS/spin 1000000; sleep 6.5; $PROGRAMS/spin 14000; sleep 0.4"
equal "exit status" 0 $?
"$SONDE" show --json out >show.json || fail "show"
idle() { # RULE FIELD OTHERWISE
	jq "[.verdicts[] | select(.rule == \"$1\") | .$2][0] // $3" show.json
}
holds "a hole ends before the tail" "$(idle idle-hole to_seconds 0) <= $(idle idle-tail from_seconds 1000) + 1"
