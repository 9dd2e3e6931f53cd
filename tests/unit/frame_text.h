/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_text.h - what the tests of the frame share: a run with disks, and tables as text.
 */
#ifndef SONDE_TESTS_FRAME_TEXT_H
#define SONDE_TESTS_FRAME_TEXT_H

#include "base/bytes.h"
#include "core/frame/frame.h"
#include "unit/synthetic_run.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TIDY_SKIP "node time kind unit"

static const struct metric load = { "node.load", .unit = UNIT_ONE, .kind = KIND_GAUGE, .div = 100 };
static const struct metric busy = {
	"disk.busy_seconds",  "disk",      .unit = UNIT_SECONDS,
	.kind = KIND_COUNTER, .div = 1000, .over_instances = COMBINE_SUM
};
static const struct metric queue = { "disk.queue_count", "disk", .unit = UNIT_COUNT,
				     .kind = KIND_GAUGE, .over_instances = COMBINE_MEAN };

static inline void print_cell(struct bytes *b, const struct column *c, const struct cells *x,
			      uint32_t row)
{
	if (x->state[row] != STATE_PRESENT)
		bytes_puts(b, "-");
	else if (c->type == COLUMN_TEXT)
		bytes_puts(b, x->s[row]);
	else if (c->type == COLUMN_REAL)
		bytes_printf(b, "%.6g", x->d[row]);
	else
		bytes_printf(b, "%" PRId64,
			     c->type == COLUMN_TIME ? x->i[row] - SYNTH_T0 : x->i[row]);
}

static inline void print_rows(struct bytes *b, struct frame *f, const char *skip)
{
	const struct frame_schema *s = frame_schema(f);
	struct err e = { "" };
	struct batch batch;
	int rc;

	while ((rc = frame_next(f, &batch, &e)) > 0)
		for (uint32_t r = 0; r < batch.nrows; r++) {
			for (uint32_t c = 0; c < s->ncolumns; c++) {
				if (strstr(skip, s->columns[c].name))
					continue;
				print_cell(b, &s->columns[c], &batch.columns[c], r);
				bytes_puts(b, " ");
			}
			bytes_puts(b, "\n");
		}
	if (rc)
		fail_msg("frame_next: %d %s", rc, e.text);
}

/* All rows of a selection must read as `want`; also after a rewind. Columns named in skip are left
 * out. */
static inline void check(struct synth *s, const struct selection *sel, const char *skip,
			 const char *want)
{
	struct bytes b = { 0 };
	struct err e = { "" };
	struct frame *f;

	if (frame_open(&f, &s->run, sel, &e))
		fail_msg("frame_open: %s", e.text);
	for (int pass = 0; pass < 2; pass++) {
		bytes_reset(&b);
		print_rows(&b, f, skip);
		bytes_u8(&b, 0);
		assert_string_equal((const char *)b.data, want);
		assert_int_equal(frame_rewind(f), 0);
	}
	frame_close(f);
	bytes_free(&b);
}

/* Two disks and an aside one; series: busy and queue of each, then the load of the node. */
static inline struct synth *disks(void)
{
	struct synth *s = synth_new(2);
	uint32_t m = synth_metric(s, busy), q = synth_metric(s, queue), l = synth_metric(s, load);
	static const char *const names[] = { "sdb", "sda", "loop0" };

	for (int i = 0; i < 3; i++) {
		uint32_t id = synth_instance(s, "disk", names[i]);

		s->instances[id].flags = i == 2 ? INSTANCE_ASIDE : 0;
		synth_series(s, 1, m, id);
		synth_series(s, 1, q, id);
	}
	synth_series(s, 1, l, 0);
	for (int row = 0; row < 2; row++) {
		synth_row(s, 1, row);
		for (uint32_t i = 0; i < 3; i++) {
			synth_put(s, 1 + 2 * i, (int64_t)row * 1000 * (i + 1));
			synth_put(s, 2 + 2 * i, 10 * (i + 1));
		}
		synth_put(s, 7, 50);
	}
	return s;
}

#endif
