# SPDX-License-Identifier: Apache-2.0
# limit: 60
# --watch-hang keeps what processes waited in while the job made no progress, tells when and for how long, and leaves
# the job alone; without it, or of a job that works, nothing is said.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -i 100ms --watch-hang 2s -o out -- sh -c "sleep 7; $PROGRAMS/spin 1000000; exit 3"
equal "exit status" 3 $?
"$SONDE" show --json out >show.json || fail "show"
hang='.verdicts[] | select(.rule == "no-progress")'
equal "severity" bad "$(jq -r "$hang | .severity" show.json)"
jq -r "$hang | .sentence" show.json >sentence
contains sentence "sleep (pid "
contains sentence " sleeps"
holds "when it began" "$(jq "$hang | .from_seconds" show.json) < 3"
holds "when it was over" "$(jq "$hang | .to_seconds" show.json) > 6 && $(jq "$hang | .to_seconds" show.json) < 12"
"$SONDE" show --all out >shown || fail "show"
contains shown "No progress for "

"$SONDE" run --quiet -i 100ms --watch-hang=2s -o busy -- "$PROGRAMS/spin" 3000000
equal "a job that works" "" "$("$SONDE" show --json busy | jq -r "$hang | .rule")"
"$SONDE" run --quiet -i 100ms -o unwatched -- sleep 3
equal "without a watch" "" "$("$SONDE" show --json unwatched | jq -r "$hang | .rule")"
