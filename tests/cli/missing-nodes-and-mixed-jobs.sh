# SPDX-License-Identifier: Apache-2.0
# Half of a job's nodes have no recording: they are named, and totals are those of the others. A second job of the same name
# is refused the directory of the first one, which stays as it is, and runs.
. "$TOP/tests/lib.sh"
need jq
unset PBS_JOBID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
on_node() { # ID NODE COMMAND...
	id=$1 node=$2
	shift 2
	env SLURM_JOB_ID="$id" SLURM_JOB_NAME=same SLURM_JOB_NODELIST="n[1-8]" SLURM_JOB_NUM_NODES=8 SLURMD_NODENAME="$node" \
		"$@"
}
for node in n1 n3 n5 n7; do
	on_node 50 $node "$SONDE" run --quiet --node-recorder own -i 50ms -o out -- sh -c 'exit 0' || fail "on $node"
done
"$SONDE" show --all out >told
tr -s ' \n' ' ' <told >words
contains words "no recording of: n2, n4, n6, n8"
"$SONDE" show --json out >out.json
equal "nodes" 4 "$(jq '.nodes | length' out.json)"
equal "the nodes are those with recordings" true \
	"$(jq '[.nodes[].host] | sort == ["n1", "n3", "n5", "n7"]' out.json)"
cat out/*.sonde | cksum >before
equal "the second job's own exit status" 7 \
	"$(status_of on_node 51 n2 "$SONDE" run --quiet --node-recorder own -o out -- sh -c 'exit 7' 2>said)"
contains said "holds the recording of another job"
cat out/*.sonde | cksum >after
cmp -s before after || fail "the first job's recording has changed"
equal "files" 4 "$(ls out/*.sonde | wc -l)"
