# SPDX-License-Identifier: Apache-2.0
# A job of 30 ms, far shorter than the interval, has a valid recording with its true totals.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -i 1s -o out -- "$PROGRAMS/spin" 30000 9
equal "exit status" 9 $?
equal exit_code 9 "$(figure out .job.exit_code)"
holds cpu_seconds "$(figure out .job.cpu_seconds) >= 0.0295 && $(figure out .job.cpu_seconds) < 0.045"
holds wall_seconds "$(figure out .job.wall_seconds) >= 0.0295 && $(figure out .job.wall_seconds) < 5"
holds samples "$(figure out '.nodes[0].samples') >= 1"
holds attributed_ratio "$(figure out .job.attributed_ratio) >= 0.95"
"$SONDE" export out --to csv -o tables >/dev/null || fail "export"
grep -q '"\?spin"\?' tables/processes.csv || fail "processes.csv does not name spin"
