# SPDX-License-Identifier: Apache-2.0
# Without -o a recording lands in a new sonde_* folder here; show, given nothing, takes the newest and says which.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -- sh -c 'exit 1'
"$SONDE" run --quiet -- sh -c 'exit 2'
set -- sonde_*
equal "folders" 2 $#
"$SONDE" show --json >newest.json 2>said || fail "show without a folder"
equal "exit code of the newest" 2 "$(jq .job.exit_code newest.json)"
grep -qF -e "$1" -e "$2" said || fail "show does not say which folder it took"

# Another job's folder stays as it is: the job is recorded beside it.
sum=$(cat "$1"/* | cksum)
"$SONDE" run --quiet -o "$1" -- sh -c 'exit 5' 2>said
equal "exit status on another job's folder" 5 $?
equal "how often it is said" 1 "$(grep -c "holds the recording of another job" said)"
contains said "$1"
equal "checksum of the recording there" "$sum" "$(cat "$1"/* | cksum)"
equal "exit code of the recording beside it" 5 "$(figure "$1"_* .job.exit_code)"
"$SONDE" run --quiet --force -o "$1" -- sh -c 'exit 3'
equal "exit status with --force" 3 $?
equal "exit code after --force" 3 "$(figure "$1" .job.exit_code)"
