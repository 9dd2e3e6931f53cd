/* SPDX-License-Identifier: Apache-2.0 */
/* Rust's symbols are readable, and no symbol makes the parser do much or read beyond its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/stacks/symbol.h"
#include "unwind/punycode.h"
#include "unwind/rust.h"
#include "unwind/symbols.h"

/* Of a program and its standard library by rustc 1.95. Their names are those of llvm-cxxfilt 19,
 * but for "::" before arguments, lifetimes, line feeds, and impls of core for types without a
 * path. */
static const char *const real[][2] = {
	{ "_RINvCsjMaewn57Afh_1t2tyDG_INtNtNtCsgEmfK2I1SDS_4core3ops8function2FnTRL0_eEEp6OutputRL0_eEL_EB2_",
	  "t::ty<dyn core::ops::function::Fn<(&str,), Output = &str>>" },
	{ "_RINvCsjMaewn57Afh_1t2tyDNtNtNtNtCsgEmfK2I1SDS_4core4iter6traits8iterator8Iteratorp4ItemmNtNtBu_6marker4SyncNtB1q_4SendEL_EB2_",
	  "t::ty<dyn core::iter::traits::iterator::Iterator<Item = u32> + core::marker::Sync + core::marker::Send>" },
	{ "_RINvCsjMaewn57Afh_1t2tyFEzEB2_", "t::ty<fn() -> !>" },
	{ "_RINvCsjMaewn57Afh_1t2tyFG0_RL1_hQL0_tEuEB2_", "t::ty<fn(&u8, &mut u16)>" },
	{ "_RINvCsjMaewn57Afh_1t2tyFKCPaEuEB2_", "t::ty<extern \"C\" fn(*const i8)>" },
	{ "_RINvCsjMaewn57Afh_1t2tyFUK6systemEuEB2_", "t::ty<unsafe extern \"system\" fn()>" },
	{ "_RINvCsjMaewn57Afh_1t2tyOAhj12c_EB2_", "t::ty<*mut [u8; 300]>" },
	{ "_RINvCsjMaewn57Afh_1t2tyRDNtNtCsgEmfK2I1SDS_4core3fmt7DisplayEL_EB2_",
	  "t::ty<&dyn core::fmt::Display>" },
	{ "_RINvCsjMaewn57Afh_1t2tyRSReEB2_", "t::ty<&[&str]>" },
	{ "_RINvCsjMaewn57Afh_1t2tyThEEB2_", "t::ty<(u8,)>" },
	{ "_RINvCsjMaewn57Afh_1t2tyThscbfdijnomytaxEEB2_",
	  "t::ty<(u8, i16, char, bool, f32, f64, isize, usize, i128, u128, u32, u64, u16, i8, i64)>" },
	{ "_RINvCsjMaewn57Afh_1t2tyeEB2_", "t::ty<str>" },
	{ "_RINvCsjMaewn57Afh_1t4callNCNCNvB2_4mains1_00EB2_",
	  "t::call<t::main::{closure#3}::{closure#0}>" },
	{ "_RINvCsjMaewn57Afh_1t4callNCNvB2_4mains0_0EB2_", "t::call<t::main::{closure#2}>" },
	{ "_RINvCsjMaewn57Afh_1t5charsKc27_EB2_", "t::chars<'\\''>" },
	{ "_RINvCsjMaewn57Afh_1t5charsKc61_EB2_", "t::chars<'a'>" },
	{ "_RINvCsjMaewn57Afh_1t5charsKc6771_EB2_", "t::chars<'\\u{6771}'>" },
	{ "_RINvCsjMaewn57Afh_1t5charsKca_EB2_", "t::chars<'\\u{a}'>" },
	{ "_RINvCsjMaewn57Afh_1t5valueKxn5_Koffffffffffffffffffffffffffffffff_EB2_",
	  "t::value<-5, 0xffffffffffffffffffffffffffffffff>" },
	{ "_RINvCsjMaewn57Afh_1t5valueKxn8000000000000000_Ko0_EB2_",
	  "t::value<-9223372036854775808, 0>" },
	{ "_RNvMCsjMaewn57Afh_1tINtB2_u9Gre_6ka8iKj7_Kcdf_Kb1_Kan3_Eu13gre_von_1va0sB2_",
	  "<t::Größe<7, '\\u{df}', true, -3>>::größe_von" },
	{ "_RNvNtNtCsjMaewn57Afh_1t5inneru7_1lqs71du9b1agh1afp", "t::inner::東京::привет" },
	{ "_RNvNvXs8_CsjMaewn57Afh_1tNtB7_1ANtNtCsgEmfK2I1SDS_4core3fmt7Display3fmt6helper",
	  "<t::A as core::fmt::Display>::fmt::helper" },
	{ "_RNvXs0_CsjMaewn57Afh_1tINtB5_1WNtB5_2W2ENtB5_3Run3runB5_",
	  "<t::W<t::W2> as t::Run>::run" },
	{ "_RNvXs0_CsjMaewn57Afh_1tINtB5_1WdENtB5_3Run3runB5_", "<t::W<f64> as t::Run>::run" },
	{ "_RNvXs2_CsjMaewn57Afh_1tTllReENtB5_3Run3runB5_", "<(i32, i32, &str) as t::Run>::run" },
	{ "_RNvXs1_CsjMaewn57Afh_1tShNtB5_3Run3runB5_", "<[u8] as t::Run>::run" },
	{ "_RNvXs3_CsjMaewn57Afh_1tuNtB5_3Run3run", "<() as t::Run>::run" },
	{ "_RNvXs4_CsjMaewn57Afh_1tPhNtB5_3Run3run", "<*const u8 as t::Run>::run" },
	{ "_RNvXs5_CsjMaewn57Afh_1tOhNtB5_3Run3run", "<*mut u8 as t::Run>::run" },
	{ "_RNvXs6_CsjMaewn57Afh_1tQeNtB5_3Run3run", "<&mut str as t::Run>::run" },
	{ "_RNvXs7_CsjMaewn57Afh_1tAlj7_NtB5_3Run3run", "<[i32; 7] as t::Run>::run" },
	{ "_RNvXNvXsy_NtNtNtCslNYArtu3iFV_5alloc11collections5btree3mapINtB8_8IntoIterpppENtNtNtCsgEmfK2I1SDS_4core3ops4drop4Drop4dropINtB2_9DropGuardyINtNtBe_5boxed3BoxDNtCsjMaewn57Afh_1t3RunNtNtB1k_6marker4SendEL_ENtNtBe_5alloc6GlobalEB1e_4dropB2y_",
	  "<<alloc::collections::btree::map::IntoIter<_, _, _> as core::ops::drop::Drop>::drop::DropGuard<u64, alloc::boxed::Box<dyn t::Run + core::marker::Send>, alloc::alloc::Global> as core::ops::drop::Drop>::drop" },
	{ "_RNvYINtCsjMaewn57Afh_1t1WdENtB5_3Run5twiceB5_", "<t::W<f64> as t::Run>::twice" },
	{ "_RNvYNCNvCsjMaewn57Afh_1t4mains_0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceTyEE9call_onceB6_",
	  "<t::main::{closure#1} as core::ops::function::FnOnce<(u64,)>>::call_once" },
	{ "_RNvYNtCsjMaewn57Afh_1t1ANtB4_3Run5twiceB4_", "<t::A as t::Run>::twice" },
	{ "_RNvMsi_NtNtNtCslNYArtu3iFV_5alloc11collections5btree3mapINtB5_8BTreeMapyINtNtBb_5boxed3BoxDNtCsjMaewn57Afh_1t3RunNtNtCsgEmfK2I1SDS_4core6marker4SendEL_EE6insertB1t_",
	  "<alloc::collections::btree::map::BTreeMap<u64, alloc::boxed::Box<dyn t::Run + core::marker::Send>>>::insert" },
	{ "_RNvMNtCsgEmfK2I1SDS_4core3stre9from_utf8", "core::str::<impl str>::from_utf8" },
	{ "_RNvMsD_NtCsgEmfK2I1SDS_4core3numy16from_ascii_radix",
	  "core::num::<impl u64>::from_ascii_radix" },
	{ "_RNSNvYNCNvNtNtNtCsjrHSEGnQ3l9_3std3sys11personality3gcc14find_eh_action0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceuE9call_once6vtableBe_",
	  "<std::sys::personality::gcc::find_eh_action::{closure#0} as core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}" },
	{ "_RINvXs_NvMNtCslNYArtu3iFV_5alloc5sliceSp9to_vec_inhNtB5_10ConvertVec6to_vecNtNtBa_5alloc6GlobalECsjrHSEGnQ3l9_3std",
	  "<u8 as alloc::slice::<impl [_]>::to_vec_in::ConvertVec>::to_vec<alloc::alloc::Global>" },
	{ "_RNvNvNtCsjrHSEGnQ3l9_3std9panicking12catch_unwind7cleanup",
	  "std::panicking::catch_unwind::cleanup" },
	{ "_RNvNtNtCsjrHSEGnQ3l9_3std6thread11main_thread4MAIN.0",
	  "std::thread::main_thread::MAIN.0" },
	{ "_RNvCsfLfy6EI15iL_7___rustc10rust_panic", "__rustc::rust_panic" },
	{ "_RNvXNvXsd_NtCsgEmfK2I1SDS_4core4wtf8NtB8_10EncodeWideNtNtBa_3fmt5Debug3fmtNtB2_8CodeUnitBP_3fmt",
	  "<<core::wtf8::EncodeWide as core::fmt::Debug>::fmt::CodeUnit as core::fmt::Debug>::fmt" },
};

