# SPDX-License-Identifier: Apache-2.0
# Called by the name perfmon, with perfmon's flags: its log, its directories, the file that ends it, and silence.
. "$TOP/tests/lib.sh"
need jq
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
job="77.fake-$$"
export PBS_JOBID=$job
file=.ipc-$job
ln -s "$SONDE" perfmon

has_begun() { # DIR
	find "$1" -name 'node-*.sonde' -size +0 | grep -q .
}

has_said() { # FILE TEXT
	grep -qF -- "$2" "$1"
}

ended_well() { # PID
	wait "$1" || fail "perfmon: exit status $?, $(cat said)"
	[ ! -s said ] || fail "it is not silent: $(cat said)"
}

"$PROGRAMS/spin" 300000000 0 5 &
app=$!
trap 'kill $app 2>/dev/null' EXIT

# Its own help, and sentences that name its own flags.
./perfmon -h | head -n 1 | grep -qx 'usage: sonde perfmon \[options\]' || fail "perfmon -h"
for words in "extra" "-e nonsense" "-e csv nonsense" "-i never" "--system a --partition b" "--system a/b --partition b --env c --name d"; do
	# shellcheck disable=SC2086
	equal "status of perfmon $words" 2 "$(status_of ./perfmon $words 2>said)"
	one_sentence said
done
touch a_file
equal "status of -d in a file" 1 "$(status_of ./perfmon -d a_file/x 2>said)"
one_sentence said
contains said "with -d"

# What an earlier run of the job left in the file ends nothing; said anew, it ends it. Flags may be without their values.
echo FINISHED >"$file"
./perfmon -i 100ms -d -p -l -c >said 2>&1 &
monitor=$!
wait_for 30 has_begun "sonde_$job"
equal "the file, begun anew" INPROGRESS "$(cat "$file")"
sleep 0.5
! process_gone $monitor || fail "it was ended by an earlier run's word: $(cat said ./*.log)"
echo FINISHED >"$file"
ended_well $monitor
grep -qE '^[0-9-]{10} [0-9:]{8} \| INFO \| [^ |]+ \| sonde\.perfmon:[a-z_]+ \| [0-9]+ \| '"$file"' reports that the job is over$' \
	ska_sdp_monitoring_metrics.log || fail "the log: $(cat ska_sdp_monitoring_metrics.log)"
contains ska_sdp_monitoring_metrics.log "| Written: $PWD/metrics/cpu_metrics.json"
equal "what it recorded" 1 "$(figure "sonde_$job" '.commands[] | select(.name == "spin") | .processes')"
equal "Sonde's own" 0 "$(figure "sonde_$job" '[.commands[] | select(.name | test("sonde|perfmon"))] | length')"
jq -e '.host_names | length == 1' metrics/cpu_metrics.json >/dev/null || fail "metrics/cpu_metrics.json"
[ ! -e configs ] || fail "configs/ without -v"

# A place of its own for each benchmark test, one file for the tables of all its jobs, a log for each node with -v; signals end it.
export PLACE=new
for signal in TERM USR1; do
	# shellcheck disable=SC2016
	PBS_JOBID=$signal.$$ ./perfmon -i 100ms -v -r -e csv hdf5 -d '$PLACE/here' --system s --partition p --env e --name t >said 2>&1 &
	monitor=$!
	place=new/here/perfmetrics/s/p/e/t
	wait_for 30 has_begun "$place/sonde_$signal.$$"
	kill -$signal $monitor
	ended_well $monitor
	[ -s "$place/cpu_metrics.csv" ] || fail "no $place/cpu_metrics.csv"
	[ -s "$place/report.html" ] || fail "no $place/report.html"
	grep -aq "cpu_metrics_${signal}_$$" "$place/test.h5" || fail "no table of $signal.$$ in $place/test.h5"
done
grep -aq "cpu_metrics_TERM_$$" "$place/test.h5" || fail "the first job's table is gone"
log=$(echo new/here/ska_sdp_monitoring_metrics_*.log)
contains "$log" "| DEBUG |"
[ "$(jq -r .job_id "$place"/configs/*_run_config.yml)" = "USR1.$$" ] || fail "configs: $(cat "$place"/configs/*)"

# Another job's recording is not added to, and the way out is a flag of perfmon's.
mkdir -p taken
cp -r "sonde_$job" taken/sonde_5.other
equal "status in another job's directory" 1 "$(PBS_JOBID=5.other status_of ./perfmon -d taken 2>said)"
one_sentence said
contains said "name another with -d or -p"

# A node that PBS numbers, but gives no list of nodes to, leaves the results to the first; where nothing numbers it, to rank 0.
unset PBS_NODEFILE PBS_NODEFILE_LOCAL
for told in "1 PBS_NODENUM=1" "1 PBS_NUM_PPN=1 PBS_NUM_NODES=2 PMI_RANK=1" "0 PBS_NUM_PPN=1 PBS_NUM_NODES=2 PMI_RANK=0"; do
	place="node of ${told#* }"
	# shellcheck disable=SC2086
	env ${told#* } ./perfmon -i 100ms -d "$place" >said 2>&1 &
	monitor=$!
	wait_for 30 has_begun "$place/sonde_$job"
	kill -TERM $monitor
	ended_well $monitor
	equal "leaves the results to others, $place" "${told%% *}" "$([ -e "$place/metrics" ] && echo 0 || echo 1)"
done
