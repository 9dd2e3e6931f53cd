# SPDX-License-Identifier: Apache-2.0
# limit: 240
# Where Slurm keeps jobs in control groups of version 2, the step's group is recorded by sonde run, the job's by attach --job, and what the kernel counts
# of them is the job's CPU time.
. "$TOP/tests/cluster/harness/version2.sh"
version2_start
export SONDE PROGRAMS

group() { # DIR PATTERN: each node's group, of version 2
	figure "$1" '.nodes[].metadata | select(.["cgroup.version"] == "2" or .["cgroup.version"] == 2) | .["cgroup.path"]' >paths
	equal "groups of $1" 2 "$(grep -cE "/n[12]_slurmstepd.scope/$2\$" paths)"
}

srun -N2 --ntasks-per-node=1 "$SONDE" run -q -i 100ms -o run -- "$PROGRAMS/spin" 1000000
group run 'job_[0-9]+/step_0/user'
cpu_within run 2 2

cat >job <<'END'
#!/bin/bash
srun --overlap --ntasks-per-node=1 -n 2 "$SONDE" attach -q -i 50ms --grace 2s -o attached --job &
for _ in $(seq 1200); do
	[ "$(find attached -name 'node-*.sonde' -size +0 2>/dev/null | wc -l)" != 2 ] || break
	sleep 0.05
done
srun --overlap --ntasks-per-node=1 -n 2 "$PROGRAMS/spin" 1000000
wait
END
id=$(submit -N2 --ntasks-per-node=1 job)
wait_out "$id" job_gone "$id"
group attached "job_$id"
contains <(figure attached '.nodes[].metadata["job.members"]') "the processes in the control group"
holds "CPU seconds of the job's group" "$(figure attached '[.metrics[] | select(.name == "cgroup.cpu_cores")] | length') >= 2"
holds "CPU seconds" "$(figure attached .job.cpu_seconds) > 1.5 && $(figure attached .job.cpu_seconds) < 2.6"
