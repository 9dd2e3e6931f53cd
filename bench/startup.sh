#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The time until the job of `sonde run` starts, which is after the first sample, compared with a bare C program that
# opens the same files (bench/start.c), and the time that `sonde run` ends after its job. Takes a minute. Needs strace, which
# lists these files, in this run.
#
# Wall time is from before the exec of Sonde to the first instruction of the job. CPU time is that of the launcher
# until then, and of the recorder until it reads its own in the first sample. The bare program opens every file that
# Sonde has opened by then, except shared libraries, and reads each once; it parses nothing, starts no process and
# writes nothing. The recording's files are created while the job starts, and neither side includes them. The two
# alternate.
#
# The job ends at once. From then on it is measured how long the command takes to end, with Sonde and without; with Sonde
# the recording is complete for its readers by then, and without --quiet it is on the disk and its summary is printed.
#
# The programs are copies, as an installed one is: a file that the linker wrote piecemeal is mapped page by page.
#
# With build/sonde-static (make static), which is what a release has, the same is measured in turns with build/sonde.
#
# The wall time until the job starts contains two execs, Sonde's and the job's; that of the bare program contains one.
# The job's exec also happens without Sonde: it is measured separately and not judged.
#
# The first perf event of a task, where there was none for a second, waits until every CPU knows that there are some. In these rounds
# there always was one a moment ago; once more the time is measured after pauses.

# shellcheck disable=SC2154 # what the file named here sets
set -eu
. bench/bar.sh
BUILD=${BUILD:-build} ROUNDS=${ROUNDS:-40}
[ -z "${QUICK:-}" ] || ROUNDS=10
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
for program in sonde-static bench/start sonde; do
	[ ! -x "$BUILD/$program" ] || cp "$BUILD/$program" "$scratch/bin"
done
export SONDE_LIBEXEC=$PWD/$BUILD/libexec/sonde
case $BUILD in /*) SONDE_LIBEXEC=$BUILD/libexec/sonde ;; esac
start=$scratch/bin/start program=$scratch/bin/sonde

# The paths that were opened before the recorder says that the first sample is taken (MESSAGE_READY of job/message.h).
opened() { # TRACE
	awk '
		/sendmsg\([0-9]+<[^>]*>, .*"\\[0-7]+\\0\\0\\0\\1\\0\\0\\0/ { said = 1; exit }
		/openat?\(/ && match($0, /\) += [0-9]+<[^>]*>/) {
			path = substr($0, RSTART, RLENGTH)
			gsub(/^[^<]*<|>$/, "", path)
			sub(/^\/proc\/[0-9]+\//, "/proc/self/", path)
			if (path !~ /\.so[.0-9]*$|\/ld\.so/)
				print path
		}
		END { exit !said }' "$1"
}

run_sonde() { # OPTION...
	rm -rf "$scratch/out"
	"$start" "$program" run "$@" -o "$scratch/out" -- "$start" here
}

recorder_us() { # CPU of the recorder when it read it for the first time
	"$BUILD/sonde" export "$scratch/out" -o - --raw --wide --metrics monitor.cpu_seconds |
		awk -F, 'NR == 2 { printf "%.1f\n", $NF * 1e6 }'
}

strace -f -y -e trace=open,openat,sendmsg -o "$scratch/trace" "$program" run -q -o "$scratch/out" -- "$start" here 9>/dev/null
opened "$scratch/trace" >"$scratch/list"
for _ in $(seq "$ROUNDS"); do
	rm -rf "$scratch/out"
	mkdir "$scratch/out"
	"$start" "$start" bare "$scratch/list" | cut -d ' ' -f 1,2 >>"$scratch/bare"
	run_sonde -q >"$scratch/run"
	cut -d ' ' -f 3 "$scratch/run" >>"$scratch/end"
	echo "$(cut -d ' ' -f 1,2 "$scratch/run") $(recorder_us)" >>"$scratch/sonde"
	run_sonde 2>/dev/null | cut -d ' ' -f 3 >>"$scratch/summary"
	if [ -x "$scratch/bin/sonde-static" ]; then
		program=$scratch/bin/sonde-static
		run_sonde -q >"$scratch/run"
		program=$scratch/bin/sonde
		echo "$(cut -d ' ' -f 1,2 "$scratch/run") $(recorder_us)" >>"$scratch/static"
	fi
	rm -rf "$scratch/out"
	"$start" "$start" here >"$scratch/run"
	cut -d ' ' -f 1,2 "$scratch/run" >>"$scratch/job"
	cut -d ' ' -f 3 "$scratch/run" >>"$scratch/bare_end"
done

pauses=$((ROUNDS / 5))
for _ in $(seq "$pauses"); do
	sleep 1.5
	run_sonde -q | cut -d ' ' -f 1 >>"$scratch/paused"
done

column() { # ARM AWK-EXPRESSION: the median
	awk "{ printf \"%.1f\n\", $2 }" "$scratch/$1" | median
}

times() { # EXPRESSION-OF-SONDE-AND-JOB COLUMN-OF-BARE
	paste "$scratch/sonde" "$scratch/bare" "$scratch/job" | awk "{ printf \"%.2f\n\", ($1) / \$$2 }" | median
}

figure 'files that are opened' "$(wc -l <"$scratch/list")" files
figure 'CPU of the bare program' "$(column bare '$2')" us
figure 'CPU of the launcher and the recorder' "$(column sonde '$2 + $3')" us
bar 'times the CPU of the bare program' "$(times '$2 + $3' 5)" times '<=' 2
figure 'wall time of the bare program' "$(column bare '$1')" us
figure 'wall time until the job begins' "$(column sonde '$1')" us
figure 'wall time until the same job begins without Sonde' "$(column job '$1')" us
bar 'times the wall time of the bare program, without what the job itself takes to begin' "$(times '$1 - $6' 4)" times '<=' 2
figure 'times the wall time of the bare program, with it' "$(times '$1' 4)" times
figure 'wall time until the job begins, after 1.5 s in which no task had a perf event' "$(column paused '$1')" us
more() { # EXPRESSION: ms of the static program beyond those of the other
	paste "$scratch/static" "$scratch/sonde" | awk "{ printf \"%.3f\n\", ($1) / 1e3 }" | median
}
if [ -e "$scratch/static" ]; then
	figure 'wall time until the job begins, static program, beyond the dynamic one' "$(more '$1 - $4')" ms
	bar 'CPU until the job begins, static program, beyond the dynamic one' "$(more '$2 + $3 - $5 - $6')" ms '<=' 3
fi
later() { # FILE: ms that its command ended after its job, more than without Sonde
	paste "$scratch/$1" "$scratch/bare_end" | awk '{ printf "%.2f\n", ($1 - $2) / 1e3 }' | median
}

bar 'the command ends after its job, with --quiet, later than without Sonde' "$(later end)" ms '<=' 3
figure 'with the summary' "$(later summary)" ms
exit $missed
