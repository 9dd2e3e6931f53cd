# SPDX-License-Identifier: Apache-2.0
# A sample is one write; the recorder starts nothing, allocates nothing and opens nothing while nothing changes.
. "$TOP/tests/lib.sh"
need strace
"$SONDE" run --quiet -i 50ms -o out -- sleep 4 &
sonde=$!
wait_for 5 recorder_of out >wait.log
recorder=$(recorder_of out)
sleep 1
strace -f -c -o calls -p "$recorder" 2>/dev/null &
tracer=$!
sleep 2
kill -INT $tracer
wait $tracer 2>/dev/null || [ -s calls ] || skip "strace may not trace the recorder here"
wait $sonde || fail "run"

calls() { # NAME-PATTERN: how many in those two seconds
	awk -v name="^($1)\$" '$NF ~ name { n += $4 } END { print n + 0 }' calls
}
cat calls
writes=$(calls 'write|writev|pwrite64|pwritev|pwritev2')
holds "writes in 2 s at 20 a second" "$writes >= 20 && $writes <= 44"
equal "processes started" 0 "$(calls 'fork|vfork|clone|clone3|execve')"
equal "memory taken" 0 "$(calls 'brk|mmap|mremap')"
equal "names made or taken away" 0 "$(calls 'rename|renameat|renameat2|unlink|unlinkat|mkdir|mkdirat|link|linkat|creat')"
holds "files opened" "$(calls 'open|openat|openat2') <= 2 * $writes"
