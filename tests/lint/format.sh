# SPDX-License-Identifier: Apache-2.0
# limit: 600
# C is laid out as .clang-format says; shell scripts please shellcheck.
. "$TOP/tests/lib.sh"
need clang-format
need shellcheck
cd "$TOP" || exit 1
status=0
find src include tests bench examples site \( -name '*.c' -o -name '*.h' \) -not -path '*/node_modules/*' -print0 |
	xargs -0 -r -n 64 -P "${JOBS:-2}" clang-format --dry-run --Werror 2>"$OLDPWD/found" || status=1
[ $status = 0 ] || [ -s "$OLDPWD/found" ] || echo "clang-format failed"
sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: code should be clang-formatted.*/clang-format -i \1/p' "$OLDPWD/found" | sort -u
grep 'error:' "$OLDPWD/found" | grep -v 'code should be clang-formatted'
shellcheck -s sh dev .ci/run || status=1
(cd site/slurm && shellcheck -x -s sh -S warning prolog epilog beside after) || status=1
find tests bench -name '*.sh' -print0 | xargs -0 -r shellcheck -s bash -S warning || status=1
exit $status
