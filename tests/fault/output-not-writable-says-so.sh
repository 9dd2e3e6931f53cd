# SPDX-License-Identifier: Apache-2.0
# Where nothing can be written, one sentence says so before the job and again behind it; the job runs all the same.
. "$TOP/tests/lib.sh"
said_twice() {
	equal "lines" 2 "$(wc -l <said)"
	equal "the same again" "$(sed -n '1s/^sonde: recording: //p' said)" "$(sed -n '2s/^sonde: recording failed: //p' said)"
	head -n 1 said >once
	one_sentence once
}
check() { # DIR
	"$SONDE" run --quiet -o "$1" -- sh -c 'echo ran; exit 42' >stdout 2>said
	equal "the job's exit status ($1)" 42 $?
	equal "the job's output ($1)" ran "$(cat stdout)"
	said_twice
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
said_twice
[ -z "$(find . -maxdepth 1 -name "node-*")" ] || fail "recorded into the start of a long path"
