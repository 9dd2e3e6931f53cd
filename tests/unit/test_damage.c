/* SPDX-License-Identifier: Apache-2.0 */
/* One small recording, cut at every byte and with every bit flipped (one of each byte where
 * SANITIZED): no crash, no hang, and what is read is true; when anything is missing the run says
 * so. */
#include <math.h>

#include "unit/recording_truth.h"
#include "unit/sanitized.h"

enum { SLOTS_AT = 4096, SLOT = 256 << 10, LOOK = 4096 };

/* A recording of a few blocks, small enough to break in every way. */
static struct truth *small(bool closed)
{
	struct truth *t = truth_new(21, &(struct writer_options){ .chunk_rows = 4 });

	truth_samples(t, 15);
	if (closed)
		assert_int_equal(writer_close(t->w, NULL), 0);
	else
		writer_abandon(t->w);
	return t;
}

/* What is read is true, or nothing can be read, and that is said. */
static void check(const struct truth *t)
{
	struct err e = { "" };
	uint64_t n;
	struct run *r;

	if (run_open(&r, t->dir, &e)) {
		assert_true(e.text[0]);
		return;
	}
	n = truth_check(t, r);
	assert_true(n <= t->nvalues);
	if (n < t->nvalues || r->nodes[1].rows < t->nrows)
		assert_true(r->ndamages > 0);
	run_close(r);
}

