/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are opened as a recording and read to the end; what comes out keeps the promises of
 * core/frame/run.h.
 *
 * An input is four lengths (u16: blocks, head of the tail, its two slots) and those bytes. Nothing
 * is found by chance behind a checksum, so most mutations are given right ones again; the first
 * inputs are made by the writer itself.
 */
#ifndef READ /* fuzz_summary.c includes this file and does more with a run */
#define READ   read_all
#define DOMAIN "d"
#define ROWS                                                                                       \
	{ .name = "q.a" }, { .name = "q.b", .storage = STORE_REAL },                               \
	{                                                                                          \
		.name = "q.c"                                                                      \
	}
#endif

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "core/stacks/stacks.h"
#include "recording/format.h"
#include "recording/join.h"
#include "recording/writer.h"

enum { PARTS = 4, LENGTHS = 2 * PARTS, SLOT_SIZE_AT = BLOCK_HEADER + 32, SLOT = 2048 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static uint32_t load(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof v);
	return v;
}

/* Where each part lies and how long it is. */
static void parts(const uint8_t *data, size_t size, size_t at[PARTS], size_t n[PARTS])
{
	size_t from = LENGTHS;

	for (int i = 0; i < PARTS; i++) {
		size_t length =
			size < LENGTHS ? 0 : (size_t)data[2 * i] | (size_t)data[2 * i + 1] << 8;

		at[i] = from;
		n[i] = from >= size ? 0 : length < size - from ? length : size - from;
		from += n[i];
	}
}

/* ---- reading ---- */

static size_t volatile sink;

static void read_text(const char *text)
{
	if (text)
		sink = sink + strlen(text);
}

static void read_packs(struct run *r)
{
	const struct run_span *span;

	for (uint32_t i = 0; i < r->npacks; i++) {
		int n = r->unpack(r, i, &span, NULL);

		check(r->packs[i].node < r->nnodes && r->packs[i].track < r->ninstances);
		for (int k = 0; k < n; k++) {
			check(span[k].begin_ns >= -MONO_MAX && span[k].end_ns <= MONO_MAX);
			read_text(span[k].name);
		}
	}
}

/* Nothing leads in circles, and no id is beyond its table. */
static void read_stacks(struct run *r)
{
	const struct classes classes = { 0 };
	struct stacks *stacks;
	struct run_samples x;

	for (uint32_t i = 1; i < r->nframes; i++) {
		check(r->frames[i].module < r->nmodules && r->frames[i].outer < r->nframes);
		for (uint32_t at = i, n = 0; at; at = r->frames[at].outer)
			check(n++ < 1000);
		read_text(r->frames[i].function);
	}
	for (uint32_t i = 1; i < r->nstacks; i++)
		check(r->stacks[i].parent < i && r->stacks[i].frame < r->nframes);
	r->rewind_samples(r);
	while (r->next_samples(r, &x, NULL) > 0) {
		check(x.node && x.node < r->nnodes && x.instance < r->ninstances);
		check(x.kind < SAMPLE_KIND_NUMBER_OF && x.t0_ns <= x.t1_ns && x.unit >= 0);
		for (uint32_t i = 0; i < x.n; i++)
			check(x.items[i].node < r->nstacks);
		read_text(x.command);
	}
	check(!stacks_open(&stacks, r, &classes, &(struct stacks_selection){ 0 }, NULL));
	check(isfinite(stacks->total) && stacks->nnodes > 0);
	check(fabs(stacks->nodes[0].total - stacks->total) <= 1e-6 * stacks->total);
	stacks_close(stacks);
}

