#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Under a seccomp filter that refuses perf events, ptrace and sockets the job is recorded, its totals are true, and what was refused is said.
. "$TOP/tests/lib.sh"
need jq
"$PROGRAMS/without" perf_event_open true || skip "seccomp filters are not permitted"
"$PROGRAMS/without" perf_event_open,ptrace,socket,bpf \
	"$SONDE" run -q -o out -- "$PROGRAMS/spawner" 100 "$PROGRAMS/spin" 2000 >spun || fail "run"
read -r _ children _ self <spun
holds "total within 2 %" "$(figure out .job.cpu_seconds) / ($children + $self) > 0.98 && $(figure out .job.cpu_seconds) / ($children + $self) < 1.02"
holds "an upper bound" "$(figure out .job.processes_started_at_most) >= 101"
equal "perf events" forbidden "$(figure out '.mechanisms[] | select(.name == "exit_records") | .state')"
figure out '.mechanisms[] | select(.name == "exit_records") | .reason' >reason
[ -s reason ] || fail "no reason is given"
equal "node metrics went on" 0 "$(figure out '[.findings[] | select(.kind == "source" and (.name == "cpu" or .name == "memory"))] | length')"

"$PROGRAMS/without" perf_event_open,socket "$SONDE" doctor >said.txt || fail "what is forbidden is no failure"
contains said.txt 'forbidden    process.exit_records'
