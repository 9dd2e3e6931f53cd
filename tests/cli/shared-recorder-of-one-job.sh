# SPDX-License-Identifier: Apache-2.0
# Who shares a recorder: copies of one job that record alike into one directory. Two jobs on a node have two, another
# directory or interval has its own, and so has who asks for it; a step's recorder ends with the step, and others go on.
. "$TOP/tests/lib.sh"
. "$TOP/tests/shared.sh"

waited_for() { # PID
	status=0
	wait "$1" || status=$?
}

both() { # a second copy, with its options and variables, while the first one's task runs
	mkfifo go
	copy 0 bash -c ': <go; exit 1' &
	first=$!
	wait_for 20 recorder_of "$1" >recorder
	shift
	env "$@" || true
	: >go
	waited_for "$first"
	equal "status of the first" 1 $status
	rm go
}

batch_job "$$" 2
both "sonde_$$" SLURM_PROCID=1 "$SONDE" run -q -- true
equal "copies of one job" 1 "$(recordings "sonde_$$")"
contains said "2 tasks on $(hostname): 1 failed (worst: exit code 1)"

batch_job "$$.1" 2
both "sonde_$$.1" SLURM_PROCID=1 "$SONDE" run -q -i 100ms -- true
equal "another interval" 2 "$(recordings "sonde_$$.1")"

batch_job "$$.2" 2
both "sonde_$$.2" SLURM_JOB_ID="$$.3" "$SONDE" run -q -- true
equal "two jobs: the first" 1 "$(recordings "sonde_$$.2")"
equal "two jobs: the second" 1 "$(recordings "sonde_$$.3")"

batch_job "$$.4" 2
both "sonde_$$.4" SLURM_PROCID=1 "$SONDE" run -q -o elsewhere -- true
equal "another directory" 1 "$(recordings elsewhere)"

batch_job "$$.5" 2
both "sonde_$$.5" SLURM_PROCID=1 "$SONDE" run -q --node-recorder own -- true
equal "one of its own" 2 "$(recordings "sonde_$$.5")"

# sonde within sonde: the inner one's processes are recorded already.
batch_job "$$.6" 1
copy 0 "$SONDE" run -- "$PROGRAMS/spin" 50000 || fail "sonde in sonde"
equal "sonde in sonde" 1 "$(recordings "sonde_$$.6")"
holds "nothing twice" "$(figure "sonde_$$.6" .job.cpu_seconds) < 0.09"

# Step 0 has the recorder and ends; step 1 goes on with another.
batch_job "$$.7" 1
mkfifo go
cat >step.0 <<'END'
"$PROGRAMS/spin" 100000
until [ -e joined ]; do sleep 0.1; done
END
cat >step.1 <<'END'
"$PROGRAMS/spin" 200000
touch joined
: <go
"$PROGRAMS/spin" 100000
exit 9
END
another_went_on() {
	[ "$(recordings "sonde_$$.7")" = 2 ]
}
SLURM_STEP_ID=0 copy 0 bash step.0 &
first=$!
wait_for 20 recorder_of "sonde_$$.7" >recorder
SLURM_STEP_ID=1 copy 0 bash step.1 &
second=$!
wait "$first" || fail "step 0"
wait_for 20 another_went_on
sleep 0.3
: >go
waited_for "$second"
equal "status of step 1" 9 $status
cpu=$(figure "sonde_$$.7" .job.cpu_seconds)
holds "CPU time of both steps" "$cpu >= 0.4 && $cpu < 0.5"
figure "sonde_$$.7" '[.job.complete, ([.verdicts[].rule] | index("recorder-lost"))] == [true, null]' >/dev/null
