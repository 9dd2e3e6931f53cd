# SPDX-License-Identifier: Apache-2.0
# limit: 900
# A heterogeneous job is one job, whose components add to one recording; a job that is requeued, or restarts itself, goes on in its directory, and its
# last try is the job.
. "$TOP/tests/cluster/harness/slurm.sh"
cluster_start
export SONDE PROGRAMS

cat >het <<'END'
#!/bin/bash
srun --het-group=0 -n1 "$SONDE" run -q -- "$PROGRAMS/spin" 300000 : --het-group=1 -n2 "$SONDE" run -q -- "$PROGRAMS/spin" 300000
END
id=$(submit -N1 -n1 : -N2 -n2 --ntasks-per-node=1 het)
wait_out "$id" job_gone "$id"
equal "directories of a heterogeneous job" "sonde_$id" "$(echo sonde_*)"
equal "its nodes" "n1 n2 n3" "$(hosts_of "sonde_$id")"
equal "components" "2" "$(figure "sonde_$id" '[.nodes[].metadata["job.components_count"]] | unique | map(tostring) | join(" ")')"
cpu_within "sonde_$id" 0.9 3

cat >again <<'END'
#!/bin/bash
"$SONDE" run -q -i 100ms -- bash -c '"$PROGRAMS/spin" 300000; touch "tried.$SLURM_RESTART_COUNT"; until [ -e enough ]; do sleep 0.05; done'
END
id=$(submit --requeue -N1 again)
wait_out "$id" test -e tried.
scontrol requeue "$id"
touch enough
# Slurm lets a requeued job wait for two minutes.
begins() {
	[ -e tried.1 ] && return
	scontrol update "jobid=$id" StartTime=now
	sleep 0.5 # the scheduler needs its locks, too
	false
}
wait_out "$id" begins
wait_out "$id" job_gone "$id"
equal "recordings of two tries" 2 "$(find "sonde_$id" -name 'node-*.sonde' | wc -l)"
equal "state" COMPLETED "$(state_of "$id")"
cpu_within "sonde_$id" 0.3 1
equal "restarts" 1 "$(figure "sonde_$id" '[.nodes[].metadata["job.restarts_count"] | tostring] | join(" ")')"
contains <(figure "sonde_$id" '.verdicts[] | select(.rule == "began-again").sentence') "attempt 1 (recordings: 1, "
