/* SPDX-License-Identifier: Apache-2.0 */
/* Why code is slow: each row of slowness.def is reached by each of its globs, and is said only
 * where its functions have the time that it asks for, called by those that it asks for. */
#include "report/judging/slowness.h"

#include "made_stacks.h"
#include "unit/recording_truth.h"

#include <fcntl.h>
#include <unistd.h>

enum { NAME = 256 };

/* ---- all rows ---- */

/* What a glob stands for: "*::substr@*libx*" a function "x::substr" of "xlibx". */
static void plain(const char *glob, size_t n, char *name, char *file)
{
	char *to = name;
	size_t k = 0;

	*file = '\0';
	for (size_t i = 0; i < n; i++) {
		if (glob[i] == '@') {
			to[k] = '\0';
			to = file;
			k = 0;
		} else if (glob[i] != '!') {
			to[k++] = glob[i] == '*' || glob[i] == '?' ? 'x' : glob[i];
		}
	}
	to[k] = '\0';
	if (!*file)
		snprintf(file, NAME, "/opt/app");
}

static bool is_of_row(const struct slowness_row *row, const char *name, const char *file)
{
	return hot_is_of(row->pattern.functions, name, file, true);
}

/* A row before that asks for no more, of any caller, would always be said in place of it. */
static void assert_not_hidden(size_t row, const char *name, const char *file)
{
	const struct slowness_row *of = &slowness_rows[row];

	for (size_t i = 0; i < row; i++)
		if (!*slowness_rows[i].pattern.above && slowness_rows[i].percent <= of->percent &&
		    is_of_row(&slowness_rows[i], name, file))
			fail_msg("\"%s\" is said of %s (%s), never \"%s\"", slowness_rows[i].what,
				 name, file, of->what);
}

static void test_each_glob_reaches_its_row(void **state)
{
	char name[NAME], file[NAME];

	(void)state;
	for (size_t i = 0; i < slowness_nrows; i++) {
		const char *at = slowness_rows[i].pattern.functions;

		for (size_t n; *at; at += n + (at[n] == ',')) {
			n = strcspn(at, ",");
			assert_true(n && n < NAME);
			plain(at, n, name, file);
			assert_true(is_of_row(&slowness_rows[i], name, file));
			assert_not_hidden(i, name, file);
		}
	}
}

static void test_each_row_is_a_short_name_and_sentences(void **state)
{
	(void)state;
	for (size_t i = 0; i < slowness_nrows; i++) {
		const struct slowness_row *row = &slowness_rows[i];
		size_t n = strlen(row->advice);

		assert_true(row->percent >= 20 && row->percent <= 100);
		assert_in_range(strlen(row->what), 3, 75);
		assert_true(row->what[strlen(row->what) - 1] != '.');
		assert_in_range(n, 10, 220);
		assert_int_equal(row->advice[n - 1], '.');
	}
}

/* ---- of stacks ---- */

/* Frames from the outermost on, "NAME@FILE;..."; FILE py:PATH: of Python's functions. */
static uint32_t stack_of(struct made_stacks *m, const char *frames)
{
	uint32_t stack = 0;

	for (size_t n; *frames; frames += n + (frames[n] == ';')) {
		char name[NAME], *file;
		bool python;

		n = strcspn(frames, ";");
		snprintf(name, sizeof name, "%.*s", (int)n, frames);
		file = strchr(name, '@');
		*file++ = '\0';
		python = !strncmp(file, "py:", 3);
		stack = made_stack(m, stack,
				   made_frame(m, made_module(m, python ? PYTHON_MODULE : file),
					      name, python ? file + 3 : "", 0));
	}
	return stack;
}

