# SPDX-License-Identifier: Apache-2.0
# plain
# A look at blocked threads reads the files of all processes only where a thread waits for one, and who is whose child only where one waits
# for a child. Of a job that waits, only processes that have run since are looked at again, and the kernel's function that one sleeps in is
# read only where its system call does not tell all. Neither are ranks of MPI looked for again among processes that execute the program that they
# did, nor memory in descriptors of a process that has not run. All locks on files are read once in a look, however many processes sleep, and
# their holders are looked for the more rarely the more often there was none. The state of a process that is sampled is not read again, the list
# of segments stays open, and a tmpfs is asked by the shortest way.
. "$TOP/tests/lib.sh"
need strace
[ -x "$LIBEXEC/sonde-unwind" ] || skip "the helper sonde-unwind was not built"
strace -f -qq -o calls true || skip "strace may not trace here"

look() { # PID: what the helper opens
	strace -f -qq -o calls -e trace=execve,openat "$SONDE" stacks "$1" >said 2>&1 || fail "stacks: $(cat said)"
	helper=$(awk '/execve\("[^"]*sonde-unwind"/ { print $1; exit }' calls)
	[ -n "$helper" ] || fail "no helper looked: $(cat calls)"
	grep "^$helper " calls >opened
}
count() { # FILE PATTERN
	grep -c -- "$2" "$1" || true
}
sleep 60 &
alone=$!
sh -c 'sleep 60; :' &
parent=$!
sleep 60 | cat &
reader=$!
wait_for 20 grep -q pipe "/proc/$reader/wchan"
wait_for 20 grep -q wait "/proc/$parent/wchan"
look "$alone"
grep -q sleep said || fail "it sleeps: $(cat said)"
equal "lists of files, for one that sleeps" 0 "$(count opened '"[0-9]*/fd",')"
holds "processes asked for their parent" "$(count opened '"[0-9]*/stat",') <= 3"
look "$parent"
grep -q sleep said || fail "it waits for a child: $(cat said)"
equal "lists of files, for one that waits for a child" 0 "$(count opened '"[0-9]*/fd",')"
holds "processes asked for their parent" "$(count opened '"[0-9]*/stat",') >= 4"
look "$reader"
holds "lists of files, for one that reads a pipe" "$(count opened '"[0-9]*/fd",') >= 2"
kill "$alone" "$parent" "$reader"

# For three seconds four processes sleep.
cat >job.sh <<'END'
sleep 3 & sleep 3 & sleep 3 &
wait
END
strace -f -qq -o calls -e trace=openat "$SONDE" run --quiet -i 100ms -o out -- sh job.sh
holds "system calls of waiting processes that were read" "$(count calls '"[0-9]*/syscall",') >= 4 && $(count calls '"[0-9]*/syscall",') <= 16"
holds "kernel functions that were read" "$(count calls '"[0-9]*/wchan",') <= 3"

# Of many that sleep any might ask for a lock again and again.
strace -f -qq -o calls -e trace=openat "$SONDE" run --quiet -i 100ms -o many -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 3 & done; wait'
holds "lists of all locks that were read" "$(count calls '"locks",') >= 1 && $(count calls '"locks",') <= 5"

# For 21 seconds.
sed -i 's/sleep 3/sleep 21/g' job.sh
strace -f -qq -o calls -e trace=openat,statfs "$SONDE" run --quiet -i 500ms -o longer -- sh job.sh
holds "environments that were read" "$(count calls '"[0-9]*/environ",') >= 4 && $(count calls '"[0-9]*/environ",') <= 8"
holds "lists of descriptors for memory" "$(count calls '"[0-9]*/fd", O_RDONLY|O_CLOEXEC|O_DIRECTORY') >= 1 && $(count calls '"[0-9]*/fd", O_RDONLY|O_CLOEXEC|O_DIRECTORY') <= 6"
# The job's own: others may have locks, whose holders are searched among all processes.
job=$(sed -n 's/.*"\([0-9]*\)\/syscall",.*/\1/p' calls | sort -u | paste -sd '|')
holds "states of processes that were read again" "$(grep -cE "\"($job)/stat\"," calls) <= 20"
equal "lists of segments that were opened" 1 "$(count calls '"sysvipc/shm",')"
equal "questions by way of a process that sees the same mounts" 0 "$(count calls 'statfs("/proc/[0-9]*/root')"

# It wakes all the time, and nobody has a lock.
strace -f -qq -o calls -e trace=openat "$SONDE" run --quiet -i 100ms -o wakes -- "$PYTHON" -c 'import time
for _ in range(400): time.sleep(0.02)'
holds "looks at what it waits for" "$(count calls '"[0-9]*/syscall",') >= 9"
holds "looks for holders of locks" "$(count calls '"locks",') >= 1 && $(count calls '"locks",') <= 10"
holds "counts of failed connects" "$(count calls '"[0-9]*/net/snmp",') <= 6"
