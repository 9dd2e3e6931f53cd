# SPDX-License-Identifier: Apache-2.0
# limit: 180
# Where Slurm keeps each job in a control group of its own (version 1 here), attach --job knows the job's processes by that: those of every
# step, what left its step's process tree, and nothing of another job of the same user on the same node.
PROCTRACK=cgroup
. "$TOP/tests/cluster/harness/slurm.sh"
need_cgroups freezer
cluster_start
export SONDE PROGRAMS

srun -N1 -n1 -w n1 "$PROGRAMS/spin" 100000000 0 50 &
cat >job <<'END'
#!/bin/bash
srun --overlap -N1 -n1 "$SONDE" attach -q -i 100ms --grace 3s -o out --job &
for _ in $(seq 600); do
	[ -z "$(find out -name 'node-*.sonde' -size +0 2>/dev/null)" ] || break
	sleep 0.05
done
srun -N1 -n2 --overlap bash -c '"$PROGRAMS/spin" 1500000'
(setsid "$PROGRAMS/spin" 1500000 &)
wait
END
another_runs() {
	[ "$(squeue -h -t R | wc -l)" = 1 ]
}
wait_for 30 another_runs
id=$(submit -N1 -n2 -w n1 job)
wait_for 90 job_gone "$id"
contains <(figure out '.nodes[0].metadata["job.members"]') "control group"
spun=$(figure out '[.commands[] | select(.name == "spin") | .cpu_seconds] | add')
holds "CPU seconds of three spinners, not of another job's: $spun" "$spun >= 3 && $spun <= 4.6"
