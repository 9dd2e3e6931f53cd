# SPDX-License-Identifier: Apache-2.0
# A batch job that was put back into the queue adds to its directory: the last attempt is the job, and how those before it ended is said.
. "$TOP/tests/lib.sh"

attempt() { # DIR RESTARTS ENDING: one task of job 7; ENDING is an exit code or a signal
	local script="exit $3"
	case $3 in
	[A-Z]*) script="kill -$3 \$\$" ;;
	esac
	# Slurm says nothing of the first attempt.
	env SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_GTIDS=0 ${2:+SLURM_RESTART_COUNT=$2} \
		"$SONDE" run -q -i 50ms -o "$1" -- bash -c "sleep 0.2; $script" 2>>said
}

says() { # DIR EXIT-CODE RECORDINGS WORDS
	equal "exit code of $1" "$2" "$(figure "$1" '.job.exit_code | tostring')"
	equal "recordings of $1" "$3" "$(figure "$1" '.nodes | length')"
	holds "wall time of $1" "$(figure "$1" .job.wall_seconds) < 2"
	figure "$1" '.verdicts[] | select(.rule == "began-again").sentence' >sentence
	contains sentence "$4"
}

one() { # FIRST SECOND EXIT-CODE WORDS
	rm -rf out
	attempt out "" "$1"
	sleep 2.2 # in the queue
	attempt out 1 "$2"
	says out "$3" 1 "$4"
}

one TERM 0 0 "attempt 1 (recordings: 1, killed by SIGTERM, "
one 3 0 0 "attempt 1 (recordings: 1, exit code 3, "
one 0 5 5 "attempt 1 (recordings: 1, exit code 0, "
equal "first verdict" failed "$(figure out '.verdicts[0].rule')"

# Three attempts, and several steps of the last one.
attempt out 2 9
attempt out 2 0
says out 9 2 "attempt 1 (recordings: 1, exit code 0, "
contains sentence "attempt 2 (recordings: 1, exit code 5, "

# LSF and Grid Engine say that a job began again, not how often.
of() { # DIR ENDING VARIABLE...
	local dir=$1 ending=$2
	shift 2
	env "$@" "$SONDE" run -q -i 50ms -o "$dir" -- bash -c "sleep 0.2; exit $ending" 2>>said
}
of lsf 3 LSB_JOBID=8 LSB_JOBINDEX=0 LSB_HOSTS=h1
sleep 2.2
of lsf 0 LSB_JOBID=8 LSB_JOBINDEX=0 LSB_HOSTS=h1 LSB_RESTART=Y
says lsf 0 1 "attempt 1 (recordings: 1, exit code 3, "
of sge 4 JOB_ID=9 SGE_TASK_ID=undefined RESTARTED=0
sleep 2.2
of sge 0 JOB_ID=9 SGE_TASK_ID=undefined RESTARTED=1
says sge 0 1 "attempt 1 (recordings: 1, exit code 4, "

# HTCondor says in the job's ad how often it began before.
ad() { # STARTS
	printf 'ClusterId = 9\nProcId = 1\nNumJobStarts = %d\nGlobalJobId = "ap1#9.1#1"\n' "$1" >job.ad
}
ad 0
of condor 5 _CONDOR_JOB_AD=job.ad _CONDOR_SCRATCH_DIR=/scratch/dir_1
sleep 2.2
ad 1
of condor 0 _CONDOR_JOB_AD=job.ad _CONDOR_SCRATCH_DIR=/scratch/dir_2
says condor 0 1 "attempt 1 (recordings: 1, exit code 5, "

# Each recording of those before is still there, by its name.
equal "exit code of the first" 0 "$(figure "$(find out -name 'node-*.sonde' ! -name 'node-*.[0-9].sonde' | head -n 1)" '.job.exit_code | tostring')"

# A job that began once says nothing of it.
attempt once "" 0
equal "verdict of one attempt" "" "$("$SONDE" show --json once | jq -r '.verdicts[] | select(.rule == "began-again") | .rule')"
