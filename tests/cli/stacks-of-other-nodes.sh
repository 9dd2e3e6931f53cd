# SPDX-License-Identifier: Apache-2.0
# limit: 120
# sonde stacks of a recording shows the job's threads and ranks on all nodes: recorders on other nodes are asked in its directory, and nothing of that is left.
# Where no progress is seen, the roll call of all nodes' ranks is in the verdict.
. "$TOP/tests/lib.sh"
[ -x "$BUILD/libexec/sonde/sonde-unwind" ] || skip "the helper sonde-unwind was not built"
unshare --uts hostname other-node 2>/dev/null || skip "host names cannot be changed here"

# Two ranks on each of two nodes, of five that there should be; a machine of any other name is a third one.
node() { # HOST NUMBER RANK RANK
	# shellcheck disable=SC2016 # of the inner shells
	unshare --uts sh -c 'hostname "$1"; export SLURM_JOB_ID=77 SLURM_JOB_NODELIST="s[1-2]" SLURM_NNODES=2 SLURM_STEP_ID=0 SLURM_NODEID="$2" OMPI_COMM_WORLD_SIZE=5
		exec "$SONDE" run --quiet -i 200ms --watch-hang 2s -o job -- timeout 20 sh -c "for rank in $3 $4; do OMPI_COMM_WORLD_RANK=\$rank $PROGRAMS/stuck idle & done; wait"' sh "$@" >/dev/null 2>&1 &
}
node s1 0 0 1
node s2 1 2 3
is_seen() {
	"$SONDE" stacks --wait 15s job >all 2>said && grep -q '^4 of 5 ranks (0-3) in ' all
}
wait_for 40 is_seen
contains all "in pause < main (stuck.c:"
contains all "no process was seen of rank 4"
contains all "s1 pid "
contains all "s2 pid "
equal "what is left of the questions" "" "$(find job -name 'stacks-*')"
unshare --uts sh -c 'hostname s1; exec "$SONDE" stacks --json --wait 15s job' >one.json 2>said || fail "asked on one of the nodes: $(cat said)"
equal "threads by node" "2 s1, 2 s2" "$(jq -r '[.threads[] | select(.process == "stuck") | .node] | group_by(.) | map("\(length) \(.[0])") | join(", ")' one.json)"
equal "ranks" "0-3 of 5" "$(jq -r '"\(.roll_call.groups[0].ranks) of \(.roll_call.ranks)"' one.json)"
wait
"$SONDE" show --json job | jq -r '.verdicts[0].sentence' >verdict
contains verdict "4 of 5 ranks (0-3) in pause < main (stuck.c:"

# Who does not answer is named, and nobody waits for who has ended.
"$SONDE" stacks job >after 2>said && fail "a job that has ended"
one_sentence said
