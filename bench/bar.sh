# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Sourced by the benches: prints figures and compares them with their bars.
#
#   figure WHAT VALUE UNIT             a figure without a bar
#   bar WHAT VALUE UNIT OP LIMIT       a figure and its bar; OP is <= or >=
#
# Both print a line for people; with BENCH_TSV set they also append to that file, separated by tabs:
# bench, what, value, unit, op, limit, verdict (op and limit empty and verdict "-" without a bar).
# A program that is not a shell script appends the same lines itself.
BENCH=${BENCH:-$(basename "$0" .sh)}
missed=0

say_figure() { # WHAT VALUE UNIT OP LIMIT VERDICT
	if [ "$6" = - ]; then
		printf '  %s: %s %s\n' "$1" "$2" "$3"
	else
		printf '  %s: %s %s, bar %s %s: %s\n' "$1" "$2" "$3" "$4" "$5" "$6"
	fi
	[ -z "${BENCH_TSV:-}" ] || printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$BENCH" "$@" >>"$BENCH_TSV"
}

figure() {
	say_figure "$1" "$2" "$3" '' '' -
}

bar() {
	if awk -v v="$2" -v l="$5" "BEGIN { exit !(v $4 l) }"; then
		say_figure "$@" met
	else
		say_figure "$@" missed
		# shellcheck disable=SC2034 # read by the benches
		missed=1
	fi
}

median() {
	sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# CPU seconds of all that a command starts, itself included.
cpu_of() {
	python3 - "$@" <<-'END'
		import ctypes, os, resource, subprocess, sys
		ctypes.CDLL(None).prctl(36, 1)
		subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		while True:
		    try:
		        os.wait()
		    except ChildProcessError:
		        break
		r = resource.getrusage(resource.RUSAGE_CHILDREN)
		print(r.ru_utime + r.ru_stime)
	END
}
