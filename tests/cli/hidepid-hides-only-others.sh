# SPDX-License-Identifier: Apache-2.0
# Under hidepid=2 other users' processes are not there: the job is recorded all the same, and who cannot be attached to is named.
. "$TOP/tests/lib.sh"
need unshare
need setpriv
need jq
[ "$(id -u)" = 0 ] || skip "only root may mount a /proc with hidepid=2"
hidden() { # CMD...: as nobody, in a pid namespace whose process 1 is root's
	unshare --pid --fork --mount sh -c 'mount -t proc -o hidepid=2 proc /proc || exit 99
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
		exit $?' sh "$@"
}
chmod 777 .
export HOME=$PWD
[ "$(hidden sh -c '[ -e /proc/1 ] || echo hidden')" = hidden ] || skip "a /proc with hidepid=2 cannot be mounted here"
hidden test -x "$SONDE" || skip "nobody may not run $SONDE"

hidden "$SONDE" run --quiet -i 100ms -o out -- sh -c "$PROGRAMS/spin 300000 & $PROGRAMS/spin 300000; wait" || fail "run"
"$SONDE" export --to csv -o tables out >/dev/null 2>&1 || fail "export"
equal "names" "sh spin" "$(cut -d, -f3 tables/processes.csv | sed 1d | sort -u | paste -sd' ')"
holds "cpu_seconds" "$(figure out .job.cpu_seconds) > 0.59 && $(figure out .job.cpu_seconds) < 0.9"
holds "processes started" "$(figure out .job.processes_started) == 3"

hidden "$SONDE" doctor --json >doctor.json || fail "doctor"
equal "a process of its own" available "$(jq -r '.metrics[] | select(.name == "process.cpu_seconds") | .state' doctor.json)"

# Process 1 there is root's.
equal "attach to one that is hidden" 1 "$(status_of hidden "$SONDE" attach -p 1 -o none 2>said.txt)"
one_sentence said.txt
contains said.txt 'process 1'
