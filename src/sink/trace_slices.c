/* SPDX-License-Identifier: Apache-2.0 */
/* trace_slices.c - marks, spans on their tracks, and when processes lived. */
#include "base/array.h"
#include "sink/trace_part.h"
#include "sink/trace_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 64, TITLE_MAX = 128 };

struct notes {
	struct trace_note note[NOTES_MAX];
	uint32_t n;
};

static void add_text(struct notes *x, const char *key, const char *text)
{
	if (x->n < NOTES_MAX && key && text && *text)
		x->note[x->n++] = (struct trace_note){ key, text, 0 };
}

static void add_number(struct notes *x, const char *key, double v)
{
	if (x->n < NOTES_MAX && key)
		x->note[x->n++] = (struct trace_note){ key, NULL, v };
}

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a trace");
}

int trace_marks(struct trace *t, struct err *e)
{
	const struct run *r = t->run;
	int rc = 0;

	for (uint32_t i = 1; i < r->nmarks && !rc; i++) {
		const struct run_mark *m = &r->marks[i];
		int64_t at = trace_time(t, m->node, m->at_ns);
		struct notes notes = { .n = 0 };
		char title[TITLE_MAX];
		uint32_t group;

		if (at < t->from_ns || at >= t->until_ns)
			continue;
		add_text(&notes, "message", m->message);
		if (m->instance && m->instance < r->ninstances)
			add_text(&notes, "about", trace_title(t, m->instance, title, sizeof title));
		group = trace_group(t, m->node, m->instance);
		if (t->next_row[group] == 1)
			trace_add_row(t, group, "marks");
		t->format->mark(t->state, &t->out,
				&(struct trace_slice){ group, 1, at, at, "mark",
						       m->name ? m->name : "", notes.note,
						       notes.n });
		t->count->marks++;
		rc = trace_flush(t, e);
	}
	return rc;
}

/* What lies beside each other in one track: things of one kind on one node. */
struct lane {
	const char *name; /* of its first row; NULL: all have numbers */
	bool nested;
	struct trace_rows rows;
	uint32_t *row; /* [rows.n]: which of the group's */
	uint32_t nrows, cap;
};

static void lane_free(struct lane *l)
{
	trace_rows_free(&l->rows);
	free(l->row);
}

static void lane_begin(struct lane *l, const char *name)
{
	trace_rows_reset(&l->rows);
	l->name = name;
	l->nrows = 0;
}

/* The row of the group that takes the slice. 0 or -ENOMEM. */
static int lane_row(struct lane *l, struct trace *t, const struct trace_slice *s, uint32_t *row)
{
	char name[TITLE_MAX + 32];
	uint32_t i, *rows;

	if (trace_rows_place(&l->rows, s->begin_ns, s->end_ns, l->nested, &i))
		return -ENOMEM;
	if (i == l->nrows) {
		rows = array_room(l->row, l->nrows, &l->cap, sizeof *rows);
		if (!rows)
			return -ENOMEM;
		l->row = rows;
		if (i)
			snprintf(name, sizeof name, "%s (%u)", l->name, i + 1);
		else
			snprintf(name, sizeof name, "%s", l->name);
		l->row[l->nrows++] = trace_add_row(t, s->group, name);
	}
	*row = l->row[i];
	return 0;
}

/* Put the slice into the window and the trace. 0 or -errno. */
static int put_slice(struct trace *t, struct lane *l, struct trace_slice *s, struct notes *notes,
		     struct err *e)
{
	if (s->end_ns < s->begin_ns)
		s->end_ns = s->begin_ns;
	if (s->begin_ns >= t->until_ns || s->end_ns < t->from_ns)
		return 0;
	if (s->end_ns - s->begin_ns < t->min_ns) {
		t->count->short_slices++;
		return 0;
	}
	if (s->begin_ns < t->from_ns || s->end_ns > t->until_ns)
		add_text(notes, "cut", "at the window's edge");
	if (s->begin_ns < t->from_ns)
		s->begin_ns = t->from_ns;
	if (s->end_ns > t->until_ns)
		s->end_ns = t->until_ns;
	if (lane_row(l, t, s, &s->row))
		return no_memory(e);
	s->note = notes->note;
	s->nnotes = notes->n;
	t->format->slice(t->state, &t->out, s);
	t->count->slices++;
	return trace_flush(t, e);
}

/* A thing without an end was there as long as its node was watched. */
static int64_t end_of(const struct trace *t, uint32_t node, int64_t end_ns, struct notes *notes)
{
	if (end_ns != INT64_MAX)
		return trace_time(t, node, end_ns);
	add_text(notes, "end", "not seen");
	return node < t->run->nnodes ? trace_time(t, node, t->run->nodes[node].last_ns) : 0;
}