static void read_all(struct run *r)
{
	const struct range *ranges;
	struct chunk c;
	uint32_t n;

	read_packs(r);
	read_stacks(r);
	for (uint32_t i = 1; i < r->ninstances; i++) {
		check(r->instances[i].parent < r->ninstances && r->instances[i].node < r->nnodes);
		read_text(r->instances[i].name);
		read_text(run_label(r, i, "key"));
	}
	for (uint32_t i = 1; i < r->nseries; i++) {
		check(r->series[i].node < r->nnodes && r->series[i].metric < r->nmetrics);
		check(r->series[i].instance < r->ninstances && r->series[i].metric > 0);
		read_text(r->metrics[r->series[i].metric].row.name);
		read_text(run_refusal_of(r, &r->series[i]).reason);
	}
	while (r->next_ranges(r, &ranges, &n, NULL) > 0) {
		for (uint32_t i = 0; i < n; i++)
			check(ranges[i].series < r->nseries && ranges[i].count &&
			      ranges[i].weight >= 0);
	}
	r->rewind(r);
	while (r->next_chunk(r, NULL, &c, NULL) > 0) {
		for (uint32_t row = 0; row < c.nrows; row++)
			check(c.mono_ns[row] >= (row ? c.mono_ns[row - 1] : 0) &&
			      c.utc_ns[row] >= 0);
		for (uint32_t i = 0; i < c.ncolumns; i++) {
			check(c.column[i].series < r->nseries);
			check(!i || c.column[i].series >= c.column[i - 1].series);
			sink = sink + (size_t)c.column[i].value[c.nrows - 1] +
			       c.column[i].present[c.nrows - 1];
		}
	}
	for (uint32_t i = 0; i < r->ndamages; i++)
		read_text(r->damages[i].what);
	check(r->nnodes < 2 || isfinite(run_seconds(r, 1, r->nodes[1].last_ns)));
}

static int directory(void)
{
	static int fd = -1;

	if (fd < 0) {
		char name[] = "recording_XXXXXX";

		check(mkdtemp(name) != NULL);
		fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		check(fd >= 0);
	}
	return fd;
}

