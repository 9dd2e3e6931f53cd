#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds, then runs the tests: tests/run.sh [--long] [NAME...]. NAME is the beginning of a test's name as it
# is printed: "cli/", "unit/frame". A test is a program that exits with 0, or with 77 and a last line of
# output that says why it was skipped. Each runs in an empty folder, which is kept when it fails.
# In a script's first lines, "# limit: SECONDS" changes its time limit, "# alone" keeps others away, and
# "# plain" keeps it from being run with sanitizers. A fuzz target is given its corpus, and nothing by chance; with
# --long it searches for a minute, goes on in build/sanitized/corpus from where it was, adds to its corpus what covers
# more, and its runs are added up in build/sanitized/fuzz-runs.
# What failed beside others and watches running processes is run once more, alone: on a busy machine a process may get
# no CPU for seconds. The report names each test that passed only then.
set -u
cd "$(dirname "$0")/.." || exit 1

TOP=$PWD
BUILD=$(realpath -m "${BUILD:-build}")
PYTHON=/usr/bin/python3
LONG=
JOBS=2
PROGRAMS=$BUILD/programs
LC_ALL=C.UTF-8
PYTHONPATH=$TOP/tests
PYTHONDONTWRITEBYTECODE=1
ASAN_OPTIONS=detect_leaks=1:abort_on_error=1
UBSAN_OPTIONS=print_stacktrace=1
export XDG_DATA_HOME TOP BUILD PYTHON LONG PROGRAMS LC_ALL PYTHONPATH PYTHONDONTWRITEBYTECODE ASAN_OPTIONS UBSAN_OPTIONS

[ "${1:-}" != --long ] || {
	LONG=1
	shift
}
chosen=("$@")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-check.XXXXXX")
results=$scratch/results
XDG_DATA_HOME=$scratch/data # the history of the runs in tests
mkdir "$results"
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
names=() limits=() companies=() flavours=() commands=()

add() { # NAME SECONDS together|alone plain|sanitized COMMAND
	local wanted=${#chosen[@]} prefix
	for prefix in "${chosen[@]}"; do
		[[ $1 != "$prefix"* ]] || wanted=0
	done
	[ "$wanted" = 0 ] || return 0
	names+=("$1") limits+=("$2") companies+=("$3") flavours+=("$4") commands+=("$5")
}

add_script() { # FILE FLAVOUR
	local name=${1#tests/} head limit company=together command factor=1
	head=$(head -n 8 "$1")
	limit=$(sed -n 's/^# limit: //p' <<<"$head")
	! grep -qx '# alone' <<<"$head" || company=alone
	case $1 in
	*.py) command="$PYTHON $(printf %q "$TOP/$1")" ;;
	*) command="bash $(printf %q "$TOP/$1")" ;;
	esac
	name=${name%.*}
	if [ "$2" = sanitized ]; then
		[ $company = together ] && ! grep -qx '# plain' <<<"$head" || return 0
		name="$name (sanitized)" factor=4
	fi
	add "$name" $((${limit:-120} * factor)) $company "$2" "$command"
}

