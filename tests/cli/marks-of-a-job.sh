# SPDX-License-Identifier: Apache-2.0
# limit: 120
# Marks and spans of a job script, by `sonde mark` and by echo, are in its recording with their times; hostile lines are
# counted and harm nobody; the file of marks is private and goes with the job.
. "$TOP/tests/lib.sh"
cat >script.sh <<'END'
set -e
stat -c '%a %F' "$SONDE_MARKS" "$(dirname "$SONDE_MARKS")" >modes
echo "$SONDE_MARKS" >where
"$SONDE" mark start n=3 'note=two words' --value 4.5 --unit images/s
"$SONDE" begin imaging field=7
"$SONDE" begin inner
sleep 0.3
"$SONDE" end inner
echo 'B echoed' >>"$SONDE_MARKS"
sleep 0.3
echo 'E echoed rows=5' >>"$SONDE_MARKS"
"$SONDE" end imaging images=412
"$SONDE" begin --track left work
"$SONDE" begin --track right work
"$SONDE" end --track left work side=left
"$SONDE" end nothing
"$SONDE" mark --source Cascade --event PULL-end --message 'grtype=docker,img=a b,diff=3.5' --ts "$(cat ts)"
"$SONDE" mark --source nodeprep --event end --prefix shipyard
"$SONDE" begin open
echo 'M late' >>"$SONDE_MARKS"
printf 'M last' >>"$SONDE_MARKS"
END
echo "$(($(date +%s) - 5)).25" >ts
"$SONDE" run --quiet -i 100ms -o out -- bash script.sh || fail "run: $?"
equal "modes" "600 regular empty file 700 directory" "$(tr '\n' ' ' <modes | sed 's/ $//')"
[ ! -e "$(dirname "$(cat where)")" ] || fail "the file of marks is still there"
"$SONDE" export --to csv -o csv out || fail "export"
contains csv/marks.csv ',start,"n=3 ""note=two words"" value=4.5 unit=images/s",'
contains csv/marks.csv ',cascade:pull-end,"grtype=docker,img=a b,diff=3.5",'
contains csv/marks.csv ',nodeprep:end,,'
holds "its own time" "$(date -u -d "$(sed -n 's/^[^,]*,\([^,]*\),[^,]*,cascade:pull-end.*/\1/p' csv/marks.csv)" +%s.%N) - $(cat ts) < 0.05"
for wrong in '--source a' '--event a' '--ts 1' '--source a --event b name' '--source a --event b --ts soon' '--source a --event b --value 3' '--prefix p'; do
	# shellcheck disable=SC2086
	equal "$wrong" 2 "$(status_of "$SONDE" mark $wrong 2>said)"
	one_sentence said
done
equal "before the machine was started" 0 "$(status_of "$SONDE" mark --source a --event b --ts 1.5 2>said)"
contains said "before this machine was started"
equal "two lines" 2 "$(status_of "$SONDE" mark --source a --event b --message $'c\nd' 2>said)"
contains csv/marks.csv ',nothing,ends without a begin,'
contains csv/marks.csv ',late,seen_within='
contains csv/marks.csv ',last,seen_within='
# The clock of files is no finer than that.
! grep -E 'seen_within=(-|0\.00)' csv/marks.csv csv/spans.csv || fail "no bound"
span() { # NAME COLUMN
	"$PYTHON" -c 'import csv, sys
rows = [r for r in csv.DictReader(open("csv/spans.csv")) if r["name"] == sys.argv[1]]
print(";".join(r[sys.argv[2]] for r in rows))' "$@"
}
equal "detail" "field=7 images=412" "$(span imaging detail)"
holds "the inner one is within" "$(span inner begin_seconds) >= $(span imaging begin_seconds) && $(span inner end_seconds) <= $(span imaging end_seconds)"
# Lines with a time and without one keep their order.
cat >mixed.sh <<'END'
for i in $(seq 25); do
	echo "M step-start n=$i" >>"$SONDE_MARKS"
	"$SONDE" mark step-end "n=$i"
	"$SONDE" mark turn-start "n=$i"
	echo "M turn-end n=$i" >>"$SONDE_MARKS"
done
END
"$SONDE" run --quiet -o mixed -- bash mixed.sh || fail "run: $?"
"$SONDE" export --to csv -o csv-mixed mixed || fail "export"
"$PYTHON" - <<'PY' || fail "marks have changed places"
import csv
at = {(r["name"], r["message"].split()[0]): float(r["seconds"]) for r in csv.DictReader(open("csv-mixed/marks.csv")) if r["message"].startswith("n=")}
times = [at[name, f"n={i}"] for i in range(1, 26) for name in ("step-start", "step-end", "turn-start", "turn-end")]
assert times == sorted(times), [(a, b) for a, b in zip(times, times[1:]) if a > b]
PY
holds "how long the inner one was" "$(span inner duration_seconds) >= 0.3"
holds "how long the echoed one was" "$(span echoed duration_seconds) >= 0.29"
holds "and not longer than what was around it" "$(span echoed duration_seconds) < $(span imaging duration_seconds)"
equal "an open one has no end" "" "$(span open end_seconds)"
equal "tracks" "left;right" "$(span work track | sed 's/[^;]*\(left\|right\)[^;]*/\1/g')"
[ "$(span work duration_seconds)" != ";" ] || fail "neither of them ended"
contains csv/spans.csv 'side=left'

# Writers at the same time tear no line.
cat >many.sh <<'END'
for i in $(seq 4); do
	(for k in $(seq 50); do echo "M w$i k=$k" >>"$SONDE_MARKS"; done) &
