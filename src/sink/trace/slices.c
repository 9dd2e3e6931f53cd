/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/trace/trace_part.h"

#include "base/array.h"
#include "base/clock.h"
#include "core/frame/losses.h"
#include "core/phase/phase.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows of a track ---- */

/* So many rows are looked at, the newest, that a hundred thousand slices at a time cost no more
 * than rows. */
enum { LOOKED_AT = 256 };

static bool takes(struct trace_row *row, int64_t begin_ns, int64_t end_ns, bool nested)
{
	while (row->depth && row->end[row->depth - 1] <= begin_ns)
		row->depth--;
	return !row->depth || (nested && end_ns <= row->end[row->depth - 1]);
}

static int put(struct trace_row *row, int64_t end_ns)
{
	int64_t *end = array_room(row->end, row->depth, &row->cap, sizeof *end);

	if (!end)
		return -ENOMEM;
	row->end = end;
	row->end[row->depth++] = end_ns;
	return 0;
}

/* Rows that a track before this one had keep their memory: there is one behind n only when cap has
 * room for it, and array_room leaves new ones as they are. */
static int add(struct trace_rows *r)
{
	uint32_t before = r->cap;
	struct trace_row *row = array_room(r->row, r->n, &r->cap, sizeof *row);

	if (!row)
		return -ENOMEM;
	for (uint32_t i = before; i < r->cap; i++)
		row[i] = (struct trace_row){ 0 };
	r->row = row;
	r->row[r->n++].depth = 0;
	return 0;
}

/* The first row, from 0, that takes it; n when a new one was made for it. nested: a slice may lie
 * in another. 0 or -ENOMEM. */
static int rows_place(struct trace_rows *r, int64_t begin_ns, int64_t end_ns, bool nested,
		      uint32_t *row)
{
	uint32_t i = r->n > LOOKED_AT ? r->n - LOOKED_AT : 0;

	while (i < r->n && !takes(&r->row[i], begin_ns, end_ns, nested))
		i++;
	*row = i;
	return i == r->n && add(r) ? -ENOMEM : put(&r->row[i], end_ns);
}

/* No rows; memory is kept. */
static void rows_reset(struct trace_rows *r)
{
	r->n = 0;
}

static void rows_free(struct trace_rows *r)
{
	for (uint32_t i = 0; i < r->cap; i++)
		free(r->row[i].end);
	free(r->row);
	*r = (struct trace_rows){ 0 };
}

/* ---- slices in lanes ---- */

void notes_text(struct notes *x, const char *key, const char *text)
{
	if (x->n < NOTES_MAX && key && text && *text)
		x->note[x->n++] = (struct trace_note){ key, text, 0 };
}

void notes_number(struct notes *x, const char *key, double v)
{
	if (x->n < NOTES_MAX && key)
		x->note[x->n++] = (struct trace_note){ key, NULL, v };
}

int trace_no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a trace");
}

void lane_free(struct lane *l)
{
	rows_free(&l->rows);
	free(l->row);
}

void lane_begin(struct lane *l, const char *name)
{
	rows_reset(&l->rows);
	l->name = name;
	l->nrows = 0;
}

