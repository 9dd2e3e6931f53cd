# SPDX-License-Identifier: Apache-2.0
# A file of a tmpfs that was removed and is still open, as temporary files are, is memory of the job, though no directory
# has it and no process maps it; one of another file system is not. It counts once, also when it is removed after it was seen in its directory, as
# does one with two names; one that the command inherits counts by what the job adds.
. "$TOP/tests/lib.sh"
need jq
unshare -rm true 2>/dev/null || skip "no mount namespace may be made here"

mkdir tmpfs disk
cat >job.sh <<'END_OF_JOB'
mount -t tmpfs -o size=200m none tmpfs && mount -t tmpfs -o size=1m none /dev/shm || exit 77
"$SONDE" run --quiet -i 200ms -o out -- sh -c '
	exec 5<>tmpfs/removed 6<>disk/removed
	rm tmpfs/removed disk/removed
	head -c 41943040 /dev/zero >&5 && head -c 31457280 /dev/zero >&6
	sleep 4' &&
"$SONDE" run --quiet -i 200ms -o late -- sh -c '
	exec 5<>tmpfs/late
	head -c 41943040 /dev/zero >&5 && head -c 83886080 /dev/zero >/dev/null
	sleep 2.5
	rm tmpfs/late
	exec 6</dev/null # other descriptors than before
	sleep 3' &&
"$SONDE" run --quiet -i 200ms -o linked -- sh -c '
	head -c 20971520 /dev/zero >tmpfs/name && head -c 83886080 /dev/zero >/dev/null
	ln tmpfs/name tmpfs/other
	sleep 3' || exit
exec 7<>tmpfs/inherited
rm tmpfs/inherited
head -c 31457280 /dev/zero >&7
"$SONDE" run --quiet -i 200ms -o inherited -- sh -c 'head -c 10485760 /dev/zero >&7; sleep 3'
END_OF_JOB
code=0
unshare -rm sh job.sh || code=$?
[ $code = 77 ] && skip "no tmpfs may be mounted here"
equal "exit status" 0 $code
files=$(figure out .job.peak_memory_files_bytes)
holds "files in memory: $files" "$files == 41943040"
[ "$(figure out .job.peak_memory_kind)" = cgroup ] || holds "they are in the peak" "$(figure out .job.peak_memory_bytes) > 41943040 && $(figure out .job.peak_memory_bytes) < 52428800"
files=$(figure late .job.peak_memory_files_bytes)
holds "of one that was removed later: $files" "$files == 41943040"
files=$(figure linked .job.peak_memory_files_bytes)
holds "of one with two names: $files" "$files == 20971520"
files=$(figure inherited .job.peak_memory_files_bytes)
holds "of one that the command inherits: $files" "$files == 10485760"
