# SPDX-License-Identifier: Apache-2.0
# attach --job records the batch job's processes, those that come later too, without Sonde's own, and ends with them.
. "$TOP/tests/lib.sh"
need jq
need setsid
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
job="77.fake-$$"

has_begun() { # DIR
	find "$1" -name 'node-*.sonde' -size +0 | grep -q .
}

# Until it has executed, a process has the environment of this shell.
is_of_job() { # PID
	tr '\0' '\n' <"/proc/$1/environ" | grep -qx "PBS_JOBID=$job"
}

# shellcheck disable=SC2016
PBS_JOBID=$job setsid sh -c 'exec "$PROGRAMS/spin" 7000000 early' &
PBS_JOBID=$job-other "$PROGRAMS/spin" 60000000 0 5 &
another=$!
trap 'kill $another 2>/dev/null' EXIT
PBS_JOBID=$job "$SONDE" attach --job -i 100ms --grace 2s -o out >stdout 2>said &
sidecar=$!
wait_for 20 has_begun out
# Nobody that is known starts these: a step that the scheduler starts.
PBS_JOBID=$job setsid "$SONDE" run --quiet -o step -- "$PROGRAMS/spin" 4000000 &
PBS_JOBID=$job-other "$PROGRAMS/spin" 100000 &
wait $sidecar || fail "attach --job: $(cat said)"
process_gone $sidecar || fail "attach --job did not end"
[ ! -s stdout ] || fail "attach --job wrote to standard output"
equal "how its processes were told" "this user's processes with PBS_JOBID=$job in their environment" \
	"$(figure out '.nodes[0].metadata["job.members"]')"
equal "the batch job" "$job" "$(figure out .job.id)"
[ "$(figure out '.commands[] | select(.name == "spin") | .processes')" = 2 ] || { # what else it was
	cat said
	"$SONDE" show --json out | jq -c '.job, .commands, .nodes[0].metadata'
	"$SONDE" show --json step | jq -c '.job, .commands'
}
equal "spinners of the job" 2 "$(figure out '.commands[] | select(.name == "spin") | .processes')"
spun=$(figure out '.commands[] | select(.name == "spin") | .cpu_seconds')
holds "their CPU" "$spun > 3.7 && $spun < 11.2"
equal "Sonde's own" 0 "$(figure out '[.commands[] | select(.name | startswith("sonde"))] | length')"
equal "births are not exact: a member is found within a second" false \
	"$("$SONDE" show --json out | jq '.nodes[0].metadata["job.births_exact"]')"

# It looks for them between samples, however rare these are.
PBS_JOBID=$job sleep 100 &
sleeper=$!
PBS_JOBID=$job timeout "$(patience 100)" "$SONDE" attach --job -i 10m --grace 2s -o rare 2>said &
attached=$!
wait_for 60 has_begun rare
sleep 3 # it looks each second
kill $sleeper
wait $attached || fail "attach with rare samples: $(cat said)"
equal "seen between samples" 1 "$(figure rare '.commands[] | select(.name == "sleep") | .processes')"
holds "it stays until grace is over" "$(figure rare .job.wall_seconds) >= 2"

# As a sidecar the signals of batch systems end it.
PBS_JOBID=$job "$PROGRAMS/spin" 60000000 0 5 &
spinner=$!
trap 'kill $another $spinner 2>/dev/null' EXIT
wait_for 20 is_of_job $spinner
for signal in USR1 USR2 TERM; do
	PBS_JOBID=$job "$SONDE" attach --job -i 100ms -o $signal 2>/dev/null &
	sidecar=$!
	wait_for 20 has_begun $signal
	kill -$signal $sidecar
	wait $sidecar
	equal "exit status after $signal" 0 $?
	equal "what it recorded" 1 "$(figure $signal '.commands[] | select(.name == "spin") | .processes')"
done

# A job by its name, from outside of it.
"$SONDE" attach --job="$job" -i 100ms --duration 500ms -o named 2>/dev/null || fail "attach --job=ID"
equal "spinners of the named job" 1 "$(figure named '.commands[] | select(.name == "spin") | .processes')"
equal "exit status without such a job" 1 "$(status_of "$SONDE" attach --job="$job-none" -o none 2>said)"
one_sentence said
contains said "$job-none"
[ ! -e none ] || fail "a folder was left behind"

# The job's time limit ends it.
env SLURM_JOB_ID="$$" SLURM_JOB_START_TIME="$(date +%s)" SLURM_JOB_END_TIME=$(($(date +%s) + 7)) \
	"$SONDE" attach --job -i 100ms --grace 10m -o limited 2>said || fail "attach until the limit"
holds "it ends before the limit" "$(figure limited .job.wall_seconds) < 7"

# Outside of a batch job they are all of the user's, and that is said.
"$SONDE" attach --job -i 200ms --pss off --duration 500ms --quiet -o naive 2>said || fail "attach --job on a plain machine"
one_sentence said
contains said "every process of user $(id -u) but Sonde's own"
figure naive '.nodes[0].metadata["job.members"]' | grep -q "^every process of user" || fail "it is not in the recording"

equal "exit status of --job with -p" 2 "$(status_of "$SONDE" attach --job -p 1 2>said)"
one_sentence said
