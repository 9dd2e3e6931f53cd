# SPDX-License-Identifier: Apache-2.0
# A job that is sent SIGTERM at its time limit is told so, one that is sent it before was ended from outside: both are told
# in the first verdict. Where nobody tells until when a job may run, neither is invented.
. "$TOP/tests/lib.sh"
need jq
unset PBS_JOBID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
ended() { # DIR [VARIABLE=VALUE...]: the first verdict of a batch job that is sent SIGTERM
	dir=$1
	shift
	env SLURM_JOB_ID=4711 SLURM_JOB_NODELIST="$(hostname)" SLURM_JOB_NUM_NODES=1 SLURMD_NODENAME="$(hostname)" "$@" \
		"$SONDE" run --quiet -i 100ms -o "$dir" -- sh -c 'kill -TERM $$'
	"$SONDE" show --json "$dir" | jq -r '.verdicts[0].rule'
}
now=$(date +%s)
equal "at its limit" time-limit "$(ended limit SLURM_JOB_START_TIME=$((now - 600)) SLURM_JOB_END_TIME="$now")"
equal "long before it" cancelled "$(ended before SLURM_JOB_START_TIME=$((now - 600)) SLURM_JOB_END_TIME=$((now + 6000)))"
equal "without a limit" killed "$(ended unknown)"
