#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Under a limit of address space (ulimit -v) the job runs as it would; it is recorded, or a message says that the memory was not enough.
. "$TOP/tests/lib.sh"

for kb in 12000 20000 40000 60000 100000 140000 200000 400000; do
	status=0
	(
		ulimit -v $kb
		exec "$SONDE" run --quiet -o "at-$kb" -- sh -c 'exit 3'
	) 2>said || status=$?
	equal "status at $kb kB" 3 $status
	if [ -s said ]; then
		grep -q memory said || fail "at $kb kB: $(cat said)"
	else
		recorded=$kb
		equal "exit code at $kb kB" 3 "$(figure "at-$kb" .job.exit_code)"
	fi
done
[ -n "${recorded:-}" ] || fail "nothing was recorded at 400 MB"
