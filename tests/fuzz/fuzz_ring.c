/* SPDX-License-Identifier: Apache-2.0 */
/* The file in which a process leaves its spans, with bytes of a stranger in it: u16 place, u8 value
 * at a time. What is taken of it makes sense, and is no more than there can be. */
#include "source/program/spans.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void put(int fd, size_t at, const void *data, size_t n)
{
	check(pwrite(fd, data, n, (off_t)at) == (ssize_t)n);
}

/* What an honest process leaves. */
static int file_make(void)
{
	const struct ring_slot slots[] = { { 1, 7, 0, RING_THREAD },
					   { 2, 5, 1, RING_SPAN },
					   { 6, 0, 2, RING_MARK },
					   { 5, 9, 2, RING_SPAN },
					   { 6, 9, 2, RING_LANE_SPAN | 1 << RING_LANE_BIT },
					   { 7, 9, 1025, RING_LANE_SPAN | 1 << RING_LANE_BIT },
					   { 7, 9, 1, RING_VALUE },
					   { 8, 0, 1026, RING_VALUE },
					   { 9, 0, 2, RING_CALLED },
					   { 6, 9, 1, RING_SPAN | 2u << RING_MORE_BIT },
					   { 0 },
					   { 0 },
					   { 6, 0, 1, RING_MARK } };
	/* in the place of two of these: what arguments are */
	static const uint8_t args[] = "\4\1\0\0\0\3\2\0\0\0\1x\2\1\0\0\0\5\0\0\0\0\0\0\0"
				      "\5\7\0\0\0\0\0\0\0";
	static const char texts[] = "\1\4\0\0\4\0long\6\0longer\0";
	const struct ring_lane lanes[2] = { { 4, 1, 1 }, { 5, 1025, 2 } };
	struct ring_thread ring = { .written = 13, .depth = 1, .called = "a thread" };
	struct ring_head *head = calloc(1, sizeof *head);
	struct ring_mpi *mpi = calloc(1, sizeof *mpi);
	int fd = memfd_create("ring", MFD_CLOEXEC);

	check(head && mpi && fd >= 0 && !fchmod(fd, 0600) &&
	      !ftruncate(fd, (off_t)ring_texts_at(2)));
	head->magic = RING_MAGIC;
	head->version = RING_VERSION;
	head->pid = 1;
	head->pid_namespace = 1; /* of nobody here */
	head->nnames = 2;
	head->nthreads = 2;
	memcpy(head->name[1], "one", 4);
	memcpy(head->name[2], "two", 4);
	head->valued[2] = 1;
	head->ntexts = 2;
	head->nlane_chunks = 1;
	ring.open[0] = (struct ring_open){ .from_ns = 3, .name = 1 };
	put(fd, 0, head, sizeof *head);
	put(fd, ring_thread_at(0), &ring, sizeof ring);
	put(fd, ring_thread_at(0) + RING_PAGE, slots, sizeof slots);
	put(fd, ring_thread_at(0) + RING_PAGE + 10 * sizeof slots[0], args, sizeof args - 1);
	put(fd, ring_lanes_at(0), lanes, sizeof lanes);
	put(fd, ring_texts_at(0), texts, sizeof texts);
	mpi->ranks = 2;
	mpi->began_ns = mpi->inside_ns = 1;
	mpi->call[0] = (struct ring_call){ .named = 1, .name = "MPI_Send", .calls = 1, .ns = 1 };
	mpi->peer[0] = (struct ring_peer){ .rank = 1, .messages = 1 };
	put(fd, ring_mpi_at(), mpi, sizeof *mpi);
	free(mpi);
	free(head);
	return fd;
}

/* The parts that are looked at, one behind the other. */
static void patch(int fd, const uint8_t *data, size_t n)
{
	const struct {
		size_t at, size;
	} parts[] = { { 0, 48 + 4 * (size_t)RING_NAME_SIZE },
		      { offsetof(struct ring_head, value), 64 },
		      { offsetof(struct ring_head, valued), 64 },
		      { ring_thread_at(0), sizeof(struct ring_thread) },
		      { ring_thread_at(0) + RING_PAGE, sizeof(struct ring_slot) * 13 },
		      { ring_thread_at(1), 256 },
		      { offsetof(struct ring_head, ntexts), 32 },
		      { ring_lanes_at(0), 64 },
		      { ring_texts_at(0), 64 },
		      { ring_texts_at(1), 8 },
		      { ring_mpi_at(), 256 },
		      { ring_mpi_at() + offsetof(struct ring_mpi, peer), 64 } };

	for (; n >= 3; data += 3, n -= 3) {
		size_t place = data[0] | (size_t)data[1] << 8;

		if (place == UINT16_MAX)
			check(!ftruncate(fd, (off_t)data[2] << 12));
		for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
			if (place < parts[i].size)
				put(fd, parts[i].at + place, data + 2, 1);
			place -= place < parts[i].size ? 0 : parts[i].size;
		}
	}
}

static void check_events(const struct sample *s)
{
	for (uint32_t i = 0; i < s->nevents; i++) {
		const struct event *e = &s->event[i];

		check(e->kind != EVENT_SPANS || (e->count && e->count <= EVENT_SPANS_MAX));
		for (uint32_t k = 0; e->kind == EVENT_SPANS && k < e->count; k++)
			check(e->spans[k].begin_ns >= 0 &&
			      e->spans[k].end_ns >= e->spans[k].begin_ns &&
			      e->spans[k].word < s->next_word);
		check(strlen(e->name) <= RING_TEXT_MAX + 64);
		check(e->kind != EVENT_POINTS || (e->count && e->count <= EVENT_SPANS_MAX));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct span_intake in;
	struct sample s;
	struct span_reader *r;
	int fd = file_make();

	patch(fd, data, n);
	memset(&in, 0, sizeof in);
	check(!sample_init(&s, 1024, 8192));
	sample_begin(&s, 1, 1);
	r = span_reader_open(fd);
	for (int turn = 0; r && turn < 2; turn++) {
		span_reader_filled(r);
		span_reader_take(r, &in, &s);
		span_reader_values(r, &in, &s);
	}
	if (r)
		span_reader_end(r, &in, &s);
	span_intake_report(&in, &s);
	check(in.lost >= 0 && in.marks >= 0 && in.unclear >= 0 && in.args_left >= 0);
	check_events(&s);
	span_reader_close(r);
	sample_free(&s);
	return 0;
}
