# SPDX-License-Identifier: Apache-2.0
# Of grep with patterns of a file, each of which it takes for a regular expression, the verdict says how plain words are searched faster.
. "$TOP/tests/lib.sh"
awk 'BEGIN { for (i = 0; i < 1500; i++) printf "host-%d.example.%d\n", i * 7919 % 100003, i }' >words
awk 'BEGIN { for (i = 0; i < 60000; i++) printf "%d host-%d.example.%d is up since a while\n", i, i * 31 % 100003, i % 1500 }' >log
"$SONDE" run -q -o regular -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do grep -f words log >found; done; true'
"$SONDE" show regular >said
cat said
tr -s ' \n' ' ' <said | grep -q "grep -f words log" || skip "grep took too little time"
tr -s ' \n' ' ' <said | grep -q "if they are plain words, add -F" || fail "it does not say what is faster"
