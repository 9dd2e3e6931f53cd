/* SPDX-License-Identifier: Apache-2.0 */
/* How functions are called for reading. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/stacks/symbol.h"

static void names_become(const char *const names[][2], size_t n)
{
	char out[64];

	for (size_t i = 0; i < n; i++) {
		symbol_short(names[i][0], out, sizeof out);
		if (strcmp(out, names[i][1]) != 0)
			fail_msg("%s: %s", names[i][0], out);
	}
}

static void test_fortran_has_its_modules(void **state)
{
	static const char *const names[][2] = {
		{ "__solver_MOD_step", "solver::step" },
		{ "__solver_MOD_step.constprop.0", "solver::step" },
		{ "__solver.inner_MOD_step", "solver.inner::step" },
		{ "solver_mp_step_", "solver::step" },
		{ "_QMsolverPstep", "solver::step" },
		{ "_QMsolverSinnerPstep", "solver::inner::step" },
		{ "_QMsolverFstepPlocal", "solver::step::local" },
		{ "_QPstep", "step" },
		{ "_QQmain", "_QQmain" },
		{ "__MOD_", "__MOD_" },
		{ "__a_MOD_", "__a_MOD_" },
		{ "__abcd@_MOD_x", "__abcd" },
		{ "abcd@x_mp_y_", "abcd" },
		{ "_mp_", "_mp_" },
		{ "set_mp_step", "set_mp_step" },
		{ "_QM", "_QM" },
	};

	(void)state;
	names_become(names, sizeof names / sizeof names[0]);
}

static void test_names_are_short(void **state)
{
	static const char *const names[][2] = {
		{ "main", "main" },
		{ "foo(int, char const*)", "foo" },
		{ "void std::__introsort_loop<int*, long>(int*, int*, long)",
		  "std::__introsort_loop" },
		{ "std::vector<std::map<int, int>, std::allocator<int> >::push_back(int const&)",
		  "std::vector::push_back" },
		{ "unsigned long a::b<(anonymous namespace)::c>(int) [clone .constprop.0]",
		  "a::b" },
		{ "(anonymous namespace)::solve(double*)", "(anonymous namespace)::solve" },
		{ "std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
		  "std::operator<<" },
		{ "operator new(unsigned long)", "operator new" },
		{ "operator delete[](void*)", "operator delete[]" },
		{ "A::operator()(int) const", "A::operator()" },
		{ "A::operator->() const", "A::operator->" },
		{ "A::operator bool() const", "A::operator bool" },
		{ "bool operator< <int>(A<int> const&, B const&)", "operator<" },
		{ "main::{lambda(int)#1}::operator()(int) const", "main::{lambda}::operator()" },
		{ "run(int)::{lambda()#2}::operator()() const", "run::{lambda}::operator()" },
		{ "memcpy@@GLIBC_2.14", "memcpy" },
		{ "gauss.part.0", "gauss" },
		{ "loop._omp_fn.0", "loop._omp_fn.0" },
		{ "main.(*Solver).step", "main.(*Solver).step" },
		{ "main.sum[go.shape.int]", "main.sum" },
		{ "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
		  "alloc::vec::Vec::drop" },
		{ "<u32 as core::fmt::Display>::fmt", "core::fmt::Display::fmt" },
		{ "<[t::S] as t::Run<u8>>::run", "t::Run::run" },
		{ "<fn(u8) -> t::S as t::Run>::run", "t::Run::run" },
		{ "<<t::A as t::Run>::run::{closure#0} as core::ops::FnOnce<()>>::call_once",
		  "t::A::run::{closure#0}::call_once" },
		{ "<<t::A>::f::Inner<u8>>::go<u8>", "t::A::f::Inner::go" },
		{ "<u8 as alloc::slice::<impl [_]>::to_vec_in::ConvertVec>::to_vec<u8>",
		  "alloc::slice::to_vec_in::ConvertVec::to_vec" },
		{ "core::str::<impl str>::trim", "core::str::trim" },
		{ "core::slice::sort::recurse::h0123456789abcdef", "core::slice::sort::recurse" },
		{ "LazyCompile:~sum /a b.js:3", "LazyCompile:~sum /a b.js:3" },
		{ "py::f:/opt/x/a b.py", "py::f:/opt/x/a b.py" },
		{ "f<a<b>, (c)1>(d<e>)", "f" },
		{ "f<", "f" },
		{ "<", "<" },
		{ "(", "(" },
		{ ")>]}", ")>]}" },
	};
	char tiny[4];

	(void)state;
	names_become(names, sizeof names / sizeof names[0]);
	assert_string_equal(symbol_short("abcdef", tiny, sizeof tiny), "abc");
	assert_string_equal(symbol_short("a\xc3\xa4\xc3\xa4", tiny, sizeof tiny), "a\xc3\xa4");
	assert_string_equal(symbol_short("ab\xc3\xa4", tiny, sizeof tiny), "ab");
}

static void test_a_library_is_known_by_names_and_files(void **state)
{
	(void)state;
	assert_true(symbol_is_of_library("void std::vector<int>::push_back(int&&)", ""));
	assert_true(symbol_is_of_library("core::ptr::write", ""));
	assert_false(symbol_is_of_library("stdlike::f(std::vector<int>)", "/src/std/f.cc"));
	assert_true(symbol_is_of_library("stable_sort<int*, main()::{lambda(int, int)#1}>",
					 "/usr/include/c++/12/bits/stl_algo.h"));
	assert_true(symbol_is_of_library("<t::S as alloc::slice::hack::ConvertVec>::to_vec",
					 "/rustc/5980/library/alloc/src/slice.rs"));
	assert_string_equal(symbol_base("/lib/libz.so.1"), "libz.so.1");
	assert_string_equal(symbol_base("[vdso]"), "[vdso]");
}

static void test_names_lose_their_directories(void **state)
{
	static const char *const names[][2] = {
		{ "py::f:/opt/a/b.py", "py::f:b.py" },
		{ "LazyCompile:~f file:///opt/a b/c.js:3:4", "LazyCompile:~f file:c.js:3:4" },
		{ "/opt/a/b", "b" },
		{ "operator/(int, int)", "operator/(int, int)" },
		{ "github.com/x/y.f", "github.com/x/y.f" },
		{ "a / b", "a / b" },
		{ "f(/a/b/, /)", "f(, /)" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char name[64];

		snprintf(name, sizeof name, "%s", names[i][0]);
		symbol_strip_paths(name);
		assert_string_equal(name, names[i][1]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_short),
		cmocka_unit_test(test_fortran_has_its_modules),
		cmocka_unit_test(test_a_library_is_known_by_names_and_files),
		cmocka_unit_test(test_names_lose_their_directories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
