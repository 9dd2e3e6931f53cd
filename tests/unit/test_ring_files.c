/* SPDX-License-Identifier: Apache-2.0 */
/* Files in which processes leave spans, when they are another user's, open to others, or cut off
 * while they are read: what is not a process's own is not read, and what is left of a file is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/program/spans.h"

enum { SPANS = 100 };

static void put(int fd, size_t at, const void *data, size_t n)
{
	assert_int_equal(pwrite(fd, data, n, (off_t)at), n);
}

/* SPANS of them, of one thread; every tenth has an argument. */
static int file_make(void)
{
	static const uint8_t argument[] = "\2\1\0\0\0\5\0\0\0\0\0\0\0"; /* one=5 */
	struct ring_thread ring = { .called = "a thread" };
	struct ring_head *head = calloc(1, sizeof *head);
	char path[] = "ring-XXXXXX";
	int fd = mkstemp(path);

	assert_true(head && fd >= 0);
	unlink(path);
	head->magic = RING_MAGIC;
	head->version = RING_VERSION;
	head->pid = (uint32_t)getpid();
	head->nnames = head->nthreads = 1;
	memcpy(head->name[1], "one", 4);
	put(fd, 0, head, sizeof *head);
	for (uint32_t i = 0; i < SPANS; i++) {
		struct ring_slot slot = { 1 + i, 2 + i, 1, RING_SPAN };
		size_t at = ring_thread_at(0) + RING_PAGE + ring.written * sizeof slot;

		slot.what |= i % 10 ? 0 : 1u << RING_MORE_BIT;
		put(fd, at, &slot, sizeof slot);
		if (i % 10 == 0)
			put(fd, at + sizeof slot, argument, sizeof argument);
		ring.written += i % 10 ? 1 : 2;
	}
	put(fd, ring_thread_at(0), &ring, sizeof ring);
	assert_int_equal(ftruncate(fd, (off_t)ring_thread_at(1)), 0);
	free(head);
	return fd;
}

static uint32_t take(struct span_reader *r, struct span_intake *in)
{
	uint32_t n = 0;
	struct sample s;

	memset(in, 0, sizeof *in);
	assert_int_equal(sample_init(&s, 1024, 8192), 0);
	sample_begin(&s, 1, 1);
	span_reader_take(r, in, &s);
	for (uint32_t i = 0; i < s.nevents; i++) {
		const struct event *e = &s.event[i];

		n += e->kind == EVENT_SPANS ? e->count : e->kind == EVENT_SPAN;
		if (e->kind == EVENT_SPAN)
			assert_string_equal(e->text, "one=5");
	}
	sample_free(&s);
	return n;
}

static void test_whole(void **state)
{
	struct span_reader *r = span_reader_open(file_make());
	static struct span_intake in;

	(void)state;
	assert_non_null(r);
	assert_int_equal(take(r, &in), SPANS);
	assert_int_equal(in.details, SPANS / 10);
	assert_int_equal(take(r, &in), 0); /* they were taken */
	span_reader_close(r);
}

static void test_of_others(void **state)
{
	const mode_t open_to_others[] = { 0604, 0620, 0666, 0601 };
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof open_to_others / sizeof open_to_others[0]; i++) {
		fd = file_make();
		assert_int_equal(fchmod(fd, open_to_others[i]), 0);
		assert_null(span_reader_open(fd));
	}
	fd = file_make();
	if (!fchown(fd, 65534, (gid_t)-1) && geteuid() != 65534)
		assert_null(span_reader_open(fd));
	else
		close(fd);
}

/* Wherever it is cut off after it was opened; and it may grow again, with nothing in it. */
static void test_cut(void **state)
{
	const size_t slots = ring_thread_at(0) + RING_PAGE;
	const size_t left[] = { 0,
				sizeof(uint32_t),
				offsetof(struct ring_head, name) + 1,
				ring_thread_at(0),
				ring_thread_at(0) + 12,
				slots,
				slots + 1,
				slots + 50 * sizeof(struct ring_slot) };
	static struct span_intake in;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof left / sizeof left[0]; i++) {
		int fd = file_make(), writer = dup(fd);
		struct span_reader *r = span_reader_open(fd);

		assert_non_null(r);
		assert_int_equal(ftruncate(writer, (off_t)left[i / 2]), 0);
		if (i % 2)
			assert_int_equal(ftruncate(writer, (off_t)ring_thread_at(1)), 0);
		assert_true(take(r, &in) <= SPANS);
		assert_true(in.lost >= 0 && in.unclear <= SPANS + SPANS / 10);
		span_reader_close(r);
		close(writer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_of_others),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
