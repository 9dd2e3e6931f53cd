# SPDX-License-Identifier: Apache-2.0
# plain
# limit: 180
# Making spans takes no system call, with a recorder and without one; ThreadSanitizer finds nothing in 16 threads that make them
# while they are taken.
. "$TOP/tests/lib.sh"
need strace
need clang
spanner=$PROGRAMS/spanner
calls() { # FILE: system calls between the two getppid()
	awk '/getppid\(/ { n++; next } n == 1 && !/--- SIG/ { calls++ } END { print calls + 0 }' "$1"
}
strace -o alone.calls "$spanner" calls 2000 >lost || skip "strace may not trace"
equal "calls without a recorder" 0 "$(calls alone.calls)"
"$SONDE" run --quiet -o out -- strace -f -o with.calls "$spanner" calls 20000 >lost || fail "run: $?"
equal "getppid" 2 "$(grep -c 'getppid(' with.calls)"
# A clock that takes one itself is not ours to mend.
grep -qE 'tsc|kvm-clock|arch_sys_counter' /sys/devices/system/clocksource/clocksource0/current_clocksource || sed -i '/clock_gettime(/d' with.calls
equal "calls with a recorder" 0 "$(calls with.calls)"
"$SONDE" export --to csv -o csv out || fail "export"
equal "they are there" 20010 "$(grep -cE ',(warm|inner),' csv/spans.csv)"

# What runs in the program, and its own recorder; the rest as it was built.
clang -fsanitize=thread -g -O1 -std=gnu17 -D_GNU_SOURCE -DSONDE_VERSION='"0"' -I"$TOP/src" -I"$TOP/include" -o raced \
	"$TOP"/tests/programs/spanner.c "$TOP"/src/lib/span*.c "$TOP"/src/source/program/spans*.c \
	"$BUILD/libsonde-all.a" -lzstd -lm -pthread || fail "it cannot be built with ThreadSanitizer"
run_raced() { # NAME ARGUMENTS...
	local name=$1
	shift
	TSAN_OPTIONS=halt_on_error=0:exitcode=66 setarch -R "$@" >"$name.out" 2>&1
	case $? in
	0) return 0 ;;
	66) fail "races: $(grep -A 12 'WARNING: Thread' "$name.out")" ;;
	*) grep -q 'unexpected memory mapping' "$name.out" || fail "$name: $(cat "$name.out")" ;;
	esac
}
run_raced threads ./raced many 2000 16 own
run_raced short ./raced short 40
run_raced recorded "$SONDE" run --quiet -o raced.rec -- ./raced many 2000 16
run_raced handed "$SONDE" run --quiet -o handed.rec -- ./raced handed 2000 8
