/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "sampler/marks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct event *mark_of(const struct sample *s)
{
	for (uint32_t i = 0; i < s->nevents; i++)
		if (s->event[i].kind == EVENT_MARK)
			return &s->event[i];
	return NULL;
}

/* The clock of files is behind the others by up to a tick. */
static void a_line_is_not_older_than_when_it_was_looked_for(void **state)
{
	char path[] = "marks.XXXXXX";
	int fd = mkstemp(path);
	struct marks *m = marks_open(NULL);
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	const struct event *mark;
	int64_t opened_ns, utc_ns;
	struct sample s;

	(void)state;
	assert_true(fd >= 0);
	assert_non_null(m);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(sample_init(&s, 16, 64), 0);
	sample_begin(&s, clock_utc_ns(), clock_mono_ns());
	opened_ns = clock_mono_ns();
	utc_ns = clock_utc_ns() - 5 * NS_PER_MS;
	assert_int_equal(marks_add(m, dup(fd)), 1);
	assert_int_equal(pwrite(fd, "M first\n", 8, 0), 8);
	times[1] = (struct timespec){ utc_ns / NS_PER_S, utc_ns % NS_PER_S };
	assert_int_equal(futimens(fd, times), 0);
	marks_take(m, &s, false);
	mark = mark_of(&s);
	assert_non_null(mark);
	assert_string_equal(mark->name, "first");
	assert_true(mark->t0 >= opened_ns);
	assert_true(mark->t0 <= clock_mono_ns());
	marks_close(m);
	sample_free(&s);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_not_older_than_when_it_was_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