static void file_write(const char *name, const uint8_t *data, size_t n)
{
	int fd = openat(directory(), name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	check(fd >= 0 && write(fd, data, n) == (ssize_t)n);
	close(fd);
}

static void tail_write(const uint8_t *data, const size_t at[PARTS], const size_t n[PARTS])
{
	uint32_t slot = n[1] >= SLOT_SIZE_AT + 4 ? load(data + at[1] + SLOT_SIZE_AT) : SLOT;
	int fd;

	file_write("node-f.tail", data + at[1], n[1] < TAIL_SLOTS_AT ? n[1] : TAIL_SLOTS_AT);
	fd = openat(directory(), "node-f.tail", O_WRONLY);
	for (int i = 0; i < 2; i++)
		check(pwrite(fd, data + at[2 + i], n[2 + i],
			     TAIL_SLOTS_AT + i * (off_t)(slot % (1 << 20))) >= 0);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at[PARTS], n[PARTS];
	struct err e = { "" };
	char path[64];
	struct run *r;

	parts(data, size, at, n);
	file_write("node-f.sonde", data + (n[0] ? at[0] : 0), n[0]);
	unlinkat(directory(), "node-f.tail", 0);
	if (n[1])
		tail_write(data, at, n);
	snprintf(path, sizeof path, "/proc/self/fd/%d", directory());
	if (run_open(&r, path, &e)) {
		check(e.text[0]);
		return 0;
	}
	READ(r);
	run_close(r);
	return 0;
}

/* ---- making and repairing ---- */

static void repair_blocks(uint8_t *data, size_t n)
{
	for (size_t at = 0; at + BLOCK_HEADER <= n;) {
		uint32_t length = load(data + at + 16), crc;

		if (load(data + at) != BLOCK_MAGIC || length > n - at - BLOCK_HEADER) {
			at++;
			continue;
		}
		crc = crc32c(0, data + at + 8, BLOCK_HEADER - 8 + length);
		memcpy(data + at + 4, &crc, sizeof crc);
		at += BLOCK_HEADER + length;
	}
}

static void repair_commits(uint8_t *data, size_t n)
{
	for (size_t at = 0; at + COMMIT_HEADER <= n;) {
		uint32_t length = load(data + at), crc;

		if (length > n - at - COMMIT_HEADER)
			return;
		crc = crc32c(crc32c(0, data + at, 8), data + at + COMMIT_HEADER, length);
		memcpy(data + at + 8, &crc, sizeof crc);
		at += COMMIT_HEADER + length;
	}
}

static size_t file_take(const char *name, off_t from, uint8_t *to, size_t n)
{
	int fd = openat(directory(), name, O_RDONLY | O_CLOEXEC);
	ssize_t got = pread(fd, to, n, from);

	close(fd);
	return got < 0 ? 0 : (size_t)got;
}

/* f calls itself, and g is inlined into it. */
static void stacks_make(struct sample *s, unsigned i, unsigned seed)
{
	const struct event_item node[] = { { 0, 1, 0 }, { 2 * i + 1, 2, 0 } };
	const struct event_item item[] = { { 7, 2 * i + 1, 1 }, { 8, 2 * i + 2, 1 + seed % 9 } };

	if (!i) {
		sample_module(s, 1, "/bin/f", "00ff");
		sample_frame(s, &(struct frame_row){ 1, 1, 0, 3, 0, 16, "f", "f.c" });
		sample_frame(s, &(struct frame_row){ 2, 1, 1, 4, 0, 16, "g", "" });
	}
	sample_stacks(s, 2 * i + 1, node, 2);
	sample_samples(s, &(struct samples_head){ 1, SAMPLE_CPU, "f", 1000, i, i + 9 }, item, 2);
}

/* A recording of a few blocks and an open tail. The noise keeps zstd from hiding what matters. */
static void recording_make(unsigned seed)
{
	static const struct metric rows[3] = { ROWS };
	struct writer *w;
	struct sample s;
	uint32_t slot = 0;
	char noise[200];

	unlinkat(directory(), "node-s.sonde", 0);
	unlinkat(directory(), "node-s.tail", 0);
	check(!sample_init(&s, 256, 64));
	check(!writer_open(&w, directory(), "s",
			   &(struct writer_options){ .chunk_rows = 3 + seed % 4 }, NULL));
	for (unsigned i = 0; i < 10; i++) {
		for (size_t k = 0; k < sizeof noise - 1; k++)
			noise[k] = (char)(1 + (seed = seed * 1103515245 + 12345) % 255);
		noise[sizeof noise - 1] = '\0';
		sample_begin(&s, 100 + i, 50 + i);
		if (i % 4 == 0) {
			sample_series_end(&s, slot, 3);
			slot = sample_series(&s, rows, 3,
					     sample_instance(&s, DOMAIN, "n", 0, i, 0));
			sample_meta_text(&s, "key", noise);
			sample_label(&s, 1, "key", "v");
			sample_final(&s, 1, rows, 3, (int64_t[]){ 1, 2, 3 }, 5);
			sample_refuse(&s, slot, STATE_FAILED, "why");
			sample_mark(&s, 0, i, "m", "n");
			sample_span(&s, 1, i, i + 1, "s", "t");
			sample_clock(&s, 50, 100, 1, true);
		}
		stacks_make(&s, i, seed);
		for (unsigned k = 0; k < 3; k++) {
			if ((seed >> (k + i)) % 4)
				sample_put(&s, slot + k, (int64_t)(seed >> k) * 1000);
		}
		check(!writer_sample(w, &s, NULL));
		check(i % 5 || !writer_spans(w,
					     &(struct spans){ 1, 3, 2, (const char *[]){ "a", "b" },
							      (uint16_t[]){ 0, 1, 1 },
							      (int64_t[]){ i, 5, seed },
							      (int64_t[]){ i, 9, seed } },
					     NULL));
	}
	writer_abandon(w);
	sample_free(&s);
}

static size_t input_make(uint8_t *data, size_t max, unsigned seed)
{
	size_t size = LENGTHS, head = 80, slot = SLOT;
	off_t from[PARTS] = { 0, 0, TAIL_SLOTS_AT, TAIL_SLOTS_AT + TAIL_SLOT };

	recording_make(seed);
	for (int i = 0; i < PARTS; i++) {
		size_t want = i == 0 ? 30000 : i == 1 ? head : slot / 2, n;

		n = file_take(i ? "node-s.tail" : "node-s.sonde", from[i], data + size,
			      want < max - size ? want : max - size);
		data[2 * i] = (uint8_t)n;
		data[2 * i + 1] = (uint8_t)(n >> 8);
		if (i == 1 && n > SLOT_SIZE_AT + 4)
			memcpy(data + size + SLOT_SIZE_AT, &(uint32_t){ SLOT }, 4);
		size += n;
	}
	return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	size_t at[PARTS], n[PARTS];

	if (max < 256)
		return LLVMFuzzerMutate(data, size, max);
	size = size < 128 ? input_make(data, max, seed) : LLVMFuzzerMutate(data, size, max);
	if (seed % 8) {
		parts(data, size, at, n);
		repair_blocks(data + at[0], n[0]);
		repair_blocks(data + at[1], n[1]);
		repair_commits(data + at[2], n[2]);
		repair_commits(data + at[3], n[3]);
	}
	return size;
}
