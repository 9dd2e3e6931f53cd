# SPDX-License-Identifier: Apache-2.0
# Of two copies of attach --job, or of perfmon, that are started by hand for one job on one node into one directory, the second is refused with
# a sentence that names the first; into another directory it records, and so does one that comes when the first has ended.
. "$TOP/tests/lib.sh"
need jq
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
export PBS_JOBID="79.claim-$$"
ln -s "$SONDE" perfmon
"$PROGRAMS/spin" 100000000 &
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