/* By the grammar: what that rustc does not make. */
static const char *const made[][2] = {
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_RNvNtNtCs1234_7mycrateu8gdel_5qa6escher4bach", "mycrate::g\xc3\xb6"
							   "del::escher::bach" },
	{ "_RNvC4testu4fq9h", "test::\xf0\x9f\xa4\xa6" },
	{ "_RNvC4testu8__ylb7e_", NULL },
	{ "_RNvC4testu7__ylb7e9", "test::punycode{_ylb7e9}" },
	{ "_RNvC4test1f.llvm.1234", "test::f" },
	{ "_RNvC4test1f.cold", "test::f.cold" },
	{ "_RNvC4test1fC3foo", "test::f" },
	{ "_RNSC4tests0_6vtable", "test::{shim:vtable#2}" },
	{ "_RNKC4test1f", "test::{K:f#0}" },
	{ "_RINvC4test1fKVNtC4test3FooUE", "test::f<test::Foo>" },
	{ "_RINvC4test1fKVNtC4test3FooTm3_c61_EE", "test::f<test::Foo(3, 'a')>" },
	{ "_RINvC4test1fKVNtC4test3FooS1am3_1bRe61_EE", "test::f<test::Foo { a: 3, b: &\"..\" }>" },
	{ "_RINvC4test1fKAm1_m2_EE", "test::f<[1, 2]>" },
	{ "_RINvC4test1fWmORm0_m5_Rm7_m9_EE", "test::f<u32 is 0..=5 | 7..=9>" },
	{ "_RINvC4test1fWPuNE", "test::f<*const () is !null>" },
	{ "_RINvC4test1fKpKb1_L_E", "test::f<_, true, '_>" },
	{ "_RINvC4test1fFK8C_unwindEuE", "test::f<extern \"C-unwind\" fn()>" },
	{ "_RINvC4test1fTEE", "test::f<()>" },
	{ "_RINvC4test1fDNtC4test1TEL0_E", "test::f<dyn test::T>" },
	{ "_RINvC4test1fDINtC4test1ThEp1AlEL_E", "test::f<dyn test::T<u8, A = i32>>" },
};

