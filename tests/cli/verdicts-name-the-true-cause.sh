# SPDX-License-Identifier: Apache-2.0
# limit: 240
# Real jobs with a known cause, most side by side and so in each other's way: each gets its own cause, none what contradicts it. One that others
# kept from the cores, and whose cause is hidden so, is run again alone; if it is crowded even then, by what else runs here, that is its cause.
. "$TOP/tests/lib.sh"
need python3
need jq

declare -A commands=()
job() { # NAME COMMAND...
	name=$1
	shift
	commands[$name]=${*@Q}
	(mkdir "$name-work" && cd "$name-work" && exec "$SONDE" run --quiet -i 100ms -o "../$name" -- "$@") &
}

loop() { # what is done again and again for six seconds
	printf 'import os, threading, time\nend = time.time() + 6\n%s' "$1"
}

job storm timeout 6 sh -c 'while :; do /bin/true; done'
job faults python3 -c "$(loop 'while time.time() < end:
    bytearray(b"x") * (64 << 20)')"
job names python3 -c "$(loop 'while time.time() < end:
    for i in range(100):
        os.close(os.open(f"f{i}", os.O_CREAT | os.O_WRONLY))
    for i in range(100):
        os.unlink(f"f{i}")')"
job pong python3 -c "$(loop 'a, b = os.pipe(), os.pipe()
child = os.fork()
if not child:
    os.close(a[1])
    while os.read(a[0], 1):
        os.write(b[1], b"x")
    os._exit(0)
while time.time() < end:
    for i in range(100):
        os.write(a[1], b"x")
        os.read(b[0], 1)
os.close(a[1])
os.wait()')"
job turns python3 -c "$(loop 'def work():
    while time.time() < end:
        sum(range(10000))
threads = [threading.Thread(target=work) for i in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()')"
job late sh -c 'for i in 1 2 3; do timeout 0.5 tail -f /dev/null & sleep 2; done'
wait
job spins "$PROGRAMS/stuck" spins
wait
job recurses "$PROGRAMS/stuck" recurses
job overflows "$PROGRAMS/stuck" overflows
job comrade sh -c 'python3 -c "import sys, time
time.sleep(3)
sys.exit(1)" & wait $!; sleep 0.2; exit 3'
job overflows-thread sh -c '"$0" overflows-thread; echo over; exit 3' "$PROGRAMS/stuck"
wait
job uneven sh -c '"$0" work:1:2 & "$0" work:1:8; wait' "$PROGRAMS/behave"
wait
job halves "$PROGRAMS/stuck" uneven
wait
job threads "$PROGRAMS/behave" +work:64:3 +work:64:3 work:64:3 # it leaves the others nothing
wait

rules() { # NAME
	"$SONDE" show --json "$1" >"$1.json" || fail "show $1"
	jq -r '.verdicts[].rule' "$1.json" | tr '\n' ' '
}

says() { # NAME RULE [RULES THAT ARE SILENT]...
	name=$1 rule=$2
	shift 2
	of=$(rules "$name")
	case " $of" in
	*" $rule "*) ;;
	*" crowded "*)
		rm -rf "$name" "$name-work"
		eval "job $name ${commands[$name]}"
		wait
		of=$(rules "$name")
		case " $of" in
		*" $rule "*) ;;
		*" crowded "*)
			echo "$name: others hold the cores of this machine"
			return
			;;
		esac
		;;
	esac
	case " $of" in *" $rule "*) ;; *) fail "$name: no $rule among: $of" ;; esac
	for silent; do
		case " $of" in *" $silent "*) fail "$name: $silent among: $of" ;; esac
	done
}

says threads oversubscribed single-core cores-unused
says storm process-storm single-core serial-phase kernel-time
says faults page-faults kernel-time names-storm
# In memory nothing goes to storage, and nothing shows that it is files.
case $(stat -f -c %T .) in
tmpfs | ramfs) says names kernel-time names-storm page-faults ;;
*) says names names-storm kernel-time page-faults ;;
esac
says spins code-spinning single-core serial-phase takes-turns-beside-others
says late slept-late idle idle-throughout waited cores-unused
# Where the kernel's log may be read and has it, it is known.
says_overflow() { # NAME RULE [RULES THAT ARE SILENT]...
	case " $(rules "$1")" in
	*" stack-overflowed "*) says "$1" stack-overflowed "$2" "${@:3}" ;;
	*) says "$@" ;;
	esac
}
says_overflow recurses stack-overflow killed failed-by-signal
says_overflow overflows stack-filled killed failed-by-signal
says_overflow overflows-thread stack-filled failed
# What ran beside it and failed right before, in another way.
rules comrade >comrade.rules
jq -r '.verdicts[].sentence' comrade.json >comrade.says
grep -q "\(First to fail\|Failed\): python3" comrade.says || fail "who failed: $(cat comrade.says)"
says uneven unequal-workers serial-phase single-core
says halves unequal-workers serial-phase single-core
# Where reads and writes are counted, they say what is handed over.
case " $(rules pong)" in
*" tiny-pieces "*) says pong tiny-pieces context-switches single-core small-io ;;
*) says pong context-switches single-core small-io ;;
esac
# Where others hold the cores, threads that wait for the lock wait for a core as well.
of=" $(rules turns)"
case $of in *" takes-turns "*) of= ;; esac
case $of in
*" crowded "* | *" oversubscribed "*) ;;
*) [ "$(nproc)" -lt 2 ] || says turns takes-turns single-core oversubscribed ;;
esac
case " $(rules storm)" in *" process-storm "*) ;; *) exit 0 ;; esac # others hold the cores
costs=$(jq '[.verdicts[] | select(.rule == "process-storm")][0].cost_ratio' storm.json)
holds "what the storm costs" "$costs > 0.02 && $costs <= 1" # others may have most of the cores
sentence=$(jq -r '[.verdicts[] | select(.rule == "process-storm")][0].sentence' storm.json)
case $sentence in *" of true, started by sh),"*"It costs up to "*" of the run.") ;; *) fail "sentence: $sentence" ;; esac
