# SPDX-License-Identifier: Apache-2.0
# limit: 60
# A job that idles, works on one core and fails is told so, with the proof.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -i 100ms -o out -- sh -c "sleep 6; '$SONDE' mark spin; $PROGRAMS/spin 1500000; exit 4"
equal "exit status" 4 $?
"$SONDE" show --json out >show.json || fail "show"
equal "the first verdict" failed "$(jq -r '.verdicts[0].rule' show.json)"
# To start takes more than 5 % of a core of the first interval now and then: then the idle time begins after it.
idle='[.verdicts[] | select(.rule == "idle-head" or (.rule == "idle-hole" and .from_seconds < 1))][0]'
equal "its proof" job.cpu_cores "$(jq -r "$idle | .metric" show.json)"
equal "its severity" warn "$(jq -r "$idle | .severity" show.json)"
holds "where it idled" "$(jq "$idle | .from_seconds" show.json) < 1"
# On a busy machine samples are missing, and who spins waits for a core: it says itself when it began.
began=$(jq '.marks[0].at_seconds' show.json)
until=$(jq "$idle | .to_seconds" show.json)
holds "until when it idled: $until of $began s" "$began >= 6 && $until > 0.7 * $began && $until < $(jq .job.wall_seconds show.json) - 1"
equal "no word of a short run" "" "$(jq -r '.verdicts[] | select(.rule == "too-short") | .rule' show.json)"
holds "cores at most" "$(jq .job.cores_used_peak show.json) > 0.05 && $(jq .job.cores_used_peak show.json) < 1.9"
