# SPDX-License-Identifier: Apache-2.0
# Several jobs' tables go into one SQLite or HDF5 file, at once too: named after their jobs, all or nothing, under a lock that is not waited for in
# vain; where the helper is not installed, it says with what it is made.
. "$TOP/tests/lib.sh"
[ -x "$LIBEXEC/sonde-sqlite" ] && [ -x "$LIBEXEC/sonde-hdf5" ] || fail "the helpers are not built"

for id in 11 12 13 14; do
	SLURM_JOB_ID=$id "$SONDE" run --quiet -i 50ms -o "job$id" -- sleep 0.2 || fail "run"
done

names() { # FILE: of its tables
	case $1 in
	*.h5) grep -aoE '(series|processes|commands|marks|spans|counters|states)_[A-Za-z0-9_]+' "$1" ;;
	*) $PYTHON -c 'import sqlite3, sys; [print(n) for n, in sqlite3.connect(sys.argv[1]).execute("SELECT name FROM sqlite_master")]' "$1" ;;
	esac | sort -u
}
rows() { # TABLE
	$PYTHON -c 'import sqlite3, sys; print(*sqlite3.connect("jobs.sqlite").execute(f"SELECT count(*) FROM {sys.argv[1]}").fetchone())' "$1"
}

for format in sqlite hdf5; do
	file=jobs.sqlite
	[ $format = sqlite ] || file=jobs.h5
	pids=
	for id in 11 12 13 14; do
		"$SONDE" export "job$id" --to $format --append $file 2>"err$id" &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || fail "one of several exports at once: $(cat err1?)"
	done
	for table in series processes commands marks spans counters states; do
		for id in 11 12 13 14; do
			names $file | grep -qx "${table}_$id" || fail "$file has no ${table}_$id: $(names $file)"
		done
	done
	equal "what is left behind" "./$file" "$(find . -maxdepth 1 -name "*$file*")"
done

# The same job again: its tables are replaced, the others stay. Who else may read the file still may.
before=$(rows series_11) others=$(rows series_12)
chmod 640 jobs.sqlite
"$SONDE" export job11 --to sqlite --append jobs.sqlite --metrics node.load_1min 2>err || fail "again"
[ "$(rows series_11)" -lt "$before" ] || fail "the old rows are still there"
equal "rows of another job" "$others" "$(rows series_12)"
equal "mode of the file" 640 "$(stat -c %a jobs.sqlite)"
# Without a job's number, the name of the recording; only letters, digits and _.
"$SONDE" run --quiet -i 50ms -o 'a "job"' -- true || fail "run"
"$SONDE" export 'a "job"' --to sqlite --append jobs.sqlite --json 2>err | json_says '.files == ["jobs.sqlite"]' >/dev/null || fail "json"
rows series_a__job_ >/dev/null || fail "no table for a recording without a number"

# The lock is held by somebody else: told, not waited for in vain, and nothing changes.
cp jobs.sqlite old
$PYTHON -c 'import fcntl, sys, time; f = open("jobs.sqlite", "r+"); fcntl.lockf(f, fcntl.LOCK_EX); print(flush=True); time.sleep(60)' >locked &
holder=$!
wait_for 10 test -s locked
equal "status when it is locked" 1 "$(status_of "$SONDE" export job11 --to sqlite --append jobs.sqlite --wait 1200ms 2>err)"
equal "lines said" 2 "$(wc -l <err)"
contains err "waiting up to 1200ms for another export into jobs.sqlite"
contains err "another export still writes jobs.sqlite after 1200ms"
kill $holder
cmp old jobs.sqlite || fail "the file has changed"
"$SONDE" export job11 --to sqlite --append jobs.sqlite 2>err || fail "after the lock"

# What is no such file stays what it is.
for format in sqlite hdf5; do
	echo "something else entirely, and long enough for a head of any kind: $(seq 100)" >other
	cp other wanted
	equal "status of another file" 1 "$(status_of "$SONDE" export job11 --to $format --append other 2>err)"
	one_sentence err
	contains err "cannot write ./other"
	cmp wanted other || fail "another file was changed"
done

# Usage, and helpers that are not there.
equal "csv cannot" 2 "$(status_of "$SONDE" export job11 --to csv --append x 2>err)"
contains err "sqlite or hdf5, not 'csv'"
equal "two formats" 2 "$(status_of "$SONDE" export job11 --to sqlite,hdf5 --append x 2>err)"
equal "with -o" 2 "$(status_of "$SONDE" export job11 --to sqlite --append x -o y 2>err)"
contains err "remove --output"
for format in sqlite:libsqlite3-dev hdf5:libhdf5-dev; do
	equal "without the helper" 1 "$(SONDE_LIBEXEC=/nonexistent status_of "$SONDE" export job11 --to ${format%:*} -o none --table marks 2>err)"
	one_sentence err
	contains err "the helper sonde-${format%:*} is not installed"
	contains err "$(remedy "${format#*:}")"
	mkdir -p fake
	printf '#!/nonexistent\n' >fake/sonde-${format%:*}
	chmod +x fake/sonde-${format%:*}
	equal "a helper that cannot start" 1 "$(SONDE_LIBEXEC=$PWD/fake status_of "$SONDE" export job11 --to ${format%:*} -o none --table marks 2>err)"
	contains err "cannot start; $(remedy "it needs Debian's lib")"
	# shellcheck disable=SC2016 # for the helper to expand
	printf '#!/bin/sh\nkill -SEGV $$\n' >fake/sonde-${format%:*}
	equal "a helper that dies" 1 "$(SONDE_LIBEXEC=$PWD/fake status_of "$SONDE" export job11 --to ${format%:*} -o none --table series 2>err)"
	contains err "the helper sonde-${format%:*} died of Segmentation fault"
	[ ! -e x ] && [ -z "$(ls -A none)" ] || fail "something was left behind"
done
equal "to a pipe" 1 "$("$SONDE" export job11 --to sqlite -o - 2>err | wc -c >/dev/null; echo "${PIPESTATUS[0]}")"
contains err "goes to a file only"

# A full disk leaves the old file as it was.
mkdir disk
mount -t tmpfs -o size=1m sonde-test disk 2>/dev/null || skip "a small tmpfs cannot be mounted here (needs root)"
trap "umount -l disk" EXIT # a recorder of another test may just look at it
"$SONDE" run --quiet -i 2ms -o long -- sleep 2 || fail "run"
for format in sqlite hdf5; do
	"$SONDE" export job11 --to $format --append disk/jobs --table marks 2>err || fail "a little"
	dd if=/dev/zero of=disk/filler bs=1k count=800 2>/dev/null
	cp disk/jobs wanted
	equal "status on a full disk" 1 "$(status_of "$SONDE" export long --to $format --append disk/jobs 2>err)"
	one_sentence err
	contains err "cannot write disk/jobs: No space left on device on the disk mounted at $PWD/disk"
	cmp wanted disk/jobs || fail "the old file has changed"
	equal "what is in the folder" "disk/filler disk/jobs" "$(find disk -type f | sort | xargs)"
	rm disk/*
done
