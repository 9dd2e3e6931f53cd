# SPDX-License-Identifier: Apache-2.0
# Torque and OAR tell how long a job may last, not until when: attach --job counts from the oldest of the job's processes on the node, not
# from when it was itself started, and ends before the limit.
. "$TOP/tests/lib.sh"
need jq
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NODEFILE PBS_NODEFILE_LOCAL
export PBS_JOBID="82.limit-$$" PBS_NUM_PPN=1 PBS_WALLTIME=14
begin=$(now)
"$PROGRAMS/spin" 100000000 0 5 & # the job
app=$!
trap 'kill $app 2>/dev/null' EXIT
sleep 2
"$SONDE" attach --job -q -i 100ms -o out || fail "attach --job"
lasted=$(calc "$(now) - $begin")
! process_gone $app || fail "the job has ended by itself"
holds "ended before the limit, $lasted s after the job's begin" "$lasted >= 8.5"
equal "complete" true "$(figure out .job.complete)"
recorded=$(figure out .job.wall_seconds)
holds "counted from the job's begin: $recorded s recorded" "$recorded > 0 && $recorded <= 7.5"
