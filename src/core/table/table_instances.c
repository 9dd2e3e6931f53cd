/* SPDX-License-Identifier: Apache-2.0 */
/* table_instances.c - what came and went, a row each: its life, its labels, its counters at the
 * end. */
#include "base/text/number.h"
#include "core/frame/frame_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NODE = 0, INSTANCE, NAME, PARENT, BIRTH, BIRTH_SECONDS, END, END_SECONDS, FIRST_LABEL };
enum { LABELS_MAX = 16 };

static const struct column columns[] = {
	[NODE] = { "node", COLUMN_TEXT, "", "Host name.", NULL },
	[INSTANCE] = { "instance", COLUMN_TEXT, "", "What the series table calls it.", NULL },
	[NAME] = { "name", COLUMN_TEXT, "", "Its name.", NULL },
	[PARENT] = { "parent", COLUMN_TEXT, "", "The instance it came from; empty: not known.",
		     NULL },
	[BIRTH] = { "birth_time", COLUMN_TIME, "", "Wall time (UTC) of its start.", NULL },
	[BIRTH_SECONDS] = { "birth_seconds", COLUMN_REAL, "seconds",
			    "The same, since the run began.", NULL },
	[END] = { "end_time", COLUMN_TIME, "", "Wall time (UTC) of its end; empty: none was seen.",
		  NULL },
	[END_SECONDS] = { "end_seconds", COLUMN_REAL, "seconds", "The same, since the run began.",
			  NULL },
};

/* The last reading of a series, which stands in for the final value. */
struct last {
	uint32_t instance, metric;
	int64_t value, mono_ns;
};

struct instances {
	const char *domain;
	uint32_t next; /* instance that has no row yet */
	const char *label[LABELS_MAX];
	bool whole[LABELS_MAX]; /* it is a whole number */
	uint32_t nlabels;
	uint32_t *column; /* [nmetrics]; 0: not in this table */
	struct last *last;
	uint32_t nlast;
};

static bool is_mine(const struct frame *f, const struct instances *t, uint32_t id)
{
	const char *domain = id < f->run->ninstances ? f->run->instances[id].domain : NULL;

	return id && domain && !strcmp(domain, t->domain);
}

