# SPDX-License-Identifier: Apache-2.0
# limit: 60
# A job that idles, works on one core and fails is told so, with the proof.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -i 100ms -o out -- sh -c "sleep 6; $PROGRAMS/spin 1500000; exit 4"
equal "exit status" 4 $?
"$SONDE" show --json out >show.json || fail "show"
equal "the first verdict" failed "$(jq -r '.verdicts[0].rule' show.json)"
idle='.verdicts[] | select(.rule == "idle-head")'
equal "its proof" job.cpu_cores "$(jq -r "$idle | .metric" show.json)"
equal "its severity" warn "$(jq -r "$idle | .severity" show.json)"
holds "where it idled" "$(jq "$idle | .from_seconds" show.json) == 0"
holds "until when it idled" "$(jq "$idle | .to_seconds" show.json) > 5.5 && $(jq "$idle | .to_seconds" show.json) < 9"
equal "no word of a short run" "" "$(jq -r '.verdicts[] | select(.rule == "too-short") | .rule' show.json)"
holds "cores at most" "$(jq .job.cores_used_peak show.json) > 0.05 && $(jq .job.cores_used_peak show.json) < 1.3"
