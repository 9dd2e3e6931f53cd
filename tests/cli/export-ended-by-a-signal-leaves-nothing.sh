# SPDX-License-Identifier: Apache-2.0
# A signal that ends an export or a report leaves no half-written file, nor the empty one that --append began with, and what was there as it was;
# a signal that is ignored, as nohup does it, stays ignored.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -i 50ms -o job -- sleep 0.2 || fail "run"

# Helpers that never come to an end, so that the file is always unfinished when the signal comes.
mkdir -p libexec
printf '#!/bin/sh\necho $$ >helper.new && mv helper.new helper && exec sleep 60\n' >libexec/sonde-hdf5
cp libexec/sonde-hdf5 libexec/sonde-sqlite
cp libexec/sonde-hdf5 libexec/sonde-draw
chmod +x libexec/*

ended_by() { # SIGNAL NUMBER FOLDER ARGUMENTS...: nothing new is in the folder
	local signal=$1 number=$2 folder=$3 before status=0 pid
	shift 3
	rm -f helper
	before=$(ls -A "$folder")
	SONDE_LIBEXEC=$PWD/libexec env --default-signal=INT --ignore-signal=HUP "$SONDE" "$@" 2>err &
	pid=$!
	wait_for 30 test -s helper
	[ "$(ls -A "$folder")" != "$before" ] || fail "$*: there is no unfinished file to be left"
	kill -HUP $pid
	kill -0 $pid || fail "$*: a signal that is ignored ended it"
	kill -s "$signal" $pid
	wait $pid || status=$?
	kill "$(cat helper)"
	equal "$*: status" $((128 + number)) $status
	equal "$*: what is in the folder" "$before" "$(ls -A "$folder")"
}
mkdir -p tables drawn/plots jobs
echo old >tables/series.h5
ended_by TERM 15 tables export job --to hdf5 --table series -o tables
ended_by INT 2 tables export job --to hdf5 --table series -o tables
equal "the old file" old "$(cat tables/series.h5)"
ended_by TERM 15 jobs export job --to sqlite --append jobs/all.sqlite
"$SONDE" export job --to sqlite --append jobs/all.sqlite || fail "append"
cp jobs/all.sqlite wanted
ended_by INT 2 jobs export job --to sqlite --append jobs/all.sqlite
cmp wanted jobs/all.sqlite || fail "the file of others has changed"
ended_by TERM 15 drawn/plots report job --only plots --format png -o drawn