/* By node, track and begin, the longest first. */
static int by_track(const void *a, const void *b, void *spans)
{
	const struct run_span *x = (const struct run_span *)spans + *(const uint32_t *)a;
	const struct run_span *y = (const struct run_span *)spans + *(const uint32_t *)b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static int by_birth(const void *a, const void *b, void *instances)
{
	const struct run_instance *x =
		(const struct run_instance *)instances + *(const uint32_t *)a;
	const struct run_instance *y =
		(const struct run_instance *)instances + *(const uint32_t *)b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->birth_ns > y->birth_ns) - (x->birth_ns < y->birth_ns);
}

/* Most recordings have them in order. */
static void sort(uint32_t *id, uint32_t n, int (*compare)(const void *, const void *, void *),
		 void *array)
{
	for (uint32_t i = 1; i < n; i++)
		if (compare(&id[i - 1], &id[i], array) > 0) {
			qsort_r(id, n, sizeof *id, compare, array);
			return;
		}
}

static int put_span(struct trace *t, struct lane *l, const struct run_span *s, struct err *e)
{
	struct notes notes = { .n = 0 };
	struct trace_slice slice = { .group = trace_group(t, s->node, s->track),
				     .begin_ns = trace_time(t, s->node, s->begin_ns),
				     .category = "span",
				     .name = s->name ? s->name : "" };

	add_text(&notes, "detail", s->detail);
	slice.end_ns = end_of(t, s->node, s->end_ns, &notes);
	return put_slice(t, l, &slice, &notes, e);
}

int trace_spans(struct trace *t, struct err *e)
{
	struct run *r = t->run;
	uint32_t *id = calloc(r->nspans + 1u, sizeof *id), n = 0;
	struct lane lane = { .nested = true };
	char title[TITLE_MAX];
	int rc = 0;

	if (!id)
		return no_memory(e);
	for (uint32_t i = 1; i < r->nspans; i++)
		id[n++] = i;
	sort(id, n, by_track, r->spans);
	for (uint32_t i = 0; i < n && !rc; i++) {
		const struct run_span *s = &r->spans[id[i]], *p = &r->spans[id[i ? i - 1 : 0]];

		if (!i || s->node != p->node || s->track != p->track)
			lane_begin(&lane, s->track && s->track < r->ninstances
						  ? trace_title(t, s->track, title, sizeof title)
						  : "spans");
		rc = put_span(t, &lane, s, e);
	}
	lane_free(&lane);
	free(id);
	return rc;
}

static void note_process(const struct run *r, const struct run_instance *p, struct notes *notes)
{
	for (uint32_t i = p->first_label; i < p->first_label + p->nlabels; i++)
		add_text(notes, r->labels[i].key, r->labels[i].value);
	for (uint32_t i = p->first_final; i < p->first_final + p->nfinals; i++) {
		const struct metric *m = &r->metrics[r->finals[i].metric].row;

		add_number(notes, m->name, metric_value(m, r->finals[i].value));
	}
}

/* One that was there before is shown from the node's first sample on. */
static int put_process(struct trace *t, struct lane *l, uint32_t id, struct err *e)
{
	const struct run_instance *p = &t->run->instances[id];
	const struct run_node *node = &t->run->nodes[p->node < t->run->nnodes ? p->node : 0];
	struct notes notes = { .n = 0 };
	char title[TITLE_MAX];
	bool before = p->birth_ns < node->first_ns;
	struct trace_slice slice = {
		.group = trace_group(t, p->node, id),
		.begin_ns = trace_time(t, p->node, before ? node->first_ns : p->birth_ns),
		.category = "process",
		.name = trace_title(t, id, title, sizeof title),
	};

	if (before)
		add_text(&notes, "begin", "before the recording");
	slice.end_ns = end_of(t, p->node, p->end_ns, &notes);
	note_process(t->run, p, &notes);
	return put_slice(t, l, &slice, &notes, e);
}

int trace_processes(struct trace *t, struct err *e)
{
	struct run *r = t->run;
	uint32_t *id = calloc(r->ninstances + 1u, sizeof *id), n = 0;
	struct lane lane = { .nested = false };
	int rc = 0;

	if (!id)
		return no_memory(e);
	for (uint32_t i = 1; i < r->ninstances; i++)
		if (r->instances[i].domain && !strcmp(r->instances[i].domain, "process"))
			id[n++] = i;
	sort(id, n, by_birth, r->instances);
	for (uint32_t i = 0; i < n && !rc; i++) {
		if (!i || r->instances[id[i]].node != r->instances[id[i - 1]].node)
			lane_begin(&lane, "processes");
		rc = put_process(t, &lane, id[i], e);
	}
	lane_free(&lane);
	free(id);
	return rc;
}