static const char *const malformed[] = {
	"_R",
	"_RN",
	"_RNv",
	"_RC",
	"_R0NvC4test1f",
	"_RNvC4test1f1",
	"_RNvC4test1fE",
	"_RN1C4test1f",
	"_RNvC9test1f",
	"_RNvC99999999999999999999test1f",
	"_RNvCsZZZZZZZZZZZZZZZZ_4test1f",
	"_RB_",
	"_RNvB_1f",
	"_RNvB0_1f",
	"_RNvBZZZZZZZZZZ_1f",
	"_RIB0_E",
	"_RINvC4test1fh",
	"_RINvC4test1fg_E",
	"_RINvC4test1fKb2_E",
	"_RINvC4test1fKmg_E",
	"_RINvC4test1fKm12",
	"_RINvC4test1fKUE",
	"_RINvC4test1fDE",
	"_RINvC4test1fThE",
	"_RMs_C4core",
	"_RNvMC4coreB_1f",
};

static void is_named(const char *symbol, const char *wanted)
{
	char out[512];
	bool is = rust_demangle(symbol, out, sizeof out);

	if (is != (wanted != NULL) || (is && strcmp(out, wanted) != 0))
		fail_msg("%s: %s", symbol, is ? out : "malformed");
}

static void test_symbols_are_readable(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof real / sizeof real[0]; i++)
		is_named(real[i][0], real[i][1]);
	for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
		is_named(made[i][0], made[i][1]);
	for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
		is_named(malformed[i], NULL);
	is_named("RNvC4test1f", NULL);
	is_named("", NULL);
}

static void test_helper_names_them(void **state)
{
	char *name = name_demangle("_RNvC4test1f"), *same = name_demangle("_RNvC4test9f");

	(void)state;
	assert_string_equal(name, "test::f");
	assert_string_equal(same, "_RNvC4test9f");
	free(name);
	free(same);
}

