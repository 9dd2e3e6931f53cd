/* SPDX-License-Identifier: Apache-2.0 */
/* table_tidy.c - the series, a row for each value that was there. */
#include "core/table_series.h"

#include <errno.h>
#include <stdlib.h>

enum { NODE = 0, METRIC, INSTANCE, TIME, SECONDS, VALUE, UNIT, KIND, MIN, MAX };

static const struct column columns[] = {
	[NODE] = { "node", COLUMN_TEXT, "", "Host name.", NULL },
	[METRIC] = { "metric", COLUMN_TEXT, "", "Name of the metric, or of its rate.", NULL },
	[INSTANCE] = { "instance", COLUMN_TEXT, "", "Device or process; empty: the node itself.",
		       NULL },
	[TIME] = { "time", COLUMN_TIME, "",
		   "Wall time (UTC) of the reading, or of the window's begin.", NULL },
	[SECONDS] = { "seconds", COLUMN_REAL, "seconds", "The same, since the run began.", NULL },
	[VALUE] = { "value", COLUMN_REAL, "", "The value; the time-weighted mean of a window.",
		    NULL },
	[UNIT] = { "unit", COLUMN_TEXT, "", "Unit of the value.", NULL },
	[KIND] = { "kind", COLUMN_TEXT, "", "counter: grows; gauge: rates included; state: a code.",
		   NULL },
	[MIN] = { "min", COLUMN_REAL, "", "Smallest value in the window.", NULL },
	[MAX] = { "max", COLUMN_REAL, "", "Largest value in the window.", NULL },
};

struct tidy {
	struct series series;
	struct instant at;
	uint32_t next;          /* reading of `at` that has no row yet */
	struct column *metrics; /* of the schema */
};

/* What the metric column may say. */
static int list_metrics(struct frame *f, struct tidy *t)
{
	const struct plan *p = &t->series.derive.plan;

	t->metrics = calloc(p->run->nmetrics, sizeof(*t->metrics));
	if (!t->metrics)
		return -ENOMEM;
	f->schema.metrics = t->metrics;
	for (uint32_t i = 1; i < p->run->nmetrics; i++) {
		const struct quantity *q = &p->quantity[i];

		if (q->chosen)
			t->metrics[f->schema.nmetrics++] =
				(struct column){ q->name, COLUMN_REAL, unit_name(q->unit),
						 q->metric->help, quantity_kind(q) };
	}
	return 0;
}

static int tidy_open(struct frame *f, const struct selection *sel, struct err *e)
{
	struct tidy *t = f->state;
	size_t n = sel->every_s > 0 ? MAX + 1 : KIND + 1;
	int rc = series_open(&t->series, f->run, sel, e);

	if (!rc && (frame_columns(f, columns, n) || list_metrics(f, t)))
		rc = err_set(e, -ENOMEM, "out of memory for a table");
	return rc;
}

static int put_row(struct frame *f, const struct tidy *t, const struct reading *r)
{
	const struct plan *p = &t->series.derive.plan;
	const struct cell *c = &p->cell[r->cell];
	const struct quantity *q = &p->quantity[c->quantity];
	const char *key;
	int rc = frame_key(f, p->holder[c->holder].instance, &key);

	if (rc)
		return rc;
	frame_row(f);
	frame_text(f, NODE, frame_host(f, t->at.node));
	frame_text(f, METRIC, q->name);
	frame_text(f, INSTANCE, key);
	frame_int(f, TIME, t->at.utc_ns);
	frame_real(f, SECONDS, t->at.seconds);
	frame_real(f, VALUE, r->value);
	frame_text(f, UNIT, unit_name(q->unit));
	frame_text(f, KIND, quantity_kind(q));
	if (t->series.windowed) {
		frame_real(f, MIN, r->min);
		frame_real(f, MAX, r->max);
	}
	return 0;
}

static int tidy_fill(struct frame *f, struct err *e)
{
	struct tidy *t = f->state;
	int rc;

	while (!frame_full(f)) {
		if (t->next >= t->at.n) {
			t->next = 0;
			rc = series_next(&t->series, &t->at, e);
			if (rc <= 0) {
				t->at.n = 0;
				return rc;
			}
			continue;
		}
		if (put_row(f, t, &t->at.reading[t->next++]))
			return err_set(e, -ENOMEM, "out of memory for the names of processes");
	}
	return 0;
}

static int tidy_rewind(struct frame *f)
{
	struct tidy *t = f->state;

	t->at.n = t->next = 0;
	return series_rewind(&t->series);
}

static void tidy_close(struct frame *f)
{
	struct tidy *t = f->state;

	free(t->metrics);
	series_close(&t->series);
}

const struct table table_tidy = {
	.name = "series",
	.size = sizeof(struct tidy),
	.open = tidy_open,
	.fill = tidy_fill,
	.rewind = tidy_rewind,
	.close = tidy_close,
};
