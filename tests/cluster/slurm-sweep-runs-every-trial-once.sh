# SPDX-License-Identifier: Apache-2.0
# limit: 900
# A sweep as job arrays of a real Slurm: whoever submits is killed at random moments (20 with --long), alone or with its process group, and
# started again; every trial is in the store exactly once, and none ran twice.
. "$TOP/tests/cluster/harness/slurm.sh"
for helper in database yaml; do
	[ -x "$LIBEXEC/sonde-$helper" ] || skip "sonde-$helper was not built"
done
cluster_start
export SONDE_HISTORY=off
kills=2
[ -z "$LONG" ] || kills=20

write_spec() { # IDENTIFIER
	cat >"$1.yaml" <<-END
		identifier: $1
		script: |
		  #!/bin/sh
		  echo "\$X \$Y \$SLURM_ARRAY_JOB_ID" >>"$PWD/log.$1"
		  echo '{"name": "PiSlurm", "component": "sh", "@parameters": {"x": '\$X'}, "@result": {"y": '\$Y'}}'
		batch_size: 2
		run: {requests: {cpu: 500m, memory: 10Mi}}
		slurm: [--time=5]
		matrix:
		  parameters: {X: [1, 2, 3], Y: [1, 2]}
	END
}

trials() { # IDENTIFIER: how many, and how many of them are one
	"$PYTHON" - "$1" <<-'END'
		import sqlite3, sys
		print(*sqlite3.connect("store.sqlite").execute("SELECT COUNT(*), COUNT(DISTINCT t.batch_id || '/' || t.number) FROM trials t JOIN sweep_points p "
		    "ON p.batch_id = t.batch_id JOIN sweeps s ON s.id = p.sweep_id WHERE s.identifier = ? AND t.state = 'ok'", sys.argv[1:]).fetchone())
	END
}

sweep() { # IDENTIFIER
	"$SONDE" bench sweep -q --json --executor slurm --store "$PWD/store.sqlite" "$1.yaml" >"$1.json" 2>"$1.said"
}

write_spec whole
sweep whole || fail "sweep: $(cat whole.said whole.json)"
equal "trials" "12 12" "$(trials whole)"
equal "runs" 12 "$(wc -l <log.whole)"
json_says '.responses | length == 6 and all(.trials == 2 and .failed == 0 and .missing == 0)' <whole.json >/dev/null || fail "report: $(cat whole.json)"
sweep whole || fail "again: $(cat whole.said)"
equal "runs, asked again" 12 "$(wc -l <log.whole)"

# A built-in benchmark; what a node has not, and what Slurm does not take.
cat >built_in.yaml <<-'END'
	script: files
	arguments: [--files, '${N}', --repeats, 1, --seconds, 1ms]
	matrix: {parameters: {N: [9, 12]}}
END
cat >cores.yaml <<-'END'
	script: files
	arguments: [--files, 9]
	run: {requests: {hardware: {physical_cpus: 100000}}}
END
cat >nowhere.yaml <<-'END'
	script: files
	arguments: [--files, 9]
	matrix: {parameters: {N: [1, 2]}}
	slurm: [--partition=nowhere]
END
sweep built_in || fail "built in: $(cat built_in.said built_in.json)"
json_says '.responses | length == 2 and all(.trials == 1 and .failed == 0)' <built_in.json >/dev/null || fail "built in: $(cat built_in.json)"
if grep -q '^core id' /proc/cpuinfo; then
	sweep cores || fail "cores: $(cat cores.said cores.json)"
	json_says '.responses == [] and (.skipped[0].reason | contains(": 100000 cores were requested, but there are"))' <cores.json >/dev/null ||
		fail "cores: $(cat cores.json)"
fi
sweep nowhere && fail "a sweep that Slurm refuses ends well"
json_says '.responses == [] and (.skipped | length == 2 and all(.reason | startswith("sbatch: ")))' <nowhere.json >/dev/null ||
	fail "nowhere: $(cat nowhere.said nowhere.json)"

RANDOM=$$
for kill in $(seq $kills); do
	# Each time another sweep, every second one cut off twice.
	[ $((kill % 2)) = 0 ] || {
		name=killed$kill
		write_spec "$name"
	}
	setsid "$SONDE" bench sweep -q --executor slurm --store "$PWD/store.sqlite" "$name.yaml" >/dev/null 2>&1 &
	pid=$!
	sleep "0.$((RANDOM % 900 + 100))"
	if [ $((kill % 2)) = 0 ]; then
		kill -KILL "$pid" 2>/dev/null || true
	else
		kill -KILL -- "-$pid" 2>/dev/null || true
	fi
	wait $pid || true
	[ $((kill % 2)) = 0 ] || [ $kill = $kills ] && {
		sweep "$name" || fail "sweep $name: $(cat "$name.said" "$name.json")"
		equal "trials of $name" "12 12" "$(trials "$name")"
		equal "runs of $name" 12 "$(wc -l <"log.$name")"
	}
done
exit 0
