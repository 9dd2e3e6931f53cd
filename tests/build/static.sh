# SPDX-License-Identifier: Apache-2.0
# limit: 240
# The static build needs no shared library, and records.
. "$TOP/tests/lib.sh"
make -s -C "$TOP" BUILD="$BUILD" static || fail "make static"
! ldd "$BUILD/sonde-static" 2>/dev/null | grep -q '=>' || fail "it needs shared libraries"
"$BUILD/sonde-static" run --quiet -o out -- sh -c 'exit 4'
equal "the job's exit status" 4 $?
equal exit_code 4 "$(figure out .job.exit_code)"