static bool is_whole(const char *key)
{
	static const char *const keys[] = { "pid", "tid", "rank", "exit_code", "signal" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static void add_label(struct instances *t, const char *key)
{
	for (uint32_t i = 0; i < t->nlabels; i++)
		if (!strcmp(t->label[i], key))
			return;
	if (t->nlabels == LABELS_MAX)
		return;
	t->whole[t->nlabels] = is_whole(key);
	t->label[t->nlabels++] = key;
}

/* Which labels and metrics there are; a metric's column is not known yet, but not 0. */
static void find_columns(struct frame *f, struct instances *t)
{
	const struct run *r = f->run;

	for (uint32_t id = 1; id < r->ninstances; id++) {
		const struct run_instance *i = &r->instances[id];

		for (uint32_t l = 0; is_mine(f, t, id) && l < i->nlabels; l++)
			add_label(t, r->labels[i->first_label + l].key);
		for (uint32_t n = 0; is_mine(f, t, id) && n < i->nfinals; n++)
			t->column[r->finals[i->first_final + n].metric] = 1;
	}
	for (uint32_t i = 0; i < t->nlast; i++)
		t->column[t->last[i].metric] = 1;
}

static int add_columns(struct frame *f, struct instances *t)
{
	int rc = frame_columns(f, columns, FIRST_LABEL);

	for (uint32_t i = 0; i < t->nlabels && !rc; i++)
		rc = frame_column(f, &(struct column){ t->label[i],
						       t->whole[i] ? COLUMN_INT : COLUMN_TEXT, "",
						       "Label.", NULL });
	for (uint32_t m = 1; m < f->run->nmetrics && !rc; m++) {
		const struct metric *row = &f->run->metrics[m].row;

		if (!t->column[m])
			continue;
		t->column[m] = f->ncolumns;
		rc = frame_column(f, &(struct column){ row->name, COLUMN_REAL, unit_name(row->unit),
						       row->help, kind_name(row->kind) });
	}
	return rc;
}

/* Whether the last reading of a series is worth a cell: counters only grow, and so do peaks, gauges
 * of which the largest counts. */
static bool grows(const struct frame *f, const struct instances *t, const struct run_series *s)
{
	const struct metric *m =
		s->metric < f->run->nmetrics ? &f->run->metrics[s->metric].row : NULL;

	return m && s->metric && is_mine(f, t, s->instance) &&
	       (m->kind == KIND_COUNTER || m->kind == KIND_TOTAL ||
		m->over_instances == COMBINE_MAX);
}

static int by_instance(const void *a, const void *b)
{
	const struct last *x = a, *y = b;

	if (x->instance != y->instance)
		return x->instance < y->instance ? -1 : 1;
	return (x->mono_ns > y->mono_ns) - (x->mono_ns < y->mono_ns);
}

/* The footers of the chunks give them without decoding. First a place for each series, then sorted.
 */
static int read_last(struct frame *f, struct instances *t, struct err *e)
{
	struct run *run = f->run;
	const struct range *r;
	uint32_t n;
	int rc = run->rewind(run);

	while (!rc && (rc = run->next_ranges(run, &r, &n, e)) > 0) {
		for (rc = 0; n; n--, r++) {
			const struct run_series *s =
				r->series < run->nseries ? &run->series[r->series] : NULL;

			if (s && r->count && grows(f, t, s))
				t->last[r->series] = (struct last){ s->instance, s->metric, r->last,
								    r->last_ns };
		}
	}
	for (uint32_t i = 0; i < run->nseries; i++)
		if (t->last[i].instance)
			t->last[t->nlast++] = t->last[i];
	qsort(t->last, t->nlast, sizeof(*t->last), by_instance);
	return rc;
}

static const char *table_name(const char *domain)
{
	static const struct {
		const char *domain, *name;
	} rows[] = { { "process", "processes" }, { "command", "commands" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].domain, domain))
			return rows[i].name;
	return "instances";
}

static int instances_open(struct frame *f, const struct selection *sel, struct err *e)
{
	struct instances *t = f->state;
	int rc;

	t->domain = sel->domain ? sel->domain : "process";
	f->schema.table = table_name(t->domain);
	t->column = calloc(f->run->nmetrics + 1u, sizeof(*t->column));
	t->last = calloc(f->run->nseries + 1u, sizeof(*t->last));
	if (!t->column || !t->last)
		return err_set(e, -ENOMEM, "out of memory for a table");
	rc = read_last(f, t, e);
	if (rc)
		return rc;
	find_columns(f, t);
	return add_columns(f, t) ? err_set(e, -ENOMEM, "out of memory for a table") : 0;
}

static void put_metric(struct frame *f, const struct instances *t, uint32_t metric, int64_t stored)
{
	if (t->column[metric] >= FIRST_LABEL)
		frame_real(f, t->column[metric],
			   metric_value(&f->run->metrics[metric].row, stored));
}

/* Final values come last, since they are the better ones. */
static void put_metrics(struct frame *f, const struct instances *t, uint32_t id)
{
	const struct run_instance *i = &f->run->instances[id];
	const struct run_final *final = f->run->finals + i->first_final;
	uint32_t low = 0, high = t->nlast;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->last[middle].instance < id)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < t->nlast && t->last[low].instance == id; low++)
		put_metric(f, t, t->last[low].metric, t->last[low].value);
	for (uint32_t n = 0; n < i->nfinals; n++)
		put_metric(f, t, final[n].metric, final[n].value);
}

/* A number that is none is not known. */
static void put_label(struct frame *f, const struct instances *t, uint32_t id, uint32_t l)
{
	const char *text = run_label(f->run, id, t->label[l]);
	int64_t number;

	if (!t->whole[l])
		frame_text(f, FIRST_LABEL + l, text);
	else if (text && number_i64(&text, &number) && !*text)
		frame_int(f, FIRST_LABEL + l, number);
}

static int put_row(struct frame *f, const struct instances *t, uint32_t id)
{
	const struct run_instance *i = &f->run->instances[id];
	const char *key, *parent;

	if (frame_key(f, id, &key) || frame_key(f, i->parent, &parent))
		return -ENOMEM;
	frame_row(f);
	frame_text(f, NODE, frame_host(f, i->node));
	frame_text(f, INSTANCE, key);
	frame_text(f, NAME, i->name);
	frame_text(f, PARENT, parent);
	frame_time(f, BIRTH, i->node, i->birth_ns);
	if (i->end_ns != INT64_MAX)
		frame_time(f, END, i->node, i->end_ns);
	for (uint32_t l = 0; l < t->nlabels; l++)
		put_label(f, t, id, l);
	put_metrics(f, t, id);
	return 0;
}

static int instances_fill(struct frame *f, struct err *e)
{
	struct instances *t = f->state;

	for (; t->next < f->run->ninstances && !frame_full(f); t->next++) {
		const struct run_instance *i = &f->run->instances[t->next];

		if (!is_mine(f, t, t->next) || !frame_selects(f, i->node, i->birth_ns, i->end_ns))
			continue;
		if (put_row(f, t, t->next))
			return err_set(e, -ENOMEM, "out of memory for the names of processes");
	}
	return 0;
}

static int instances_rewind(struct frame *f)
{
	struct instances *t = f->state;

	t->next = 0;
	return 0;
}

static void instances_close(struct frame *f)
{
	struct instances *t = f->state;

	free(t->column);
	free(t->last);
}

const struct table table_instances = {
	.name = "instances",
	.size = sizeof(struct instances),
	.open = instances_open,
	.fill = instances_fill,
	.rewind = instances_rewind,
	.close = instances_close,
};
