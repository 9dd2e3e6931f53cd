# SPDX-License-Identifier: Apache-2.0
# quiet
# limit: 120
# A script goes on after a child of it failed, and ends with 0: which child, how it ended, how often, and what standard error says; and
# what was killed, by whom as far as that is known. What a script only asks (grep, rm, test) is no failure.
. "$TOP/tests/lib.sh"
need python3
need jq
[ "$(printf '6.15\n%s\n' "$(uname -r)" | sort -V | head -1)" = 6.15 ] || skip "this kernel does not tell how the children of others ended"

PY=$(python3 -c 'import sys; print(sys.executable)') # not what looks for it at each start
export PY

record() { # NAME SCRIPT
	status=0
	"$SONDE" run --quiet -i 50ms -o "$1" -- sh -c "$2" 2>"$1.err" || status=$?
	equal "exit code of $1" 0 $status
	"$SONDE" show --json "$1" >"$1.json" || fail "show $1"
}

sentences() { # NAME
	jq -r '.verdicts[].sentence' "$1.json"
}

says() { # NAME TEXT...
	of=$1
	shift
	for text; do
		case $(sentences "$of") in *"$text"*) ;; *) fail "$of: not '$text' in: $(sentences "$of")" ;; esac
	done
}

silent() { # NAME
	case $(sentences "$1") in *"Hidden failure"* | *"Killed:"*) fail "$1: $(sentences "$1")" ;; esac
}

STEP='import sys, time
end = time.process_time() + 0.3
while time.process_time() < end:
    pass
if int(sys.argv[1]) % 3 == 0:
    raise ValueError("no such step")
'
printf %s "$STEP" >step.py
record error 'for i in 1 2 3 4 5 6 7; do "$PY" step.py $i; done; true'
says error "Hidden failure: python" " step.py (pid " "ended with exit code 1 after" "exit code 0: \`python" \
	"Standard error says: ValueError: no such step."

# How a child ended is known if a sample saw it: a process of some milliseconds may be gone before one comes.
cat >crash.py <<'END'
import os, resource, time
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
while time.process_time() < 0.2:
    pass
os.abort()
END
record crash '"$PY" step.py 1; "$PY" crash.py; "$PY" step.py 2; sleep 1'
says crash "Hidden failure: python" " crash.py (pid " "was killed by SIGABRT after"

record stopped 'timeout 1 "$PY" -c "while True: pass"; sleep 1.5'
says stopped "Killed: python" "was ended by SIGTERM" "when the time of \`timeout 1 /"

record shot '"$PY" -c "while True: pass" & sleep 1; kill -9 $!; wait $!; sleep 1.5'
says shot "was ended by SIGKILL" "who sent it is not known"

# None of these is a failure: questions, and what a script ends itself when it is done.
record asks 'echo x >file; for i in 1 2 3 4 5 6; do grep -q y file; rm none; test -d none; cmp -s file step.py; "$PY" step.py 1; done; true'
silent asks
record subshells 'for i in 1 2 3 4 5 6; do (test -d none); sh -c "grep -q y step.py; exit 1"; "$PY" step.py 1; done; echo "error: none" >&2; true'
silent subshells
record server '"$PY" -c "while True: pass" & "$PY" step.py 1; sleep 1; kill $!; wait; true'
silent server
record lasts 'timeout 1 "$PY" -c "while True: pass"; true'
silent lasts
# An attempt that is repeated until one goes well, a server that catches SIGTERM, and who writes to a reader that has enough.
record again 'for i in 1 2 3 4; do "$PY" -c "import os, time
end = time.process_time() + 0.3
while time.process_time() < end: pass
os.mkdir(\"m2\" if os.path.exists(\"m1\") else \"m1\")
raise SystemExit(0 if os.path.exists(\"m2\") else \"ConnectionError: refused\")" && break; done'
silent again
record caught '"$PY" -c "import os, signal, time
signal.signal(signal.SIGTERM, lambda *a: os._exit(143))
while True: pass" & "$PY" step.py 1; kill $!; wait; true'
silent caught
record enough '"$PY" -c "
while True: print(sum(range(100)))" | head -300000 >/dev/null; "$PY" step.py 1'
silent enough
record fine '"$PY" step.py 1; "$PY" step.py 2; sleep 1'
silent fine
jq -e '[.. | strings | select(startswith("Traceback"))] == []' fine.json >/dev/null || fail "what a job printed that went well was recorded"

# What solvers and others answer by their exit codes, also where a shell or xargs hands it on.
cp "$(command -v dash || command -v sh)" kissat
SOLVE='i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exit'
export SOLVE
record solver './kissat -c "$SOLVE 10"; sh -c "./kissat -c \"\$SOLVE 20\"; exit \$?"; echo step.py | xargs grep -q zzz; true'
silent solver
record failed './kissat -c "$SOLVE 3"; true'
says failed "Hidden failure: kissat"
for how in './kissat -c "$SOLVE 10"' 'sh -c "./kissat -c \"\$SOLVE 10\"; exit \$?"'; do
	status=0
	eval "\"$SONDE\" run --quiet -i 50ms -o answer -- $how" 2>answer.err || status=$?
	equal "exit code of a solver" 10 $status
	"$SONDE" show --json answer >answer.json || fail "show answer"
	says answer "Exit code 10 after " ": the solver found it satisfiable."
	case $(sentences answer) in *[Ff]ailed*) fail "a solver's answer: $(sentences answer)" ;; esac
	"$SONDE" show answer | grep -q "Failed" && fail "a solver's answer: $("$SONDE" show answer)"
	rm -r answer
done

# Whoever wants nothing recorded of what is printed has nothing.
status=0
"$SONDE" run --quiet --no-error-text -i 50ms -o quiet -- sh -c 'for i in 1 2 3; do "$PY" step.py 3; done; true' 2>quiet.err || status=$?
equal "exit code" 0 $status
"$SONDE" show --json quiet >quiet.json || fail "show quiet"
case $(sentences quiet) in *"Standard error"*) fail "$(sentences quiet)" ;; esac
