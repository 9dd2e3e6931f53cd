# SPDX-License-Identifier: Apache-2.0
# attach --job does not take the time between two looks, or that of a slow sample, for one without a process of the job, however short --grace is.
. "$TOP/tests/lib.sh"
need jq
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
export PBS_JOBID="80.ends-$$"
"$PROGRAMS/spin" 100000000 &
app=$!
trap 'kill $app 2>/dev/null' EXIT
is_of_the_job() {
	grep -qz "^PBS_JOBID=80.ends-$$\$" "/proc/$app/environ"
}
wait_for 60 is_of_the_job
"$SONDE" attach --job -q -i 100ms --grace 50ms -o out &
sidecar=$!
samples() { # AT LEAST
	process_gone $sidecar || [ "$("$SONDE" show --json out | jq '.nodes[0].samples')" -ge "$1" ]
}
wait_for 60 samples 15
! process_gone $sidecar || fail "it has ended, though the job goes on"
kill $app
wait $sidecar || fail "attach --job"
equal "complete" true "$(figure out .job.complete)"
