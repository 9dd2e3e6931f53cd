# SPDX-License-Identifier: Apache-2.0
# Two nodes of a job that tells no list of nodes, no numbers and no ranks: the one whose recording began first writes the results of both.
. "$TOP/tests/lib.sh"
need jq
unshare --uts --pid --fork --mount-proc true 2>/dev/null || skip "namespaces are not permitted here"
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN PBS_NODEFILE PBS_NODEFILE_LOCAL PBS_NODENUM
export PBS_JOBID="83.two-$$"
ln -s "$SONDE" perfmon

node() { # NAME
	unshare --uts --pid --fork --kill-child --mount-proc bash -c "hostname $1
		'$PROGRAMS/spin' 300000000 &
		./perfmon -i 100ms -v" >"said.$1" 2>&1 &
}

recordings() { # NUMBER
	[ "$(find "sonde_$PBS_JOBID" -name 'node-*.sonde' -size +0 | wc -l)" = "$1" ]
}

node b
b=$!
wait_for 30 recordings 1
sleep 0.3
node a
a=$!
wait_for 30 recordings 2
echo FINISHED >".ipc-$PBS_JOBID"
wait $a || fail "node a: $(cat said.a)"
wait $b || fail "node b: $(cat said.b)"
contains ska_sdp_monitoring_metrics_a.log "Another node of the job writes the results"
contains ska_sdp_monitoring_metrics_b.log "| Written: $PWD/metrics/cpu_metrics.json"
! grep -q Written: ska_sdp_monitoring_metrics_a.log || fail "both have written the results"
equal "hosts" "a b" "$(jq -r '.host_names | sort | join(" ")' metrics/cpu_metrics.json)"

# The job's first node has no copy: that of rank 0 writes them; with a copy there that one does.
printf '%s\n' first a b >nodes
export PBS_NODEFILE=$PWD/nodes PMI_SIZE=2
for others in b first; do
	export PBS_JOBID="84.$others-$$"
	PMI_RANK=0 node a
	a=$!
	wait_for 30 recordings 1
	PMI_RANK=1 node $others
	b=$!
	wait_for 30 recordings 2
	rm -r metrics
	echo FINISHED >".ipc-$PBS_JOBID"
	wait $a || fail "node a: $(cat said.a)"
	wait $b || fail "node $others: $(cat said.$others)"
	[ -s metrics/cpu_metrics.json ] || fail "nobody has written the results of a and $others"
done
equal "results that a has written" 1 "$(grep -c 'Written: .*cpu_metrics.json' ska_sdp_monitoring_metrics_a.log)"
equal "results that the first node has written" 1 "$(grep -c 'Written: .*cpu_metrics.json' ska_sdp_monitoring_metrics_first.log)"
