/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - rows as they stand in a .tail file, each as its difference to the row before.
 *
 * A row is: time, a bit for each open series in order of id (1 = changed), and a token for each
 * change: zigzag(value - last), which is never 0; or 0, and then 0: now absent, or 1 and the value
 * itself: it returned as it was. The state starts empty at every generation, so that a slot can be
 * read on its own. Of what was said last the writer keeps note here, the sealer in its columns.
 */
#ifndef SONDE_RECORDING_ROWS_H
#define SONDE_RECORDING_ROWS_H

#include "base/bytes.h"
#include "recording/varint.h"

/* Times as differences of differences; offset = UTC - monotonic, which moves little. */
struct row_times {
	int64_t mono, step, offset;
};

/* The open series, sorted by id; arrays side by side, since most values are only looked at. */
struct rows {
	uint32_t *series;
	uint32_t *place;  /* the writer's slot in the sample; the sealer's column */
	int64_t *last;    /* the writer's: value said last, 0 when none was */
	uint8_t *present; /* the writer's: 1 or 0 */
	uint8_t *real;
	uint8_t *straight; /* of each 64: places follow one another; when straight_known */
	uint8_t *changed;  /* by the row looked at or got last: a bit for each, in whole words */
	uint32_t n, cap;
	bool straight_known;
	struct row_times times;
	void *memory; /* all of the above, reserved in one piece */
	size_t memory_size;
};

int rows_init(struct rows *r, uint32_t cap); /* 0 or -ENOMEM; nothing is allocated later */
void rows_free(struct rows *r);
/* Open count series from id on; false when there is no room or ids do not grow. place counts up. */
bool rows_open(struct rows *r, uint32_t id, uint32_t count, uint64_t real, uint32_t place);
void rows_close(struct rows *r, uint32_t id, uint32_t count);
uint32_t rows_find(const struct rows *r, uint32_t id); /* index of the first that is at least id */
void rows_restart(struct rows *r); /* a new generation: same series, nothing said yet */

/* The series open now, as runs of ids. Reading replaces what was open; places count from 0. */
void rows_list_put(struct bytes *out, const struct rows *r);
bool rows_list_get(struct scan *in, struct rows *r);

/* Find what changed: values by place. Whether its row takes at most so many bytes. */
bool rows_fit(struct rows *r, const struct row_times *now, const int64_t *value,
	      const uint8_t *state, size_t room);
/* Append the row that rows_fit looked at; out has room for whatever it may be. */
void rows_put(struct bytes *out, struct rows *r, const struct row_times *now, const int64_t *value,
	      const uint8_t *state);
size_t rows_size_max(uint32_t series); /* of a row of so many */
/* Read a row up to its tokens: its time, and which series have one; false when it is malformed. */
bool rows_get(struct scan *in, struct rows *r);

/* What follows a token of 0. Returns the place behind it, or NULL when it is malformed. */
const uint8_t *row_token_other(const uint8_t *at, const uint8_t *end, bool *present,
			       int64_t *value);

/* Which of the 64 series from first on (a multiple of 64) the row looked at or got last changed. */
static inline uint64_t rows_changed(const struct rows *r, uint32_t first)
{
	uint64_t word;

	memcpy(&word, r->changed + first / 8, sizeof word);
	return le64toh(word);
}

/* Times after t at mono and utc; written as two zigzags; read back into t. */
struct row_times row_times_at(const struct row_times *t, int64_t utc, int64_t mono);
void row_times_put(struct bytes *out, const struct row_times *t, const struct row_times *now);
void row_times_get(struct scan *in, struct row_times *t);
int64_t row_times_utc(const struct row_times *t);

#endif
