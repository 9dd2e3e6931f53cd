# SPDX-License-Identifier: Apache-2.0
# limit: 300
# A site's prolog and epilog record jobs that ask for it by --sonde, or all but those of users who opted out: on each node, beside the job, as its user.
# Of 30 jobs (200 with LONG) none fails or waits because of it, also where the recorder cannot be started, is killed, or has no folder to write to.
ACCOUNTS=1
# In a namespace, in which that user has a home.
[ -n "${CLUSTER:-}" ] || [ "$(id -u)" != 0 ] || exec "$PYTHON" "$TOP/tests/cluster/harness/guard.py" unshare --mount bash "$0" "$@"
. "$TOP/tests/cluster/harness/slurm.sh"
[ "$(id -u)" = 0 ] || skip "a prolog is root's"
need setpriv
need_accounts
[ -e /usr/include/slurm/spank.h ] || skip "the headers of Slurm are not installed"
user=nobody
setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups test -x "$SONDE" || skip "another user may not read the tree"

# As an administrator installs it.
cp "$TOP"/site/slurm/* "$CLUSTER"
"${CC:-cc}" -O2 -Wall -Wextra -Werror -shared -fPIC -o "$CLUSTER/spank_sonde.so" "$CLUSTER/spank_sonde.c"
printf '%s\n' "sonde=$SONDE" "state=$CLUSTER/state.sonde" comment=yes "lake=$CLUSTER/lake" >>"$CLUSTER/site.conf"
echo "required $CLUSTER/spank_sonde.so" >"$CLUSTER/plugstack.conf"
eval "bare_$(declare -f slurm_conf)"
slurm_conf() {
	bare_slurm_conf
	printf '%s\n' "Prolog=$CLUSTER/prolog" "Epilog=$CLUSTER/epilog" PrologFlags=Alloc "PlugStackConfig=$CLUSTER/plugstack.conf"
}
meet=$CLUSTER/meet
mkdir -m 1777 "$meet"
awk -F : -v OFS=: -v user="$user" -v home="$meet" '$1 == user { $6 = home } { print }' /etc/passwd >"$CLUSTER/passwd"
mount --bind "$CLUSTER/passwd" /etc/passwd
cluster_start
cd "$meet" || exit

as_nobody() {
	setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups env HOME="$meet" TMPDIR=/tmp "$@"
}
submit_as_nobody() { # SBATCH-ARGUMENTS...
	as_nobody sbatch --parsable -o "$meet/%j.out" "$@"
}

cat >job <<'END'
#!/bin/sh
srun "$PROGRAMS/spin" 2500000
exit 3
END
cat >quick <<'END'
#!/bin/sh
exec true
END
chmod 755 job quick
export PROGRAMS

# Asked for, on two nodes; not asked for; refused at once.
asked=$(submit_as_nobody --sonde -N2 -n2 job)
plain=$(submit_as_nobody -N1 quick)
as_nobody sbatch --sonde=sometimes -N1 quick 2>refused && fail "an unknown word was taken"
contains refused "--sonde=sometimes: wanted on, off or stacks"
as_nobody sbatch --sonde --sonde=sometimes -N1 quick 2>refused && fail "an unknown word was taken behind a known one"
contains refused "--sonde=sometimes: wanted on, off or stacks"
wait_out "$asked" job_gone "$asked"
wait_out "$plain" job_gone "$plain"
wait_for 60 test -s "sonde_$asked.site.txt"
equal "nodes" 2 "$(find "sonde_$asked.site" -name 'node-*.sonde' | wc -l)"
equal "files of others" "" "$(find "sonde_$asked.site" "sonde_$asked.site.txt" ! -user "$user" -o -type f ! -perm 600)"
spun=$(figure "sonde_$asked.site" '[.commands[]? | select(.name == "spin") | .cpu_seconds] | add')
# Up to the last sample of each process, which may be late on a crowded machine.
holds "CPU seconds of spin: $spun" "$spun >= 2 && $spun <= 5.1"
equal "processes of spin" 2 "$(figure "sonde_$asked.site" '[.commands[]? | select(.name == "spin") | .processes] | add')"
equal "job" "$asked" "$(figure "sonde_$asked.site" .job.id)"
# What no prolog is told: its name, and how it ended.
equal "its end" 3 "$(figure "sonde_$asked.site" .job.exit_code)"
contains "sonde_$asked.site.txt" "Failed (exit code 3)"
equal "its name and what Slurm said of it" "job FAILED" "$(figure "sonde_$asked.site" '.nodes[0].metadata | "\(."job.name") \(."job.scheduler_state")"')"
[ ! -e "sonde_$plain.site" ] || fail "a job was recorded that did not ask for it"

# In the accounts and in the site's lake.
commented() { # ID
	sacct -n -P -X -j "$1" -o AdminComment | grep -q .
}
wait_for 60 commented "$asked"
sacct -n -P -X -j "$asked" -o AdminComment >comment
contains comment "exit code 3"
wait_for 60 test -s "$CLUSTER/lake"/*/*/"$asked.parquet"
equal "beginning and end of Parquet" PAR1PAR1 "$(head -c 4 "$CLUSTER/lake"/*/*/"$asked.parquet")$(tail -c 4 "$CLUSTER/lake"/*/*/"$asked.parquet")"

