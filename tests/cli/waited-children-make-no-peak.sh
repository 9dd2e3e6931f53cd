#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Children that ran for half a second and are waited for add their CPU to their parent's account in one step: no rate shows it as
# more cores than there are, and the parent itself has used nothing.
. "$TOP/tests/lib.sh"
"$SONDE" run -q -i 100ms -o out -- sh -c "for i in 1 2 3 4; do $PROGRAMS/spin 500000; done; sleep 0.3" || fail run
"$SONDE" export out --to csv -o tables 2>/dev/null || fail export
most() { # METRIC INSTANCE-PATTERN
	awk -F, -v metric="$1" -v of="$2" '$2 == metric && $3 ~ of && $6 > most { most = $6 } END { print most + 0 }' tables/series.csv
}
holds "one worker at a time" "$(most job.cpu_cores '^$') < 1.5"
[ "$(most job.cpu_cores "^$")" != 0 ] || fail "no rate was recorded"
holds "nor is any process more than itself" "$(most process.cpu_cores .) < 1.5"
holds "the parent only waits" "$(most process.cpu_cores '^sh') < 0.5"
holds "all of it is in the total" "$(figure out .job.cpu_seconds) > 1.99 && $(figure out .job.cpu_seconds) < 2.2"
