# SPDX-License-Identifier: Apache-2.0
# docs/performance.md says of each section that is older than the code it measures that it is (bench/stale.py).
. "$TOP/tests/lib.sh"
cd "$TOP" || exit 1
code=0
"$PYTHON" bench/stale.py check docs/performance.md || code=$?
[ $code != 77 ] || skip "no history of this tree"
exit $code
