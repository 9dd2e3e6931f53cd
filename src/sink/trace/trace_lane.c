/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/trace/trace_lane.h"

#include "base/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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
	trace_rows_free(&l->rows);
	free(l->row);
}

void lane_begin(struct lane *l, const char *name)
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
