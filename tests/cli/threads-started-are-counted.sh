# SPDX-License-Identifier: Apache-2.0
# Each thread that the job's processes start is counted where the kernel records starts, and where it does not, nothing is said of them.
. "$TOP/tests/lib.sh"
need python3
need jq
"$SONDE" doctor --json >doctor.json || fail "doctor"
cat >many.py <<'P'
import threading, time
time.sleep(0.3)
for i in range(300):
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
time.sleep(0.3)
P

started() { # BIRTHS
	rm -rf out
	"$SONDE" run --quiet --process-events "$1" -i 100ms -o out -- python3 many.py || fail "run --process-events $1"
	"$SONDE" export -o - --metrics job.threads_started_per_second out >started.csv || fail "export"
	awk -F, '$2 == "job.threads_started_per_second" { sum += $6 * ($5 - at); at = $5; n++ }
		END { if (n) printf "%.0f", sum }' started.csv
}

equal "by polling" "" "$(started polling)"
if jq -e '.mechanisms[] | select(.name == "process.exit_records") | .state == "available"' doctor.json >/dev/null; then
	equal "by exit records" 300 "$(started perf)"
else
	skip "exit records are not available"
fi
