# SPDX-License-Identifier: Apache-2.0
# As the first process of a container, run --wait-all waits for the job's processes and not for its own recorder.
. "$TOP/tests/lib.sh"
unshare --pid --fork --mount-proc true 2>/dev/null || skip "a pid namespace with its own /proc is not permitted"
equal "exit status" 4 "$(status_of timeout -k 1 "$(patience 20)" unshare --kill-child --pid --fork --mount-proc \
	"$SONDE" run --quiet --wait-all -o out -- sh -c 'sleep 1 & exit 4')"
holds "it waited" "$(figure out .job.wall_seconds) >= 1"
