# SPDX-License-Identifier: Apache-2.0
# limit: 400
# Where Slurm limits memory by control groups of version 1, a task that wants more is killed by the kernel, which counts that in the task's own
# group alone. Ten jobs on three nodes, each with another node, rank, limit and way to die: the first verdict says it, with the node and its
# limit, and that node is the one nearest to its limit, with its own peak, not the sum of all.
# shellcheck disable=SC2034 # for the harness
PROCTRACK=cgroup TASKS=cgroup MEMORY=120
. "$TOP/tests/cluster/harness/slurm.sh"
need_cgroups freezer memory
cluster_start
cat >task <<'END'
#!/bin/bash
# RANK HOW SECONDS MIB: that one takes more and more memory, the others hold MIB of it for so long.
[ "$SLURM_PROCID" = "$1" ] || exec "$PROGRAMS/mem" private "$4" "$(($3 * 1000))"
grow='
import sys, time
held = []
while True:
    held.append(b"x" * int(sys.argv[1]))
    time.sleep(0.05)'
case $2 in
slowly) exec "$PYTHON" -c "$grow" 3000000 ;;
fast) exec "$PYTHON" -c "$grow" 12000000 ;;
at-once) sleep 1 && exec "$PROGRAMS/mem" private 2000 10000 ;;
late) sleep 2 && exec "$PYTHON" -c "$grow" 6000000 ;;
shared) exec "$PROGRAMS/mem" shared 1000 10000 ;;
child) # whoever waits says so with an exit code
	"$PYTHON" -c "$grow" 6000000
	exit $? ;;
unnoticed) # whoever waits goes on, and succeeds
	"$PYTHON" -c "$grow" 6000000
	sleep 1
	exit 0 ;;
esac
END
chmod 755 task
export PYTHON PROGRAMS SONDE

says() { # DIR RANK MIB: that node was the one
	local node=n$(($2 / 2 + 1))
	echo "verdicts of $1: $(figure "$1" '[.verdicts[].sentence] | join(" | ")')"
	figure "$1" '.verdicts[0].sentence' >sentence
	contains sentence "ut of memory"
	contains sentence "on $node"
	contains sentence "$3.0 MiB"
	equal "node nearest to its limit" "$node" "$(figure "$1" .job.nearest_memory_limit.host)"
	equal "its limit" $(($3 << 20)) "$(figure "$1" .job.nearest_memory_limit.limit_bytes)"
	# What a control group is charged for is not what its processes have resident: pages of programs and libraries may be another group's.
	holds "its peak" "$(figure "$1" .job.nearest_memory_limit.peak_bytes) <= 1.2 * $(($3 << 20))"
	"$SONDE" show --json "$1" | jq -r '.verdicts[].sentence' | grep -E 'Little of the memory|[0-9.]+ [GM]iB on 3 nodes|at this rate it fills' && fail "a verdict of all nodes together" || :
}

dies() { # RANK HOW MIB: each task below sonde run; the others hold a quarter of what their node has
	status_of srun -K -N3 --ntasks-per-node=2 --mem="$3" "$SONDE" run -i 50ms -q -o "out.$1.$2" -- ./task "$1" "$2" 60 $(($3 / 8)) >status 2>said
	says "out.$1.$2" "$1" "$3"
}
dies 0 slowly 120
dies 3 at-once 160
dies 5 fast 200
dies 1 child 140
dies 4 late 100
dies 2 shared 180

for_a_while() { # RANK HOW MIB: the others end by themselves
	status_of srun -N3 --ntasks-per-node=2 --mem="$3" "$SONDE" run -i 50ms -q -o "out.$1.$2" -- ./task "$1" "$2" 4 $(($3 / 8)) >status 2>said
	says "out.$1.$2" "$1" "$3"
}
for_a_while 5 unnoticed 150

cat >job <<'END'
#!/bin/bash
# RANK HOW MIB: the job is recorded by attach --job
srun --overlap --ntasks-per-node=1 -n 3 "$SONDE" attach -q -i 50ms --grace 2s -o "attached.$1" --job &
for _ in $(seq 600); do
	[ "$(find "attached.$1" -name 'node-*.sonde' -size +0 2>/dev/null | wc -l)" != 3 ] || break
	sleep 0.05
done
srun --overlap --ntasks-per-node=2 -n 6 ./task "$1" "$2" 8 $(($3 / 8))
wait
END
attached() { # RANK HOW MIB
	local id
	id=$(submit -N3 --ntasks-per-node=2 --mem="$3" job "$@")
	wait_for 120 job_gone "$id"
	figure "attached.$1" '.nodes[].metadata["cgroup.path"]' >paths
	equal "groups of the job" 3 "$(grep -c "/job_$id\$" paths)"
	says "attached.$1" "$1" "$3"
}
attached 2 slowly 130
attached 0 child 170
attached 4 late 110
