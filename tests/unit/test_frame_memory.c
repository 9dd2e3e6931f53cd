/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of a frame fails once, in turn: -ENOMEM with a sentence, and nothing is leaked.
 */
#include "sink/sink.h"
#include "unit/frame_text.h"

#include <errno.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INTERPOSE 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
	__has_feature(memory_sanitizer)
#define INTERPOSE 0
#endif
#endif
#ifndef INTERPOSE
#define INTERPOSE 1
#endif

static long countdown = -1, live; /* -1: nothing fails */

#if INTERPOSE
/* Seen by the C library too, for what it allocates itself. */
#pragma GCC visibility push(default)
void *__libc_malloc(size_t n);
void *__libc_realloc(void *p, size_t n);
void *__libc_calloc(size_t n, size_t size);
void __libc_free(void *p);

static bool fails(void)
{
	return countdown >= 0 && !countdown--;
}

void *malloc(size_t n)
{
	void *p = fails() ? NULL : __libc_malloc(n);

	live += p != NULL;
	return p;
}

void *calloc(size_t n, size_t size)
{
	void *p = fails() ? NULL : __libc_calloc(n, size);

	live += p != NULL;
	return p;
}

void *realloc(void *before, size_t n)
{
	void *p = fails() ? NULL : __libc_realloc(before, n);

	live += p && !before;
	return p;
}

void *reallocarray(void *before, size_t n, size_t size)
{
	return realloc(before, n * size);
}

void free(void *p)
{
	live -= p != NULL;
	__libc_free(p);
}
#pragma GCC visibility pop
#endif

/* Read all of a table through a sink while the nth allocation fails. */
static int read_all(struct synth *s, const struct selection *sel, FILE *out, struct err *e)
{
	struct frame *f;
	int rc = frame_open(&f, &s->run, sel, e);
	bool tidy = sel->table == FRAME_SERIES && !sel->wide;

	for (size_t i = 0; i < nsinks && !rc; i++) {
		if (sinks[i]->collects || (sinks[i]->series_only && !tidy))
			continue;
		frame_rewind(f);
		rc = sink_run(sinks[i], f, out, e);
	}
	frame_close(f);
	return rc;
}

/* The C library gets over some failures by itself: then the table must be whole. */
static void check_table(struct synth *s, const struct selection *sel)
{
	static char whole[65536], text[sizeof(whole)];
	FILE *reference = fmemopen(whole, sizeof(whole), "w"),
	     *out = fmemopen(text, sizeof(text), "w");
	char buffer[4096];
	bool failed;
	long n = 0;

	setvbuf(out, buffer, _IOFBF, sizeof(buffer));
	assert_int_equal(read_all(s, sel, reference, NULL), 0);
	fclose(reference);
	do {
		struct err e = { "" };
		long before = live;
		int rc;

		rewind(out);
		countdown = n++;
		rc = read_all(s, sel, out, &e);
		failed = countdown < 0;
		countdown = -1;
		assert_int_equal(live, before);
		if (rc || !failed)
			assert_int_equal(rc, failed ? -ENOMEM : 0);
		else
			assert_string_equal(text, whole);
		assert_int_equal(e.text[0] != '\0', rc != 0);
	} while (failed);
	assert_true(n > 5 && strlen(whole) > 100);
	fclose(out);
}

static void test_nth_allocation_fails(void **state)
{
	static const struct selection selections[] = {
		{ 0 },
		{ .wide = true },
		{ .combine = true, .every_s = 0.5 },
		{ .table = FRAME_INSTANCES },
		{ .table = FRAME_MARKS },
		{ .table = FRAME_SPANS },
		{ .table = FRAME_STATES },
	};
	struct synth *s;
	uint32_t id;

	(void)state;
	if (!INTERPOSE)
		skip();
	s = disks();
	id = synth_instance(s, "process", "sh");
	synth_metric(s, (struct metric){ "disk.strain", "disk", .kind = KIND_GAUGE,
					 .formula = "disk.busy_cores / disk.queue_count" });
	synth_put(s,
		  synth_series(s, 1,
			       synth_metric(s, (struct metric){ "process.x", "process",
								.kind = KIND_GAUGE }),
			       id),
		  1);
	s->marks[1] = (struct run_mark){ 1, id, 1, "mark", "message" };
	s->spans[1] = (struct run_span){ 1, id, 1, 2, "span", NULL };
	s->series[1].state = STATE_FAILED;
	s->series[s->run.nseries - 1].state = STATE_FAILED;
	s->run.nmarks = s->run.nspans = 2;
	for (size_t i = 0; i < sizeof(selections) / sizeof(selections[0]); i++)
		check_table(s, &selections[i]);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
