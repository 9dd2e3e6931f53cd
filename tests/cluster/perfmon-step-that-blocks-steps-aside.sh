# SPDX-License-Identifier: Apache-2.0
# Since 20.11 steps of Slurm share no CPUs: perfmon's step, begun first, keeps mpirun's or srun's from beginning, and waited for it to end. It ends instead,
# says why in its log, and the job runs: perfmon's three job scripts for Slurm, with nothing filled in but their directory.
# limit: 400
. "$TOP/tests/cluster/harness/namespaces.sh"
need mpirun.openmpi
. "$TOP/tests/cluster/harness/perfmon.sh"
unset SLURM_OVERLAP
machines_start

runs() { # NAME OUTPUT: sets id; the job's own words are there, however perfmon fared
	rm -f ska_sdp_monitoring_metrics*.log
	sed "s|/path/to/matmul/executable|$PWD|" "$TOP/tests/fixtures/perfmon/$1.job" >"$1.job"
	id=$(sbatch --parsable "$1.job")
	wait_out "$id" job_gone "$id"
	equal "state of $1" COMPLETED "$(state_of "$id")"
	contains "slurm-$id.out" "$2"
	cat ska_sdp_monitoring_metrics*.log | tee log
}

for script in slurm slurm-finished; do
	runs $script "ranks"
	contains log "start it with srun --overlap"
done

# The client is the job's, on the first node, and computes without workers: there is something to record, until the job says that it is over.
mkdir src
printf '%s\n' 'import sys, time' 'time.sleep(3)' 'print("client of", sys.argv[1])' >src/cluster_dask_test.py
runs slurm-dask "client of"
contains log ".ipc-$id reports that the job is over"
holds "samples of the client" "$(figure "sonde_$id" '[.commands[] | select(.name | test("cluster_dask_test"))] | length') >= 1"
