# SPDX-License-Identifier: Apache-2.0
# attach --job does not take the time between two looks, or that of a slow sample, for one without a process of the job, however short --grace is.
. "$TOP/tests/lib.sh"
need jq
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
export PBS_JOBID="80.ends-$$"
"$PROGRAMS/spin" 100000000 0 5 &
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

# What it waited in vain is no part of the job's time, and no idle end of it.
"$PROGRAMS/spin" 100000000 &
app=$!
wait_for 60 is_of_the_job
"$SONDE" attach --job -q -i 100ms --grace 4s -o waited &
sidecar=$!
seen() {
	process_gone $sidecar || [ "$("$SONDE" show --json waited 2>/dev/null | jq '.nodes[0].samples')" -ge 15 ]
}
wait_for 60 seen
kill $app
wait $sidecar || fail "attach --job --grace 4s"
"$SONDE" export waited -o - --raw --wide --metrics job.cpu_seconds >rows.csv
whole=$(tail -n 1 rows.csv | cut -d, -f3)
wall=$(figure waited .job.wall_seconds)
holds "the wall time, $wall of $whole s recorded, is without the 4 s that it waited" "$wall <= $whole - 3.5"
"$SONDE" show waited >told
if grep -q "Idle at the end" told; then fail "its own wait is told as an idle end: $(cat told)"; fi

# One that saw nothing of the job says for how long it waited.
PBS_JOBID="81.none-$$" "$SONDE" attach --job -q -i 100ms --grace 100ms -o none || fail "attach --job without a process"
contains <("$SONDE" show none) "without a process of the job"
equal "in that of a job with processes" null "$(figure waited '.nodes[0].metadata["monitor.unseen_ns"]')"
