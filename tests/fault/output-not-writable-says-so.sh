# SPDX-License-Identifier: Apache-2.0
# Where nothing can be written, one sentence says so and the job runs all the same.
. "$TOP/tests/lib.sh"
check() { # DIR
	"$SONDE" run --quiet -o "$1" -- sh -c 'echo ran; exit 42' >stdout 2>said
	equal "the job's exit status ($1)" 42 $?
	equal "the job's output ($1)" ran "$(cat stdout)"
	one_sentence said
	contains said "$1"
}
touch file
check file/out
contains said "name another with -o"
! grep -q -- --force said || fail "--force makes no directory: $(cat said)"
check /proc/out
contains said "name another with -o"
check "$(printf 'x%.0s' $(seq 300))"

# A path longer than the kernel takes is not cut to another one.
equal "status with a long path" 42 "$("$SONDE" run --quiet -o "$(printf './%.0s' $(seq 2100))out" -- sh -c 'exit 42' 2>said; echo $?)"
one_sentence said
[ -z "$(find . -maxdepth 1 -name "node-*")" ] || fail "recorded into the start of a long path"
