#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# limit: 180
# Where a security module (SELinux, AppArmor) or a container refuses files of /proc, perf events and looks into other processes, the job runs as it would,
# and everything that is missing says why and what helps: in the recording, in show and in doctor. A seccomp filter that answers each open stands in.
. "$TOP/tests/lib.sh"
need jq
FILES='/proc/*/io|/proc/*/smaps*|/proc/pressure/*|/proc/diskstats|/proc/net/dev|/proc/*/net/dev|/proc/*/wchan|/proc/*/syscall|/proc/*/mem|/proc/*/stack'
refused() { # COMMAND...
	"$PROGRAMS/without" perf_event_open,ptrace,process_vm_readv "$PROGRAMS/refused" "$FILES" "$@"
}
refused true || skip "seccomp filters that ask are not permitted"
! refused cat /proc/self/io 2>/dev/null || fail "nothing is refused"

equal "status" 3 "$(status_of refused "$SONDE" run -q --stacks --waits --memory -i 50ms -o rec -- sh -c 'sleep 0.3; exit 3' 2>said)"
[ ! -s said ] || fail "run: $(cat said)"
equal "exit code, samples, damage" "3 true 0" "$(figure rec '"\(.job.exit_code) \([.nodes[].samples > 0] | all) \(.damages)"')"
"$SONDE" show --json rec >rec.json
finding() { # NAME: the state and what else is known
	jq -r --arg name "$1" '.findings[] | select(.name == $name) | "\(.state): \(.reason) \(.fix_admin)"' rec.json
}
PERMIT='permit the job to read it: the rules of a security module (SELinux, AppArmor; its audit log names the refusal) or of the container refuse it'
equal "disk" "forbidden: /proc/diskstats: Permission denied $PERMIT" "$(finding disk)"
equal "network" "forbidden: /proc/net/dev: Permission denied $PERMIT" "$(finding network)"
equal "input" "forbidden: /proc/PID/io may not be read: the process has more rights, or a security module (SELinux, AppArmor) refuses it null" \
	"$(finding process.read_bytes)"
equal "stacks" "forbidden: perf_event_open is blocked by a seccomp filter, as of a container" "$(finding stacks | sed 's/ allow the system call.*//')"
equal "PSS" "forbidden: /proc/PID/smaps_rollup may not be read" "$(jq -r '.mechanisms[] | select(.name == "pss") | "\(.state): \(.reason)"' rec.json)"
equal "without a reason" "" "$(jq -r '[(.mechanisms, .findings)[] | select(.state != "used" and (.reason // "") == "") | .name] | join(" ")' rec.json)"
equal "what is left" true "$(jq '.job.cpu_seconds > 0 and .job.peak_memory_bytes > 0' rec.json)"
refused "$SONDE" show --all rec >shown && refused "$SONDE" report -o page rec >/dev/null && refused "$SONDE" export -o tables rec >/dev/null || fail "reading"
contains shown "not sampled: forbidden: perf_event_open is blocked"
contains page/report.html "/proc/diskstats: Permission denied"

refused "$SONDE" doctor --json >doctor.json || fail "doctor"
equal "doctor" "$PERMIT" "$(jq -r '[(.sources, .mechanisms)[] | select(.name == "disk" or .name == "process.pss") | .fix_admin] | unique | join(" ")' doctor.json)"
equal "refused without a reason" "" "$(jq -r '[(.sources, .mechanisms)[] | select(.state == "forbidden" and (.reason // "") == "") | .name] | join(" ")' doctor.json)"
