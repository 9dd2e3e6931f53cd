# SPDX-License-Identifier: Apache-2.0
# limit: 60
# How a job ended is said in plain words, with the process that died first, and the limit of its own that it reached.
. "$TOP/tests/lib.sh"

ends() { # LIMIT CMD...: records it under a limit; what the verdicts say is in said
	local limit=$1
	shift
	rm -rf out
	(
		eval "$limit"
		exec "$SONDE" run --quiet --no-error-text -i 100ms -o out -- "$@"
	) >job.out 2>&1
	code=$?
	"$SONDE" show --json out | jq -r '.verdicts[] | .rule + ": " + .sentence' >said
}

# A child that a signal ends, in a shell that ends with 1, with 128 + N, and the command itself.
ends : sh -c '(sleep 0.6; exec sh -c "kill -SEGV \$\$"); exit 1'
equal "exit code" 1 $code
contains said "failed: Failed: exit code 1 after "
grep -q 'First to die: sh (pid [0-9]*), [0-9.]* [m]*s after the start, by SIGSEGV' said || fail "who died first: $(cat said)"
# One that failed before it may have been too short to see how it ended.
ends : sh -c 'cat none 2>/dev/null; (sleep 0.6; exec sh -c "exit 3"); exit 3'
contains said "Failed: sh (pid"
equal "first to fail, of several" "" "$(grep 'First to fail' said)"
# Where the ends of all are known it is; a recording that says nothing of them is none.
ends : sh -c '(sleep 0.6; exec sh -c "sleep 0.6; exit 3"); exit 3'
case $(figure out '.nodes[0].metadata["job.unknown_ends"]') in
0) contains said "First to fail: sh (pid" ;;
*) contains said "Failed: sh (pid" ;;
esac
ends : sh -c 'sleep 0.3; kill -ABRT $$'
equal "status" 134 $code
contains said "killed: Killed by SIGABRT after "
contains said "it called abort"
ends : sh -c 'sh -c "sleep 0.6; kill -BUS \$\$"; exit $?'
contains said "a command that the shell ran was killed by SIGBUS, it accessed a mapping with nothing behind it"
ends : sh -c 'exit 135'
contains said ": what shells report if a command was killed by SIGBUS, it accessed a mapping with nothing behind it"
ends : sh -c 'timeout 0.2 sleep 9'
contains said "exit code 124 after "
contains said ": timeout killed it when the time was up"
ends : sh -c 'exit 124'
contains said ": what timeout reports when the time was up"
ends : sh -c 'no-such-command-here'
contains said ": command not found"
ends : sh -c '"$0"' "$PWD"
contains said ": a command was found but could not be executed"
ends : true
equal "a good end" "" "$(grep -E '^(failed|killed|hung|limit)' said)"

# Limits of the job.
ends 'ulimit -t 1' "$PROGRAMS/spin" 20000000
grep -Eq '^limit-cpu(-likely)?: .*CPU time limit.*(ulimit -t)' said || fail "$(cat said)"
ends 'ulimit -f 300' sh -c 'head -c 3000000 /dev/zero >big'
equal "exit code" 153 $code
contains said "limit-file-size: A file reached the size limit of 300.0 KiB (ulimit -f)"
ends 'ulimit -Sn 40' "$PYTHON" -c '
import time
files = []
while len(files) < 34:
    files.append(open("/dev/null"))
time.sleep(2.2)
while True:
    files.append(open("/dev/null"))'
contains job.out "Too many open files"
grep -q "limit-open-files: Likely too many open files: python[0-9.]* (pid [0-9]*) had 3[0-9] of 40 open (ulimit -n)" said || fail "$(cat said)"
ends 'ulimit -v 300000' "$PYTHON" -c '
import time
held = bytearray(240 << 20)
time.sleep(0.5)
held += bytearray(240 << 20)'
contains job.out MemoryError
contains said "limit-address-space: Most likely out of address space: python"
contains said "of the 293.0 MiB that each process may have (ulimit -v)"
ends 'ulimit -v 300000' "$PYTHON" -c 'bytearray(1 << 40)'
contains said "limit-address-space-possible: Possibly out of address space"

# Limits that the job's script sets: those of the process that had them.
ends : sh -c "ulimit -v 300000; exec '$PYTHON' -c '
import time
held = bytearray(240 << 20)
time.sleep(0.5)
held += bytearray(240 << 20)'"
contains job.out MemoryError
contains said "limit-address-space: Most likely out of address space: python"
contains said "of the 293.0 MiB that each process may have (ulimit -v)"
ends : bash -c "ulimit -f 300; sleep 0.3; sh -c 'sleep 0.3; exec head -c 3000000 /dev/zero >big'; exit 1"
contains said "limit-file-size: A file reached the size limit of 300.0 KiB (ulimit -f)"
# A limit that it lifts is none.
ends 'ulimit -Sv 900000' sh -c 'ulimit -v unlimited; sleep 0.3; exec sh -c "sleep 0.3; exit 1"'
grep -q '^limit-address-space' said && fail "a limit that was lifted: $(cat said)"
true

# A heap whose size the command line sets; what holds it aborts, as Node does, or fails, as Java does.
cat >heap.py <<'END'
import os, sys, time
held = bytearray(b"x") * (90 << 20)
time.sleep(0.5)
if sys.argv[2] == "abort":
    os.abort()
sys.exit(int(sys.argv[2]))
END
ends : "$PYTHON" heap.py --max-old-space-size=80 abort
grep -q '^heap-full: Most likely out of heap memory: python[0-9.]* heap.py (pid [0-9]*) aborted with .* heap limit of 80.0 MiB (--max-old-space-size)' said || fail "Node's heap: $(cat said)"
ends : "$PYTHON" heap.py -Xmx80m 1
grep -q '^heap-full-possible: .*heap limit of 80.0 MiB (-Xmx)' said || fail "Java's heap: $(cat said)"
ends : "$PYTHON" heap.py -Xmx800m 1
grep -q '^heap-full' said && fail "a heap with room: $(cat said)"
true
