# SPDX-License-Identifier: Apache-2.0
# limit: 120
# make that runs one compiler at a time while cores are idle is told of -j; one that was told, by option or by MAKEFLAGS, is not, and
# neither is a script that compiles without make, a recipe that loops, nor make that compiles nothing (unit/repeats has the words). One that was told, and whose makefile hands nothing on, is told that.
. "$TOP/tests/lib.sh"
need make
need gcc
need jq
[ "$(nproc)" -ge 2 ] || skip "there is one core"

functions() { # FILE HOW-MANY
	for i in $(seq "$2"); do
		echo "int f$1_$i(int a, int b) { for (int i = 0; i < b; i++) a = a * $i ^ (i % ($i + 7)) / 3; return a; }"
	done >"part$1.c"
}
# As many as keep a compiler busy for a second of CPU time: of what takes less than two seconds side by side nothing is said.
functions 1 100
TIMEFORMAT='%U %S'
took=$( { time gcc -O2 -c part1.c; } 2>&1 | awk '{ print $1 + $2 }')
many=$(calc "int(100 / $took)")
for file in 1 2 3 4 5; do
	functions $file "$many"
done
printf 'all: part1.o part2.o part3.o part4.o part5.o\n%%.o: %%.c\n\tgcc -O2 -c -o $@ $<\nclean:\n\trm -f *.o\n' >Makefile
printf 'all: 1 2 3 4 5\n%%:\n\tpython3 -c "sum(i * i for i in range(5000000))"\n' >other.mk

rules() { # NAME COMMAND...
	name=$1
	shift
	rm -f ./*.o
	"$SONDE" run --quiet -i 50ms -o "$name" -- "$@" >"$name.out" 2>&1 || fail "$name: $(cat "$name.out")"
	"$SONDE" show --json "$name" >"$name.json" || fail "show $name"
	jq -r '.verdicts[].rule' "$name.json" | tr '\n' ' '
}

# One that ends at once, whose words nobody saw, says nothing of the other.
of=$(rules serial sh -c 'make -s clean && make')
case " $of" in *" builds-one-by-one "*) ;; *) fail "make: $of" ;; esac
case " $of" in *" single-core "* | *" one-after-another "*) fail "make: $of" ;; esac
jq -r '.verdicts[] | select(.rule == "builds-one-by-one").sentence' serial.json >sentence
contains sentence "make started 5 compilers"
contains sentence "Run make -j$(nproc)"
printf 'all:\n\t@for i in 1 2 3 4 5; do make -s part$$i.o; done\n%%.o: %%.c\n\tgcc -O2 -c -o $@ $<\n' >turns.mk
of=$(MAKEFLAGS=j2 rules turns sh -c 'cp turns.mk GNUmakefile && make')
rm -f GNUmakefile
case " $of" in *" builds-in-turn "*) ;; *) fail "turns: $of" ;; esac
case " $of" in *" builds-one-by-one "* | *" single-core "* | *" one-after-another "*) fail "turns: $of" ;; esac
jq -r '.verdicts[] | select(.rule == "builds-in-turn").sentence' turns.json >sentence
contains sentence "5 compilers ran one after the other"
printf 'all:\n\tfor i in 1 2 3 4 5; do gcc -O2 -c part$$i.c || exit; done\n' >loop.mk
for other in "make -f loop.mk" "make -j2" "make -f other.mk" "sh -c 'for i in 1 2 3 4 5; do gcc -O2 -c part\$i.c; done'"; do
	n=$((${n:-0} + 1))
	of=$(eval "rules other$n $other") || fail "$other: $of"
	[ -s "other$n.json" ] || fail "$other: it was not judged"
	case " $of" in *" builds-one-by-one "*) fail "$other: $of" ;; esac
	case "$other" in *j2) case " $of" in *" builds-in-turn "*) fail "$other: $of" ;; esac ;; esac
done
