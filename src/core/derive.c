/* SPDX-License-Identifier: Apache-2.0 */
#include "core/derive.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct last_reading {
	int64_t value, mono_ns;
	bool known;
};

/* The rise of a counter, exact for integers; negative or NAN when it is no rise. */
static double rise(const struct metric *m, int64_t from, int64_t to)
{
	int64_t difference;

	if (m->storage == STORE_REAL)
		return metric_value(m, to) - metric_value(m, from);
	return __builtin_sub_overflow(to, from, &difference) ? NAN : metric_value(m, difference);
}

static void put_measured(struct derive *d, uint32_t series, int64_t stored, int64_t mono_ns)
{
	uint32_t cell = d->plan.series_cell[series];
	const struct metric *m = &d->run->metrics[d->run->series[series].metric].row;
	struct last_reading *last = &d->last[d->place[series]], before = *last;
	double seconds, v;

	*last = (struct last_reading){ stored, mono_ns, true };
	if (!derive_quantity(d, cell)->rate) {
		derive_put(d, cell, metric_value(m, stored), d->row_seconds);
		return;
	}
	if (!before.known || mono_ns <= before.mono_ns)
		return;
	seconds = (double)((uint64_t)mono_ns - (uint64_t)before.mono_ns) / (double)NS_PER_S;
	v = rise(m, before.value, stored);
	if (v >= 0)
		derive_put(d, cell, v / seconds, seconds);
}

static void activate(struct derive *d, uint32_t holder)
{
	if (!holder || d->is_active[holder])
		return;
	d->is_active[holder] = 1;
	d->active[d->nactive++] = holder;
}

static void link_members(struct derive *d, const struct holder *h)
{
	for (uint32_t i = h->first; i < h->first + h->ncells; i++) {
		uint32_t combined = d->plan.cell[i].combined;

		if (!combined)
			continue;
		d->link[i] = d->link[combined];
		d->link[combined] = i;
	}
}

/* Room for every value that one row of this chunk can give. */
static int reserve_readings(struct derive *d)
{
	uint32_t want = 0;
	struct reading *bigger;
	uint32_t *more;

	for (uint32_t i = 0; i < d->nactive; i++)
		want += d->plan.holder[d->active[i]].ncells;
	if (want <= d->reading_cap)
		return 0;
	bigger = reallocarray(d->reading, want, sizeof(*bigger));
	d->reading = bigger ? bigger : d->reading;
	more = reallocarray(d->shown, want, sizeof(*more));
	d->shown = more ? more : d->shown;
	if (!bigger || !more)
		return -ENOMEM;
	d->reading_cap = want;
	return 0;
}

static void list_shown(struct derive *d)
{
	d->nshown = 0;
	for (uint32_t i = 0; i < d->nactive; i++) {
		const struct holder *h = &d->plan.holder[d->active[i]];

		for (uint32_t c = h->first; c < h->first + h->ncells; c++)
			if (d->plan.cell[c].emitted && !d->plan.cell[c].ranged)
				d->shown[d->nshown++] = c;
	}
}

static int begin_chunk(struct derive *d)
{
	const struct plan *p = &d->plan;
	const struct holder *node;

	for (uint32_t i = 0; i < d->nactive; i++)
		d->is_active[d->active[i]] = 0;
	d->nactive = d->row = 0;
	if (d->chunk.node >= d->run->nnodes)
		return -EBADMSG;
	node = &p->holder[p->node_holder[d->chunk.node]];
	memset(d->link + node->first, 0, node->ncells * sizeof(*d->link));
	activate(d, p->node_holder[d->chunk.node]);
	for (uint32_t i = 0; i < d->chunk.ncolumns; i++) {
		uint32_t series = d->chunk.column[i].series;

		if (series >= d->run->nseries)
			return -EBADMSG;
		activate(d, p->cell[p->series_cell[series]].holder);
	}
	for (uint32_t i = 0; i < d->nactive; i++)
		link_members(d, &p->holder[d->active[i]]);
	if (reserve_readings(d))
		return -ENOMEM;
	list_shown(d);
	return 0;
}

