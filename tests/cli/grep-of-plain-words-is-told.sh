# SPDX-License-Identifier: Apache-2.0
# Of grep with patterns of a file, each of which it takes for a regular expression, the verdict says how plain words are searched faster.
. "$TOP/tests/lib.sh"
name='function name(x) { return "node" (x * 7919 % 900 + 100) ".rack" (x % 60) ".dc" (x % 4) ".example.org" }'
awk "$name"' BEGIN { for (i = 0; i < 12000; i += 10) print name(i) }' >words
awk "$name"' BEGIN { for (i = 0; i < 1200000; i++) print 1700000000 + i, name(i * 31 % 12000), "disk=" i % 100, "unit checked" }' >log
"$SONDE" run -q -o regular -- env LC_ALL=C.UTF-8 sh -c 'grep -f words log >found; true'
"$SONDE" show --all regular | tr -s ' \n' ' ' >said
grep -q "in grep -f words log" said || skip "no verdict on the code of grep: $(cat said)"
grep -q "if they are plain words, add -F" said || fail "it does not say what is faster: $(cat said)"
