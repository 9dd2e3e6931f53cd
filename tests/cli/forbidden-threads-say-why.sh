# SPDX-License-Identifier: Apache-2.0
# sonde stacks of a process of another user, and of one that the kernel protects: listed, without a stack, with the reason; their
# other ends of pipes are named all the same.
. "$TOP/tests/lib.sh"
[ -x "$LIBEXEC/sonde-unwind" ] || skip "the helper sonde-unwind was not built"
[ "$(id -u)" = 0 ] || skip "needs root to be two users"
need setpriv
[ -x /usr/bin/python3 ] || skip "/usr/bin/python3 is not installed"
user="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all"
chmod 755 . .. 2>/dev/null
sleep 60 &
others=$!
$user /usr/bin/python3 -c 'import ctypes, time; ctypes.CDLL(None).prctl(4, 0); time.sleep(60)' &
protected=$!
trap 'kill $others $protected 2>/dev/null' EXIT
wait_for 10 sh -c "grep -q -i nanosleep /proc/$protected/wchan"
cp "$SONDE" sonde
mkdir -p libexec/sonde
cp -r "$LIBEXEC/." libexec/sonde/
chmod -R a+rX . && chmod a+x sonde libexec/sonde/sonde-unwind

(cd / && $user "$OLDPWD/sonde" stacks $others) >other || fail "another user's"
contains other "no more is known: it belongs to another user (uid 0)"
contains other "sleep (pid $others) sleeps"
(cd / && $user "$OLDPWD/sonde" stacks --json $protected) >protected || fail "a protected one"
equal "reason" true "$(jq '.threads[0].refused | startswith("it is not dumpable")' protected)"
equal "stack" none "$(jq -r '.threads[0].stack' protected)"
equal "state" waits "$(jq -r '.threads[0].state' protected)"
equal "frames" 0 "$(jq '.threads[0].frames | length' protected)"

# Its own is looked at by the same user.
$user sleep 60 &
own=$!
trap 'kill $others $protected $own 2>/dev/null' EXIT
wait_for 10 sh -c "grep -q -i nanosleep /proc/$own/wchan"
(cd / && $user "$OLDPWD/sonde" stacks --json $own) >own || fail "its own"
equal "what it waits for" timer "$(jq -r '.threads[0].waits_for' own)"
equal "how long" "60 s" "$(jq -r '.threads[0].object' own)"
equal "its stack" whole "$(jq -r '.threads[0].stack' own)"
