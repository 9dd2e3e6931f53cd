# SPDX-License-Identifier: Apache-2.0
# The figures of each task by its rank; how unequal the tasks of a step are, which does not mix steps, nor launches of the same ranks in one.
. "$TOP/tests/lib.sh"
. "$TOP/tests/shared.sh"
batch_job 7 3
run_options=(-q -i 100ms -o out)

step() { # STEP SECONDS-OF-RANK-0 OF-RANK-1 OF-RANK-2
	local step=$1 rank=0 spent
	shift
	for spent; do
		SLURM_STEP_ID=$step copy $rank "$PROGRAMS/spin" $((spent * 100000)) $rank &
		rank=$((rank + 1))
	done
	wait
}
step 0 4 4 4
step 1 1 2 9
step 0 8 8 8
of_step() { # STEP LAUNCH FILTER
	figure out ".steps[] | select(.step == \"$1\" and .launch == $2) | $3"
}
equal "steps" "0.0 0.1 1.0" "$(figure out '[.steps[] | "\(.step).\(.launch)"] | join(" ")')"
equal "tasks of each" "3 3 3" "$(figure out '[.steps[].tasks | tostring] | join(" ")')"
for launch in 0 1; do
	holds "imbalance of equal tasks" "$(of_step 0 $launch .cpu_seconds.imbalance_ratio) < 0.2"
done
holds "imbalance of 1, 2 and 9" "$(of_step 1 0 .cpu_seconds.imbalance_ratio) > 1 && $(of_step 1 0 .cpu_seconds.imbalance_ratio) < 1.3"
equal "ranks with the least and the most" "0 2" "$(of_step 1 0 '.cpu_seconds | "\(.least_rank) \(.most_rank)"')"
# A task that needs less memory than its launcher has no such figure from the kernel: it is absent, and not 0.
equal "peaks that are nothing" 0 "$(figure out '[.tasks[].peak_resident_bytes | select(. != null and . < 100000)] | length')"
cpu=$(figure out '[.tasks[].cpu_seconds] | add')
holds "CPU time of all tasks: $cpu" "$cpu >= 4.8 && $cpu <= $(figure out .job.cpu_seconds) + 0.001"
equal "exit codes by rank" "0 1 2" "$(figure out '[.tasks[] | select(.step == "1").exit_code | tostring] | join(" ")')"

# A task whose launcher is killed, and one of a job that is killed whole, its recorder too, have what was sampled of them: a lower bound.
closed() { # DIR
	"$SONDE" show --json "$1" | json_says '.nodes[0].complete' >/dev/null
}

told() { # DIR: that most of the task's CPU time is written down
	[ "$("$SONDE" show --json "$1" 2>/dev/null | jq '[.tasks[].cpu_seconds // 0] | add > 0.45')" = true ]
}

for killed in launcher all; do
	batch_job 8 1
	run_options=(-q -i 100ms -o "killed-$killed")
	rm -f over launcher
	# shellcheck disable=SC2016
	(copy 0 sh -c 'echo $PPID >launcher.made; mv launcher.made launcher; "$PROGRAMS/spin" 500000; until [ -e over ]; do sleep 0.05; done') &
	wait_for 60 test -e launcher
	wait_for 60 told killed-$killed
	[ $killed = launcher ] || kill -KILL "$(recorder_of killed-all)"
	kill -KILL "$(cat launcher)"
	touch over
	wait
	[ $killed = all ] || wait_for 60 closed killed-launcher
	equal "rank, bound and exit code, $killed killed" "0 true null" \
		"$(figure killed-$killed '.tasks[] | "\(.rank) \(.cpu_is_lower_bound) \(.exit_code)"')"
	cpu=$(figure killed-$killed '.tasks[].cpu_seconds')
	holds "CPU seconds of a task, $killed killed: $cpu" "$cpu > 0.45 && $cpu < 0.7"
done
equal "bounds where all was told" 0 "$(figure out '[.tasks[] | select(.cpu_is_lower_bound)] | length')"
