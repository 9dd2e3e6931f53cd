# SPDX-License-Identifier: Apache-2.0
# limit: 180
# scontrol requeue: the second attempt is the job, with its own wall time; the first, which Slurm ended, is told.
export CREDENTIAL_SECONDS=5 # for so long Slurm keeps a job waiting that begins again
. "$TOP/tests/cluster/harness/slurm.sh"
[ "$(id -u)" = 0 ] || skip "not root: Slurm keeps a job two minutes in the queue when it begins again"
cluster_start
export SONDE PROGRAMS
printf '#!/bin/bash\nsrun "$SONDE" run -q -i 100ms -o out -- bash -c "[ -z \\"\\$SLURM_RESTART_COUNT\\" ] && exec sleep 60; exec \\"$PROGRAMS/spin\\" 1000000"\n' >job
id=$(submit --requeue -N2 -n2 --ntasks-per-node=1 job)
both_begun() {
	started_on 2 out
}
wait_for 60 both_begun
sleep 1
requeued=$(now)
scontrol requeue "$id"
is_over() {
	[ "$(state_of "$id")" = COMPLETED ]
}
wait_for 90 is_over
wait_for 60 job_gone "$id"
ls out
equal "exit code" 0 "$(figure out '.job.exit_code | tostring')"
equal "nodes" 2 "$(figure out '.nodes | length')"
holds "wall time" "$(figure out .job.wall_seconds) < $(now) - $requeued - 4"
cpu_within out 2 2
figure out '.verdicts[] | select(.rule == "began-again").sentence' >sentence
contains sentence "Before it: attempt 1 (recordings: 2, "
