# SPDX-License-Identifier: Apache-2.0
# When tasks fail, the first verdict has the last line of the log of the one that failed first, and a mark has its last ten; of a job that
# succeeds, of what was in the log before, and of a log that is empty there is nothing.
. "$TOP/tests/lib.sh"
unset SLURM_PROCID

rank() { # RANK COMMAND...: of a step of two
	local rank=$1
	shift
	SLURM_JOB_ID=5 SLURM_STEP_ID=0 SLURM_JOB_NODELIST=n1 SLURMD_NODENAME=n1 SLURM_PROCID=$rank SLURM_GTIDS=0,1 \
		"$SONDE" run -q -i 100ms -o out --mark-log "log.$rank" --mark-rule 'never=never' -- "$@"
}
echo "of another run" | tee log.0 >log.1
cat >fails <<'END'
for i in $(seq 1 20); do echo "  at frame $i"; done >>log.1
printf 'Fatal: "matrix" \033[31mis\tsingular track=x\n\n' >>log.1
sleep 0.3
kill -SEGV $$
END
rank 1 bash -c 'sleep 0.5; . ./fails' 2>/dev/null &
first=$!
rank 0 bash -c 'echo "all is well" >>log.0; sleep 2; exit 3' &
wait $first
wait $! && fail "status 0"
figure out '.verdicts[0].sentence' >sentence
contains sentence "First to fail: rank 1"
contains sentence '. Its log ends: "Fatal: "matrix" ?[31mis'
figure out '[.marks[] | select(.name == "sonde.log_end")] | map(.text)[] | select(test("frame"))' >mark
contains mark 'at frame 20'
contains mark 'at frame 12'
! grep -q 'frame 11\|another run' mark || fail "too much of the log: $(cat mark)"
contains <(figure out '[.marks[] | select(.name == "sonde.log_end")] | map(.text)[] | select(test("well"))') 'log=log.0 "last=all is well"'
"$SONDE" report out >/dev/null 2>&1 || fail "report: $?"
contains out/report.html "Its log ends:"

echo "of another run" >good.log
"$SONDE" run -q -o good --mark-log good.log --mark-rule 'x=y' -- sh -c 'echo fine >>good.log' || fail "run: $?"
equal "marks of success" 0 "$(figure good '[.marks[] | select(.name == "sonde.log_end")] | length')"
equal "status" 4 "$(status_of "$SONDE" run -q -o silent --mark-log good.log --mark-rule 'x=y' -- sh -c 'exit 4')"
equal "marks of silence" 0 "$(figure silent '[.marks[] | select(.name == "sonde.log_end")] | length')"