/* The row of the group that takes the slice. 0 or -ENOMEM. */
static int lane_row(struct lane *l, struct trace *t, const struct trace_slice *s, uint32_t *row)
{
	char name[TITLE_MAX + 32];
	uint32_t i, *rows;

	if (rows_place(&l->rows, s->begin_ns, s->end_ns, l->nested, &i))
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

int lane_put(struct lane *l, struct trace *t, struct trace_slice *s, struct notes *notes,
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
		notes_text(notes, "cut", "at the window's edge");
	if (s->begin_ns < t->from_ns)
		s->begin_ns = t->from_ns;
	if (s->end_ns > t->until_ns)
		s->end_ns = t->until_ns;
	if (lane_row(l, t, s, &s->row))
		return trace_no_memory(e);
	s->note = notes->note;
	s->nnotes = notes->n;
	t->format->slice(t->state, &t->out, s);
	t->count->slices++;
	return trace_flush(t, e);
}

int64_t trace_end_of(const struct trace *t, uint32_t node, int64_t end_ns, struct notes *notes)
{
	if (end_ns != INT64_MAX)
		return trace_time(t, node, end_ns);
	notes_text(notes, "end", "not seen");
	return node < t->run->nnodes ? trace_time(t, node, t->run->nodes[node].last_ns) : 0;
}

/* ---- losses, marks, the lifetimes of processes ---- */

/* What the run lost or left out lies over all of the window, where nobody overlooks it. */
int trace_losses(struct trace *t, struct err *e)
{
	int64_t begin = t->from_ns, end = begin;
	struct losses x;

	if (losses_make(&x, t->run))
		return trace_no_memory(e);
	for (uint32_t i = 1; i < t->run->nnodes; i++) {
		int64_t last = trace_time(t, i, t->run->nodes[i].last_ns);

		end = last > end ? last : end;
	}
	end = end < t->until_ns ? end : t->until_ns;
	for (const struct loss *l = x.row; l < x.row + x.n; l++) {
		uint32_t group = trace_loss_group(t), row = trace_add_row(t, group, l->what);
		struct notes notes;

		notes.n = 0;
		notes_text(&notes, "why", l->why);
		t->format->slice(t->state, &t->out,
				 &(struct trace_slice){ .group = group,
							.row = row,
							.begin_ns = begin,
							.end_ns = end,
							.category = "loss",
							.name = l->words,
							.note = notes.note,
							.nnotes = notes.n });
		t->count->slices++;
	}
	return 0;
}

int trace_marks(struct trace *t, struct err *e)
{
	const struct run *r = t->run;
	int rc = 0;

	for (uint32_t i = 1; i < r->nmarks && !rc; i++) {
		const struct run_mark *m = &r->marks[i];
		int64_t at = trace_time(t, m->node, m->at_ns);
		struct trace_slice mark = { .row = 1,
					    .begin_ns = at,
					    .end_ns = at,
					    .category = "mark",
					    .name = m->name ? m->name : "" };
		struct notes notes;
		struct words words;
		char title[TITLE_MAX];

		notes.n = 0;

		if (at < t->from_ns || at >= t->until_ns)
			continue;
		notes_words(&notes, &words, &mark, "message", m->message);
		if (m->instance && m->instance < r->ninstances)
			notes_text(&notes, "about",
				   trace_title(t, m->instance, title, sizeof title));
		mark.group = trace_group(t, m->node, m->instance);
		if (t->next_row[mark.group] == 1)
			trace_add_row(t, mark.group, "marks");
		mark.note = notes.note;
		mark.nnotes = notes.n;
		t->format->mark(t->state, &t->out, &mark);
		t->count->marks++;
		rc = trace_flush(t, e);
	}
	return rc;
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

static void note_process(const struct run *r, const struct run_instance *p, struct notes *notes)
{
	for (uint32_t i = p->first_label; i < p->first_label + p->nlabels; i++)
		notes_text(notes, r->labels[i].key, r->labels[i].value);
	for (uint32_t i = p->first_final; i < p->first_final + p->nfinals; i++) {
		const struct metric *m = &r->metrics[r->finals[i].metric].row;

		notes_number(notes, m->name, metric_value(m, r->finals[i].value));
	}
}

/* One that was there before is shown from the node's first sample on. */
static int put_process(struct trace *t, struct lane *l, uint32_t id, struct err *e)
{
	const struct run_instance *p = &t->run->instances[id];
	const struct run_node *node = &t->run->nodes[p->node < t->run->nnodes ? p->node : 0];
	struct notes notes;
	char title[TITLE_MAX];
	bool before = p->birth_ns < node->first_ns;
	struct trace_slice slice = {
		.group = trace_group(t, p->node, id),
		.begin_ns = trace_time(t, p->node, before ? node->first_ns : p->birth_ns),
		.category = "process",
		.name = trace_title(t, id, title, sizeof title),
	};

	notes.n = 0;
	if (before)
		notes_text(&notes, "begin", "before the recording");
	slice.end_ns = trace_end_of(t, p->node, p->end_ns, &notes);
	note_process(t->run, p, &notes);
	return lane_put(l, t, &slice, &notes, e);
}

int trace_processes(struct trace *t, struct err *e)
{
	struct run *r = t->run;
	uint32_t *id = calloc(r->ninstances + 1u, sizeof *id), n = 0;
	struct lane lane = { .nested = false };
	int rc = 0;

	if (!id)
		return trace_no_memory(e);
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

/* ---- phases that marks make: a group of a node's, with a track for each name ---- */

/* What did not end is the longest. */
static double length_of(const struct phase *p)
{
	return isnan(p->duration_s) ? INFINITY : p->duration_s;
}

static int by_lane(const void *a, const void *b)
{
	const struct phase *x = *(const struct phase *const *)a;
	const struct phase *y = *(const struct phase *const *)b;
	int order = strcmp(x->name, y->name);

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (order || x->begin_ns != y->begin_ns)
		return order ? order : x->begin_ns < y->begin_ns ? -1 : 1;
	return (length_of(x) < length_of(y)) - (length_of(x) > length_of(y));
}

static bool same_lane(const struct phase *x, const struct phase *y)
{
	return x->node == y->node && !strcmp(x->name, y->name);
}

/* It is as long as it says it was, which need not be the time between its marks. */
static int64_t end_of(const struct trace *t, const struct phase *p, int64_t begin_ns,
		      struct notes *notes)
{
	int64_t end_ns;

	if (isnan(p->duration_s))
		return trace_end_of(t, p->node, INT64_MAX, notes);
	if (p->duration_s >= (double)INT64_MAX / NS_PER_S ||
	    __builtin_add_overflow(begin_ns, llround(p->duration_s * NS_PER_S), &end_ns))
		return INT64_MAX;
	return end_ns;
}

static int put_phase(struct trace *t, struct lane *l, const struct phase *p, struct err *e)
{
	char name[TITLE_MAX * 2];
	struct notes notes;
	struct trace_slice slice = { .group = trace_phase_group(t, p->node),
				     .begin_ns = trace_time(t, p->node, p->begin_ns),
				     .category = "phase",
				     .name = name };

	snprintf(name, sizeof name, "%s%s%s", p->name, *p->key ? " " : "", p->key);
	notes.n = 0;
	notes_text(&notes, "said", p->text);
	if (!isnan(p->size_bytes))
		notes_number(&notes, "size_bytes", p->size_bytes);
	slice.end_ns = end_of(t, p, slice.begin_ns, &notes);
	return lane_put(l, t, &slice, &notes, e);
}

int trace_phases(struct trace *t, struct err *e)
{
	const struct phases *p = t->phases;
	const struct phase **sorted;
	struct lane lane = { .nested = true };
	int rc = 0;

	if (!p || !p->n)
		return 0;
	sorted = calloc(p->n, sizeof(const struct phase *));
	if (!sorted)
		return trace_no_memory(e);
	for (uint32_t i = 0; i < p->n; i++)
		sorted[i] = &p->phase[i];
	qsort(sorted, p->n, sizeof(const struct phase *), by_lane);
	for (uint32_t i = 0; i < p->n && !rc; i++) {
		if (!i || !same_lane(sorted[i - 1], sorted[i]))
			lane_begin(&lane, sorted[i]->name);
		rc = put_phase(t, &lane, sorted[i], e);
	}
	lane_free(&lane);
	free(sorted);
	return rc;
}

/* ---- samples of stacks ---- */

/* When exactly each sample was taken is not recorded: those of a thread and a stack in an interval
 * are spread over it evenly. */

/* Of Python they are of the same CPU time once more. */
static bool is_cpu(const struct run_samples *x)
{
	return x->kind == SAMPLE_CPU || x->kind == SAMPLE_PYTHON;
}

static uint32_t samples_group(struct trace *t, const struct run_samples *x)
{
	if (!is_cpu(x))
		return 0;
	return x->kind == SAMPLE_PYTHON ? trace_python_group(t, x->node)
					: trace_group(t, x->node, x->instance);
}

/* All samples are too many for a viewer: one in so many. */
static int samples_step(struct run *r, double *step, struct err *e)
{
	double all = 0;
	struct run_samples x;
	int rc = r->rewind_samples(r);

	while (!rc && (rc = r->next_samples(r, &x, e)) > 0) {
		rc = 0;
		for (uint32_t i = 0; i < x.n; i++)
			all += is_cpu(&x) ? (double)x.items[i].weight : 0;
	}
	*step = fmax(1, all / TRACE_SAMPLES_MAX);
	return rc;
}

/* owed: of those that were left out, how much is due. */
static bool item_put(struct trace *t, const struct run_samples *x, const struct event_item *item,
		     uint32_t group, double step, double *owed)
{
	double n, from = (double)trace_time(t, x->node, x->t0_ns),
		  to = (double)trace_time(t, x->node, x->t1_ns);

	*owed += (double)item->weight / step;
	n = floor(*owed);
	*owed -= n;
	for (uint64_t k = 0; k < (uint64_t)n; k++) {
		struct trace_sample s = { group, item->task, t->run, item->node,
					  llround(from + (to - from) * ((double)k + 0.5) / n) };

		if (s.at_ns < t->from_ns || s.at_ns >= t->until_ns)
			continue;
		if (!t->format->sample(t->state, &t->out, &s))
			return false;
		t->count->samples++;
	}
	return true;
}

int trace_samples(struct trace *t, struct err *e)
{
	struct run *r = t->run;
	struct run_samples x;
	double step, owed = 0;
	int rc;

	if (!r->nsample_sets || !t->format->sample)
		return 0;
	rc = samples_step(r, &step, e);
	if (!rc)
		rc = r->rewind_samples(r);
	while (!rc && (rc = r->next_samples(r, &x, e)) > 0) {
		uint32_t group = samples_group(t, &x);

		rc = 0;
		for (uint32_t i = 0; group && i < x.n && !rc; i++)
			if (!item_put(t, &x, &x.items[i], group, step, &owed))
				rc = err_set(e, -ENOMEM, "out of memory for a trace");
		if (!rc)
			rc = trace_flush(t, e);
	}
	return rc;
}
