# SPDX-License-Identifier: Apache-2.0
# --tree bpf reads processes by the task iterator; where that is not possible one sentence says what is missing, and /proc is read.
. "$TOP/tests/lib.sh"
need jq
need setpriv

state() { # DIR: of the task iterator
	"$SONDE" show --json "$1" | jq -r '[.mechanisms[] | select(.name == "task_iterator") | .state] | join(" ")'
}
doctor_says() { # FILTER: of the task iterator
	"$SONDE" doctor --json | jq -r ".mechanisms[] | select(.name == \"process.task_iterator\") | $1"
}
until=true
work() { # OPTIONS...: a job whose writes are known
	"$SONDE" run --quiet -i 50ms "$@" -- sh -c "for i in 1 2 3; do dd if=/dev/zero of=/dev/null bs=1M count=10 2>/dev/null; sleep 0.1; done
		for i in \$(seq 600); do $until && break; sleep 0.05; done; exit 3"
}
falls_back() { # DIR STATE TEXT: what a run without the iterator records and says
	equal "exit code" 3 "$(status_of work --tree bpf -o "$1" 2>said)"
	one_sentence said
	contains said '--tree bpf: '
	contains said "$3"
	contains said '; /proc is read'
	equal "state in $1" "$2" "$(state "$1")"
	holds "written in $1" "$(figure "$1" .job.written_bytes) >= 31457280"
}

# Who may not.
if [ "$(id -u)" = 0 ]; then
	chmod 777 .
	export HOME=$PWD
	nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"; }
	nobody test -x "$SONDE" || skip "nobody may not run $SONDE"
else
	nobody() { "$@"; }
fi
if [ -e /sys/kernel/btf/vmlinux ]; then
	equal "exit code" 3 "$(status_of nobody "$SONDE" run --quiet --tree bpf -o forbidden -- sh -c 'exit 3' 2>said)"
	one_sentence said
	contains said '--tree bpf: CAP_BPF and CAP_PERFMON are missing; /proc is read'
	equal "state" forbidden "$(state forbidden)"
	nobody "$SONDE" doctor >doctor.txt
	contains doctor.txt 'forbidden    process.task_iterator: '
	contains doctor.txt 'why: CAP_BPF and CAP_PERFMON are missing'
fi
equal "nothing is said of what was not asked for" "" "$(work --tree proc -o proc 2>&1)"
equal "state with proc" "" "$(state proc)"
equal "state of a small job" "" "$(work -o auto; state auto)"

[ "$(doctor_says .state)" = available ] || skip "the task iterator is not available: $(doctor_says .reason)"
before=$(find /sys/fs/bpf 2>/dev/null | wc -l)

# A helper that is not there, ends, hangs, or answers what it should not: the job and its recording are none the worse.
mkdir none ends hangs lies
SONDE_LIBEXEC=$PWD/none falls_back absent unsupported 'the helper sonde-iterator is not installed'
printf '#!/bin/sh\nexit 1\n' >ends/sonde-iterator
# shellcheck disable=SC2016 # for the helper to expand
printf '#!/bin/sh\necho $$ >%s/hung\nexec sleep 1000\n' "$PWD" >hangs/sonde-iterator
printf '#!/bin/sh\necho loaded >&3\n' >lies/sonde-iterator
chmod +x ends/sonde-iterator hangs/sonde-iterator lies/sonde-iterator
SONDE_LIBEXEC=$PWD/ends falls_back ended failed 'ended without an answer'
until='[ -s said ]' # the recorder waits 10 s for it in all
SONDE_LIBEXEC=$PWD/hangs falls_back hung-up failed 'does not answer'
until=true
wait_for 10 process_gone "$(cat hung)"
SONDE_LIBEXEC=$PWD/lies falls_back lied failed 'ended without an answer'

# A thousand processes that sleep are not worth the iterator, though each is read once.
"$PROGRAMS/tree" 1000 >ready &
tree=$!
wait_for 60 grep -q ready ready
mkdir notes
printf '#!/bin/sh\n: >%s/begun\n' "$PWD" >notes/sonde-iterator
chmod +x notes/sonde-iterator
SONDE_LIBEXEC=$PWD/notes "$SONDE" attach --quiet -p "$tree" -i 500ms --duration 2s -o asleep
kill "$tree"
holds "processes that sleep" "$(figure asleep .job.processes_peak) >= 1000"
[ ! -e begun ] || fail "the iterator was started for processes that sleep"

# The same totals, in a pid namespace of its own as well.
equal "exit code" 3 "$(status_of work --tree bpf -o bpf 2>said)"
equal "what is said" "" "$(cat said)"
equal "state" used "$(state bpf)"
for key in read_bytes written_bytes processes_started; do
	holds "$key" "$(figure bpf .job.$key) >= 0.99 * $(figure proc .job.$key) && $(figure bpf .job.$key) <= 1.01 * $(figure proc .job.$key)"
done
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	unshare --pid --fork --mount-proc "$SONDE" run --quiet --tree bpf -i 50ms -o inner -- sh -c "$PROGRAMS/spin 300000; exit 3"
	equal "exit code in a pid namespace" 3 $?
	equal "state in a pid namespace" used "$(state inner)"
	holds "CPU in a pid namespace" "$(figure inner .job.attributed_ratio) > 0.9"
fi
equal "files of BPF that are left" "$before" "$(find /sys/fs/bpf 2>/dev/null | wc -l)"
