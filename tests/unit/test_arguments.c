/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a command line, and what a process is called by it. */
#include "sampler/tree/table.h"

#include "base/text/escape.h"
#include "unit/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arguments a;

/* raw: as /proc/PID/cmdline gives it, NULs included. */
static const char *called_of(const char *comm, const char *raw, size_t n)
{
	static struct process p;
	char copy[ARGUMENTS_READ + 1];

	p = (struct process){ .pid = 1 };
	process_name(&p, comm);
	assert_true(n <= ARGUMENTS_READ);
	memcpy(copy, raw, n);
	assert_true(arguments_take(&a, copy, n, true, &p));
	return process_called(&p);
}
#define CALLED(comm, words, name) assert_string_equal(called_of(comm, words, sizeof(words)), name)

static void scripts_of_interpreters(void **state)
{
	(void)state;
	CALLED("python3", "/usr/bin/python3\0-u\0lib/train.py\0--lr\0.1", "python3 train.py");
	CALLED("python3.11", "python\0-W\0ignore\0train.py", "python train.py");
	CALLED("python3", "python3\0-m\0torch.distributed.run\0--n\0004",
	       "python3 -m torch.distributed.run");
	CALLED("python3", "python3\0-c\0import x", "python3");
	CALLED("python3", "python3\0-", "python3");
	CALLED("bash", "bash\0job.sh", "bash job.sh");
	CALLED("job.sh", "/bin/bash\0./job.sh\0a", "bash job.sh");
	CALLED("sh", "sh\0-c\0a b", "sh");
	CALLED("java", "java\0-Xmx1g\0-cp\0a:b\0org.site.Main", "java org.site.Main");
	CALLED("java", "java\0-jar\0/opt/x.jar\0in", "java -jar x.jar");
	CALLED("perl5.36", "perl5.36\0-w\0run.pl", "perl5.36 run.pl");
	CALLED("Rscript", "Rscript\0--vanilla\0fit.R", "Rscript fit.R");
}

static void others_keep_their_command(void **state)
{
	(void)state;
	CALLED("cc1", "/usr/libexec/cc1\0-quiet\0main.c", "cc1");
	CALLED("bashful", "bashful\0x", "bashful");
	CALLED("ray::worker", "python3\0train.py", "ray::worker");
	CALLED("bash", "-bash", "bash");
	CALLED("python3", "python3\0-W", "python3");
}

static void lines_are_quoted_masked_and_cut(void **state)
{
	char raw[ARGUMENTS_READ];

	(void)state;
	called_of("a", "/bin/a\0b c\0--token\0hush\0x", sizeof "/bin/a\0b c\0--token\0hush\0x");
	assert_string_equal(a.line, "/bin/a 'b c' --token *** x");
	called_of("a", "a\0https://me:hush@host/", sizeof "a\0https://me:hush@host/");
	assert_null(strstr(a.line, "hush"));
	memset(raw, 'x', sizeof raw);
	called_of("a", raw, sizeof raw);
	assert_int_equal(strlen(a.line), ARGUMENTS_LINE + 3);
	assert_string_equal(a.line + ARGUMENTS_LINE, "...");
	for (size_t i = 0; i + 2 <= sizeof raw; i += 2)
		memcpy(raw + i, "\xc3\xa4", 2);
	memcpy(raw, "abc", 3);
	raw[3] = '\xc3';
	raw[4] = '\xa4';
	for (size_t i = 5; i + 2 <= sizeof raw; i += 2)
		memcpy(raw + i, "\xc3\xa4", 2);
	raw[sizeof raw - 1] = 'x';
	called_of("a", raw, sizeof raw);
	assert_true(escape_is_utf8(a.line));
	CALLED("python3", "python3\0run_ghp_0123456789abcdefghijABCDEFGHIJ012345",
	       "python3 run_***");
}

/* Half a secret does not look like one. */
static void a_word_that_is_cut_is_left_out(void **state)
{
	static const char begin[] = "a\0b\0postgres://me:hu";
	struct process p = { .pid = 1 };
	char raw[ARGUMENTS_READ + 1];

	(void)state;
	memcpy(raw, begin, sizeof begin - 1);
	assert_true(arguments_take(&a, raw, sizeof begin - 1, false, &p));
	assert_string_equal(a.line, "a b...");
	memcpy(raw, "token=hu", 8);
	assert_false(arguments_take(&a, raw, 8, false, &p));
	assert_false(arguments_take(&a, raw, 0, true, &p));
}

static void any_bytes_are_taken(void **state)
{
	unsigned seed = 20;

	(void)state;
	for (int round = 0; round < 20000 / sanitized_stride(10); round++) {
		struct process p = { .pid = 1 };
		char raw[ARGUMENTS_READ + 1];
		size_t n = (size_t)rand_r(&seed) % ARGUMENTS_READ;

		memcpy(raw, round & 1 ? "python3\0-m" : "bash\0-O\0-c", 10);
		process_name(&p, round & 1 ? "python3" : "bash");
		for (size_t i = round & 2 ? 0 : 8; i < n; i++)
			raw[i] =
				(char)(round & 4 ? "'\0-\n\x9f"[rand_r(&seed) % 5] : rand_r(&seed));
		arguments_take(&a, raw, n, round & 8, &p);
		assert_true(strlen(a.line) < sizeof a.line);
		assert_true(strlen(p.script) < sizeof p.script);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripts_of_interpreters),
		cmocka_unit_test(others_keep_their_command),
		cmocka_unit_test(lines_are_quoted_masked_and_cut),
		cmocka_unit_test(a_word_that_is_cut_is_left_out),
		cmocka_unit_test(any_bytes_are_taken),
	};
	int failed;

	if (arguments_open(&a, NULL))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	arguments_close(&a);
	return failed;
}
