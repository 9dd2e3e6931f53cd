# SPDX-License-Identifier: Apache-2.0
# A recording of a command that does nothing is mostly the description of its metrics: of sources that are there, compressed as texts.
. "$TOP/tests/lib.sh"
env -i PATH="$PATH" "$SONDE" run --quiet --no-env --no-history -o out -- true
size=$(cat out/node-*.sonde | wc -c)
cores=$(nproc --all)
echo "$size bytes"
[ "$size" -lt $((18000 + 250 * cores)) ] || fail "$size bytes"
"$SONDE" show --json out >/dev/null || fail "show: $?"
