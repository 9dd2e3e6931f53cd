#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alone
# Deadlines are absolute: each interval has its sample, or counts as skipped. A clock that is set anew when a sample has been taken would
# lose one in twenty here.
. "$TOP/tests/lib.sh"
"$SONDE" run -q -i 1ms --max-overhead off --pss off -o out -- sleep 3 || fail run
"$SONDE" show --json out >shown.json
read -r samples skipped wall < <(jq -r '[.monitor.samples, .monitor.skipped_samples, .job.wall_seconds] | @tsv' shown.json)
echo "samples: $samples, skipped: $skipped, wall time: $wall s"
# The first sample is before the job, the last behind it; the job starts and ends some ms beside them.
holds "a sample or a skip for each interval" "$samples + $skipped - $wall * 1000 > -5 && $samples + $skipped - $wall * 1000 < 100"
