# SPDX-License-Identifier: Apache-2.0
# limit: 180
# One task of six dies, Slurm ends the others: the first verdict, the heading and the line that the job prints name that one.
. "$TOP/tests/cluster/harness/slurm.sh"
cluster_start
cat >task <<'END'
#!/bin/bash
# RANK ENDING: that rank ends so after a moment, the others would go on.
if [ "$SLURM_PROCID" != "$1" ]; then
	exec sleep 60
fi
sleep 1
case $2 in
[0-9]*) exit "$2" ;;
*) kill -"$2" $$ ;;
esac
END
chmod 755 task

dies() { # RANK ENDING NODE WORDS
	rm -rf out
	status_of srun -K -N3 --ntasks-per-node=2 "$SONDE" run -o out -- ./task "$1" "$2" >status 2>said
	figure out '.verdicts[0].sentence' >sentence
	contains sentence "First to fail: rank $1 of step"
	contains sentence "on $3, $4"
	equal "rule" first-failure "$(figure out '.verdicts[0].rule')"
	"$SONDE" show out | head -3 >heading
	contains heading "rank $1 of step"
	"$SONDE" show --all out >shown
	grep -q "^ *tasks *6: ranks" shown || fail "the summary has no tasks: $(cat shown)"
	grep 'next: sonde report' said >line || fail "nothing was printed at the end: $(cat said)"
	contains line "rank $1 of step"
}

dies 3 SEGV n2 "killed by SIGSEGV"
dies 5 7 n3 "exit code 7"
dies 0 ABRT n1 "killed by SIGABRT"
