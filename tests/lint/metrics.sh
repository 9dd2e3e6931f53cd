# SPDX-License-Identifier: Apache-2.0
# docs/metrics.md is what the catalogue says. ./dev golden writes it anew.
. "$TOP/tests/lib.sh"
"$SONDE" docs metrics >metrics.md || fail "sonde docs metrics"
diff -u "$TOP/docs/metrics.md" metrics.md || fail "docs/metrics.md is old: ./dev golden"
