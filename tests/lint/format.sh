# SPDX-License-Identifier: Apache-2.0
# limit: 600
# C is laid out as .clang-format says; shell scripts please shellcheck.
. "$TOP/tests/lib.sh"
need clang-format
need shellcheck
cd "$TOP" || exit 1
status=0
find src include tests bench examples \( -name '*.c' -o -name '*.h' \) -not -path '*/node_modules/*' -print0 |
	xargs -0 -r -n 16 -P 2 sh -c 'status=0
		for file; do
			clang-format "$file" | cmp -s - "$file" || {
				echo "clang-format -i $file"
				status=1
			}
		done
		exit $status' sh || status=1
shellcheck -s sh dev .ci/run || status=1
find tests bench -name '*.sh' -print0 | xargs -0 -r shellcheck -s bash -S warning || status=1
exit $status
