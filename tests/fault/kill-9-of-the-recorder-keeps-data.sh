# SPDX-License-Identifier: Apache-2.0
# limit: 400
# alone
# kill -9 of the recorder at 50 random moments: the job never notices, and all but the last sample is there.
. "$TOP/tests/lib.sh"
RANDOM=7
job='i=0; while [ $i -lt 20 ]; do echo $i; sleep 0.05; i=$((i + 1)); done; exit 42'
sh -c "$job" >alone.out

for round in $(seq 50); do
	rm -rf out
	"$SONDE" run --quiet -i 20ms -o out -- sh -c "$job" >job.out 2>job.err &
	sonde=$!
	wait_for 5 recorder_of out
	recorder=$(recorder_of out)
	sleep "$(calc "$RANDOM / 32768 * 0.9")"
	kill -9 "$recorder"
	killed=$(now)
	wait $sonde
	equal "round $round: the job's exit status" 42 $?
	diff alone.out job.out || fail "round $round: the job's output"

	"$SONDE" show --json out >show.json 2>show.err || fail "round $round: $(cat show.err)"
	"$SONDE" export out --to csv --wide -o tables >/dev/null 2>&1 || fail "round $round: export"
	"$PYTHON" - tables "$killed" >>gaps <<'END' || fail "round $round: samples are missing"
import csv, datetime, glob, sys
rows = list(csv.DictReader(open(glob.glob(sys.argv[1] + "/series*.csv")[0], newline="")))
times = sorted({datetime.datetime.fromisoformat(r["time"].replace("Z", "+00:00")[:26].rstrip("+") + "+00:00").timestamp()
                for r in rows})
gap = float(sys.argv[2]) - times[-1]
print(f"{len(times)} samples, the last {gap * 1000:.1f} ms before the kill")
# The sample being written may be lost, so the last one kept is up to two intervals old; 20 ms more for a busy machine.
sys.exit(gap > 0.060)
END
done
sort -k4 -n gaps | tail -n 3
