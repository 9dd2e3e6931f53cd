#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds what the tests need, then runs them: tests/run.sh [--long | --quick] [NAME...]. NAME is the beginning of a test's
# name as it is printed: "cli/", "unit/frame". A test is a program that exits with 0, or with 77 and a last line of
# output that says why it was skipped. Each runs in an empty folder, which is kept when it fails.
# In a script's first lines, "# limit: SECONDS" changes its time limit, "# alone" keeps others away, "# quiet" all but
# others that say so and together leave CPUs free, and "# plain" keeps it from being run with sanitizers. A fuzz target is given its corpus, and nothing by chance; with
# --long it searches for a minute, goes on in build/sanitized/corpus from where it was, adds to its corpus what covers
# more, and its runs are added up in build/sanitized/fuzz-runs.
# A unit test runs with sanitizers, and also without if it asks which of the two it is; with --long if it only tries more then. With --quick nothing is built
# with sanitizers: unit tests run without, NAME is any part of a name, and without a NAME the unit tests, goldens and
# quick lints run.
# The longest tests (tests/times) start first, as many together as keep $JOBS CPUs busy: one that waits leaves room for
# another. The build with sanitizers and the lints have the lowest priority: they use what the others leave.
# RELEASED=FOLDER: the programs of tests are FOLDER/sonde, of an unpacked release (RELEASED=.../sonde-VERSION-linux-ARCH/bin tests/run.sh cli/), laid as
# a build lays them: the helpers below the program. With BUILT=1 nothing is built: the tree was built on another machine, whose C library is older.
# What failed beside others and watches running processes is run once more, alone: on a busy machine a process may get
# no CPU for seconds. The report names each test that passed only then.
set -u
cd "$(dirname "$0")/.." || exit 1

TOP=$PWD
BUILD=$(realpath -m "${BUILD:-build}")
PYTHON=/usr/bin/python3
LONG=
QUICK=
JOBS=${JOBS:-2}
PROGRAMS=$BUILD/programs
LC_ALL=C.UTF-8
PYTHONPATH=$TOP/tests
PYTHONDONTWRITEBYTECODE=1
ASAN_OPTIONS=detect_leaks=1:abort_on_error=1
UBSAN_OPTIONS=print_stacktrace=1
GOCACHE=${GOCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/go-build} # each test has a HOME of its own: Go would compile its library in each
export GOCACHE TOP BUILD PYTHON LONG JOBS PROGRAMS LC_ALL PYTHONPATH PYTHONDONTWRITEBYTECODE ASAN_OPTIONS UBSAN_OPTIONS

case ${1:-} in
--long) LONG=1 && shift ;;
--quick) QUICK=1 && shift ;;
esac
chosen=("$@")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-check.XXXXXX")
results=$scratch/results
mkdir "$results"
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
if [ -n "${RELEASED:-}" ]; then
	chmod 711 "$scratch" # some tests run it as another user
	mkdir "$scratch/released"
	cp "$RELEASED/sonde" "$scratch/released/"
	ln -s "$(realpath "$RELEASED/../libexec")" "$scratch/released/libexec"
	RELEASED=$scratch/released
fi
names=() limits=() companies=() flavours=() commands=()
sanitized="build clang_sanitized"

# Of an earlier run: the seconds of each test, and the tenths of a CPU that it kept busy.
declare -A seconds_of=() load_of=()
while read -r seconds load name; do
	seconds_of[$name]=$seconds load_of[$name]=$load
done < <(awk '/^[0-9]/ { seconds = $1; load = int(10 * $2 / $1 + 0.5); sub(/^[^ ]+ [^ ]+ /, "")
	print int(seconds), (load < 1 ? 1 : load > 10 ? 10 : load), $0 }' tests/times)

