# SPDX-License-Identifier: Apache-2.0
# Help goes to standard output with 0, talk to standard error with 2, one sentence each that names the thing.
. "$TOP/tests/lib.sh"

said() { # ARGUMENT...: sets got to the status of sonde
	got=0
	"$SONDE" "$@" >out 2>err || got=$?
}

refused() { # STATUS TEXT ARGUMENT...: one sentence on standard error that holds TEXT, nothing on standard output
	local status=$1 text=$2
	shift 2
	said "$@"
	equal "status of sonde $*" "$status" "$got"
	[ ! -s out ] || fail "sonde $* wrote to standard output"
	one_sentence err
	contains err "sonde: "
	contains err "$text"
}

# Without anything: help, but as an error.
said
equal "status of sonde" 2 "$got"
[ ! -s out ] || fail "sonde alone wrote to standard output"
contains err "usage: sonde COMMAND"

for words in --help -h help; do
	"$SONDE" $words >out 2>err || fail "sonde $words"
	contains out "usage: sonde COMMAND"
	[ ! -s err ] || fail "sonde $words wrote to standard error"
done

"$SONDE" --version | grep -qE '^sonde [0-9]+\.[0-9]+\.[0-9]+$' || fail "sonde --version"
"$SONDE" --version --json | json_says '.schema == "sonde/version/1" and (.sources | length > 0)
	and (.commands | index("metrics")) and (.build.compiler | length > 0)' >/dev/null || fail "--version --json"

# Each command explains itself, three ways alike, in 80 columns.
for verb in $("$SONDE" --version --json | jq -r '.commands[]'); do
	"$SONDE" help "$verb" >out || fail "sonde help $verb"
	head -n 1 out | grep -q "^usage: sonde $verb" || fail "sonde help $verb begins otherwise"
	contains out "  -h, --help"
	"$SONDE" "$verb" --help | cmp - out || fail "sonde $verb --help differs from sonde help $verb"
	"$SONDE" "$verb" -h | cmp - out || fail "sonde $verb -h differs from sonde help $verb"
	! grep -nE '^.{81,}' out || fail "sonde help $verb has long lines"
	status=2
	[[ $verb != @(run|span) ]] || status=125
	refused $status "unknown option --nonsense" "$verb" --nonsense
	refused $status "unknown option --hel; did you mean --help" "$verb" --hel
done

refused 2 "unknown command 'metrisc'; did you mean 'metrics'?" metrisc
refused 2 "unknown command 'qqqqqqqq'; sonde --help lists" qqqqqqqq
refused 2 "unknown command 'metrisc'; did you mean 'metrics'?" help metrisc
refused 2 "bench: unknown command 'rum'; sonde bench --help lists" help bench rum
refused 2 "unknown option -i before the command" -i 1s -- ./app
refused 2 "unknown option --jso; did you mean --json" --version --jso
refused 2 "unknown command ''" ''

# A program where a command was expected: it says how to record it, in words that can be pasted.
printf '#!/bin/sh\n' >app
chmod +x app
refused 2 "sonde run -- ./app 'a b' '\$(x)'" ./app 'a b' "\$(x)"
# Also one that is called nearly as a command.
refused 2 "sonde run -- bash -c true" bash -c true
mkdir -p bin
cp app bin/srun
PATH=$PWD/bin:$PATH refused 2 "sonde run -- srun ./app" srun ./app
refused 2 "unknown command '../.'" ../.

# Hostile words do not reach the terminal as they are.
refused 2 'unknown command '"'"'\x1b]0;x\x07\n\u202e\xff'"'" "$(printf '\033]0;x\007\n\342\200\256\377')"
refused 2 '\x1b[31m' metrics "$(printf '\033[31m')"
refused 2 "unknown option -\\xff" metrics "$(printf -- '-\377')"
refused 2 "did you mean" "$(printf 'metricz')"
long=$(head -c 100000 /dev/zero | tr '\0' 'y')
refused 2 "unknown command 'yyy" "$long"
refused 2 "unknown option --yyy" metrics "--$long"
