# SPDX-License-Identifier: Apache-2.0
# Environment (but SONDE_*), limits, affinity, descriptors, signals, umask, group: the job has what it would have alone.
. "$TOP/tests/lib.sh"
mkdir 'a folder' && cd 'a folder' || exit 1

# A caller with odd settings: an open descriptor, ignored and blocked signals, one CPU, low limits, a nice value.
cat >caller.py <<'END'
import os, resource, signal, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (201, 202))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_STACK, (4 << 20, resource.RLIM_INFINITY))
os.umask(0o027)
os.nice(3)
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
for s in (signal.SIGUSR1, signal.SIGPIPE, signal.SIGHUP, signal.SIGCHLD):
    signal.signal(s, signal.SIG_IGN)
for s in (signal.SIGXFSZ,):
    signal.signal(s, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGALRM, signal.SIGTERM, signal.SIGRTMIN + 2})
os.set_inheritable(os.dup2(os.open("/dev/null", os.O_RDWR), 7), True)
environment = {"PATH": os.environ["PATH"], "A": "1", "EMPTY": "", "WITH SPACE": "x\ty", "LD_DEBUG_OUTPUT": "/dev/null"}
os.execve(sys.argv[1], sys.argv[1:], environment)
END

compare() { # CALLER...
	printf 'one\ntwo\n' | "$@" "$PROGRAMS/probe" 'an argument' '' --help -i >alone.out 2>alone.err
	printf 'one\ntwo\n' | "$@" "$SONDE" run --quiet -o "out$#" -- "$PROGRAMS/probe" 'an argument' '' --help -i \
		>recorded.out 2>recorded.err
	[ "$(wc -l <alone.out)" -gt 30 ] || fail "the probe said too little"
	diff alone.out recorded.out || fail "the job's output differs"
	diff alone.err recorded.err || fail "the job's standard error differs"
}

compare env -i "PATH=$PATH" B=2
compare "$PYTHON" caller.py
# The same under a recorder that copies of a batch job share.
compare env -i "PATH=$PATH" "SLURM_JOB_ID=$$" SLURM_PROCID=0 B=3
"$SONDE" run --quiet -o out_env -- env | grep -q '^SONDE_RUN_ID=' || fail "no SONDE_RUN_ID in the job's environment"
# Closed descriptors stay closed: nothing of Sonde's may land where the job expects its own.
compare bash -c 'exec "$@" 2>&-' sh
