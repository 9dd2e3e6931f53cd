# SPDX-License-Identifier: Apache-2.0
# An unknown command NAME is the program sonde-NAME: in SONDE_LIBEXEC, else in ../libexec/sonde beside the program.
. "$TOP/tests/lib.sh"

mkdir -p prefix/bin prefix/libexec/sonde other
cp "$SONDE" prefix/bin/sonde
helper() { # FILE WORD
	# shellcheck disable=SC2016 # for the helper to expand
	printf '#!/bin/sh\necho %s "$@"\ngrep ^SigIgn /proc/self/status >&2\nexit 7\n' "$2" >"$1"
	chmod +x "$1"
}
helper prefix/libexec/sonde/sonde-sketch beside
helper other/sonde-sketch set
helper other/sonde-metrics hidden
helper other/escape wrong

status=0
prefix/bin/sonde sketch a 'b c' >out 2>signals || status=$?
equal "status of the helper" 7 $status
equal "what the helper said" "beside a b c" "$(cat out)"
equal "signals that the helper ignores" "$(grep ^SigIgn /proc/self/status)" "$(cat signals)"
equal "a set SONDE_LIBEXEC" "set x" "$(SONDE_LIBEXEC=$PWD/other prefix/bin/sonde sketch x 2>/dev/null)"
SONDE_LIBEXEC=$PWD/other prefix/bin/sonde metrics >out 2>/dev/null || fail "a helper took the place of a command"

# Only there: not in PATH, not by way of a path.
equal "helper only in PATH" 2 "$(PATH=$PWD/other:$PATH status_of "$SONDE" sketch 2>err)"
contains err "unknown command 'sketch'"
equal "a name with a slash" 2 "$(SONDE_LIBEXEC=$PWD/other/x status_of prefix/bin/sonde /../escape 2>err)"
chmod -x other/sonde-sketch
equal "a helper that is not executable" 2 "$(SONDE_LIBEXEC=$PWD/other status_of prefix/bin/sonde sketch 2>err)"

# A helper that cannot be started says so.
printf '#!/nonexistent/interpreter\n' >other/sonde-broken
chmod +x other/sonde-broken
equal "a helper that cannot start" 1 "$(SONDE_LIBEXEC=$PWD/other status_of prefix/bin/sonde broken 2>err)"
one_sentence err
contains err "cannot start $PWD/other/sonde-broken"
