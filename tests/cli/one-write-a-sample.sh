# SPDX-License-Identifier: Apache-2.0
# A sample is one write and the tail is synced as often as asked; the recorder starts nothing, allocates nothing and makes no
# names while nothing changes.
. "$TOP/tests/lib.sh"
need strace
strace -f -y -qq -o writes -e trace=write,writev,pwrite64,pwritev,pwritev2 \
	"$SONDE" run --quiet -i 50ms -o out -- sleep 2 || skip "strace may not trace here"
samples=$(figure out '.nodes[0].samples')
writes=$(grep -c '/node-' writes)
# Beside the samples: the heads of both files, what machine it is, the sealed block, the tail's slots made ready, the end.
holds "writes into the recording" "$writes >= $samples && $writes <= $samples + 9"

syncs() { # SYNC: how often the tail was, in two seconds
	strace -f -y -qq -o synced -e trace=fdatasync,fsync "$SONDE" run --quiet -i 50ms --sync "$1" -o "sync_$1" -- sleep 2
	grep -cE '(fdatasync|fsync)\([0-9]+<[^>]*\.tail' synced
}
equal "syncs of the tail when there shall be none" 0 "$(syncs 0)"
few=$(syncs 400ms)
holds "syncs of the tail every 400 ms" "$few >= 2 && $few <= $(figure sync_400ms .job.wall_seconds) / 0.4 + 2"
all=$(syncs 50ms) samples=$(figure sync_50ms '.nodes[0].samples')
holds "syncs of the tail at each sample" "$all >= $samples * 3 / 4 && $all <= $samples"

"$SONDE" run --quiet -i 50ms -o long -- sleep 60 &
sonde=$!
wait_for 20 recorder_of long >recorder
sleep 1
strace -f -c -o calls -p "$(cat recorder)" 2>/dev/null &
tracer=$!
wait_for 20 grep -q '^TracerPid:.*[1-9]' "/proc/$(cat recorder)/status"
sleep 2
kill -INT $tracer
wait $tracer
kill $sonde
wait $sonde

calls() { # NAME-PATTERN: how many in those two seconds
	awk -v name="^($1)\$" '$NF ~ name { n += $4 } END { print n + 0 }' calls
}
cat calls
holds "samples while traced" "$(calls 'pwrite64|pwrite|write|writev|pwritev') >= 1"
equal "processes started" 0 "$(calls 'fork|vfork|clone|clone3|execve')"
equal "memory taken or given back" 0 "$(calls 'brk|mmap|mremap|munmap')"
equal "names made or taken away" 0 "$(calls 'rename|renameat|renameat2|unlink|unlinkat|mkdir|mkdirat|link|linkat|creat')"
