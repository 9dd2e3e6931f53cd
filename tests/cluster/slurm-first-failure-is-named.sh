# SPDX-License-Identifier: Apache-2.0
# limit: 400
# One task of six dies, Slurm ends the others: the first verdict, the heading, the page, the PDF and the line that the job prints name that one, and
# what its own log ended with. Ten times: who, when, by what, on which node.
. "$TOP/tests/cluster/harness/slurm.sh"
cluster_start
cat >task <<'END'
#!/bin/bash
# RANK ENDING AFTER: that rank ends so after a moment, the others would go on.
if [ "$SLURM_PROCID" != "$1" ]; then
	echo "rank $SLURM_PROCID computes" >>"log.$SLURM_PROCID"
	exec sleep 60
fi
sleep "$3"
echo "rank $1: cannot go on" >>"log.$1"
case $2 in
[0-9]*) exit "$2" ;;
*) kill -"$2" $$ ;;
esac
END
cat >recorded <<'END'
#!/bin/bash
# Each rank watches a log of its own.
exec "$SONDE" run -o out --mark-log "log.$SLURM_PROCID" --mark-rule 'x=y' -- ./task "$@"
END
chmod 755 task recorded
export SONDE

dies() { # RANK ENDING AFTER NODE WORDS
	rm -rf out log.*
	status_of srun -K -N3 --ntasks-per-node=2 ./recorded "$1" "$2" "$3" >status 2>said
	figure out '.verdicts[0].sentence' >sentence
	contains sentence "First to fail: rank $1 of step"
	contains sentence "on $4, $5"
	contains sentence "Its log ends: \"rank $1: cannot go on\""
	equal "rule" first-failure "$(figure out '.verdicts[0].rule')"
	"$SONDE" show out | head -3 >heading
	contains heading "rank $1 of step"
	"$SONDE" show --all out >shown
	grep -q "^ *tasks *6: ranks" shown || fail "the summary has no tasks: $(cat shown)"
	grep 'next: sonde report' said >line || fail "nothing was printed at the end: $(cat said)"
	contains line "; first to fail: rank $1 of step"
}

dies 3 SEGV 1 n2 "killed by SIGSEGV"
"$SONDE" report out >/dev/null 2>&1 || fail "report: $?"
grep -o 'First to fail: rank 3 of step [0-9]* on n2, killed by SIGSEGV' out/report.html >page || fail "the page says nothing of it"
tr -d '\n' <out/report.html | sed 's/.*<h2 id="h-tasks">Tasks//; s/<\/table>.*//' | grep -o '>n[123]<' | sort | uniq -c | tr -s ' \n' ' ' >nodes
equal "nodes of the page's tasks" ' 2 >n1< 2 >n2< 2 >n3< ' "$(cat nodes)"
if command -v pdftotext >/dev/null; then
	pdftotext -layout out/job-report-*.pdf - | tr -s ' \n' ' ' >paper
	contains paper "First to fail: rank 3 of step"
	contains paper "Tasks: 6: ranks 0-1 on n1, 2-3 on n2, 4-5 on n3"
	contains paper "rank 3 on n2 (SIGSEGV)"
fi
dies 5 7 0.2 n3 "exit code 7"
dies 0 ABRT 1 n1 "killed by SIGABRT"
dies 1 BUS 0.2 n1 "killed by SIGBUS"
dies 2 FPE 2 n2 "killed by SIGFPE"
dies 4 KILL 1 n3 "killed by SIGKILL"
dies 5 ILL 0.5 n3 "killed by SIGILL"
dies 0 139 1 n1 "exit code 139 (SIGSEGV in what it ran)"
dies 2 1 3 n2 "exit code 1"
dies 4 TERM 1 n3 "killed by SIGTERM"

# A signal that all are sent at once was nobody's first failure.
rm -rf out log.*
srun -N3 --ntasks-per-node=2 ./recorded none none 0 2>said &
step=$!
all_compute() {
	[ "$(cat log.* | grep -c computes)" = 6 ]
}
wait_for 120 all_compute
scancel --signal=USR2 "$(squeue -h -o %i | head -n 1).0"
wait $step && fail "status 0"
equal "rule of a signal to all" ended-together "$(figure out '.verdicts[0].rule')"
contains <(figure out '.verdicts[0].sentence') ": killed by SIGUSR2."
