# SPDX-License-Identifier: Apache-2.0
# Command lines of processes: shortened, without secrets, in every output; a script by its interpreter; read once a
# program; hostile ones are harmless; --no-args reads none.
. "$TOP/tests/lib.sh"

cat >job.sh <<'END'
#!/bin/bash
"$PYTHON" -u wait.py --rate 3 --token hush_hush &
sh -c 'sleep 1; :' 'a b' "$(printf '\033[31m\200\n<b>')" &
bash -c 'sleep 0.6; exec sleep 0.9' &
"$SONDE" mark epoch loss=0.31 password=hush_hush
wait
END
cat >hostile.py <<'END'
import os
if not os.fork():
    os.execv("/bin/sh", [b"\xff\x1b]0;x\x07" + b"y" * 1000, b"-c", b"sleep 1; :"] + [b"\x80" * 100000] * 10)
os.wait()
END
echo 'import time; time.sleep(1.2)' >wait.py
chmod +x job.sh
mkdir one
"$SONDE" run -q -i 100ms -o one -- ./job.sh || fail "run"

"$SONDE" export --to csv one -o csv 2>said || fail "export"
"$PYTHON" - <<'END' || fail "what was exported"
import csv, glob, os
rows = list(csv.DictReader(open(glob.glob("csv/processes*.csv")[0], newline="")))
of = {r["name"]: r["command_line"] for r in rows}
assert "bash job.sh" in of and of["bash job.sh"] == "/bin/bash ./job.sh", of
python = os.path.basename(os.environ["PYTHON"])
line = of[python + " wait.py"]
assert line == os.environ["PYTHON"] + " -u wait.py --rate 3 --token ***", line
assert any(r["name"] == "sh" and r["command_line"].startswith("sh -c 'sleep 1; :' 'a b' ") for r in rows), rows
# It executes another program: the label is that one's.
assert any(r["command_line"] == "sleep 0.9" for r in rows), rows
END
! grep -rq hush_hush one csv || fail "a secret is in it"

"$SONDE" show --all one >shown
contains shown "bash job.sh"
grep -rq 'loss=0.31 password=\*\*\*' csv || fail "the mark's text"
script -qec "stty cols 160; '$SONDE' show --all one" /dev/null >wide </dev/null
contains wide "-u wait.py --rate 3 --token ***"
"$SONDE" show --json one >json
equal "in JSON" true "$(jq '[.. | .command_line? | strings] | any(contains("--rate 3"))' json)"
"$SONDE" trace one -o trace.json >/dev/null 2>&1 || fail "trace"
contains trace.json "wait.py --rate 3"
"$SONDE" report one -o page >/dev/null || fail "report"

# Nothing is read with --no-args.
"$SONDE" run -q -i 100ms --no-args -o none -- bash -c 'sleep 0.3; :' || fail "run --no-args"
"$SONDE" show --json none | grep -q '"command_line": "' && fail "--no-args reads command lines"

# Hostile ones: every output is text.
"$SONDE" run -q -i 100ms -o hostile -- "$PYTHON" hostile.py || fail "a hostile command line"
"$SONDE" show --all hostile >shown || fail "show"
! grep -q "$(printf '\033')" shown || fail "a sequence for a terminal is in it"
"$SONDE" show --json hostile | jq -e . >/dev/null || fail "JSON"
"$SONDE" report hostile -o hostile_page >/dev/null || fail "report"
iconv -f utf-8 -t utf-8 hostile_page/*.html >/dev/null || fail "the page is no UTF-8"
[ "$(stat -c %s hostile/*.sonde | sort -n | tail -1)" -lt 300000 ] || fail "it was kept whole"

# Without addresses, with those of the machine itself.
"$SONDE" run -q -i 100ms --no-addresses -o nowhere -- sh -c ': to 10.11.12.13, [2001:db8::5]:80 and 127.0.0.1:22; sleep 0.3' || fail "run --no-addresses"
"$SONDE" show --json --all nowhere >nowhere.json
grep -q '10\.11\.12\|2001:db8' nowhere.json && fail "--no-addresses records addresses"
grep -q 'to address-[0-9a-f]*, \[address-[0-9a-f]*\]:80 and 127.0.0.1:22' nowhere.json || fail "--no-addresses: $(grep command nowhere.json)"

# Once for each program that a process is: what it was forked as, if it is seen so early, and what it executes.
command -v strace >/dev/null || exit 0
strace -f -qq -e trace=openat,execve -o calls "$SONDE" run -q -i 100ms -o counted -- sh -c 'sleep 0.5; exec sleep 0.5' || fail "strace"
awk '/execve.* = 0$/ { programs[$1]++ }
	match($0, /"[0-9]+\/cmdline"/) { reads[substr($0, RSTART + 1, RLENGTH - 10)]++; all++ }
	END {
		for (pid in reads) if (reads[pid] > programs[pid] + 1) { print pid ": " reads[pid] " reads, " programs[pid] " programs"; bad = 1 }
		exit bad || all < 3
	}' calls || fail "a command line is read again, or none is"
