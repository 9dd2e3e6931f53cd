#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# File systems that were mounted when the job began, or that it mounts, can be unmounted by it: nothing of Sonde holds them, neither a tmpfs
# nor another one, whether the job has files there or not; and so for the recorder of another job on the machine.
. "$TOP/tests/lib.sh"

unshare -rm true 2>/dev/null || skip "no mount namespace may be made here"
mkdir early late bound there
# shellcheck disable=SC2016 # the inner shell expands it
unshare -rm sh -c '
	mount -t tmpfs none early && mount --bind there bound || exit 3
	"$0" run -q -i 50ms -o other -- sleep 5 &
	sleep 0.7
	"$0" run -q -i 50ms -o job -- sh -c "
		mount -t tmpfs none late
		head -c 30000000 /dev/zero >late/file
		head -c 30000000 /dev/zero >early/file
		sleep 1.5
		umount late && umount early && umount bound"
	echo $? >status
	kill %1 2>/dev/null
	wait' "$SONDE" 2>said
equal "exit code of a job that unmounts" 0 "$(cat status)"
holds "memory of files in tmpfs" "$(figure job .job.peak_memory_files_bytes) >= 29000000"
