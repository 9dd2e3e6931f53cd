# SPDX-License-Identifier: Apache-2.0
# Of a site's job, whose prolog is told little, the recorder asks Slurm when the epilog ends it: name, account, memory and end are the job's, of the
# right element of an array. The time limit does not end it. Without an answer in time it ends all the same, and says nothing of an end.
. "$TOP/tests/lib.sh"
need jq
unset PBS_JOBID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID
export SLURM_JOB_ID=94$$ SLURM_JOB_NODELIST=n1 SLURM_JOB_NUM_NODES=1 SLURMD_NODENAME=n1 SLURM_JOB_CPUS_PER_NODE=2 SLURM_JOB_START_TIME SLURM_JOB_END_TIME
SLURM_JOB_START_TIME=$(date +%s)
SLURM_JOB_END_TIME=$((SLURM_JOB_START_TIME + 6)) # without --site it would end now
mkdir bin
export PATH=$PWD/bin:$PATH
answers() { # COMMAND...: what scontrol does, which is asked by its arguments
	{
		printf '#!/bin/sh\necho "$*" >>%q\n' "$PWD/asked"
		printf '%s\n' "$@"
	} >bin/scontrol
	chmod 755 bin/scontrol
}
accounts() { # WORDS: what sacct answers
	printf '#!/bin/sh\necho "%s"\n' "$*" >bin/sacct
	chmod 755 bin/sacct
}
accounts 'Slurm accounting storage is disabled'

record() { # DIR SIGNAL
	local pid
	"$PROGRAMS/spin" 100000000 0 5 & # the job
	app=$!
	"$SONDE" attach --job --site -q -i 50ms -o "$1" 2>"$1.err" &
	pid=$!
	trap 'kill $app $pid 2>/dev/null' EXIT
	wait_for 20 recorder_sees "$1"
	sleep 1.5
	kill "$2" $pid
	kill $app
	wait $pid || fail "attach: $(cat "$1.err")"
	[ ! -s "$1.err" ] || fail "attach said: $(cat "$1.err")"
}
recorder_sees() { # DIR
	"$SONDE" show --json "$1" | json_says '[.commands[]? | select(.name == "spin")] | length > 0' >/dev/null
}
meta() { # DIR KEY
	figure "$1" ".nodes[0].metadata.\"$2\" // \"none\""
}

answers "echo 'JobId=1 ArrayJobId=$SLURM_JOB_ID JobName=other UserId=u(1) JobState=RUNNING ExitCode=0:0'" \
	"echo 'JobId=$SLURM_JOB_ID JobName=my train UserId=u(1) Account=physics QOS=(null) JobState=COMPLETING Reason=None ExitCode=3:0 TimeLimit=00:05:00 MinMemoryCPU=512M'"
record out -TERM
equal "end" 3 "$(figure out .job.exit_code)"
equal "what Slurm said" FAILED "$(meta out job.scheduler_state)"
equal "name" "my train" "$(meta out job.name)"
equal "account" physics "$(meta out job.account)"
equal "what is not told" none "$(meta out job.qos)"
equal "memory" 1073741824 "$(figure out .job.memory_asked_bytes)"
equal "asked once" "-o show job $SLURM_JOB_ID" "$(cat asked)"
"$SONDE" show out | grep -q 'Failed (exit code 3)' || fail "the summary: $("$SONDE" show out)"

answers "echo 'JobId=$SLURM_JOB_ID JobName=x UserId=u(1) JobState=COMPLETING Reason=None ExitCode=0:9 TimeLimit=UNLIMITED'"
record killed -TERM
equal "signal" 9 "$(figure killed .job.signal)"

# Somebody ended it, and its script ended by itself then, or is not reported yet.
accounts "CANCELLED by 1000"
for code in 143:0 0:0; do
	answers "echo 'JobId=$SLURM_JOB_ID JobName=x UserId=u(1) JobState=COMPLETING Reason=None ExitCode=$code TimeLimit=UNLIMITED'"
	record "ended-$code" -TERM
	"$SONDE" show "ended-$code" | grep -q Cancelled || fail "of one that was ended: $("$SONDE" show "ended-$code")"
done

answers "exec sleep 60"
record silent -TERM
equal "end nobody told of" null "$(figure silent .job.exit_code)"
equal "its state" none "$(meta silent job.scheduler_state)"

status=0
"$SONDE" attach --site -p $$ 2>err || status=$?
equal "status of --site without --job" 2 $status
one_sentence err
contains err "--site needs --job"
