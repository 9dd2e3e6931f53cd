# SPDX-License-Identifier: Apache-2.0
# limit: 300
# Two users have a job each on the same node at the same time: each recording has its own user's processes only, none but that user can read it, and
# who connects to the other's shared recorder is refused.
. "$TOP/tests/cluster/harness/slurm.sh"
[ "$(id -u)" = 0 ] || skip "only root can be two users"
need setpriv
users=(nobody daemon)
for user in "${users[@]}"; do
	id "$user" >/dev/null 2>&1 || skip "there is no user $user"
	setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups test -x "$SONDE" || skip "another user may not read the tree"
done
cluster_start

# Other users may not enter this test's folder.
meet=$CLUSTER/meet
mkdir -m 1777 "$meet"
cp "$TOP/tests/cluster/harness/strangers.py" "$meet"
cat >"$meet/task.sh" <<'END'
#!/bin/sh
# MINE OTHER: a task of a job; there until the other job's task was there and was tried to be disturbed
touch "$MEET/there.$1.$SLURM_PROCID"
i=0
until [ -e "$MEET/there.$2.0" ] && [ -e "$MEET/there.$2.1" ] && [ -n "$(ls "$MEET/$2/$2"/node-*.sonde 2>/dev/null)" ] || [ $((i += 1)) -gt 600 ]; do sleep 0.1; done
"$MEET/$1/of-$1" 1
cat "$MEET/$2/$2"/node-* >/dev/null 2>&1 && touch "$MEET/$1/read-it"
[ "$SLURM_PROCID" = 1 ] || python3 "$MEET/strangers.py" "$(id -u "$2")" >"$MEET/$1/strangers"
touch "$MEET/done.$1.$SLURM_PROCID"
i=0
until [ -e "$MEET/done.$2.0" ] && [ -e "$MEET/done.$2.1" ] || [ $((i += 1)) -gt 600 ]; do sleep 0.1; done
END
chmod 755 "$meet/task.sh"

job_of() { # USER OTHER
	local user=$1 other=$2
	mkdir "$meet/$user"
	cp "$(command -v sleep)" "$meet/$user/of-$user"
	printf '#!/bin/sh\nexec srun -n2 "%s" run -q -i 100ms -o %s -- %s/task.sh %s %s\n' "$SONDE" "$user" "$meet" "$user" "$other" >"$meet/$user/job.sh"
	chown -R "$user:$(id -g "$user")" "$meet/$user"
	(
		cd "$meet/$user" || exit
		export MEET=$meet HOME=$meet/$user TMPDIR=$meet/$user XDG_DATA_HOME=$meet/$user
		setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups sbatch --parsable -w n1 -n2 -o "$meet/$user/out" "$meet/$user/job.sh"
	)
}

first=$(job_of nobody daemon)
second=$(job_of daemon nobody)
wait_out "$first" job_gone "$first"
wait_out "$second" job_gone "$second"

for user in "${users[@]}"; do
	other=nobody
	[ "$user" = daemon ] || other=daemon
	of=$meet/$user/$user
	equal "output of $user" "" "$(cat "$meet/$user/out")"
	equal "exit code of $user" 0 "$(figure "$of" .job.exit_code)"
	equal "damage of $user" 0 "$(figure "$of" .damages)"
	equal "recorders of $user" 1 "$(find "$of" -name 'node-*.sonde' | wc -l)"
	equal "host of $user" n1 "$(hosts_of "$of")"
	equal "files of $user that others may open" "" "$(find "$of" ! -user "$user" -o -type f ! -perm 600)"
	[ ! -e "$meet/$user/read-it" ] || fail "$user has read the recording of $other"
	"$SONDE" export --to csv -o "csv-$user" "$of" >/dev/null 2>&1 || fail "export of $user"
	grep -q "of-$user" "csv-$user/processes.csv" || fail "processes of $user are missing"
	! grep "of-$other" "csv-$user/processes.csv" || fail "processes of $other are in the recording of $user"
	grep -q '^[1-9]' "$meet/$user/strangers" || fail "$user found no recorder of $other"
	holds "refused connections of $user" "$("$SONDE" show --json "$of" | jq '[.nodes[].metadata["monitor.foreign_connections"] // 0 | tonumber] | add') >= 1"
done
