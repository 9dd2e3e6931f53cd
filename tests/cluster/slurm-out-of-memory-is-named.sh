# SPDX-License-Identifier: Apache-2.0
# limit: 240
# Where Slurm limits memory by control groups of version 1, a task that wants more is killed by the kernel, which counts that in the task's own
# group alone: the first verdict says it, of its node, whether each task is recorded by sonde run or the job by attach --job.
PROCTRACK=cgroup TASKS=cgroup MEMORY=120
. "$TOP/tests/cluster/harness/slurm.sh"
need_cgroups freezer memory
cluster_start
cat >task <<'END'
#!/bin/bash
# RANK SECONDS: that one takes more and more memory, the others wait so long.
[ "$SLURM_PROCID" = "$1" ] || exec sleep "$2"
exec "$PYTHON" -c '
import time
held = []
while True:
    held.append(b"x" * 4000000)
    time.sleep(0.05)'
END
chmod 755 task
export PYTHON SONDE

says() { # DIR NODE
	echo "verdicts of $1: $(figure "$1" '[.verdicts[].sentence] | join(" | ")')"
	figure "$1" '.verdicts[0].sentence' >sentence
	contains sentence "ut of memory"
	contains sentence "on $2"
	contains sentence "120.0 MiB"
}

for rank in 0 3 5; do
	status_of srun -K -N3 --ntasks-per-node=2 "$SONDE" run -i 100ms -q -o "out.$rank" -- ./task $rank 60 >status 2>said
	says out.$rank n$((rank / 2 + 1))
done

cat >job <<'END'
#!/bin/bash
srun --overlap --ntasks-per-node=1 -n 3 "$SONDE" attach -q -i 100ms --grace 2s -o attached --job &
for _ in $(seq 600); do
	[ "$(find attached -name 'node-*.sonde' -size +0 2>/dev/null | wc -l)" != 3 ] || break
	sleep 0.05
done
srun --overlap --ntasks-per-node=2 -n 6 ./task 2 8
wait
END
id=$(submit -N3 --ntasks-per-node=2 job)
wait_for 90 job_gone "$id"
figure attached '.nodes[].metadata["cgroup.path"]' >paths
equal "groups of the job" 3 "$(grep -c "/job_$id\$" paths)"
says attached n2