is_chosen() { # NAME
	local part
	if [ -n "$QUICK" ] && [ ${#chosen[@]} -eq 0 ]; then
		[[ $1 =~ ^(unit|golden|lint)/ ]] && [ "${seconds_of[$1]:-0}" -le 8 ]
		return
	fi
	for part in "${chosen[@]}"; do
		if [[ $1 == "$part"* || (-n $QUICK && $1 == *"$part"*) ]]; then
			return 0
		fi
	done
	[ ${#chosen[@]} -eq 0 ]
}

add() { # NAME SECONDS together|quiet|alone plain|sanitized|build COMMAND
	names+=("$1") limits+=("$2") companies+=("$3") flavours+=("$4") commands+=("$5")
}

add_chosen() { # as add
	! is_chosen "$1" || add "$@"
}

# What the first lines of a script say, and which unit tests also run without sanitizers.
declare -A heads=()
plain_units=
read_heads() {
	local file text
	while IFS=: read -r file text; do
		heads[$file]+=" $text "
	done < <(awk 'FNR <= 8 && /^# (limit: [0-9]+|quiet|alone|plain)$/ { print FILENAME ":" substr($0, 3) }' tests/*/*.sh tests/*/*.py)
	plain_units=$(grep -lE "__SANITIZE|^#if.*SANITIZED${LONG:+|sanitized_stride}" tests/unit/test_*.c)
}

add_script() { # FILE FLAVOUR
	local name=${1#tests/} head=${heads[$1]-} limit=120 company=together command factor=1
	[[ ! $head =~ limit:\ ([0-9]+) ]] || limit=${BASH_REMATCH[1]}
	[[ ! $head =~ (quiet|alone) ]] || company=${BASH_REMATCH[1]}
	[[ $name != lint/* ]] || factor=3 # at the lowest priority
	printf -v command %q "$TOP/$1"
	case $1 in
	*.py) command="$PYTHON $command" ;;
	*) command="bash $command" ;;
	esac
	name=${name%.*}
	if [ "$2" = sanitized ]; then
		[[ $company = together && $head != *" plain "* ]] || return 0
		name="$name (sanitized)" factor=4
	fi
	add_chosen "$name" $((limit * factor)) $company "$2" "$command"
}

add_unit() { # FILE
	local program=${1##*/} name
	program=${program%.c}
	name=unit/${program#test_}
	if [[ -n $QUICK || $'\n'$plain_units$'\n' == *$'\n'$1$'\n'* ]]; then
		add_chosen "$name" 120 together plain "\$BUILD/unit/$program"
	fi
	[ -n "$QUICK" ] || add_chosen "$name (sanitized)" 480 together sanitized "\$BUILD/unit/$program"
}

collect() {
	local file name folder live='' release=''
	read_heads
	# These ask hardware that few machines have.
	[[ ! -e /dev/nvidiactl && " ${chosen[*]}" != *" live"* ]] || live=live
	# Minutes of building.
	[[ -z $LONG && " ${chosen[*]}" != *" release"* ]] || release=release
	for folder in lint build cli fault interop cluster golden bench accuracy $live $release; do
		for file in "tests/$folder"/*.sh "tests/$folder"/*.py; do
			[ ! -e "$file" ] || add_script "$file" plain
		done
	done
	for file in tests/unit/test_*.c; do
		add_unit "$file"
	done
	[ -z "$QUICK" ] || return 0
	for file in tests/fuzz/fuzz_*.c; do
		name=${file##*/} name=${name%.c}
		add_chosen "fuzz/${name#fuzz_}" 240 together sanitized "\$TOP/tests/fuzz/run.sh ${name#fuzz_}"
	done
	for file in ${LONG:+tests/cli/*.sh tests/fault/*.sh}; do
		add_script "$file" sanitized
	done
}

# A limit finds what hangs: it is as many times longer as there are processes for a CPU; so are those within a test (CROWDED).
crowded() {
	awk -v cpus="$(nproc)" '{ times = int(1 + $1 / cpus); print times < 10 ? times : 10 }' /proc/loadavg
}

run_test() { # INDEX [ROUND]
	local i=$1 folder status seconds limit times TIMEFORMAT='%R %U %S'
	folder=$scratch/${names[i]//[\/ ()]/_}${2:-}
	mkdir "$folder" && cd "$folder" || exit 1
	times=$(crowded) limit=$((limits[i] * times))
	if [ "${flavours[i]}" = sanitized ]; then
		BUILD=$BUILD/sanitized
	fi
	{
		time CROWDED=$times SONDE=${RELEASED:-$BUILD}/sonde PATH=${RELEASED:-$BUILD}:$BUILD:$PATH HOME=$folder TMPDIR=$folder \
			XDG_DATA_HOME=$folder.data `# each test has a history of its own` \
			timeout -k 5 "$limit" bash -c "${commands[i]}" >output.log 2>&1 </dev/null
		status=$?
	} 2>"$scratch/time_$i"
	seconds=$(took "$i")
	case $status in
	0) printf 'passed  %s  (%s)\n' "${names[i]}" "$seconds" | tee "$results/$i" ;;
	77) printf 'skipped %s: %s\n' "${names[i]}" "$(tail -n 1 output.log)" | tee "$results/$i" ;;
	124 | 137) printf 'failed  %s: no end after %s s\n' "${names[i]}" "$limit" | tee "$results/$i" ;;
	*) printf 'failed  %s: exit code %s\n' "${names[i]}" "$status" | tee "$results/$i" ;;
	esac
	case $status in
	0 | 77) rm -rf "$folder" "$folder.data" ;;
	*)
		tail -n 20 output.log | cut -c 1-300 | sed 's/^/        | /'
		printf '        tests/run.sh "%s"   (its folder: %s)\n' "${names[i]}" "$folder" >>"$results/$i"
		;;
	esac
}

took() { # INDEX: its seconds and CPU seconds, which are also kept
	tail -n 1 "$scratch/time_$1" | # before it bash may say that the test was aborted
		awk -v name="${names[$1]}" -v times="$scratch/times" '{
			printf "%.1f s, %.1f CPU s\n", $1, $2 + $3
			printf "%.1f %.1f %s\n", $1, $2 + $3, name >>times
		}'
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

# What a search for inputs counts is a third of the work to compile, and only --long searches. Objects that have it are as good without a search.
build_sanitized() { # INDEX
	local TIMEFORMAT='%R %U %S' sanitizers=address,undefined${LONG:+,fuzzer-no-link} kept=$BUILD/sanitized/sanitizers
	mkdir -p "$BUILD/sanitized"
	if [ "$(cat "$kept" 2>/dev/null)" = address,undefined,fuzzer-no-link ]; then
		sanitizers=address,undefined,fuzzer-no-link
	elif [ "$(cat "$kept" 2>/dev/null)" != "$sanitizers" ]; then
		find "$BUILD/sanitized" -mindepth 1 -maxdepth 1 ! -name corpus ! -name fuzz-runs -exec rm -rf {} +
		echo "$sanitizers" >"$kept"
	fi
	{ time build clang_sanitized CC=clang WERROR=1 OPT='-O1 -gline-tables-only' OPT_COLD=-O0 OPT_TESTS=-O0 SANITIZE="$sanitizers" \
		BUILD="$BUILD/sanitized" "${targets_sanitized[@]}" 2>&3; } 3>&2 2>"$scratch/time_$1"
	took "$1" >/dev/null
}

# What the tests need built: targets_gcc, targets_sanitized.
needed() {
	local i name everything=
	targets_gcc=() targets_sanitized=()
	for i in "${!names[@]}"; do
		name=${names[i]% (sanitized)}
		case "${flavours[i]} $name" in
		sanitized\ unit/*) targets_sanitized+=("$BUILD/sanitized/unit/test_${name#*/}") ;;
		sanitized\ fuzz/*) targets_sanitized+=("$BUILD/sanitized/fuzz/fuzz_${name#*/}") ;;
		sanitized*) targets_sanitized+=("$BUILD/sanitized/sonde") everything=1 ;;
		plain\ unit/*) targets_gcc+=("$BUILD/unit/test_${name#*/}") ;;
		plain\ lint/*) ! grep -q 'SONDE\b' "tests/$name".* || targets_gcc+=(all) ;;
		plain\ golden/*) targets_gcc+=(all nodes) && mapfile -t -O ${#targets_gcc[@]} targets_gcc < <(units_of "tests/$name".*) ;;
		*) everything=1 ;;
		esac
	done
	[ -z "$everything" ] || targets_gcc+=(all tested)
	[ ${#targets_sanitized[@]} -eq 0 ] || [ ${#chosen[@]} -gt 0 ] || targets_sanitized=("$BUILD/sanitized/sonde" unit fuzz)
}

units_of() { # FILE: the unit tests that a test runs
	sed -n "s|.*\\\$BUILD/\\(unit/test_[a-z0-9_]*\\)\".*|$BUILD/\\1|p" "$1" | sort -u
}

in_background() { # INDEX
	[[ ${names[$1]} == lint/* || ${flavours[$1]} == build ]]
}

# Whether there is room for a test: in the background for as many as there are CPUs. Two clusters are enough for a
# machine's memory.
fits() { # INDEX
	local i=$1
	[ "${flavours[i]}" != sanitized ] || [ -e "$results/build_clang_sanitized" ] || return 1
	if in_background "$i"; then
		[ "$background" -lt "$JOBS" ]
		return
	fi
	[ "$load" -eq 0 ] ||
		{ [ $((load + ${load_of[${names[i]}]:-5})) -le "$room" ] && [ "$together" -lt $((3 * JOBS)) ] &&
			{ [[ ${names[i]} != cluster/* ]] || [ "$clusters" -lt 2 ]; }; }
}

count() { # INDEX 1|-1: what runs now
	if in_background "$1"; then
		background=$((background + $2))
		return
	fi
	load=$((load + $2 * ${load_of[${names[$1]}]:-5})) together=$((together + $2))
	[[ ${names[$1]} != cluster/* ]] || clusters=$((clusters + $2))
}

run_one() { # INDEX
	! in_background "$1" || renice -n 19 -p "$BASHPID" >/dev/null
	if [ "${flavours[$1]}" = build ]; then
		build_sanitized "$1"
	else
		run_test "$1"
	fi
}

longest_first() { # together|quiet|alone: their indices
	local i
	for i in "${!names[@]}"; do
		[ "${companies[i]}" != "$1" ] || echo "${seconds_of[${names[i]}]:-4} $i"
	done | sort -s -k 1,1nr | cut -d ' ' -f 2
}

run_side_by_side() { # together|quiet TENTHS: of CPUs that are kept busy
	local room=$2 load=0 together=0 background=0 clusters=0 queue=() left i done_pid begin=$SECONDS last='' since=0
	local -A index_of=()
	mapfile -t queue < <(longest_first "$1")
	while [ $((${#queue[@]} + ${#index_of[@]})) -gt 0 ]; do
		left=()
		for i in "${queue[@]}"; do
			fits "$i" || {
				left+=("$i")
				continue
			}
			run_one "$i" &
			index_of[$!]=$i
			count "$i" 1
		done
		queue=("${left[@]}")
		[ ${#index_of[@]} -gt 0 ] || break
		[ $((${#queue[@]} + ${#index_of[@]})) -gt 1 ] || last=${names[${index_of[*]}]} since=$SECONDS
		wait -n -p done_pid "${!index_of[@]}"
		count "${index_of[$done_pid]}" -1
		unset "index_of[$done_pid]"
	done
	[ -z "$last" ] || echo "$1: $((SECONDS - begin)) s; in the last $((SECONDS - since)) s only $last ran"
	for i in "${queue[@]}"; do
		printf 'failed  %s: the build before it never ended\n\n' "${names[i]}" >"$results/$i"
	done
}

run_alone() {
	local i
	for i in $(longest_first alone); do
		(run_one "$i")
	done
}

# Lints and fuzzers say the same of a busy machine, and a fault that makes many tests fail is no accident.
again_alone() {
	local i failed=()
	for i in "${!names[@]}"; do
		[[ ! "${names[i]}" =~ ^(cli|fault|cluster|interop|unit|bench|accuracy)/ ]] ||
			! grep -qs '^failed' "$results/$i" || failed+=("$i")
	done
	[ ${#failed[@]} -le 12 ] && [ ${#chosen[@]} -eq 0 ] || return 0
	for i in "${failed[@]}"; do
		echo "again, alone: ${names[i]}"
		mv "$results/$i" "$scratch/first_$i"
		(run_test "$i" _again)
		if grep -q '^passed' "$results/$i"; then
			sed -i '1s/$/, but failed beside others/' "$results/$i"
		fi
	done
}

# CPU seconds by kind, and of all that was waited for, since ./dev check began where that is what runs.
sums() {
	awk '{ cpu = $2; kind = $3; sub(/\/.*/, "", kind); if (/\(sanitized\)$/) kind = kind " (sanitized)"; sum[kind] += cpu; wall[kind] += $1; tests[kind]++ }
		END { for (kind in sum) printf "%7.0f %7.0f %5d  %s\n", sum[kind], wall[kind], tests[kind], kind }' "$scratch/times" | sort -nr
	times >"$scratch/cpu" # not in a pipe: there it is another process
	awk 'NR == 2 { gsub(/[ms]/, " "); printf "%7.0f CPU seconds in all, of those that ended\n", 60 * $1 + $2 + 60 * $3 + $4 }' "$scratch/cpu"
}

# The slowest twenty, and sums by kind; of a whole run the times of all are kept: those of a quiet machine are for tests/times.
slowest() {
	sort -k 1,1nr "$scratch/times" >"$scratch/slowest"
	[ ${#chosen[@]} -gt 0 ] || [ -n "$LONG$QUICK" ] || awk '$1 >= 1' "$scratch/slowest" >"$BUILD/times"
	[ "$(wc -l <"$scratch/slowest")" -gt 20 ] || return 0
	echo "the slowest: seconds, CPU seconds"
	head -n 20 "$scratch/slowest" | awk '{ wall = $1; cpu = $2; sub(/^[^ ]+ [^ ]+ /, ""); printf "%7.1f %7.1f  %s\n", wall, cpu, $0 }'
	echo "by kind: CPU seconds, seconds, tests"
	sums
}

report() {
	local passed failed skipped seconds
	passed=$(grep -l '^passed' "$results"/* | wc -l)
	failed=$(grep -l '^failed' "$results"/* | wc -l)
	skipped=$(grep -l '^skipped' "$results"/* | wc -l)
	echo
	[ ! -e "$scratch/times" ] || slowest
	grep -h '^skipped' "$results"/*
	grep -h 'failed beside others$' "$results"/*
	[ "$failed" -eq 0 ] || grep -h -A 1 --no-group-separator '^failed' "$results"/*
	[ "$failed" -ne 0 ] || rm -rf "$scratch"
	seconds=$(ps -o etimes= -p $$) # since ./dev began, where that runs this: it has compiled
	echo "$passed passed, $failed failed, $skipped skipped in $((seconds / 60)) min $((seconds % 60)) s"
	[ "$failed" -eq 0 ]
}

collect
[ ${#names[@]} -gt 0 ] || {
	echo "tests/run.sh: no test's name begins with: ${chosen[*]}" >&2
	exit 2
}
needed
[ -n "${BUILT:-}" ] || [ ${#targets_gcc[@]} -eq 0 ] || build gcc CC=gcc WERROR=1 BUILD="$BUILD" "${targets_gcc[@]}"
if [[ " ${targets_gcc[*]-} " == *" all "* ]] && [ ! -x "${RELEASED:-$BUILD}/sonde" ]; then
	echo "tests/run.sh: ${RELEASED:-$BUILD}/sonde was not built" >&2
	report
	exit 1
fi
[ ${#targets_sanitized[@]} -eq 0 ] || add "$sanitized" 0 together build ''
run_side_by_side together $((10 * JOBS))
run_side_by_side quiet $((7 * JOBS))
run_alone
again_alone
report
