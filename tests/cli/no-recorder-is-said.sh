# SPDX-License-Identifier: Apache-2.0
# When there is no room for the recorder's process, that is said, and the command runs.
. "$TOP/tests/lib.sh"
need setpriv
need prlimit
[ "$(id -u)" = 0 ] || skip "only root can become a user without processes"
run_as_user() { # LIMIT CMD...: as a user who has no other process
	setpriv --reuid 64321 --regid 64321 --clear-groups prlimit --nproc="$1" "${@:2}"
}
chmod 777 .
cp "$SONDE" sonde
equal "exit status" 3 "$(status_of run_as_user 2 ./sonde run --quiet -o out -- sh -c 'exit 3' 2>said)"
one_sentence said
contains said "not recording"
