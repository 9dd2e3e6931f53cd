# SPDX-License-Identifier: Apache-2.0
# What cannot be written to standard output is an error, whatever it was, but for a reader that has gone; closed descriptors do no harm.
. "$TOP/tests/lib.sh"

for words in metrics "metrics --json" --help "help metrics" --version "--version --json" "docs metrics"; do
	read -ra argv <<<"$words"
	status=0
	"$SONDE" "${argv[@]}" >/dev/full 2>err || status=$?
	equal "status of sonde $words >/dev/full" 1 $status
	one_sentence err
	contains err "sonde: cannot write to standard output: No space left on device"
	status=0
	"$SONDE" "${argv[@]}" >&- 2>err || status=$?
	equal "status of sonde $words >&-" 1 $status
	contains err "sonde: cannot write to standard output: Bad file descriptor"
	# The reader is gone before anything is written, as that of head may be: it has what it wanted.
	mkfifo pipe
	exec 3<>pipe
	exec 4>pipe
	exec 3<&-
	status=0
	"$SONDE" "${argv[@]}" >&4 2>err || status=$?
	exec 4>&-
	rm pipe
	equal "status of sonde $words to a closed pipe" 0 $status
	[ ! -s err ] || fail "sonde $words to a closed pipe: $(cat err)"
done

# So it is behind commands that print as they go, and what they write is written.
"$SONDE" run -q -i 10ms -o job -- sh -c 'sleep 0.2; exit 3' || :
for words in "show job" "show --all job" "show --json job" "ls" "ls --json" "phases job" "export -o - job" "export -o tables job" "doctor" \
	"compare job job" "trace --json -o job.json job" "top --once" "usage"; do
	read -ra argv <<<"$words"
	mkfifo pipe
	exec 3<>pipe
	exec 4>pipe
	exec 3<&-
	status=0
	"$SONDE" "${argv[@]}" >&4 2>err || status=$?
	exec 4>&-
	rm pipe
	equal "status of sonde $words to a closed pipe" 0 $status
	! grep -iE "broken pipe|standard output|cannot write" err || fail "sonde $words to a closed pipe"
done
[ -s tables/series.csv ] || fail "a closed pipe kept the tables from being written"

# With descriptors 0 to 2 closed nothing else takes their place and nothing is said where a file could be.
mkdir pages
"$SONDE" docs man pages <&- >&- 2>&- || fail "docs man with closed descriptors"
head -n 1 pages/sonde.1 | grep -q '^.TH SONDE ' || fail "the page holds something else"
! grep -l 'sonde: ' pages/* || fail "an error message went into a file"

mkdir closed
chmod 500 closed
[ "$(id -u)" = 0 ] || {
	equal "docs into a closed folder" 1 "$(status_of "$SONDE" docs man closed 2>err)"
	contains err "cannot write closed/sonde.1"
}
equal "status of docs into nowhere" 1 "$(status_of "$SONDE" docs man nowhere 2>err)"
one_sentence err
contains err "cannot write nowhere/sonde.1: No such file or directory"
