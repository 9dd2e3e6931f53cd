# SPDX-License-Identifier: Apache-2.0
# Four times the threads of Python that wait for one lock take about four times the readings of memory; that each waits for a lock of its own takes
# so many at most.
. "$TOP/tests/lib.sh"
need strace
[ -x "$LIBEXEC/sonde-unwind" ] || skip "the helper sonde-unwind was not built"
cat >many.py <<'END'
import sys, threading, time
def wait(lock, deep):
    if deep:
        wait(lock, deep - 1)
    else:
        with lock:
            pass
one = threading.Lock()
one.acquire()
for i in range(int(sys.argv[2])):
    lock = one if sys.argv[1] == "one" else threading.Lock()
    lock.acquire(False)
    threading.Thread(target=wait, args=(lock, 20), daemon=True).start()
open(f"ready.{sys.argv[1]}{sys.argv[2]}", "w").close()
time.sleep(600)
END

readings() { # KIND THREADS
	"$PYTHON" many.py "$1" "$2" &
	local python=$! n
	wait_for 60 test -e "ready.$1$2"
	strace -f -qq -c --seccomp-bpf -e trace=process_vm_readv -o calls "$SONDE" stacks $python >said 2>told || n="stacks: $(cat told)"
	kill -9 $python
	wait $python 2>/dev/null
	[ -z "${n:-}" ] || fail "$n"
	grep -q "wait (many.py:" said || skip "this interpreter is none whose frames are known"
	awk '$NF == "process_vm_readv" { print $4 }' calls
}

strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
few=$(readings one 20) || exit $?
many=$(readings one 80) || exit $?
holds "readings of 20 and of 80 threads: $few, $many" "$many < 6 * $few"
own=$(readings own 80) || exit $?
holds "readings of 80 threads that wait for their own locks: $own" "$own < $many + 400000"
