#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A TMPDIR whose server does not answer does not keep a job from beginning, nor from ending; that there are no marks then is said.
. "$TOP/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root may mount"
[ -c /dev/fuse ] || skip "there is no /dev/fuse"
if [ -z "${OWN_MOUNTS:-}" ]; then
	OWN_MOUNTS=1 exec unshare --mount --propagation private bash "$0"
fi

mkdir far
"$PYTHON" "$TOP/tests/fuse.py" far >ready 2>why &
server=$!
trap 'kill -9 $server' EXIT
wait_for 30 grep -q ready ready

# As long as it answers, it is where marks go.
# shellcheck disable=SC2016 # the job's
TMPDIR=$PWD/far "$SONDE" run --quiet -o well -- sh -c 'echo "$SONDE_MARKS"; echo M here >>"$SONDE_MARKS"' >where 2>said || fail "run: $?"
contains where "$PWD/far/sonde-marks."
equal "said" "" "$(cat said)"
equal "marks" here "$(figure well '.marks[].name')"
equal "left there" "" "$(ls far)"

# While the job runs it goes.
# shellcheck disable=SC2016 # the job's
TMPDIR=$PWD/far timeout "$(patience 60)" "$SONDE" run --quiet -o gone -- sh -c 'kill -STOP "$0"; exit 3' $server >out 2>said
equal "status of a job at whose end it hangs" 3 $?

# It is gone before.
# shellcheck disable=SC2016 # the job's
TMPDIR=$PWD/far timeout "$(patience 60)" "$SONDE" run --quiet -o without -- sh -c 'echo "$SONDE_MARKS $SONDE_SPANS"; exit 3' >out 2>said
equal "status" 3 $?
equal "where marks and spans go" "/dev/null " "$(cat out)"
one_sentence said
contains said "$PWD/far (TMPDIR) does not answer: no marks and spans are recorded"
figure without '.nodes[0].samples' >/dev/null

# Nor a trial of a benchmark, which says so once.
printf '#!/bin/sh\necho "$SONDE_MARKS $SONDE_SPANS" >where\necho 1\n' >trial
chmod +x trial
if [ -x "$(dirname "$(realpath "$SONDE")")/libexec/sonde/sonde-database" ]; then
	TMPDIR=$PWD/far SONDE_STORE=$PWD/s.sqlite timeout "$(patience 100)" "$SONDE" bench run -q -n 1 -o trials ./trial >out 2>said
	holds "status of a benchmark: $?, $(cat said)" "$? != 124"
	equal "where marks and spans of a trial go" "/dev/null " "$(cat where)"
	contains said "$PWD/far (TMPDIR) does not answer: no marks and spans are recorded"
fi
kill -CONT $server