done
for k in $(seq 20); do "$SONDE" mark own k=$k; done
wait
END
"$SONDE" run --quiet -i 100ms -o many -- bash many.sh || fail "run: $?"
"$SONDE" export --to csv -o csv many || fail "export"
equal "all are there" 220 "$(grep -cE ',w[1-4],k=|,own,k=' csv/marks.csv)"

# Hostile lines: what is no line is counted, the others are there.
cat >hostile.sh <<'END'
"$PYTHON" - <<'PY'
import os
f = open(os.environ["SONDE_MARKS"], "ab", 0)
f.write(b"M before\n" + b"M " + b"x" * (1 << 20) + b"\n" + b"M nul\0\n" + b"nonsense\n" + b"\n" +
        b"M@1,2,3 wrong\n" + b"M@99999999999999999999,1,1 x\n" + b"M \xff\xfe\x1b[31m a=\x07\n" + b"M after\n")
f.write(b"B deep\n" * 1000 + b"E deep\n" * 3)
PY
END
"$SONDE" run --quiet -i 100ms -o hostile -- bash hostile.sh || fail "run: $?"
"$SONDE" export --to csv -o csv hostile || fail "export"
contains csv/marks.csv ',before,'
contains csv/marks.csv ',after,'
! grep -q $'\x1b' csv/marks.csv || fail "an escape sequence came through"
equal "spans have a bound" 256 "$(grep -c ',deep,' csv/spans.csv)"
equal "lines that are none" 5 "$(figure hostile '.nodes[0].metadata["marks.unclear_lines"]')"

# A command as a span: its exit status, its signal; outside of a run nothing is written and nothing fails.
"$SONDE" run --quiet -i 100ms -o spans -- bash -c '"$SONDE" span step -- sh -c "exit 7"; echo $? >code; "$SONDE" span killed -- sh -c "kill -9 \$\$"; echo $? >>code; true'
equal "codes" "7 137" "$(tr '\n' ' ' <code | sed 's/ $//')"
"$SONDE" export --to csv -o csv spans || fail "export"
contains csv/spans.csv ' exit_code=7'
contains csv/spans.csv ' signal=9'
cat >loop.sh <<'END'
for i in $(seq 100); do "$SONDE" span step -- true; done
"$SONDE" span outer -- "$SONDE" span inner -- true
END
"$SONDE" run --quiet -i 100ms -o loop -- bash loop.sh || fail "run: $?"
"$SONDE" export --to csv -o csv-loop loop || fail "export"
equal "commands one after the other are in one row" "100 span 1" "$(grep ',step,' csv-loop/spans.csv | cut -d, -f2 | uniq -c | sed 's/^ *//')"
equal "... and those within in one more" "span 1 span 2" "$(cut -d, -f2 csv-loop/spans.csv | tail -n +2 | sort -u | paste -sd' ')"
equal "their total is one" "step 100" "$("$SONDE" show --spans --json loop | jq -r '.kinds[].spans[] | select(.name == "step") | "\(.name) \(.count)"')"
! grep 'track=.*track=' csv/spans.csv || fail "what begin and end say is told twice"
unset SONDE_MARKS
equal "outside" 0 "$(status_of "$SONDE" mark alone)"
equal "outside, as a span" 3 "$(status_of "$SONDE" span alone -- sh -c 'exit 3')"
equal "a name is needed" 2 "$(status_of "$SONDE" mark 2>said)"
one_sentence said
mkfifo fifo
equal "nobody waits for a FIFO" 0 "$(SONDE_MARKS=fifo status_of timeout "$(patience 20)" "$SONDE" mark x)"
: >limited
equal "a file that may not grow harms nobody" 0 "$(ulimit -f 0; SONDE_MARKS=limited status_of "$SONDE" mark x 2>said)"

# A recorder that is killed harms nobody; what was begun is in what it left.
cat >dead.sh <<'END'
"$SONDE" begin doomed
sleep 0.5
touch begun
until [ -e killed ]; do sleep 0.05; done
"$SONDE" end doomed
echo 'M after' >>"$SONDE_MARKS"
END
"$SONDE" run --quiet -i 100ms --sync 0 -o dead -- bash dead.sh 2>said &
launcher=$!
wait_for 30 test -e begun
recorder=$(recorder_of dead) || fail "no recorder"
kill -9 "$recorder"
wait_for 30 process_gone "$recorder"
touch killed
wait $launcher || fail "the job did not go on: $?"
"$SONDE" export --to csv -o csv dead
equal "it began, and no end was seen" 1 "$(grep -cE ',doomed,[^,]*,[^,]*,,,,' csv/spans.csv)"

# Copies that share a recorder: each mark is its rank's.
for rank in 0 1; do
	SLURM_JOB_ID=$$ SLURM_PROCID=$rank SLURM_NTASKS=2 SLURM_STEP_ID=0 SLURM_NTASKS_PER_NODE=2 "$SONDE" run --quiet -i 100ms -o shared -- \
		sh -c 'sleep 1; "$SONDE" mark here; "$SONDE" begin work; "$SONDE" end work' &
	copies[rank]=$!
done
wait "${copies[@]}" || fail "run: $?"
equal "they share a recorder" 1 "$(find shared -name '*.sonde' | wc -l)"
"$SONDE" export --to csv -o csv shared || fail "export"
equal "marks of ranks" "rank 0 rank 1" "$(grep ',here,' csv/marks.csv | grep -o 'rank [01]' | sort | tr '\n' ' ' | sed 's/ $//')"
equal "spans of ranks" "rank 0 rank 1" "$(grep ',work,' csv/spans.csv | grep -o 'rank [01]' | sort | tr '\n' ' ' | sed 's/ $//')"

"$SONDE" show --all out >shown || fail "show"
contains shown "imaging"
