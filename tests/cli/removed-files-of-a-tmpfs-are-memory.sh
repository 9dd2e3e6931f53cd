# SPDX-License-Identifier: Apache-2.0
# A file of a tmpfs that was removed and is still open, as temporary files are, is memory of the job, though no directory
# has it and no process maps it; one of another file system is not.
. "$TOP/tests/lib.sh"
need jq
unshare -rm true 2>/dev/null || skip "no mount namespace may be made here"

mkdir tmpfs disk
cat >job.sh <<'END'
mount -t tmpfs -o size=200m none tmpfs && mount -t tmpfs -o size=1m none /dev/shm || exit 77
"$SONDE" run --quiet -i 200ms -o out -- sh -c '
	exec 5<>tmpfs/removed 6<>disk/removed
	rm tmpfs/removed disk/removed
	head -c 41943040 /dev/zero >&5 && head -c 31457280 /dev/zero >&6
	sleep 4'
END
code=0
unshare -rm sh job.sh || code=$?
[ $code = 77 ] && skip "no tmpfs may be mounted here"
equal "exit status" 0 $code
files=$(figure out .job.peak_memory_files_bytes)
holds "files in memory: $files" "$files == 41943040"
[ "$(figure out .job.peak_memory_kind)" = cgroup ] || holds "they are in the peak" "$(figure out .job.peak_memory_bytes) > 41943040 && $(figure out .job.peak_memory_bytes) < 52428800"
