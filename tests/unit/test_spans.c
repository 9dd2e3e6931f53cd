/* SPDX-License-Identifier: Apache-2.0 */
/* Spans in bulk: what was written is read, whatever the times and however many names; damage costs
 * its block. Those of programs are in bulk, too, when they are many. */
#include "recording/format.h"
#include "recording/join.h"
#include "recording/writer.h"
#include "report/phases/phases.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { NAMES = 700, TEXT = 16 };

static uint64_t state = 1;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static char names[NAMES][TEXT];
static const char *name_list[NAMES];
static uint16_t name[SPANS_MAX];
static int64_t begin_ns[SPANS_MAX], end_ns[SPANS_MAX];

static void fill(uint32_t n, uint32_t nnames)
{
	for (uint32_t i = 0; i < nnames; i++) {
		snprintf(names[i], TEXT, "name %u", i);
		name_list[i] = names[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		unsigned bits = (unsigned)(next_random() % 60);

		name[i] = (uint16_t)(next_random() % nnames);
		begin_ns[i] = (int64_t)(next_random() >> (63 - bits)) - (INT64_C(1) << bits) / 2;
		end_ns[i] = i % 7 ? begin_ns[i] + (int64_t)(next_random() % 5000) : MONO_MAX;
		if (i % 11 == 0)
			begin_ns[i] = -MONO_MAX;
	}
}

static char directory[] = "spans_XXXXXX";
static int dir = -1;

static void make_directory(void)
{
	if (dir >= 0)
		return;
	assert_non_null(mkdtemp(directory));
	dir = open(directory, O_RDONLY | O_DIRECTORY);
	assert_true(dir >= 0);
}

static void empty_directory(void)
{
	unlinkat(dir, "node-h.sonde", 0);
	unlinkat(dir, "node-h.tail", 0);
}

/* A recording of one track whose instance is said behind its spans. */
static void record(uint32_t n, uint32_t nnames, int packs)
{
	const struct spans s = { 1, n, nnames, name_list, name, begin_ns, end_ns };
	struct sample sample;
	struct writer *w;

	make_directory();
	empty_directory();
	assert_int_equal(sample_init(&sample, 8, 64), 0);
	assert_int_equal(writer_open(&w, dir, "h", NULL, NULL), 0);
	for (int i = 0; i < packs; i++)
		assert_int_equal(writer_spans(w, &s, NULL), 0);
	sample_begin(&sample, 1000, 0);
	sample_instance(&sample, "d", "track", 0, 0, 0);
	assert_int_equal(writer_sample(w, &sample, NULL), 0);
	assert_int_equal(writer_close(w, NULL), 0);
	sample_free(&sample);
}

static void read_back(uint32_t n, int packs)
{
	const struct run_span *span;
	struct run *r;
	int64_t first = INT64_MAX, last = INT64_MIN;

	assert_int_equal(run_open(&r, directory, NULL), 0);
	assert_int_equal(r->ndamages, 0);
	assert_int_equal(r->npacks, packs);
	assert_int_equal(r->npacked, (uint64_t)n * (uint64_t)packs);
	for (uint32_t p = 0; p < r->npacks; p++) {
		assert_int_equal(r->unpack(r, p, &span, NULL), n);
		for (uint32_t i = 0; i < n; i++) {
			assert_string_equal(span[i].name, names[name[i]]);
			assert_int_equal(span[i].begin_ns, begin_ns[i]);
			assert_int_equal(span[i].end_ns, end_ns[i]);
			assert_int_equal(span[i].node, 1);
			assert_string_equal(r->instances[span[i].track].name, "track");
			first = begin_ns[i] < first ? begin_ns[i] : first;
			last = end_ns[i] > last ? end_ns[i] : last;
		}
		assert_int_equal(r->packs[p].first_ns, first);
		assert_int_equal(r->packs[p].last_ns, last);
	}
	run_close(r);
}

static void test_any_spans_come_back(void **unused)
{
	static const uint32_t some[][2] = {
		{ 1, 1 }, { 2, 256 }, { 1000, 257 }, { 5000, NAMES }, { SPANS_MAX, 20 }
	};

	(void)unused;
	for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
		fill(some[i][0], some[i][1]);
		record(some[i][0], some[i][1], 3);
		read_back(some[i][0], 3);
	}
	empty_directory();
}

