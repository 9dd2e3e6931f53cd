# SPDX-License-Identifier: Apache-2.0
# The kernel takes its events from a task that executes a set-uid program: it and its children are still the job's.
. "$TOP/tests/lib.sh"
need setpriv
[ "$(id -u)" = 0 ] || skip "only root can make a set-uid program"
as_user() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}
chmod 777 .
cp "$SONDE" sonde
cp "$PROGRAMS/spin" spin
cp "$(command -v env)" suid_env
cp "$(command -v id)" suid_id
chmod 4755 suid_env suid_id
[ "$(as_user ./suid_id -u)" = 0 ] || skip "set-uid programs are not permitted here"
as_user ./sonde run --quiet -i 50ms -o out -- sh -c './suid_env sh -c "./spin 600000; ./spin 600000; true"' || fail "run"
holds "attributed_ratio" "$(figure out .job.attributed_ratio) > 0.8 && $(figure out .job.attributed_ratio) <= 1"
holds "cpu_seconds" "$(figure out .job.cpu_seconds) > 1.15 && $(figure out .job.cpu_seconds) < 1.6"
