# SPDX-License-Identifier: Apache-2.0
# limit: 300
# srun with every task prefixed by sonde run --stacks, tasks of a node sharing one recorder: samples of each task are its own, on all nodes. A sidecar
# by attach --job --stacks samples the tasks that come after it.
. "$TOP/tests/cluster/harness/slurm.sh"
[ -x "$LIBEXEC/sonde-unwind" ] || skip "the helper sonde-unwind was not built"
cluster_start
export SONDE PROGRAMS

of_functions() { # RECORDING: seconds in `burn` with what it calls, and of all samples
	"$SONDE" show --code --json "$1" >code.json || fail "show --code of $1"
	[ "$(jq '.sampled_seconds == null' code.json)" = false ] || skip "$(jq -r .not_recorded code.json)"
	jq -r '"\([.function[] | select(.name == "burn") | .total_seconds] | add) \(.sampled_seconds)"' code.json
}

srun -N3 -n6 --ntasks-per-node=2 "$SONDE" run -q --stacks=499 -- "$PROGRAMS/stack_kinds" plain 0.4
equal "exit status" 0 $?
read -r burn all < <(of_functions "sonde_$FIRST_JOB")
echo "run: $burn of $all s"
holds "seconds in burn" "$burn >= 1.6 && $burn <= 2.6 && $burn >= 0.9 * $all"
equal "tasks" "0 1 2 3 4 5" "$(jq -r '[.rank[].rank] | sort | map(tostring) | join(" ")' code.json)"
holds "least of a task" "$(jq '[.rank[].self_seconds] | min' code.json) >= 0.2"
equal "nodes" "n1 n2 n3" "$(jq -r '[.process[].host] | unique | join(" ")' code.json)"

cat >job <<'END'
#!/bin/bash
srun --overlap -N3 -n3 --ntasks-per-node=1 "$SONDE" attach -q -i 100ms --stacks=499 --job &
for _ in $(seq 200); do
	[ "$(ls sonde_$SLURM_JOB_ID 2>/dev/null | grep -c 'sonde$')" != 3 ] || break
	sleep 0.05
done
sleep 0.5
srun -N3 -n6 --ntasks-per-node=2 "$PROGRAMS/stack_kinds" plain 0.6
END
id=$(submit -N3 --ntasks-per-node=2 job)
wait_for 60 job_gone "$id"
read -r burn all < <(of_functions "sonde_$id")
echo "attach: $burn of $all s"
holds "seconds in burn" "$burn >= 1.2 && $burn <= 3.8 && $burn >= 0.9 * $all"
equal "nodes" "n1 n2 n3" "$(jq -r '[.process[].host] | unique | join(" ")' code.json)"