static int open_one(const struct truth *t, const char *name, off_t *size)
{
	int fd = openat(t->fd, name, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	*size = lseek(fd, 0, SEEK_END);
	return fd;
}

static const struct timespec long_ago[2] = { { 1, 0 }, { 1, 0 } };

static void flip_every_bit(const struct truth *t, int fd, off_t from, off_t to)
{
	int stride = sanitized_stride(8);

	for (off_t at = from; at < to; at++) {
		uint8_t byte, flipped;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		for (int bit = (int)(at % stride); bit < 8; bit += stride) {
			flipped = (uint8_t)(byte ^ 1 << bit);
			assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
			assert_int_equal(futimens(fd, long_ago), 0); /* nobody is writing it */
			check(t);
		}
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
}

static void flip_blocks(bool closed)
{
	struct truth *t = small(closed);
	off_t size;
	int fd = open_one(t, "node-host.sonde", &size);

	flip_every_bit(t, fd, 0, size);
	close(fd);
	truth_free(t);
}

static void test_every_bit_of_a_closed_recording_flipped(void **state)
{
	(void)state;
	flip_blocks(true);
}

static void test_every_bit_of_the_blocks_of_a_killed_recording_flipped(void **state)
{
	(void)state;
	flip_blocks(false);
}

/* Where the last byte that is not 0 lies, from a place on. */
static off_t used_until(int fd, off_t from, off_t size)
{
	off_t last = from;

	for (off_t at = from; at < from + size; at++) {
		uint8_t byte = 0;

		if (pread(fd, &byte, 1, at) == 1 && byte)
			last = at;
	}
	return last + 24;
}

static void test_every_bit_of_a_tail_flipped(void **state)
{
	struct truth *t = small(false);
	off_t size;
	int fd = open_one(t, "node-host.tail", &size);

	(void)state;
	flip_every_bit(t, fd, 0, used_until(fd, 0, SLOTS_AT));
	for (int slot = 0; slot < 2; slot++)
		flip_every_bit(t, fd, SLOTS_AT + slot * SLOT,
			       used_until(fd, SLOTS_AT + slot * SLOT, LOOK));
	close(fd);
	truth_free(t);
}

static void cut_every_byte(const struct truth *t, int fd, off_t from, off_t to)
{
	while (to-- > from) {
		assert_int_equal(ftruncate(fd, to), 0);
		check(t);
	}
}

static void cut_blocks(bool closed)
{
	struct truth *t = small(closed);
	off_t size;
	int fd = open_one(t, "node-host.sonde", &size);

	cut_every_byte(t, fd, 0, size);
	close(fd);
	truth_free(t);
}

static void test_a_closed_recording_cut_at_every_byte(void **state)
{
	(void)state;
	cut_blocks(true);
}

static void test_a_killed_recording_cut_at_every_byte(void **state)
{
	(void)state;
	cut_blocks(false);
}

static void test_a_tail_cut_at_every_byte(void **state)
{
	struct truth *t = small(false);
	off_t size;
	int fd = open_one(t, "node-host.tail", &size);

	(void)state;
	for (int slot = 1; slot >= 0; slot--)
		cut_every_byte(t, fd, SLOTS_AT + slot * SLOT,
			       used_until(fd, SLOTS_AT + slot * SLOT, LOOK));
	cut_every_byte(t, fd, 0, used_until(fd, 0, SLOTS_AT));
	close(fd);
	truth_free(t);
}

static void test_damage_names_the_place(void **state)
{
	struct truth *t = small(true);
	off_t size;
	int fd = open_one(t, "node-host.sonde", &size);
	struct run *r;

	(void)state;
	assert_int_equal(pwrite(fd, "\xff\xff\xff\xff", 4, size / 2), 4);
	close(fd);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_int_equal(r->ndamages, 1);
	assert_non_null(strstr(r->damages[0].file, "/node-host.sonde"));
	assert_true(r->damages[0].offset <= (uint64_t)size / 2);
	assert_true(r->damages[0].offset + r->damages[0].length > (uint64_t)size / 2);
	assert_true(r->nodes[1].complete);
	run_close(r);
	truth_free(t);
}

/* Blocks are numbered: one that is gone whole is missed, though nothing is damaged. */
static void test_a_block_that_is_gone_is_missed(void **state)
{
	struct truth *t = small(true);
	off_t size;
	int fd = open_one(t, "node-host.sonde", &size);
	uint8_t *data = malloc((size_t)size);
	uint32_t head, events;
	size_t gone;
	struct run *r;

	(void)state;
	assert_non_null(data);
	assert_int_equal(pread(fd, data, (size_t)size, 0), size);
	memcpy(&head, data + 16, sizeof head);
	memcpy(&events, data + 24 + head + 16, sizeof events);
	gone = 24 + events;
	assert_int_equal(
		pwrite(fd, data + 24 + head + gone, (size_t)size - 24 - head - gone, 24 + head),
		size - 24 - head - (off_t)gone);
	assert_int_equal(ftruncate(fd, size - (off_t)gone), 0);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_true(r->ndamages > 0);
	assert_string_equal(r->damages[0].what, "blocks are missing here");
	run_close(r);
	close(fd);
	free(data);
	truth_free(t);
}

/* A writer killed while it appends leaves a block that is cut off; its rows are still in the tail.
 */
static void test_a_block_cut_while_it_was_written_loses_nothing(void **state)
{
	struct truth *t = truth_new(21, &(struct writer_options){ .chunk_rows = 10 });
	struct stat before, after;
	struct run *r;
	int fd;

	(void)state;
	truth_samples(t, 19);
	assert_int_equal(fstatat(t->fd, "node-host.sonde", &before, 0), 0);
	truth_samples(t, 1);
	assert_int_equal(fstatat(t->fd, "node-host.sonde", &after, 0), 0);
	assert_true(after.st_size > before.st_size);
	writer_abandon(t->w);
	fd = openat(t->fd, "node-host.sonde", O_RDWR | O_CLOEXEC);
	for (off_t size = after.st_size; size-- > before.st_size;) {
		assert_int_equal(ftruncate(fd, size), 0);
		assert_int_equal(truth_read(t, &r), t->nvalues);
		assert_int_equal(r->ndamages, 0);
		run_close(r);
	}
	close(fd);
	truth_free(t);
}

/* Neither at a block's end nor anywhere else: without an end the tail is owed. */
static void test_a_tail_that_is_empty_or_gone_is_damage(void **state)
{
	struct truth *t = small(false);
	off_t size;
	int fd = open_one(t, "node-host.tail", &size);
	struct run *r;

	(void)state;
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_int_equal(r->ndamages, 0);
	run_close(r);
	assert_int_equal(ftruncate(fd, size - 1), 0);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_non_null(strstr(r->damages[0].what, "it is truncated: samples"));
	assert_int_equal(r->damages[0].offset, size - 1);
	run_close(r);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_int_equal(r->ndamages, 1);
	assert_non_null(strstr(r->damages[0].what, "it is empty: samples"));
	run_close(r);
	assert_int_equal(unlinkat(t->fd, "node-host.tail", 0), 0);
	assert_int_equal(run_open(&r, t->dir, NULL), 0);
	assert_int_equal(r->ndamages, 1);
	assert_non_null(strstr(r->damages[0].file, "/node-host.tail"));
	assert_non_null(strstr(r->damages[0].what, "it is missing: samples"));
	run_close(r);
	close(fd);
	truth_free(t);
}

/* As a file system may leave it that knew a file's size before its contents. */
static void test_a_slot_of_zeros_is_damage(void **state)
{
	static uint8_t zeros[SLOT];

	(void)state;
	for (uint32_t samples = 3; samples <= 15; samples += 4) {
		struct truth *t = truth_new(22, &(struct writer_options){ .chunk_rows = 4 });
		off_t size;
		int fd;

		truth_samples(t, samples);
		writer_abandon(t->w);
		fd = open_one(t, "node-host.tail", &size);
		for (int slot = 0; slot < 2; slot++)
			assert_int_equal(pwrite(fd, zeros, SLOT, SLOTS_AT + slot * SLOT), SLOT);
		assert_int_equal(futimens(fd, long_ago), 0);
		check(t);
		close(fd);
		truth_free(t);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_every_bit_of_a_closed_recording_flipped),
	cmocka_unit_test(test_every_bit_of_the_blocks_of_a_killed_recording_flipped),
	cmocka_unit_test(test_every_bit_of_a_tail_flipped),
	cmocka_unit_test(test_a_closed_recording_cut_at_every_byte),
	cmocka_unit_test(test_a_killed_recording_cut_at_every_byte),
	cmocka_unit_test(test_a_tail_cut_at_every_byte),
	cmocka_unit_test(test_a_block_cut_while_it_was_written_loses_nothing),
	cmocka_unit_test(test_a_tail_that_is_empty_or_gone_is_damage),
	cmocka_unit_test(test_a_slot_of_zeros_is_damage),
	cmocka_unit_test(test_damage_names_the_place),
	cmocka_unit_test(test_a_block_that_is_gone_is_missed),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
