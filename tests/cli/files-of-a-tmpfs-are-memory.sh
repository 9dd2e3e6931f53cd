# SPDX-License-Identifier: Apache-2.0
# A /tmp that is a tmpfs is memory, as /dev/shm is: what the job writes there counts, in directories and in hidden files;
# what was there before, and what is on other file systems, does not. Where there are more files than are looked at, it is absent.
. "$TOP/tests/lib.sh"
need jq
unshare -rm true 2>/dev/null || skip "no mount namespace may be made here"

mkdir tmpfs disk
cat >job.sh <<'END'
mount -t tmpfs -o size=200m none tmpfs && mount -t tmpfs -o size=1m none /dev/shm || exit 77
head -c 20971520 /dev/zero >tmpfs/before
"$SONDE" run --quiet -i 200ms -o out -- sh -c '
	mkdir -p tmpfs/a/b && head -c 41943040 /dev/zero >tmpfs/a/b/.hidden && head -c 31457280 /dev/zero >disk/file
	sleep 4; rm tmpfs/a/b/.hidden'
END
code=0
unshare -rm sh job.sh || code=$?
[ $code = 77 ] && skip "no tmpfs may be mounted here"
equal "exit status" 0 $code
files=$(figure out .job.peak_memory_files_bytes)
holds "files in memory: $files" "$files == 41943040"
[ "$(figure out .job.peak_memory_kind)" = cgroup ] || holds "they are in the peak" "$(figure out .job.peak_memory_bytes) > 41943040 && $(figure out .job.peak_memory_bytes) < 52428800"

cat >many.sh <<'END'
mount -t tmpfs -o size=200m none tmpfs && mount -t tmpfs -o size=1m none /dev/shm || exit 77
seq -f tmpfs/%g 4200 | xargs touch
"$SONDE" run --quiet -i 200ms -o many -- sh -c 'head -c 41943040 /dev/zero >tmpfs/file; sleep 2'
END
unshare -rm sh many.sh
equal "files in memory beside 4,200 others" null "$(figure many .job.peak_memory_files_bytes)"
