# SPDX-License-Identifier: Apache-2.0
# limit: 400
# In front of a launcher, sonde run records the launcher alone: that is the first verdict, and nothing is advised, praised or blamed from it, whichever
# rank fails there, on whichever node, and however.
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

job '"$SONDE" run -q -i 100ms -o direct -- srun "$PROGRAMS/spin" 500000'
one_verdict direct srun
job '"$SONDE" run -q -i 100ms -o script -- bash -c "sleep 0.5; srun \"$PROGRAMS/spin\" 500000; true"'
one_verdict script srun
if command -v mpiexec.mpich >/dev/null; then
	job '"$SONDE" run -q -i 100ms -o mpich -- mpiexec.mpich -n 4 "$PROGRAMS/spin" 500000'
	one_verdict mpich mpiexec
fi

# Ranks that fail: who fails, how, and after how long, under srun itself, in a script, and in a pipe; ten jobs with LONG, else five.
cat >task <<'END'
#!/bin/bash
# RANK ENDING AFTER: that one ends so, the others go on for a while.
[ "$SLURM_PROCID" = "$1" ] || exec sleep 5
sleep "$3"
case $2 in
[0-9]*) exit "$2" ;;
*) kill -"$2" $$ ;;
esac
END
chmod 755 task
fails() { # RANK ENDING AFTER [LINE [END OF LINE]]
	local name=$1.$2 id
	printf '#!/bin/bash\n"$SONDE" run -q -i 100ms -o out.%s -- %s ./task %s %s %s%s\n' "$name" "${4:-srun -K}" "$1" "$2" "$3" "${5:-}" >"job.$name"
	id=$(submit -N2 --ntasks-per-node=2 "job.$name")
	wait_out "$id" job_gone "$id"
	figure "out.$name" '.verdicts[0].sentence' >"sentence.$name"
	contains "sentence.$name" "Exit code $(figure "out.$name" '.job.exit_code | tostring'). The ranks that srun started ran out of reach"
	contains "sentence.$name" "srun sonde run -- ./app"
	equal "verdicts of $name" ranks-elsewhere-failed "$(figure "out.$name" '[.verdicts[].rule] | join(" ")')"
	equal "advice of $name" "" "$("$SONDE" show --json "out.$name" | jq -r '.verdicts[].next // empty')"
}
variants=()
beside() {
	fails "$@" &
	variants+=($!)
}
beside 3 SEGV 1
beside 0 7 0.5
beside 1 KILL 1.5
beside 0 BUS 1 'bash -c "srun -K' '"'
beside 2 255 0.5 'bash -o pipefail -c "srun -K' ' | cat"'
if [ -n "$LONG" ]; then
	beside 2 ABRT 0.7
	beside 3 1 0.2
	beside 2 9 0.5 'bash -c "srun -K' '; exit \$?"'
	beside 1 FPE 2 'env A=b srun -K'
	beside 3 TERM 1 'timeout 60 srun -K'
fi
for variant in "${variants[@]}"; do
	wait "$variant" || exit 1
done

# Behind it, within it, or beside it, the ranks are recorded.
job 'srun "$SONDE" run -q -i 100ms -o behind -- "$PROGRAMS/spin" 500000'
job '"$SONDE" run -q -i 100ms -o within -- srun "$SONDE" run -q -i 100ms -o within -- "$PROGRAMS/spin" 500000'
job 'srun --overlap -n 2 --ntasks-per-node=1 "$SONDE" attach -q -i 100ms --grace 1s -o beside --job & sleep 0.5
srun --overlap "$PROGRAMS/spin" 500000
wait'
for way in behind within beside; do
	equal "verdict of $way" "" "$("$SONDE" show --json $way | jq -r '.verdicts[] | select(.rule == "ranks-elsewhere") | .rule')"
	# Who only looks from beside does not see what a process uses behind its last sample.
	holds "CPU seconds of $way" "$(figure $way .job.cpu_seconds) >= 2 - 0.8 * ($([ $way = beside ]; echo $?) == 0)"
done
