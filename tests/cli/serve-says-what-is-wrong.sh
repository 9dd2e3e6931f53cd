# SPDX-License-Identifier: Apache-2.0
# Each thing that serve cannot do is one sentence; secrets that others may read are refused, one of its own is made.
. "$TOP/tests/lib.sh"
export SONDE_TOKEN=
mkdir rec
[ -x "$LIBEXEC/sonde-serve" ] || skip "sonde-serve is not built: libmicrohttpd-dev is not installed"

refused() { # STATUS TEXT ARGUMENTS...
	local status=$1 text=$2 got=0
	shift 2
	timeout "$(patience 30)" "$SONDE" serve "$@" 2>err >out || got=$?
	equal "status of serve $*" "$status" "$got"
	one_sentence err
	contains err "$text"
}

refused 1 "nowhere" nowhere
refused 1 "no recording"
refused 1 "nowhere" --metrics nowhere
refused 1 "no recording" --metrics
for where in 0.0.0.0:9999 127.0.0.1 127.0.0.1:70000 127.0.0.1:-1 localhost:80 :80 '[::]:80' ''; do
	refused 2 "ssh -L" --metrics --listen "$where" rec
done
refused 1 "unix:nowhere/s" --metrics --listen unix:nowhere/s rec
echo taken >file
refused 1 "unix:file" --metrics --listen unix:file rec
equal "what is no socket stays" taken "$(cat file)"

echo a-token-that-is-long >open
chmod 644 open
refused 1 "chmod 600" --metrics --token-file open rec
refused 1 "none" --metrics --token-file none rec
(umask 077 && echo short >short && printf 'a-token-with a-blank\n' >blank)
refused 1 "shorter" --metrics --token-file short rec
refused 1 "character" --metrics --token-file blank rec
SONDE_TOKEN=short refused 1 "SONDE_TOKEN" --metrics rec
SONDE_LIBEXEC=/nowhere refused 1 "$(remedy libmicrohttpd-dev)" --metrics rec

(
	unset HOME XDG_CONFIG_HOME
	refused 1 "set HOME or SONDE_TOKEN" --metrics rec
) || exit 1
made=$HOME/.config/sonde/token
[ -f "$made" ] || fail "no token was made"
equal "mode of the token" 600 "$(stat -c %a "$made")"
equal "length of the token" 48 "$(tr -d '\n' <"$made" | wc -c)"
cp "$made" before
"$SONDE" serve --metrics --listen unix:s --json rec >out 2>err &
server=$!
wait_for 30 [ -S s ]
cmp "$made" before || fail "another token was made"
equal "where it listens" unix:s "$(jq -r .url out)"
equal "where the token is" "$made" "$(jq -r .token_file out)"
! tr '\0' ' ' <"/proc/$server/cmdline" | grep -qF "$(cat "$made")" || fail "the token is among its words"
refused 1 "in use" --metrics --listen unix:s rec
kill -9 $server
wait $server 2>/dev/null
timeout "$(patience 30)" "$SONDE" serve --metrics --listen unix:s rec >out 2>err & # the socket that was left behind is in nobody's way
server=$!
wait_for 30 grep -q unix:s out
kill $server
