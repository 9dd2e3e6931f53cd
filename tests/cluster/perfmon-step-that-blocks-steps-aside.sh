# SPDX-License-Identifier: Apache-2.0
# Since 20.11 steps of Slurm share no CPUs: perfmon's step, started first, keeps mpirun's or srun's from starting. It notices, continues in a step
# that overlaps the others, and leaves: perfmon's job scripts for Slurm, with nothing filled in but their directory, run and are recorded: the one
# that waits for perfmon and the one of Dask; with LONG also the one that tells perfmon that the job is over.
# limit: 400
export KILL_WAIT=60 # the batch script does not wait for the new step; Slurm's own default is 30 s
. "$TOP/tests/cluster/harness/namespaces.sh"
need mpirun.openmpi
. "$TOP/tests/cluster/harness/perfmon.sh"
unset SLURM_OVERLAP
machines_start

run_script() { # NAME PROGRAM: sets id
	rm -f ska_sdp_monitoring_metrics*.log
	sed "s|/path/to/matmul/executable|$PWD|" "$TOP/tests/fixtures/perfmon/$1.job" >"$1.job"
	id=$(sbatch --parsable "$1.job")
	wait_out "$id" job_gone "$id"
	cat ska_sdp_monitoring_metrics*.log >log
	equal "state of $1" COMPLETED "$(state_of "$id")"
	contains log "perfmon continues in a step of its own"
	contains log "start it with srun --overlap"
	contains log "meta_data.json"
	is_monitored . "$id" "$2"
	! grep -E '^(sonde|perfmon|srun):.*perfmon' "slurm-$id.out" || fail "the monitor wrote into the job's output"
}

for script in slurm ${LONG:+slurm-finished}; do
	run_script $script ring
	contains "slurm-$id.out" ranks
	holds "$script spun on both nodes" "$(figure "sonde_$id" '[.commands[] | select(.name == "ring") | .cpu_seconds] | add') > 2"
done

# The client computes beside the scheduler before and while its workers wait: perfmon has seen the job by then, and leaves all the same.
mkdir src
printf '%s\n' 'import os, sys, time' 'while not os.path.exists("workers"): time.sleep(0.1)' 'time.sleep(3)' 'print("client of", sys.argv[1])' >src/cluster_dask_test.py
printf '%s\n' 'import time' 'open("workers", "w")' 'time.sleep(1000)' >bin/dask-worker
# The script starts perfmon's step first; on a crowded machine the workers' might overtake it, which then waits for them.
cat >bin/which <<'END'
#!/bin/bash
for ((i = 0; i < 600; i++)); do
	[ "$1" = dask-worker ] && ! ls ska_sdp_monitoring_metrics*.log >/dev/null 2>&1 || break
	sleep 0.1
done
command -v "$1"
END
chmod 755 bin/which
run_script slurm-dask "python3 cluster_dask_test.py"
contains "slurm-$id.out" "client of"
holds "workers" "$(figure "sonde_$id" '[.commands[] | select(.name | test("dask-worker"))] | length') >= 1"