static void read_row(struct derive *d)
{
	int64_t mono_ns = d->chunk.mono_ns[d->row], *before = &d->node_last_ns[d->chunk.node];

	d->serial++;
	d->row_seconds = 0;
	if (*before != INT64_MIN && mono_ns > *before)
		d->row_seconds = (double)((uint64_t)mono_ns - (uint64_t)*before) / (double)NS_PER_S;
	*before = mono_ns;
	for (uint32_t i = 0; i < d->chunk.ncolumns; i++) {
		const struct chunk_column *c = &d->chunk.column[i];

		if (c->present[d->row] && d->plan.series_cell[c->series])
			put_measured(d, c->series, c->value[d->row], mono_ns);
	}
}

static void collect(struct derive *d)
{
	d->nreadings = 0;
	for (uint32_t i = 0; i < d->nshown; i++) {
		const struct now *now = derive_evaluate(d, d->shown[i]);

		if (now->known)
			d->reading[d->nreadings++] =
				(struct reading){ d->shown[i], now->value, now->value, now->value,
						  now->seconds };
	}
}

int derive_chunk(struct derive *d, const struct chunk *c, struct err *e)
{
	int rc;

	d->chunk = *c;
	rc = begin_chunk(d);
	if (!rc)
		return 0;
	d->chunk.nrows = 0;
	return err_set(e, rc, "%s: %s", d->run->path,
		       rc == -ENOMEM ? "out of memory" : "a chunk is unsound");
}

bool derive_row(struct derive *d, struct instant *out)
{
	for (; d->row < d->chunk.nrows; d->row++) {
		read_row(d);
		*out = (struct instant){ .node = d->chunk.node };
		out->utc_ns = run_utc_ns(d->run, out->node, d->chunk.mono_ns[d->row]);
		out->seconds = run_seconds(d->run, out->node, d->chunk.mono_ns[d->row]);
		if ((d->from_s > 0 && out->seconds < d->from_s) ||
		    (d->to_s > 0 && out->seconds >= d->to_s))
			continue;
		collect(d);
		out->n = d->nreadings;
		out->reading = d->reading;
		d->row++;
		return true;
	}
	return false;
}

int derive_next(struct derive *d, struct instant *out, struct err *e)
{
	while (!derive_row(d, out)) {
		struct chunk c;
		int rc = d->run->next_chunk(d->run, d->plan.wanted, &c, e);

		if (rc > 0)
			rc = derive_chunk(d, &c, e);
		else
			return rc;
		if (rc)
			return rc;
	}
	return 1;
}

int derive_rewind(struct derive *d)
{
	d->chunk = (struct chunk){ 0 };
	d->row = 0;
	memset(d->last, 0, d->nlast * sizeof(*d->last));
	for (uint32_t i = 0; i < d->run->nnodes; i++)
		d->node_last_ns[i] = INT64_MIN;
	return d->run->rewind(d->run);
}

static bool reserve_last(struct derive *d)
{
	d->nlast = 1;
	d->place = calloc(d->run->nseries + 1u, sizeof(*d->place));
	for (uint32_t i = 1; d->place && i < d->run->nseries; i++)
		d->place[i] = d->plan.wanted[i] ? d->nlast++ : 0;
	d->last = calloc(d->nlast, sizeof(*d->last));
	return d->place && d->last;
}

int derive_open(struct derive *d, struct run *r, const struct selection *sel, struct err *e)
{
	int rc;

	*d = (struct derive){ .run = r, .from_s = sel->from_s, .to_s = sel->to_s };
	rc = plan_make(&d->plan, r, sel, e);
	if (rc)
		return rc;
	d->node_last_ns = calloc(r->nnodes + 1u, sizeof(*d->node_last_ns));
	d->now = calloc(d->plan.ncells, sizeof(*d->now));
	d->link = calloc(d->plan.ncells, sizeof(*d->link));
	d->active = calloc(d->plan.nholders, sizeof(*d->active));
	d->is_active = calloc(d->plan.nholders, 1);
	if (!reserve_last(d) || !d->node_last_ns || !d->now || !d->link || !d->active ||
	    !d->is_active)
		return err_set(e, -ENOMEM, "out of memory for %u series", r->nseries);
	return derive_rewind(d);
}

void derive_close(struct derive *d)
{
	plan_free(&d->plan);
	free(d->last);
	free(d->place);
	free(d->node_last_ns);
	free(d->now);
	free(d->link);
	free(d->active);
	free(d->is_active);
	free(d->reading);
	free(d->shown);
	*d = (struct derive){ 0 };
}
