# SPDX-License-Identifier: Apache-2.0
# Copies of attach --job on the nodes of a job: that on the first says in a line where the recording is, the others say nothing, and a copy
# that is alone tells the whole story.
. "$TOP/tests/lib.sh"

on() { # NODE NODES OPTION...
	local node=$1 nodes=$2
	shift 2
	SLURM_JOB_ID=9 SLURM_JOB_NODELIST=$nodes SLURMD_NODENAME=$node \
		"$SONDE" attach --job --duration 300ms -i 100ms "$@" 2>"said.$node" || fail "attach on $node: $(cat "said.$node")"
}
on n1 'n[1-2]' -o both
on n2 'n[1-2]' -o both
one_sentence said.n1
contains said.n1 "recorded job 9 on n1"
contains said.n1 "next: sonde report both"
equal "what the second node says" "" "$(cat said.n2)"
equal "recordings" 2 "$(find both -name 'node-*.sonde' | wc -l)"
on n1 n1 -o alone
contains said.n1 "recording   alone; next: sonde show --all, sonde report"
on n2 'n[1-2]' -o told --summary summary
contains summary "recording   told; next: sonde report told"
