#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Under a limit of address space (ulimit -v) the job runs as it would, with that limit; from 40 MB on it is recorded, with its processes, and below
# a message says that the memory was not enough.
. "$TOP/tests/lib.sh"

# shellcheck disable=SC2016 # the job's
job='ulimit -v; for i in 1 2 3 4 5 6 7 8; do (sleep 0.2 & sleep 0.1; wait); done; exit 3'
for kb in 12000 20000 40000 60000 100000 140000 200000 400000; do
	status=0
	(
		ulimit -v $kb
		exec "$SONDE" run --quiet -o "at-$kb" -- sh -c "$job"
	) >limit 2>said || status=$?
	equal "status at $kb kB" 3 $status
	equal "limit of the job at $kb kB" $kb "$(cat limit)"
	if [ -s said ]; then
		[ $kb -lt 40000 ] || fail "at $kb kB: $(cat said)"
		grep -q memory said || fail "at $kb kB: $(cat said)"
	else
		equal "exit code at $kb kB" 3 "$(figure "at-$kb" .job.exit_code)"
		equal "processes at $kb kB" 25 "$(figure "at-$kb" .job.processes_started)"
		equal "damage at $kb kB" 0 "$(figure "at-$kb" .damages)"
		holds "samples at $kb kB" "$(figure "at-$kb" '.nodes[0].samples') >= 3"
		"$SONDE" show --all "at-$kb" >shown 2>&1 || fail "show at $kb kB"
		! grep -q "no room" shown || fail "at $kb kB: $(cat shown)"
	fi
done