collect() {
	local file name folder live=
	# These ask hardware that few machines have.
	[[ ! -e /dev/nvidiactl && " ${chosen[*]}" != *" live"* ]] || live=live
	for folder in lint build cli fault interop cluster golden bench accuracy $live; do
		for file in "tests/$folder"/*.sh "tests/$folder"/*.py; do
			[ ! -e "$file" ] || add_script "$file" plain
		done
	done
	for file in tests/unit/test_*.c; do
		name=$(basename "$file" .c)
		add "unit/${name#test_}" 120 together plain "\$BUILD/unit/$name"
		add "unit/${name#test_} (sanitized)" 480 together sanitized "\$BUILD/unit/$name"
	done
	for file in tests/fuzz/fuzz_*.c; do
		name=$(basename "$file" .c)
		add "fuzz/${name#fuzz_}" 240 together sanitized "\$TOP/tests/fuzz/run.sh ${name#fuzz_}"
	done
	for file in ${LONG:+tests/cli/*.sh tests/fault/*.sh}; do
		add_script "$file" sanitized
	done
}

run_one() { # INDEX [ROUND]
	local i=$1 folder status started=$EPOCHREALTIME seconds
	folder=$scratch/${names[i]//[\/ ()]/_}${2:-}
	mkdir "$folder" && cd "$folder" || exit 1
	if [ "${flavours[i]}" = sanitized ]; then
		BUILD=$BUILD/sanitized
	fi
	SONDE=$BUILD/sonde PATH=$BUILD:$PATH HOME=$folder TMPDIR=$folder \
		timeout -k 5 "${limits[i]}" bash -c "${commands[i]}" >output.log 2>&1 </dev/null
	status=$?
	seconds=$(awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $started }")
	case $status in
	0) printf 'passed  %s  (%s s)\n' "${names[i]}" "$seconds" | tee "$results/$i" ;;
	77) printf 'skipped %s: %s\n' "${names[i]}" "$(tail -n 1 output.log)" | tee "$results/$i" ;;
	124 | 137) printf 'failed  %s: no end after %s s\n' "${names[i]}" "${limits[i]}" | tee "$results/$i" ;;
	*) printf 'failed  %s: exit code %s\n' "${names[i]}" "$status" | tee "$results/$i" ;;
	esac
	case $status in
	0 | 77) rm -rf "$folder" ;;
	*)
		tail -n 20 output.log | cut -c 1-300 | sed 's/^/        | /'
		printf '        tests/run.sh "%s"   (its folder: %s)\n' "${names[i]}" "$folder" >>"$results/$i"
		;;
	esac
}

build() { # NAME MAKE-ARGUMENTS...
	local name=$1 log=$scratch/build_$1.log
	shift
	echo "building $name"
	if make -s -k -j"$JOBS" "$@" >"$log" 2>&1; then
		echo "passed  build $name" >"$results/build_$name"
	else
		printf 'failed  build %s\n        make %s   (its output: %s)\n' "$name" "${*@Q}" "$log" |
			tee "$results/build_$name"
		grep -m 20 -E 'error|Error|ERR|\*\*\*' "$log"
	fi
}

build_all() {
	build gcc CC=gcc BUILD="$BUILD" all unit programs bench-programs examples
	if printf '%s\n' "${flavours[@]}" | grep -q sanitized; then
		build clang_sanitized CC=clang OPT='-O1 -g' SANITIZE=address,undefined,fuzzer-no-link \
			BUILD="$BUILD/sanitized" "$BUILD/sanitized/sonde" unit fuzz
	fi
}

run_company() { # together|alone PARALLEL
	local i
	for i in "${!names[@]}"; do
		[ "${companies[i]}" = "$1" ] || continue
		while [ "$(jobs -rp | wc -l)" -ge "$2" ]; do
			wait -n
		done
		(run_one "$i") &
	done
	wait
}

# Lints and fuzzers say the same of a busy machine, and a fault that makes many tests fail is no accident.
again_alone() {
	local i failed=()
	for i in "${!names[@]}"; do
		[[ ! "${names[i]}" =~ ^(cli|fault|cluster|interop|unit|bench|accuracy)/ ]] ||
			! grep -qs '^failed' "$results/$i" || failed+=("$i")
	done
	[ ${#failed[@]} -le 6 ] && [ ${#chosen[@]} -eq 0 ] || return 0
	for i in "${failed[@]}"; do
		echo "again, alone: ${names[i]}"
		mv "$results/$i" "$scratch/first_$i"
		run_one "$i" _again
		if grep -q '^passed' "$results/$i"; then
			sed -i '1s/$/, but failed beside others/' "$results/$i"
		fi
	done
}

report() {
	local passed failed skipped
	passed=$(grep -l '^passed' "$results"/* | wc -l)
	failed=$(grep -l '^failed' "$results"/* | wc -l)
	skipped=$(grep -l '^skipped' "$results"/* | wc -l)
	echo
	grep -h '^skipped' "$results"/*
	grep -h 'failed beside others$' "$results"/*
	[ "$failed" -eq 0 ] || grep -h -A 1 --no-group-separator '^failed' "$results"/*
	[ "$failed" -ne 0 ] || rm -rf "$scratch"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
}

collect
[ ${#names[@]} -gt 0 ] || {
	echo "tests/run.sh: no test's name begins with: ${chosen[*]}" >&2
	exit 2
}
build_all
[ -x "$BUILD/sonde" ] || {
	report
	exit 1
}
run_company together "$JOBS"
run_company alone 1
again_alone
report
