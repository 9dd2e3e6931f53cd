# SPDX-License-Identifier: Apache-2.0
# The job script for PBS of perfmon's documentation, with nothing filled in but its directory: on two machines with Open MPI, in what a
# job of PBS finds there. Its file of nodes is seen by the first node only; Slurm is no more than what starts things on a machine.
# limit: 240
. "$TOP/tests/cluster/harness/namespaces.sh"
need mpirun.openmpi
. "$TOP/tests/cluster/harness/perfmon.sh"
machines_start

job=12.head
mkdir pbs
cp matmul pbs
for node in n1 n2; do printf '%12s' '' | sed "s/ /$node\n/g"; done >"$CLUSTER/nodes"

# As PBS starts something on a node of a job.
cat >bin/on_node <<END
#!/bin/bash
# on_node HOST VARIABLE=VALUE... COMMAND...
host=\$1
shift
exec srun -Q --input=none -N1 -n1 -w "\$host" env -i PATH="\$PATH" HOME="\$HOME" SLURM_CONF="\$SLURM_CONF" SONDE="\$SONDE" \\
	PBS_JOBID=$job PBS_O_WORKDIR="$PWD/pbs" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "\$@"
END
cat >bin/pbs_rsh <<'END'
#!/bin/bash
# pbs_rsh [OPTIONS] HOST WORDS...: as mpirun calls rsh
while [[ $1 = -* ]]; do shift; done
host=$1
shift
exec on_node "$host" bash -c "$*"
END
chmod 755 bin/*

sed "s|^cd /.*|cd $PWD/pbs|" "$TOP/tests/fixtures/perfmon/pbs.job" >pbs.job
timeout "$(patience 120)" on_node n1 PBS_NODEFILE="$CLUSTER/nodes" PBS_ENVIRONMENT=PBS_BATCH PBS_NODENUM=0 PBS_TASKNUM=1 \
	OMPI_MCA_plm=rsh OMPI_MCA_ras=^slurm OMPI_MCA_plm_rsh_agent="$PWD/bin/pbs_rsh" OMPI_MCA_orte_default_hostfile="$CLUSTER/nodes" \
	OMPI_MCA_mpi_yield_when_idle=1 bash "$PWD/pbs.job" >said 2>&1 || fail "the script: $(cat said)"

is_monitored pbs $job ring
! grep -E '^(sonde|perfmon):' said || fail "the monitor wrote into the job's output"
for node in n1 n2; do
	contains "pbs/ska_sdp_monitoring_metrics_$node.log" "| DEBUG | $node | sonde.perfmon:"
	equal "master as $node knows it" n1 "$(jq -r .master_node "pbs/configs/${node}_run_config.yml")"
	grep -q "$node" pbs/cpu_metrics.csv || fail "$node is not in the table"
done
[ -s pbs/report.html ] || fail "no report"
equal "file of the job" INPROGRESS "$(cat "pbs/.ipc-$job")"
