# SPDX-License-Identifier: Apache-2.0
# limit: 120
# Spans, marks and counters of a Fortran program are in the recording; a program with the stub is nothing without Sonde, and
# recorded with it.
. "$TOP/tests/lib.sh"
! nm "$BUILD/libsonde.a" | grep -q __asan_init || skip "the library is built with sanitizers"
link=("$BUILD/libsonde.a" -lzstd -lm -pthread)
count() { # RECORDING TABLE NAME
	rm -rf csv
	"$SONDE" export --to csv -o csv "$1" 2>export.said || fail "export $1"
	[[ ! -e csv/$2.csv ]] && echo 0 || grep -c "[,\"]$3[,\"]" "csv/$2.csv"
}

cat >stub.c <<'C'
#include "sonde_stub.h"
int work(int n)
{
	SONDE_SPAN("block");
	static unsigned name, part;
	unsigned long long handle;
	name = sonde_name("step");
	part = sonde_name("part");
	sonde_thread_name("worker");
	for (int i = 0; i < n; i++) {
		sonde_begin(name);
		handle = sonde_span_begin(part, 0);
		sonde_counter(name, i);
		sonde_span_end(handle);
		sonde_end();
	}
	sonde_mark(name);
	(void)handle;
	return n + (int)sonde_spans_lost();
}
int main(void)
{
	return work(3) - 3;
}
C
cp stub.c stub.cc
for compiler in "gcc -std=gnu99" "clang -std=c17" "g++ -std=c++11 -xc++" "clang++ -std=c++20 -xc++"; do
	command -v "${compiler%% *}" >/dev/null || continue
	$compiler -Wall -Wextra -Werror -I"$TOP/include" -O2 -o nothing stub.c || fail "$compiler without Sonde"
	! nm nothing | grep -i sonde || fail "$compiler: something is left of it"
	./nothing || fail "$compiler: its exit code"
	$compiler -Wall -Wextra -Werror -DSONDE_WANTED -I"$TOP/include" -O2 -o something stub.c -xnone "${link[@]}" || fail "$compiler with Sonde"
	rm -rf c
	"$SONDE" run --quiet -o c -- ./something || fail "$compiler: run: $?"
	equal "$compiler: steps, parts, blocks, marks" "3 3 1 1" "$(count c spans step) $(count c spans part) $(count c spans block) $(count c marks step)"
done

command -v gfortran >/dev/null || skip "gfortran is not installed"
cat >program.f90 <<'F'
program main
  use sonde_span
  implicit none
  integer(sonde_name_kind) :: step, part, loss
  integer(sonde_handle_kind) :: outer, inner
  character(len=40) :: text = "step"
  integer :: i
  call sonde_thread_name("solver")
  step = sonde_name(text)
  part = sonde_name("part")
  loss = sonde_name("loss")
  outer = sonde_span_begin(sonde_name("outer"))
  do i = 1, 5
     call sonde_begin(step)
     inner = sonde_span_begin(part, outer)
     call sonde_counter(loss, real(i, kind=8) / 2)
     call sonde_span_end(inner)
     call sonde_end()
  end do
  call sonde_span_end(outer)
  call sonde_mark(sonde_name("done"))
  call sonde_begin_with(sonde_name("begun"), [sonde_arg_text(part, "a b"), sonde_arg_integer(step, -7_8), sonde_arg_category(loss)])
  call sonde_end()
  inner = sonde_span_begin_with(sonde_name("both"), [sonde_arg_number(loss, 0.5d0)])
  call sonde_span_end_with(inner, [sonde_arg_text(part, "end")])
  call sonde_mark_with(sonde_name("noted"), [sonde_arg_integer(step, 3_8)])
  if (sonde_spans_lost() /= 0) stop 1
end program main
F
for standard in f2003 f2018; do
	gfortran -std=$standard -Wall -Wextra -Werror -o fortran "$TOP/include/sonde_span.f90" program.f90 "${link[@]}" || fail "gfortran -std=$standard"
done
./fortran || fail "without a recorder: $?"
"$SONDE" run --quiet -o f -- ./fortran || fail "run: $?"
equal "steps, parts, outer, marks" "5 5 1 1" "$(count f spans step) $(count f spans part) $(count f spans outer) $(count f marks "done")"
rm -rf csv
"$SONDE" export --to csv -o csv f 2>export.said || fail "export"
equal "arguments" '"""part=a b"" step=-7 category=loss";loss=0.5 part=end;step=3' \
	"$(tr -d '\r' <csv/spans.csv | grep -E ',(begun|both),' | cut -d, -f9- | sort | paste -sd';');$(grep -o 'step=3' csv/marks.csv)"
equal "the counter's values" "0.5 1 1.5 2 2.5" "$(grep ',loss,' csv/counters.csv | awk -F, '{ print $NF + 0 }' | sort -n | xargs)"
grep -q solver csv/spans.csv || fail "the thread has not the name that it was given"
