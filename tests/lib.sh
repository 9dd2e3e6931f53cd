# SPDX-License-Identifier: Apache-2.0
# What the shell tests share. tests/run.sh gives each test an empty folder of its own to run in and
# TOP (this tree), BUILD, SONDE (the program), PROGRAMS (tests/programs, built), PYTHON, LONG (1 or empty).

# The helpers lie below the folder of a program that was built, and beside that of one that was installed or unpacked.
LIBEXEC=$(dirname "$SONDE")/libexec/sonde
[ -d "$LIBEXEC" ] || LIBEXEC=$(dirname "$SONDE")/../libexec/sonde

# What a program says of a helper that is not there: one that was built names Debian's package PACKAGE, one of a release has it from there.
remedy() { # PACKAGE
	if [ -n "${RELEASED:-}" ]; then echo "install Sonde again"; else echo "$1"; fi
}

fail() {
	printf 'FAIL: %s\n' "$*" >&2
	exit 1
}

# Exit code 77 is a skip, and the last line of standard output is its reason.
skip() {
	printf '%s\n' "$*"
	exit 77
}

need() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

equal() { # WHAT WANTED GOT
	[ "$2" = "$3" ] || fail "$1: wanted '$2', got '$3'"
}

contains() { # FILE TEXT
	grep -qF -- "$2" "$1" || {
		cat "$1" >&2
		fail "$1 does not contain '$2'"
	}
}

# One line, a sentence, on standard error: FILE holds what the program said.
one_sentence() {
	[ "$(wc -l <"$1")" -eq 1 ] || {
		cat "$1" >&2
		fail "$1 is not one line"
	}
}

refused_as_usage() { # VERB TEXT ARGUMENTS...: status 2, a sentence with TEXT on standard error, nothing on standard output
	local verb=$1 text=$2 status=0
	shift 2
	"$SONDE" "$verb" "$@" >out 2>err || status=$?
	equal "status of sonde $verb $*" 2 $status
	one_sentence err
	contains err "$text"
	[ ! -s out ] || fail "sonde $verb $* wrote to standard output"
}

status_of() { # CMD...: prints the exit status as the shell sees it
	local status=0
	"$@" || status=$?
	echo "$status"
}

patience() { # SECONDS: how long what should happen at once is waited for, as many times as many as tests/run.sh found processes for a CPU
	echo $(($1 * ${CROWDED:-1}))
}

# Asks less often the longer it waits: what costs CPU time to ask keeps what it waits for from getting on.
wait_for() { # SECONDS CMD...: until CMD succeeds, with patience
	local end=$((SECONDS + $1 * ${CROWDED:-1} + 1)) pauses=(0.02 0.02 0.02 0.02 0.02 0.05 0.05 0.05 0.05 0.1 0.1 0.1 0.2 0.2 0.2 0.2 0.2 0.2 0.2 0.2 0.2 0.2 0.4)
	shift
	until "$@" 2>/dev/null; do
		[ $SECONDS -lt $end ] || fail "waited in vain for: $*"
		sleep "${pauses[0]}"
		[ ${#pauses[@]} -eq 1 ] || pauses=("${pauses[@]:1}")
	done
}

now() { # seconds since 1970, with a fraction
	date +%s.%N
}

calc() { # awk expression
	awk "BEGIN { printf \"%.9g\n\", $1 }"
}

holds() { # WHAT CONDITION: an awk condition on numbers
	case $2 in *null*) fail "$1: a figure is absent: $2" ;; esac # to awk it were 0
	awk "BEGIN { exit !($2) }" || fail "$1: not true: $2"
}

json_says() { # JQ-ARGUMENTS...: jq -e of standard input, which has to hold something: jq is content with nothing
	local json
	json=$(cat)
	[ -n "$json" ] && jq -e "$@" <<<"$json"
}

figure() { # DIR JQ-FILTER: of sonde show --json
	"$SONDE" show --json "$1" | json_says -r "$2" || fail "sonde show --json $1 has no $2"
}

recorder_of() { # DIR: the recorder's pid, found by the file it holds open; fails when there is none
	local where comm
	where=$(realpath "$1") || return 1
	while read -r comm; do
		comm=${comm%/comm}
		[ -n "$(find "$comm/fd" -lname "$where/node-*" -print -quit 2>/dev/null)" ] || continue
		echo "${comm#/proc/}"
		return 0
	done < <(grep -lsx sonde-recorder /proc/[0-9]*/comm)
	return 1
}

process_gone() { # PID: no such process, or one that has ended and waits to be reaped
	! grep -qE '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null
}

perf_permitted() {
	"$SONDE" run -o perf_probe -- true 2>/dev/null
	"$SONDE" show --json perf_probe | json_says '.job.mechanisms | test("perf events")' >/dev/null
}

instructions() { # COMMAND...: how many it takes; its own output goes to the file out
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$@" 2>said >out || fail "$*"
	sed -n 's/,//g; s/.*I *refs: *//p' said
}
