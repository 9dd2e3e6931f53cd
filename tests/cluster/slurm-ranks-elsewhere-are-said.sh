# SPDX-License-Identifier: Apache-2.0
# limit: 180
# In front of a launcher, sonde run records the launcher alone: that is the first verdict, and nothing is advised, praised or blamed from it.
. "$TOP/tests/cluster/harness/slurm.sh"
cluster_start
export SONDE PROGRAMS

one_verdict() { # DIR LAUNCHER
	figure "$1" '.verdicts[0].sentence' >sentence
	contains sentence "The ranks that $2 started ran out of reach"
	contains sentence "$2 sonde run -- ./app"
	equal "verdicts of $1" ranks-elsewhere "$(figure "$1" '[.verdicts[].rule] | join(" ")')"
	equal "advice of $1" "" "$("$SONDE" show --json "$1" | jq -r '.verdicts[].next // empty')"
}

job() { # LINES: the script of a job on two nodes
	printf '#!/bin/bash\n%s\n' "$1" >job
	id=$(submit -N2 --ntasks-per-node=2 job)
	wait_for 90 job_gone "$id"
}

job '"$SONDE" run -q -i 100ms -o direct -- srun "$PROGRAMS/spin" 2000000'
one_verdict direct srun
job '"$SONDE" run -q -i 100ms -o script -- bash -c "sleep 0.5; srun \"$PROGRAMS/spin\" 1500000; true"'
one_verdict script srun
if command -v mpiexec.mpich >/dev/null; then
	job '"$SONDE" run -q -i 100ms -o mpich -- mpiexec.mpich -n 4 "$PROGRAMS/spin" 1500000'
	one_verdict mpich mpiexec
fi

# Behind it, within it, or beside it, the ranks are recorded.
job 'srun "$SONDE" run -q -i 100ms -o behind -- "$PROGRAMS/spin" 1000000'
job '"$SONDE" run -q -i 100ms -o within -- srun "$SONDE" run -q -i 100ms -o within -- "$PROGRAMS/spin" 1000000'
job 'srun --overlap -n 2 --ntasks-per-node=1 "$SONDE" attach -q -i 100ms --grace 1s -o beside --job & sleep 0.5
srun --overlap "$PROGRAMS/spin" 1000000
wait'
for way in behind within beside; do
	equal "verdict of $way" "" "$("$SONDE" show --json $way | jq -r '.verdicts[] | select(.rule == "ranks-elsewhere") | .rule')"
	# Who only looks from beside does not see what a process uses behind its last sample.
	holds "CPU seconds of $way" "$(figure $way .job.cpu_seconds) >= 4 - 0.8 * ($([ $way = beside ]; echo $?) == 0)"
done
