# SPDX-License-Identifier: Apache-2.0
# limit: 60
# A moment of work near the end, too little for half a second, does not make a hole of the idle tail around it: the same
# time is not told twice.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -i 50ms -o out -- sh -c "$PROGRAMS/spin 1000000; sleep 6.5; $PROGRAMS/spin 14000; sleep 0.4"
equal "exit status" 0 $?
"$SONDE" show --json out >show.json || fail "show"
idle() { # RULE FIELD OTHERWISE
	jq "[.verdicts[] | select(.rule == \"$1\") | .$2][0] // $3" show.json
}
holds "a hole ends before the tail" "$(idle idle-hole to_seconds 0) <= $(idle idle-tail from_seconds 1000) + 1"
