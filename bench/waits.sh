#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Time of threads (--waits): how right its parts are, and what it costs. Ten minutes; QUICK=1: two.
#
# Threads work and wait in lengths by chance and measure both by their own clocks; their sums are compared with what was recorded of them. A look's cost is
# the helper's CPU time from 3 s on, when it has learned the program, by the looks since then; that of threads that stay blocked is per second. A roll call is timed as its user waits for it, its look at 1,000 processes included.
set -eu
BUILD=${BUILD:-build}
MIXES=${MIXES:-20} MIX_SECONDS=${MIX_SECONDS:-20} COST_SECONDS=${COST_SECONDS:-20}
[ -z "${QUICK:-}" ] || MIXES=3 MIX_SECONDS=15 COST_SECONDS=12
# shellcheck source=bench/bar.sh
. bench/bar.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mix=$BUILD/programs/wait_mix

record() { # NAME CMD...
	local name=$1
	shift
	rm -rf "${scratch:?}/$name"
	"$BUILD/sonde" run --quiet "--waits=${HZ:-10}" -o "$scratch/$name" -- "$@" >"$scratch/$name.out"
}

# Of each thread: the difference of its own time and the recorded one, in % of it; those of its CPU time and of the rest, in points.
for seed in $(seq "$MIXES"); do
	# shellcheck disable=SC2046
	record mix "$mix" "$MIX_SECONDS" $(awk -v seed="$seed" 'BEGIN {
		srand(seed)
		n = split("sleep pipe socket poll mutex condition child", kind)
		for (i = 1; i <= n; i++)
			printf "%s:%.1f:%.1f ", kind[i], rand() * 20, kind[i] == "child" ? 200 + rand() * 300 : 5 + rand() * 80
	}')
	"$BUILD/sonde" show --waits --json "$scratch/mix" >"$scratch/mix.json"
	python3 - "$scratch" <<-'END'
		import json, sys
		threads = {row["tid"]: row for row in json.load(open(sys.argv[1] + "/mix.json"))["thread"]}
		for line in open(sys.argv[1] + "/mix.out"):
		    kind, tid, wall, cpu, *_ = line.split()
		    row, wall, cpu = threads[int(tid)], float(wall), float(cpu)
		    rest = row["ready_seconds"] + row["waited_seconds"]
		    print(kind, 100 * abs(1 - row["wall_seconds"] / wall), 100 * abs(row["on_cpu_seconds"] / row["wall_seconds"] - cpu / wall),
		          100 * abs(rest / row["wall_seconds"] - (1 - cpu / wall)))
	END
done >"$scratch/parts"
bar 'time of a thread that is missing, worst' "$(cut -d ' ' -f 2 "$scratch/parts" | sort -g | tail -n 1)" % '<=' 1
bar 'error of its share on a CPU, worst' "$(cut -d ' ' -f 3 "$scratch/parts" | sort -g | tail -n 1)" points '<=' 2
bar 'error of its share that waits or is ready, worst' "$(cut -d ' ' -f 4 "$scratch/parts" | sort -g | tail -n 1)" points '<=' 2

# From 3 s on: CPU seconds of the helper, looks, and how long that was.
late() { # NAME
	"$BUILD/sonde" export --to csv -o - --metrics 'job.wait_looks*,monitor.waits_cpu*' "$scratch/$1" | python3 -c '
import collections, csv, sys
sums, before, spans = collections.Counter(), {}, collections.Counter()
for row in list(csv.reader(sys.stdin))[1:]:
    at, name = float(row[4]), row[1]
    if at > 3 and name in before:
        sums[name] += float(row[5]) * (at - before[name])
        spans[name] += at - before[name]
    before[name] = at
print(sums["monitor.waits_cpu_cores"], sums["job.wait_looks_per_second"], spans["monitor.waits_cpu_cores"])'
}

