# SPDX-License-Identifier: Apache-2.0
# Of two copies of attach --job, or of perfmon, that are started by hand for one job on one node into one directory, the second is refused with
# a sentence that names the first; into another directory it records, and so does one that comes when the first has ended.
. "$TOP/tests/lib.sh"
need jq
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
export PBS_JOBID="79.claim-$$"
ln -s "$SONDE" perfmon
"$PROGRAMS/spin" 100000000 0 5 &
app=$!
trap 'kill $app $first 2>/dev/null' EXIT

has_begun() { # DIR
	find "$1" -name 'node-*.sonde' -size +0 | grep -q .
}

recordings() { # DIR
	find "$1" -name 'node-*.sonde' | wc -l
}

for copy in "$SONDE attach --job -q -o both" "./perfmon -d mons"; do
	place=both
	[[ $copy != ./perfmon* ]] || place=mons/sonde_$PBS_JOBID
	# shellcheck disable=SC2086
	$copy -i 100ms >/dev/null 2>first.said &
	first=$!
	wait_for 30 has_begun $place
	# shellcheck disable=SC2086
	equal "status of the second: $copy" 1 "$(status_of $copy -i 100ms 2>said)"
	one_sentence said
	contains said "process $first on this node records this job into"
	equal "recordings in $place" 1 "$(recordings $place)"
	"$SONDE" attach --job -q -i 100ms --duration 300ms -o elsewhere-$first 2>said || fail "into another directory: $(cat said)"
	kill -TERM $first
	wait $first || fail "the first: $(cat first.said)"
done
"$SONDE" attach --job -q -i 100ms --duration 300ms -o both 2>said || fail "after the first: $(cat said)"
equal "recordings, one after the other" 2 "$(recordings both)"

# What copies of run record of a job is not recorded once more beside them into the same directory, nor the other way round; the job runs.
"$SONDE" run -q -i 100ms -o shared -- "$PROGRAMS/spin" 100000000 0 5 &
first=$!
wait_for 30 recorder_of shared >/dev/null
equal "status of attach beside run" 1 "$(status_of "$SONDE" attach --job -q -i 100ms -o shared 2>said)"
one_sentence said
contains said "process $(recorder_of shared) on this node records this job into"
kill -TERM $first
wait $first
"$SONDE" attach --job -q -i 100ms -o alone/ 2>/dev/null &
first=$!
wait_for 30 has_begun alone
mkdir behind && ln -s ../alone behind/alone
for place in alone behind/alone; do
	equal "status of the command of run beside attach" 7 "$(status_of "$SONDE" run -q -i 100ms -o $place -- sh -c 'exit 7' 2>said)"
	one_sentence said
	contains said "process $first on this node records all of this job into $place already"
done
equal "recordings of both" 1 "$(recordings alone)"
kill -TERM $first
wait $first
# A recorder that was refused goes on refusing for two seconds.
records_again() {
	"$SONDE" run -q -i 100ms -o alone -- true && [ "$(recordings alone)" = 2 ]
}
wait_for 30 records_again

# Nodes of one job that are on one host are not each other's second copies.
node=(env -u PBS_JOBID SLURM_JOB_ID=79 SLURM_JOB_NUM_NODES=2 'SLURM_JOB_NODELIST=n[1-2]')
copy=("$SONDE" attach --job -q -i 100ms -o nodes)
"${node[@]}" SLURMD_NODENAME=n1 "${copy[@]}" 2>/dev/null &
first=$!
wait_for 30 has_begun nodes
"${node[@]}" SLURMD_NODENAME=n2 "${copy[@]}" --duration 300ms 2>said || fail "on another node of this host: $(cat said)"
equal "recordings of two nodes" 2 "$(recordings nodes)"
