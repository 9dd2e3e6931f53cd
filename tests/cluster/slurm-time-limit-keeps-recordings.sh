# SPDX-License-Identifier: Apache-2.0
# limit: 300
# A job at its time limit: TERM, then KILL to all, and one of its recorders was killed before. The story is told from what is there.
. "$TOP/tests/cluster/harness/slurm.sh"
cluster_start
cat >job <<'END'
#!/bin/bash
srun "$SONDE" run -q -i 100ms -o out -- bash -c 'trap "" TERM; "$PROGRAMS/spin" 200000; while :; do sleep 0.1; done'
END
export SONDE PROGRAMS
id=$(submit -N3 -n3 -t 1 job)
wait_for 60 started_on 3 out
recorder=$(recorder_of out)
kill -KILL "$recorder"
# Slurm looks at the limits twice a minute, from its start.
scontrol update "jobid=$id" EndTime=now+1
wait_for 60 job_gone "$id"
equal "state" TIMEOUT "$(state_of "$id")"
"$SONDE" show --all out >shown 2>&1 || fail "show: $(cat shown)"
"$SONDE" report out >reported 2>&1 || fail "report: $(cat reported)"
holds "CPU time" "$(figure out .job.cpu_seconds) >= 0.4"
equal "nodes" "n1 n2 n3" "$(hosts_of out)"
equal "recordings that were not closed" 1 "$(figure out '[.nodes[] | select(.complete | not)] | length')"
