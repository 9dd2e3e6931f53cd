/* SPDX-License-Identifier: Apache-2.0 */
/* trace_slices.c - marks, and the lifetimes of processes. */
#include "core/frame/losses.h"
#include "sink/trace/trace_lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
				 &(struct trace_slice){ group, row, begin, end, "loss", l->words,
							notes.note, notes.n });
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
		struct notes notes;
		char title[TITLE_MAX];
		uint32_t group;

		notes.n = 0;

		if (at < t->from_ns || at >= t->until_ns)
			continue;
		notes_text(&notes, "message", m->message);
		if (m->instance && m->instance < r->ninstances)
			notes_text(&notes, "about",
				   trace_title(t, m->instance, title, sizeof title));
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
