# SPDX-License-Identifier: Apache-2.0
# What the findings of a run of two hours take, counted in instructions: most of it is the search for steps. No more is read than what tells
# something, and names are not matched as globs that are none. Others take the cores in that run: then steps are searched twice, in time and in work.
. "$TOP/tests/lib.sh"
need valgrind
[ -x "$BUILD/bench/make_nodes" ] || skip "bench/make_nodes is not built"
case $(nm "$SONDE") in *__asan_init* | *__tsan_init*) skip "valgrind and a sanitizer exclude each other" ;; esac

mkdir run
"$BUILD/bench/make_nodes" run 1 7200 60 || fail "make_nodes"
all=$(instructions "$SONDE" explain --json run)
echo "$all instructions"
jq -e '.findings | length > 0' out >/dev/null || fail "no findings"
holds "instructions of the findings" "$all <= 830000000"
