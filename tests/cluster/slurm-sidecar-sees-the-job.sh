# SPDX-License-Identifier: Apache-2.0
# limit: 300
# Beside the job, one copy a node: attach -p in the batch script, which keeps its place whatever becomes of the sidecar; and attach --job
# as a step of its own, which finds the job's processes on each node and ends with the job. A job that is cancelled leaves what was recorded.
. "$TOP/tests/cluster/harness/slurm.sh"
cluster_start
export SONDE PROGRAMS
sampled() { # RECORDING NODES: waits until so many nodes of it have a sample
	for _ in $(seq 300); do
		[ "$("$SONDE" show --json "$1" 2>/dev/null | jq '[.nodes[]? | select(.samples > 0)] | length')" != "$2" ] || return
		sleep 0.1
	done
}
export -f sampled

cat >job <<'END'
#!/bin/bash
(until [ -e go ]; do sleep 0.2; done; exec "$PROGRAMS/spin" 500000 7) &
app=$!
"$SONDE" attach -q -i 100ms -p $app -o beside &
sidecar=$!
sampled beside 1
touch go
wait $app
code=$?
wait $sidecar || exit 99
exit $code
END
id=$(submit -N1 job)
wait_for 60 job_gone "$id"
contains <(scontrol -o show job "$id") "ExitCode=7:0"
got=$(figure beside .job.cpu_seconds)
holds "CPU seconds beside: $got" "$got >= 0.3 && $got <= 0.55"

cat >job <<'END'
#!/bin/bash
srun --overlap -N3 -n3 --ntasks-per-node=1 "$SONDE" attach -q -i 100ms --job &
sampled "sonde_$SLURM_JOB_ID" 3
srun -N3 -n6 --ntasks-per-node=2 "$PROGRAMS/spin" 400000
END
id=$(submit -N3 --ntasks-per-node=2 job)
wait_for 60 job_gone "$id"
equal "state" COMPLETED "$(state_of "$id")"
equal "nodes" "n1 n2 n3" "$(hosts_of "sonde_$id")"
equal "recorders" 3 "$(find "sonde_$id" -name 'node-*.sonde' | wc -l)"
spun=$(figure "sonde_$id" '[.commands[]? | select(.name == "spin") | .cpu_seconds] | add')
# Up to the last sample of each process.
holds "CPU seconds of spin: $spun" "$spun >= 1.2 && $spun <= 2.5"

cat >job <<'END'
#!/bin/bash
srun --overlap -N3 -n3 --ntasks-per-node=1 "$SONDE" attach -q -i 100ms -o cancelled --job &
srun --overlap -N3 -n3 --ntasks-per-node=1 "$PROGRAMS/spin" 300000000 0 30
END
spins() { # in all three recordings, for some samples
	[ "$("$SONDE" show --json cancelled | jq '[.commands[] | select(.name == "spin") | .cpu_seconds] | add > 0.5')" = true ] &&
		started_on 3 cancelled
}
id=$(submit -N3 -n3 job)
wait_for 80 spins
scancel "$id"
wait_for 40 job_gone "$id"
equal "state" CANCELLED "$(state_of "$id")"
equal "nodes" "n1 n2 n3" "$(hosts_of cancelled)"
holds "CPU seconds of what was cancelled" "$(figure cancelled '[.commands[] | select(.name == "spin") | .cpu_seconds] | add') > 0.5"
