# SPDX-License-Identifier: Apache-2.0
# A job that has a control group for itself: Sonde's own processes in it make no stranger, and what the kernel forgets of children that
# nobody waits for is taken from the group's account. A file that fills the group with page cache is not the job's need of memory.
. "$TOP/tests/lib.sh"
need jq python3
[ "$(id -u)" = 0 ] || skip "only root may make control groups here"
group=sonde_own.$$ made=()
join() { # FOLDER: two groups of this test's own, one for each job, if they can be made there
	mkdir "$1/$group" "$1/$group.2" 2>/dev/null || return 0
	made+=("$1/$group" "$1/$group.2")
}
# shellcheck disable=SC2154 # the status of what ends
trap 'for g in "${made[@]}"; do rmdir "$g" 2>/dev/null; done' EXIT
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
	grep -qw memory /sys/fs/cgroup/cgroup.subtree_control || skip "no memory controller for groups below"
	join /sys/fs/cgroup
else
	for controller in memory cpu cpuacct; do
		[ ! -d /sys/fs/cgroup/$controller ] || [ -L /sys/fs/cgroup/$controller ] || join /sys/fs/cgroup/$controller
	done
fi
[ ${#made[@]} -gt 0 ] || skip "no control group may be made here"

in_group() { # NAME COMMAND...
	bash -c 'for g in $2; do [ "${g##*/}" != "$1" ] || echo $$ >"$g/cgroup.procs" || exit 9; done; shift 2; exec "$@"' - "$1" "${made[*]}" "${@:2}"
}

cat >reaped.py <<'EOF'
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(10):
    if not os.fork():
        began = time.process_time()
        while time.process_time() - began < 0.05:
            pass
        os._exit(0)
    time.sleep(0.1)
time.sleep(0.5)
EOF
in_group $group "$SONDE" run --quiet -i 2s --process-events polling -o reaped -- python3 reaped.py || fail "run: $?"
"$SONDE" show --json reaped >reaped.json
echo "$(jq -c '.metadata."cgroup.note"? // .nodes[0].metadata."cgroup.note"? // empty' reaped.json) $(jq -c '[.job.cpu_seconds, .job.cpu_is_lower_bound]' reaped.json)"
holds "CPU time of what nobody waited for" "$(jq .job.cpu_seconds reaped.json) >= 0.5"
equal "it is no lower bound" false "$(jq .job.cpu_is_lower_bound reaped.json)"

# The file is new, so its pages are charged to the group.
in_group $group.2 "$SONDE" run --quiet -o cached -- sh -c 'dd if=/dev/zero of=file bs=1M count=200 status=none; cat file >/dev/null; sleep 0.3' || fail "run: $?"
rm file
"$SONDE" show --json cached >cached.json
jq -c '[.job.peak_memory_bytes, .job.peak_memory_kind]' cached.json
holds "its need of memory" "$(jq .job.peak_memory_bytes cached.json) < 100000000"
