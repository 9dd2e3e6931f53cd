# SPDX-License-Identifier: Apache-2.0
# The job scripts for Slurm of perfmon's documentation, with nothing filled in but their directory: Slurm and Open MPI are real, dask
# is not.
# limit: 300
. "$TOP/tests/cluster/harness/namespaces.sh"
need mpirun.openmpi
. "$TOP/tests/cluster/harness/perfmon.sh"
machines_start

run_script() { # NAME PROGRAM: sets id
	sed "s|/path/to/matmul/executable|$PWD|" "$TOP/tests/fixtures/perfmon/$1.job" >"$1.job"
	id=$(sbatch --parsable "$1.job")
	wait_for 120 job_gone "$id"
	equal "state after $1" COMPLETED "$(state_of "$id")"
	is_monitored . "$id" "$2"
	! grep -E '^(sonde|perfmon):' "slurm-$id.out" || fail "the monitor wrote into the job's output"
}

run_script slurm ring
equal "file of the job" INPROGRESS "$(cat ".ipc-$id")"
holds "spun on both nodes" "$(figure "sonde_$id" '[.commands[] | select(.name == "ring") | .cpu_seconds] | add') > 2"

run_script slurm-finished ring
equal "file of the job" FINISHED "$(cat ".ipc-$id")"

# What dask leaves behind does not end: it is the file that ends the monitor.
mkdir src
printf '%s\n' 'import sys, time' 'time.sleep(3)' 'print("client of", sys.argv[1])' >src/cluster_dask_test.py
run_script slurm-dask "python3 cluster_dask_test.py"
contains ska_sdp_monitoring_metrics.log ".ipc-$id reports that the job is over"
