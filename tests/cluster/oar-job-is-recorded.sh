# SPDX-License-Identifier: Apache-2.0
# limit: 300
# Jobs of a real OAR on two nodes: examples/oar.sh, whose ranks oarsh starts; copies beside the job; and one that oardel ends by KILL, without
# any signal before.
. "$TOP/tests/cluster/harness/oar.sh"
need mpirun.openmpi
oar_start
home=$CLUSTER/home
cp "$TOP/examples/oar.sh" "$home/example.sh"
printf '#!/bin/sh\nexec "%s/spin" 300000\n' "$CLUSTER/bin" >"$home/app"
# What a module would do: mpirun hands no PATH on to other nodes.
echo "PATH=$CLUSTER/bin:\$PATH" >"$home/.bashrc"

script() { # NAME, its lines on standard input
	{
		echo '#!/bin/bash'
		cat
	} >"$home/$1"
	chmod 755 "$home"/*.sh "$home/app"
}

ended_as() { # ID STATE
	wait_for 120 oar_job_is "$1" 'Terminated|Error'
	equal "state of job $1" "$2" "$(oar_state "$1")"
}

recorded() { # ID FILTER
	figure "$home/sonde_$1" "$2"
}

printf '. ./example.sh\n' | script job.sh
id=$(oar_job -l nodes=2,walltime=0:05:00 -O "$CLUSTER/log/example.out" -E "$CLUSTER/log/example.err" ./job.sh)
[ -n "$id" ] || fail "oarsub gave no id"
ended_as "$id" Terminated
[ -d "$home/sonde_$id" ] || fail "no recording: $(cat "$CLUSTER"/log/example.*)"
equal "nodes" "o1 o2" "$(recorded "$id" '[.nodes[].host] | unique | join(" ")')"
equal "tasks" 4 "$(recorded "$id" '.job.processes_started')"
equal "scheduler" oar "$(recorded "$id" '.nodes[0].metadata["job.scheduler"]')"
equal "missing" 0 "$("$SONDE" show --json "$home/sonde_$id" | jq '.missing_hosts | length')"
cpu=$(recorded "$id" .job.cpu_seconds)
holds "CPU seconds of four ranks: $cpu" "$cpu >= 1.2 && $cpu <= 1.3"

# Beside the job, on each node; the script ends them as it ends.
script beside.sh <<'END'
for node in $(sort -u "$OAR_NODEFILE"); do
	oarsh "$node" "cd $PWD && exec sonde attach --job -i 100ms -q" &
done
for _ in $(seq 600); do
	[ "$(ls sonde_$OAR_JOB_ID 2>/dev/null | grep -c 'sonde$')" != 2 ] || break
	sleep 0.1
done
for node in $(sort -u "$OAR_NODEFILE"); do
	# What a shell does in its first second, before a look found it, is in the job's total only.
	oarsh "$node" "(sleep 2; spin 500000; sleep 1) & wait"
done
for node in $(sort -u "$OAR_NODEFILE"); do
	oarsh "$node" "pkill -USR1 -x sonde"
done
wait
END
id=$(oar_job -l nodes=2,walltime=0:05:00 -O "$CLUSTER/log/beside.out" -E "$CLUSTER/log/beside.err" ./beside.sh)
ended_as "$id" Terminated
[ -d "$home/sonde_$id" ] || fail "no recording: $(cat "$CLUSTER"/log/beside.*)"
equal "nodes" "o1 o2" "$(recorded "$id" '[.nodes[].host] | unique | join(" ")')"
equal "closed" 2 "$(recorded "$id" '[.nodes[] | select(.complete)] | length')"
contains <(recorded "$id" '.nodes[].metadata["job.members"]') "control group"
spun=$(recorded "$id" '[.commands[] | select(.name == "spin") | .cpu_seconds] | add')
holds "CPU seconds of spin: $spun" "$spun >= 0.7 && $spun <= 1.2"

script killed.sh <<'END'
trap 'touch signalled' TERM INT HUP USR1 USR2
for node in $(sort -u "$OAR_NODEFILE"); do
	oarsh "$node" "cd $PWD && exec sonde run -q -i 100ms -- sh -c 'spin 200000; sleep 1000'" &
done
wait
END
id=$(oar_job -l nodes=2,walltime=0:05:00 -O "$CLUSTER/log/killed.out" -E "$CLUSTER/log/killed.err" ./killed.sh)
both_worked() {
	[ "$("$SONDE" show --json "$home/sonde_$id" | jq '[.hosts[] | select(.cpu_seconds >= 0.2)] | length')" = 2 ]
}
wait_for 120 both_worked
as_user oardel "$id" >/dev/null
wait_for 120 oar_job_is "$id" 'Terminated|Error'
[ ! -e "$home/signalled" ] || fail "OAR sent a signal before KILL"
"$SONDE" show --all "$home/sonde_$id" >shown 2>&1 || fail "show: $(cat shown)"
contains shown "without an end: o1, o2"
cpu=$(recorded "$id" .job.cpu_seconds)
holds "CPU seconds until then: $cpu" "$cpu >= 0.4 && $cpu <= 0.6"