static char *said(const char *frames, unsigned percent, const char *others, double least)
{
	static char what[NAME];
	struct classes c = { 0 };
	char dir[] = "sonde_slowness_XXXXXX";
	struct err e = { "" };
	struct made_stacks m;
	struct slowness r;
	struct stacks *s = NULL;
	struct run *run;
	struct hot h;
	int fd;

	assert_non_null(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	made_stacks_open(&m, fd, "a");
	made_samples(&m, 0, "app", (struct event_item){ 7, stack_of(&m, frames), percent });
	made_samples(&m, 0, "app", (struct event_item){ 7, stack_of(&m, others), 100 - percent });
	made_write(&m);
	made_stacks_close(&m);
	if (run_open(&run, dir, &e) ||
	    stacks_open(&s, run, &c, &(struct stacks_selection){ 0 }, &e))
		fail_msg("%s", e.text);
	assert_int_equal(hot_make(&h, s), 0);
	assert_int_equal(slowness_find(&r, s, h.own ? &h : NULL, least), 0);
	snprintf(what, sizeof what, "%s", r.row ? r.row->what : "");
	stacks_close(s);
	run_close(run);
	classes_free(&c);
	close(fd);
	directory_remove(dir);
	return what;
}

#define APP    "@/opt/x/app"
#define LIBC   "@/lib/libc.so.6"
#define PERL   "@/usr/lib/libperl.so.5.36"
#define STDLIB "@py:/usr/lib/python3.11/"
#define CHAINS "std::_Hashtable::_M_find_before_node(unsigned long)" APP
#define MODULO "std::__detail::_Mod_range_hashing::operator()" APP
#define PERLS  "Perl_pp_sort" PERL ";Perl_runops_standard" PERL

static const struct {
	const char *frames, *what, *others;
	unsigned percent;
} cases[] = {
	{ "main" APP ";strlen" LIBC, "Text that is measured again and again (strlen)", "main" APP,
	  60 },
	{ "main" APP ";strlen" LIBC, "", "main" APP, 59 },
	/* of the place, not of the job: half of what main does, with what others do beside it */
	{ "main" APP ";pow@/lib/libm.so.6", "Powers (pow)", "main" APP, 50 },
	{ "main" APP ";pow@/lib/libm.so.6", "", "main" APP, 49 },
	/* what is further out than the place is not its own */
	{ "fetch" APP ";main" APP, "", "main" APP, 100 },
	{ "std::regex_search(int)" APP ";work" APP, "", "main" APP, 100 },
	/* the bucket of each node along a chain; that of a key is asked for once */
	{ "main" APP ";" CHAINS ";" MODULO, "Long chains in a hash table", "main" APP, 50 },
	{ "main" APP ";" CHAINS, "Long chains in a hash table, or entries that miss the caches",
	  "main" APP, 85 },
	{ "main" APP ";" CHAINS, "Look-ups in a hash table (std::unordered_map)", "main" APP, 84 },
	{ "main" APP ";std::unordered_map::find" APP ";" MODULO,
	  "Look-ups in a hash table (std::unordered_map)", "main" APP, 60 },
	{ "main" APP ";std::sort" APP ";less" APP ";strtod" LIBC,
	  "A sort whose comparisons parse or copy", "main" APP, 90 },
	{ "main" APP ";less" APP ";strtod" LIBC, "Numbers read from text (strtod, strtol)",
	  "main" APP, 90 },
	{ "main" APP ";std::sort" APP ";less" APP, "Sorting, with its comparisons", "main" APP,
	  60 },
	{ "main" APP ";std::sort" APP ";less" APP ";std::move" APP, "Sorting, with its comparisons",
	  "main" APP, 60 },
	{ "main" APP ";less" APP ";std::sort" APP, "", "main" APP, 59 },
	{ "main" APP ";std::sort" APP ";less" APP ";strcmp" LIBC, "A sort of texts", "main" APP,
	  90 },
	/* itself, and not what it frees */
	{ "main" APP ";std::_Sp_counted_base::_M_release()" APP, "Counting of std::shared_ptr",
	  "main" APP, 50 },
	{ "main" APP ";std::_Sp_counted_base::_M_release()" APP ";cfree" LIBC, "", "main" APP, 50 },
	{ "main" APP ";__multf3" APP, "Floating-point numbers of 128 bits (__float128, real(16))",
	  "main" APP, 60 },
	{ "main" APP ";@/usr/lib/libgfortran.so.5;snprintf" LIBC,
	  "Formatted output, number by number", "main" APP, 60 },
	{ "main" APP ";snprintf" LIBC, "Text made value by value (printf)", "main" APP, 60 },
	{ "main.main" APP ";fmt.Sprintf" APP, "Text made or read value by value (fmt)",
	  "main.main" APP, 60 },
	{ PERLS ";Perl_pp_match" PERL, "A sort whose comparisons match patterns", PERLS, 30 },
	{ PERLS ";Perl_pp_match" PERL, "A sort whose comparisons run Perl code", PERLS, 29 },
	{ "Perl_runops_standard" PERL ";Perl_pp_match" PERL, "Patterns matched in Perl",
	  "Perl_runops_standard" PERL, 50 },
	{ "f@py:/x/a.py;deepcopy" STDLIB "copy.py", "copy.deepcopy", "f@py:/x/a.py", 40 },
	{ "f@py:/x/a.py;deepcopy" STDLIB "copy.py", "", "f@py:/x/a.py", 39 },
	{ "f@py:/x/a.py;deepcopy@py:/x/copy.py", "", "f@py:/x/a.py", 99 },
	{ "call_fixture_func@py:/x/site-packages/_pytest/fixtures.py;made@py:/x/conftest.py",
	  "Setting up a fixture of pytest", "test_it@py:/x/t.py", 90 },
	{ "runtest@py:/x/site-packages/_pytest/runner.py;test_it@py:/x/t.py", "",
	  "made@py:/x/conftest.py", 90 },
	/* what a function in Python does is not what the C function does that calls it */
	{ "_PyEval_EvalFrameDefault@/usr/lib/libpython3.so;PySequence_Contains@/usr/lib/libpython3.so",
	  "`in` of a list", "_PyEval_EvalFrameDefault@/usr/lib/libpython3.so", 50 },
	{ "PySequence_Contains@/usr/lib/libpython3.so;_PyEval_EvalFrameDefault@/usr/lib/libpython3.so",
	  "", "_PyEval_EvalFrameDefault@/usr/lib/libpython3.so", 90 },
};

static void test_a_row_is_said_where_its_functions_have_the_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *what = said(cases[i].frames, cases[i].percent, cases[i].others, 0);

		if (strcmp(what, cases[i].what) != 0)
			fail_msg("%u %% of %s: \"%s\", not \"%s\"", cases[i].percent,
				 cases[i].frames, what, cases[i].what);
	}
}

/* Where no place is known, half of all must show it, and a later row that has it is said. */
static void test_a_share_that_is_asked_for_passes_over_rows_with_less(void **state)
{
	static const char sorts[] = PERLS ";Perl_pp_match" PERL;

	(void)state;
	assert_string_equal(said(sorts, 40, PERLS, 0), "A sort whose comparisons match patterns");
	assert_string_equal(said(sorts, 40, PERLS, 0.5), "A sort whose comparisons run Perl code");
	assert_string_equal(said("main" APP ";strlen" LIBC, 90, "main" APP, 0.91), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_glob_reaches_its_row),
		cmocka_unit_test(test_each_row_is_a_short_name_and_sentences),
		cmocka_unit_test(test_a_row_is_said_where_its_functions_have_the_time),
		cmocka_unit_test(test_a_share_that_is_asked_for_passes_over_rows_with_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
