# SPDX-License-Identifier: Apache-2.0
# limit: 300
# srun with every task prefixed: one recording of the job, one recorder on each of three nodes however many tasks, and every task's CPU time.
. "$TOP/tests/cluster/harness/slurm.sh"
cluster_start
srun -N3 -n6 --ntasks-per-node=2 "$SONDE" run -q -- "$PROGRAMS/spin" 400000
equal "exit status" 0 $?
recording=sonde_$FIRST_JOB
equal "recordings" "$recording" "$(echo sonde_*)"
cpu_within "$recording" 2.4 6
equal "processes" 6 "$(figure "$recording" .job.processes_started)"
equal "exit code" 0 "$(figure "$recording" .job.exit_code)"
equal "complete" true "$(figure "$recording" '.job.complete | tostring')"
equal "id" "$FIRST_JOB" "$(figure "$recording" .job.id)"
equal "nodes" "n1 n2 n3" "$(hosts_of "$recording")"
equal "recorders" 3 "$(find "$recording" -name 'node-*.sonde' | wc -l)"
equal "files of each node" "node-n1.sonde node-n2.sonde node-n3.sonde" "$(cd "$recording" && echo node-*.sonde)"