# shellcheck disable=SC2046
record looks sh -c 'echo $$ >"$0"; exec "$@"' "$scratch/pid" "$mix" "$COST_SECONDS" $(for _ in $(seq 40); do echo sleep:0:70; done) &
job=$!
sleep 3
# The same threads at the same time: the bare system calls that no look can do without.
read -r floor _ <<<"$("$BUILD/programs/look_floor" "$(cat "$scratch/pid")" "$((COST_SECONDS - 4))" 10)"
wait "$job"
read -r cpu looks _ <<<"$(late looks)"
cost=$(awk "BEGIN { print $cpu / $looks * 1e6 }")
bar 'CPU time of a look at a new wait, all in' "$cost" us '<=' 12
figure 'the system calls of a look alone, in a program that does nothing else' "$floor" us
figure 'a look, to that' "$(awk "BEGIN { print $cost / $floor }")" times
figure 'looks' "$looks" ''

# shellcheck disable=SC2046
record blocked "$mix" 1 $(for _ in $(seq 1000); do echo "sleep:0:${COST_SECONDS}000"; done)
read -r cpu _ span <<<"$(late blocked)"
bar '1,000 blocked threads, 10 looks a second' "$(awk "BEGIN { print 100 * $cpu / $span }")" '% of a core' '<=' 0.5

# Sixteen threads of Python, each in a wait of its own at each look. QUICK=1: one interpreter.
cat >"$scratch/waits.py" <<-'END'
	import random, sys, threading, time
	def nap():
	    time.sleep(random.uniform(0.02, 0.2))
	def work():
	    end = time.monotonic() + float(sys.argv[1])
	    while time.monotonic() < end:
	        nap()
	threads = [threading.Thread(target=work) for _ in range(16)]
	for one in threads: one.start()
	for one in threads: one.join()
END
PYTHONPATH=tests python3 -c 'import interpreters
for (version, _), path in sorted(interpreters.known().items()): print(version, path)' | if [ -n "${QUICK:-}" ]; then head -n 1; else cat; fi >"$scratch/pythons"
# py-spy at the same program, so often, without stopping it either; where it can be installed.
python3 -m venv "$scratch/venv" && "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check py-spy==0.4.3 || echo 'py-spy cannot be installed: it is left out'
spied() { # VERSION PYTHON
	local job for=$((COST_SECONDS - 3))
	[ -x "$scratch/venv/bin/py-spy" ] || return 0
	"$2" "$scratch/waits.py" "$COST_SECONDS" &
	job=$!
	sleep 1
	figure "Python $1, py-spy record --rate 20 --idle --nonblocking" "$(python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(100 * (used.ru_utime + used.ru_stime) / float(sys.argv[1]))' "$for" "$scratch/venv/bin/py-spy" record --rate 20 --idle --nonblocking --duration "$for" --format raw --output "$scratch/spied" --pid "$job")" '% of a core'
	wait "$job"
}
while read -r version python; do
	HZ=20 record python "$python" "$scratch/waits.py" "$COST_SECONDS" </dev/null
	read -r cpu looks span <<<"$(late python)"
	bar "Python $version, 16 threads, 20 looks a second" "$(awk "BEGIN { print 100 * $cpu / $span }")" '% of a core' '<=' 1
	spied "$version" "$python" </dev/null
done <"$scratch/pythons"

# A roll call: processes that say that they are ranks, one of them elsewhere; all that a user waits for.
# shellcheck disable=SC2016 # of the inner shell
sh -c 'for rank in $(seq 0 999); do
	OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=1000 timeout 60 "$0/programs/stuck" "$([ "$rank" = 17 ] && echo mutexes || echo idle)" &
done; wait' "$BUILD" &
ranks=$!
for _ in $(seq 40); do
	sleep 1
	begun=$(date +%s.%N)
	"$BUILD/sonde" stacks "$ranks" >"$scratch/roll"
	took=$(awk "BEGIN { print $(date +%s.%N) - $begun }")
	grep -q '^999 of 1000 ranks (0-16, 18-999) in pause ' "$scratch/roll" && break
done
grep -q '^rank 17 in pthread_mutex_lock < wait_for_mutex ' "$scratch/roll"
bar 'roll call of 1,000 ranks on one node' "$took" s '<=' 1
for child in $(pgrep -P "$ranks"); do
	kill "$child"
done
wait "$ranks" || true
exit "$missed"
