# SPDX-License-Identifier: Apache-2.0
# attach --job takes threads that begin later for no processes, and attach -p with a thread's id records its process.
. "$TOP/tests/lib.sh"
need jq
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
job="78.fake-$$"
cat >many.py <<'P'
import os, threading, time
stop = threading.Event()
def live():
    open("tid", "w").write(str(threading.get_native_id()))
    stop.wait()
while not os.path.exists("go"): time.sleep(0.01)
threads = [threading.Thread(target=live) for _ in range(40)]
for t in threads: t.start()
until = time.process_time() + 0.5
while time.process_time() < until: pass
open("ready", "w").close()
while not os.path.exists("end"): time.sleep(0.01)
stop.set()
P
PBS_JOBID=$job "$PYTHON" many.py &
python=$!
trap 'kill $python $sonde 2>/dev/null' EXIT
PBS_JOBID=$job "$SONDE" attach --job --process-events polling -i 100ms --grace 5s --quiet -o out 2>said &
sonde=$!
has_begun() { # DIR
	find "$1" -name 'node-*.sonde' -size +0 | grep -q .
}
seconds_recorded() { # DIR SECONDS
	"$SONDE" show --json "$1" | jq -e ".job.wall_seconds >= $2" >/dev/null
}
wait_for 30 has_begun out
: >go
wait_for 60 test -e ready
# Members are looked for once a second.
wait_for 60 seconds_recorded out "$("$SONDE" show --json out | jq '.job.wall_seconds + 2.5')"
"$SONDE" attach -p "$(cat tid)" -i 100ms --duration 500ms --quiet -o thread || fail "attach to a thread"
: >end
wait $python
wait $sonde || fail "attach --job: $(cat said)"
equal "processes of the job" 1 "$(figure out '[.commands[].processes] | add')"
equal "started meanwhile" 0 "$(figure out .job.processes_started)"
holds "its CPU" "$(figure out .job.cpu_seconds) > 0.35 && $(figure out .job.cpu_seconds) < 2"
equal "processes of the thread" 1 "$(figure thread '[.commands[].processes] | add')"
equal "the pid it is recorded by" $python "$("$SONDE" show --json thread | jq -r '.processes.by_memory[0].pid')"
equal "left behind by an attached recorder, which saw no end of the job" null "$("$SONDE" show --json thread | jq .job.survivors)"
