# SPDX-License-Identifier: Apache-2.0
# The judge of verdicts (tests/causes) scores what a stand-in for Sonde prints: the same two jobs come out first, later,
# silent or false by the words alone. The jobs themselves are not run.
. "$TOP/tests/lib.sh"
need gcc
cat >stub <<'END'
#!/bin/sh
case $1 in
show)
	printf 'sonde       ended\n'
	cat "$SAID"
	printf 'cores       0.5 of 2 used on average\n\nwarning     no verdict: Illegal instruction\n' ;;
esac
END
chmod +x stub
judge() { # NAME WANTED
	BUILD=$PWD/build SONDE=$PWD/stub SAID=$PWD/said "$PYTHON" "$TOP/tests/causes/judge.py" --only "$1" >out 2>err || { cat err >&2; fail "the judge failed"; }
	grep -q "^$2 *$1 " out || { cat out >&2; fail "$1 is not scored $2"; }
}
mkdir build
printf 'problem     Killed by SIGILL: an illegal\n            instruction, for another CPU.\n' >said
judge illegal-instruction first
printf 'problem     Failed: exit code 132.\nproblem     An illegal instruction.\n' >said
judge illegal-instruction later
printf 'unsure      Cannot tell: too short.\n' >said
judge illegal-instruction silent
printf 'warning     Waited on disk: storage is slow.\nproblem     An illegal instruction.\n' >said
judge illegal-instruction false
printf 'unsure      Cannot tell: too short.\n' >said
judge healthy-one-core first
printf 'note        Only one of 2 cores was in use.\n' >said
judge healthy-one-core false
