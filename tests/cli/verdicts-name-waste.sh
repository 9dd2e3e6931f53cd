# SPDX-License-Identifier: Apache-2.0
# limit: 180
# Real programs that do what need not be done: each verdict where it belongs, none where the same things are done as they should be.
. "$TOP/tests/lib.sh"
need jq
need python3

record() { # NAME COMMAND...
	name=$1
	shift
	"$SONDE" run --quiet -i 100ms -o "$name" -- "$@" >"$name.out" || fail "$name: $?"
	"$SONDE" show --json "$name" >"$name.json" || fail "show $name"
}

has() { # NAME RULE: with its words on standard output
	jq -er --arg rule "$2" '[.verdicts[] | select(.rule == $rule)][0].sentence // empty' "$1.json"
}

lacks() { # NAME RULE...
	name=$1
	shift
	for rule; do
		! has "$name" "$rule" || fail "$name: $rule"
	done
}

nap='import time
def work(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
'
record naps python3 -c "${nap}for i in range(3):
    work(0.4)
    time.sleep(2.6)"
# The child ends before the second look, however much of a core it has: else a sleep behind its end is a waste indeed.
record waits python3 -c "import os, time
end = time.monotonic() + 4.4
child = os.fork()
if not child:
    while time.monotonic() < end:
        pass
    os._exit(0)
while os.waitpid(child, os.WNOHANG) == (0, 0):
    time.sleep(2.6)"
lacks waits slept-fixed idle-in-parts # it waits for a child that works
case $(has naps slept-fixed) in
"Sleeping: nothing worked for "*" most of that time python3 (pid "*) lacks naps cores-unused single-core idle-in-parts ;;
*) has naps crowded || fail "naps: $(jq -c '[.verdicts[].rule]' naps.json)" ;; # others hold the cores
esac

# One file again and again; what comes through a pipe may be other data each time.
head -c 48M /dev/urandom | base64 | gzip -1 >reads.gz
record again sh -c 'for i in 1 2 3 4 5; do gzip -dc reads.gz | wc -l; done'
record piped sh -c 'for i in 1 2 3 4 5; do gzip -dc <reads.gz | wc -l; done'
of=$(has again same-again) || has again crowded || fail "again: $(jq -c '[.verdicts[].rule]' again.json)"
case $of in *" again: \`gzip -dc reads.gz\` ran "[345]" times or more"* | '') lacks again single-core serial-phase ;; *) fail "$of" ;; esac
lacks piped same-again

# Without samples of stacks nothing is known of code.
record compile "$PROGRAMS/patterns" compile 5
[ "$(jq '.code.samples // 0 | . >= 30' compile.json)" = true ] || skip "no stacks here"
record match "$PROGRAMS/patterns" match 2.3
record measured "$PROGRAMS/patterns" measured 2.3
of=$(has compile code-pattern-compilation) || fail "compile: $(jq -c '[.verdicts[].rule]' compile.json)"
case $of in *" of the CPU time compiles regular expressions"*) ;; *) fail "$of" ;; esac
lacks compile code-tools code-patterns
lacks match code-pattern-compilation code-tools
of=$(has measured code-tools) || fail "measured: $(jq -c '[.verdicts[].rule]' measured.json)"
case $of in *"Build without -pg, --coverage and -finstrument-functions."*) ;; *) fail "$of" ;; esac
lacks measured code-pattern-compilation
