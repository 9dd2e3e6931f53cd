# SPDX-License-Identifier: Apache-2.0
# A job that leaves a sleeping process behind: its CPU time is what the kernel's account of the waited processes says, not what records of their exits say,
# which hold what interrupts, a hypervisor and, on a crowded machine, others took meanwhile.
. "$TOP/tests/lib.sh"
. "$TOP/tests/shared.sh"
need jq
batch_job 4711 1
# shellcheck disable=SC2034 # for copy
run_options=(-q -i 100ms -o out)
trap 'kill "$(cat left)" $busy 2>/dev/null' EXIT
busy=
for _ in 1 2 3; do # a crowded machine
	"$PROGRAMS/spin" 600000000 >/dev/null 2>&1 &
	busy="$busy $!"
done
# shellcheck disable=SC2016
copy 0 bash -c '"$PROGRAMS/spin" 1500000; sleep 1000 >/dev/null 2>&1 & echo $! >left'
contains <(figure out '.nodes[0].metadata["job.survivors"]') sleep
task=$(figure out '[.tasks[].cpu_seconds] | add')
holds "CPU time, and the kernel's $task" "$(figure out .job.cpu_seconds) >= $task * 0.999 && $(figure out .job.cpu_seconds) <= $task * 1.01 + 0.01"