# What its user requested and used is in there, for whoever may read the lake.
"$SONDE" usage --lake "$CLUSTER/lake" --user "$user" --json >usage.json || fail "usage of the lake"
equal "usage" "job 1 1" "$(jq -r '.groups[] | "\(.name) \(.runs) \(.failed)"' usage.json)"
holds "requested cores" "$(jq '.groups[0].figures.cores_used.asked' usage.json) >= 2"

# One that somebody ends.
id=$(submit_as_nobody --sonde -N1 --wrap 'sleep 600')
wait_for 60 test -d "sonde_$id.site"
sleep 1
scancel "$id"
wait_out "$id" job_gone "$id"
wait_for 60 test -s "sonde_$id.site.txt"
contains "sonde_$id.site.txt" "Cancelled"

# A job that records itself has its own recording beside the site's.
cat >own <<'END'
#!/bin/sh
"$SONDE" run -q -- "$PROGRAMS/spin" 1500000 7
END
export SONDE
id=$(submit_as_nobody --sonde -N1 own)
wait_out "$id" job_gone "$id"
equal "output of a job that records itself" "" "$(cat "$id.out")"
equal "its end" 7 "$(figure "sonde_$id" .job.exit_code)"
equal "who recorded it" "attach --job" "$(figure "sonde_$id.site" .job.command)"
equal "its end as the site has it" 7 "$(figure "sonde_$id.site" .job.exit_code)"

# By default for all, but for users who opted out. Many jobs: none fails, whatever becomes of its recorder.
sed -i 's/^default=.*/default=on/' "$CLUSTER/site.conf"
setting() { # NAME VALUE
	sed -i "s|^$1=.*|$1=$2|" "$CLUSTER/site.conf"
}
wave() { # JOBS: so many short jobs; all end well
	local id
	id=$(submit_as_nobody -N1 -a "1-$1" quick)
	wait_out "$id" job_gone "$id"
	wait_for 60 accounted "$id"
	equal "ends of $1 jobs" "COMPLETED|0:0" "$(sacct -n -P -X -j "$id" -o State,ExitCode | sort -u)"
}
recordings() { # how many there are of jobs after the one that asked
	find . -maxdepth 1 -name 'sonde_*.site' -type d ! -name "sonde_$asked.site" | wc -l
}
many=${LONG:+200}
many=${many:-30}
wave "$many"
# A job that is over at once may leave none.
holds "recordings of $many jobs" "$(recordings) >= 0.75 * $many"
for id in $(find . -maxdepth 1 -name 'sonde_*.site' -type d -printf '%f\n' | shuf -n 5 --random-source="$TOP/Makefile"); do
	equal "damage of $id" 0 "$(figure "$id" .damages)"
done

setting sonde "$CLUSTER/no-such-program"
wave 5
setting sonde "$SONDE"
setting folder /proc/none
wave 5
setting folder "$meet/\$SLURM_JOB_USER"
id=$(submit_as_nobody -N1 --wrap 'sleep 3') # one that is over at once may leave none
wait_out "$id" job_gone "$id"
wait_for 60 test -d "$meet/$user"
had=$(recordings)
mkdir -p .config/sonde
touch .config/sonde/off
setting folder '$SLURM_JOB_WORK_DIR'
wave 5
equal "recordings of a user who opted out" "$had" "$(recordings)"

# Who opted out may ask all the same; and when the recorder is killed, the job goes on.
cat >killer <<'END'
#!/bin/sh
until pid=$(pgrep -u "$(id -u)" -f 'attach -q --job'); do sleep 0.05; done
kill -KILL $pid
echo killed
exec sleep 0.5
END
id=$(submit_as_nobody --sonde -N1 killer)
wait_out "$id" job_gone "$id"
wait_for 60 accounted "$id"
contains "$id.out" killed
equal "end of a job whose recorder was killed" "COMPLETED|0:0" "$(sacct -n -P -X -j "$id" -o State,ExitCode)"
stays() { # what the prolog left on this machine
	[ -z "$(ls "$CLUSTER/state.sonde")" ]
}
wait_for 60 stays
