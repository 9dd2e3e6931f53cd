#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where the user may have few processes the command runs all the same, and no recording says that it ended with a status that it did not end with.
. "$TOP/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root can be another user"
need setpriv
need prlimit
chmod 755 .
mkdir -m 777 place
cp "$SONDE" sonde
user=$((60000 + $$ % 5000)) # who has no process yet
said() { # JQ: true of a recording, or there is none
	"$SONDE" show --json "place/$n" >shown 2>/dev/null || return 0
	[ "$(jq "$1" shown)" = true ]
}
for n in $(seq 1 14); do
	status=0
	setpriv --reuid $user --regid $user --clear-groups prlimit --nproc="$n" ./sonde run --quiet -o "place/$n" -- sh -c 'exit 3' 2>"why-$n" || status=$?
	equal "status at $n processes" 3 $status
	if grep -q "without a recording" "why-$n"; then
		found=1
		sleep 1
		said '.job.exit_code == null' || fail "at $n processes it says $(jq -c .job.exit_code shown)"
	fi
	said '.job.exit_code == 3 or .job.exit_code == null' || fail "at $n processes it says $(jq -c .job.exit_code shown)"
done
[ -n "${found:-}" ] || skip "there was no limit at which only the recorder began"
