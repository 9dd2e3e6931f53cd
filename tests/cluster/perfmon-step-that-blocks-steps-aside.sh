# SPDX-License-Identifier: Apache-2.0
# Since 20.11 steps of Slurm share no CPUs: perfmon's step, begun first, keeps mpirun's from beginning, and waited for it to end. It ends instead,
# says why in its log, and the job runs.
# limit: 300
. "$TOP/tests/cluster/harness/namespaces.sh"
need mpirun.openmpi
. "$TOP/tests/cluster/harness/perfmon.sh"
unset SLURM_OVERLAP
machines_start

sed "s|/path/to/matmul/executable|$PWD|" "$TOP/tests/fixtures/perfmon/slurm.job" >slurm.job
id=$(sbatch --parsable slurm.job)
wait_for 120 job_gone "$id"
cat ska_sdp_monitoring_metrics*.log
equal "state" COMPLETED "$(state_of "$id")"
contains "slurm-$id.out" "ranks"
cat ska_sdp_monitoring_metrics*.log >log
contains log "start it with srun --overlap"