/* As those of Rust's older symbols, which rules and classes of functions are for. */
static void test_short_names_are_as_of_older_symbols(void **state)
{
	static const char *const names[][2] = {
		{ "_RNvMNtC4core3stre4trim", "core::str::trim" },
		{ "_RINvMNtC5alloc5sliceSp7sort_byhE", "alloc::slice::sort_by" },
		{ "_RNvXNtC4core3fmtmNtB2_7Display3fmt", "core::fmt::Display::fmt" },
		{ "_RNvXC1tNtC1t1SNtNtC4core3fmt7Display3fmt", "t::S::fmt" },
		{ "_RINvMNtC5alloc3vecINtNtC5alloc3vec3VechE4pushE", "alloc::vec::Vec::push" },
		{ "_RINvNtC3std5panic12catch_unwindFEuE", "std::panic::catch_unwind" },
		{ "_RNCNvC1t4mains_0", "t::main::{closure#1}" },
		{ "_RNvYNCNvMC1tNtC1t1S3run0INtNtC4core3ops6FnOnceuE9call_once",
		  "t::S::run::{closure#0}::call_once" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char full[256], text[256];

		assert_true(rust_demangle(names[i][0], full, sizeof full));
		assert_string_equal(symbol_short(full, text, sizeof text), names[i][1]);
	}
}

static void test_every_beginning_is_read_to_its_end(void **state)
{
	char out[512];

	(void)state;
	for (size_t i = 0; i < sizeof real / sizeof real[0]; i++)
		for (size_t n = 0; n < strlen(real[i][0]); n++) {
			char *text = strndup(real[i][0], n); /* of its size, for sanitizers */

			assert_non_null(text);
			(void)rust_demangle(text, out, n % sizeof out + 1);
			free(text);
		}
}

/* Tuples of two of the one before: 2^n types. */
static void test_back_references_do_not_explode(void **state)
{
	static char text[4096], out[4096];
	int n = snprintf(text, sizeof text, "_RINvC1t1fTuuE"), from = n - 4;

	(void)state;
	for (int i = 0; i < 40; i++) {
		const char digits[] =
			"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
		char to[8];
		int at = from - 2 - 1;

		assert_true(at < 62 * 62);
		if (at >= 62)
			snprintf(to, sizeof to, "%c%c", digits[at / 62], digits[at % 62]);
		else
			snprintf(to, sizeof to, "%c", digits[at]);
		from = n;
		n += snprintf(text + n, sizeof text - (size_t)n, "TB%s_B%s_E", to, to);
	}
	snprintf(text + n, sizeof text - (size_t)n, "E");
	assert_true(rust_demangle(text, out, sizeof out)); /* without them */
	assert_string_equal(out, "t::f");
}

static void test_depth_and_length_are_bounded(void **state)
{
	static char text[1 << 17], out[4096];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const char *deep[] = { "_RNvMC1tS", "_RIC1tT", "_RNvNvNv" };

		memset(text, deep[i][strlen(deep[i]) - 1], sizeof text - 1);
		memcpy(text, deep[i], strlen(deep[i]));
		assert_false(rust_demangle(text, out, sizeof out));
		text[40000] = '\0';
		assert_false(rust_demangle(text, out, sizeof out));
	}
	assert_true(rust_demangle("_RINvC1t1fTuuuEE", out, 10));
	assert_string_equal(out, "t::f");
	assert_false(rust_demangle("_RNvC1t9functions", out, 10));
}

static void test_punycode(void **state)
{
	static const char *const words[][2] = {
		{ "f_5gaa", "f\xc3\xb8\xc3\xb8" },
		{ "__ylb7e", "\xce\xb1_\xcf\x89" },
		{ "n84amf", "\xe9\x93\x81\xe9\x94\x88" },
		{ "2xaedc", "\xcf\x81\xcf\x85\xcf\x83\xcf\x84" },
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		assert_true(punycode_decode(words[i][0], strlen(words[i][0]), out, sizeof out));
		assert_string_equal(out, words[i][1]);
	}
	assert_false(punycode_decode("", 0, out, sizeof out));
	assert_false(punycode_decode("99999999", 8, out, sizeof out));
	assert_false(punycode_decode("n84amf", 6, out, 4));
	assert_false(punycode_decode("aB", 2, out, sizeof out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols_are_readable),
		cmocka_unit_test(test_helper_names_them),
		cmocka_unit_test(test_short_names_are_as_of_older_symbols),
		cmocka_unit_test(test_every_beginning_is_read_to_its_end),
		cmocka_unit_test(test_back_references_do_not_explode),
		cmocka_unit_test(test_depth_and_length_are_bounded),
		cmocka_unit_test(test_punycode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