static void test_a_damaged_block_is_named_and_the_others_are_read(void **unused)
{
	const struct run_span *span;
	uint8_t byte;
	struct run *r;
	int fd;

	(void)unused;
	fill(300, 5);
	record(300, 5, 3);
	fd = openat(dir, "node-h.sonde", O_RDWR);
	/* in the second of the three */
	off_t at = lseek(fd, 0, SEEK_END) / 2;
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
	assert_int_equal(run_open(&r, directory, NULL), 0);
	assert_int_equal(r->npacks, 2);
	assert_int_equal(r->ndamages, 1);
	assert_int_equal(r->unpack(r, 0, &span, NULL), 300);
	assert_int_equal(r->unpack(r, 1, &span, NULL), 300);
	run_close(r);
	empty_directory();
	rmdir(directory);
}

/* ---- of programs, as events ---- */

enum { EVENTS = 260, IN_EVENT = 1000, MANY = EVENTS * IN_EVENT, KEPT = 250000 };

static struct event_span made(uint32_t i, const uint32_t word[3])
{
	int64_t end = INT64_C(1000000000) + i * INT64_C(1000);

	return (struct event_span){ end - (int64_t)(i * 7919ul % 5000), end, word[i % 3] };
}

static void record_events(void)
{
	static struct event_span some[IN_EVENT];
	struct sample sample;
	struct writer *w;
	uint32_t word[3] = { 0 }, track[2];

	make_directory();
	empty_directory();
	assert_int_equal(sample_init(&sample, 8, 65536), 0);
	assert_int_equal(writer_open(&w, dir, "h", NULL, NULL), 0);
	sample_begin(&sample, 1000, 0);
	track[0] = sample_instance(&sample, "track", "even", 0, 0, 0);
	track[1] = sample_instance(&sample, "track", "odd", 0, 0, 0);
	word[1] = sample_word(&sample, "one");
	word[2] = sample_word(&sample, "two");
	for (uint32_t i = 0; i < EVENTS; i++) {
		for (uint32_t k = 0; k < IN_EVENT; k++)
			some[k] = made(i * IN_EVENT + k, word);
		assert_true(sample_spans(&sample, track[i % 2], some, IN_EVENT));
		assert_int_equal(writer_sample(w, &sample, NULL), 0);
		sample_begin(&sample, 2000 + i, 1000 + i);
	}
	assert_int_equal(writer_close(w, NULL), 0);
	sample_free(&sample);
}

static void check_span(const struct run *r, uint32_t i, const struct run_span *s)
{
	static const uint32_t word[3];
	static const char *const called[] = { "", "one", "two" };
	const struct event_span e = made(i, word);

	assert_int_equal(s->begin_ns, e.begin_ns);
	assert_int_equal(s->end_ns, e.end_ns);
	assert_string_equal(s->name, called[i % 3]);
	assert_string_equal(s->detail, "");
	assert_string_equal(r->instances[s->track].name, i / IN_EVENT % 2 ? "odd" : "even");
	assert_int_equal(s->node, 1);
}

static void test_many_spans_of_programs_are_held_in_bulk(void **unused)
{
	const struct run_span *span;
	struct phase_rules rules = { 0 };
	struct phases phases;
	uint32_t at = 0;
	struct run *r;
	struct err e;

	(void)unused;
	record_events();
	assert_int_equal(run_open(&r, directory, NULL), 0);
	assert_in_range(r->nspans - 1, KEPT, KEPT + IN_EVENT);
	assert_int_equal(r->nspans - 1 + r->npacked, MANY);
	for (uint32_t i = 1; i < r->nspans; i++)
		check_span(r, at++, &r->spans[i]);
	for (uint32_t p = 0; p < r->npacks; p++) {
		int n = r->unpack(r, p, &span, NULL);

		assert_int_equal(n, IN_EVENT);
		assert_int_equal(r->packs[p].track, span->track);
		for (int k = 0; k < n; k++) {
			assert_true(r->packs[p].first_ns <= span[k].begin_ns);
			assert_true(r->packs[p].last_ns >= span[k].end_ns);
			check_span(r, at++, &span[k]);
		}
	}
	assert_int_equal(at, MANY);
	assert_int_equal(phase_rules_builtin(&rules, &e), 0);
	assert_int_equal(phases_make(&phases, r, &rules, &(struct phase_wish){ 0 }, &e), -E2BIG);
	assert_non_null(strstr(e.text, "260000 spans"));
	assert_int_equal(phases_make_some(&phases, r, &rules, &e), 0);
	assert_int_equal(phases.n, 0);
	phases_free(&phases);
	phase_rules_free(&rules);
	run_close(r);
	empty_directory();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_spans_come_back),
		cmocka_unit_test(test_many_spans_of_programs_are_held_in_bulk),
		cmocka_unit_test(test_a_damaged_block_is_named_and_the_others_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
