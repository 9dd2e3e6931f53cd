/* SPDX-License-Identifier: Apache-2.0 */
/* table_mapped.c - the series in another program's words (core/table/map.h): a row for each node
 * (or instance of the map's domain) and instant at which any of the map's metrics was read. */
#include "core/table/table_mapped.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "core/frame/rate.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOST = 0, TIME, FIRST_VALUE };

static const struct column columns[] = {
	[HOST] = { "Host", COLUMN_TEXT, "", "Host name.", NULL },
	[TIME] = { "Timestamps", COLUMN_REAL, "seconds", "Wall time in seconds since 1970 (UTC).",
		   NULL },
};

static const struct map_input *find_input(const struct mapped *w, const struct map_binding *b,
					  const char *function, const char *name)
{
	enum map_how how;

	if (!map_how(function, &how))
		return NULL;
	for (uint32_t i = b->first_input; i < b->first_input + b->ninputs; i++)
		if (w->input[i].how == how && !strcmp(w->input[i].name, name))
			return &w->input[i];
	return NULL;
}

struct looking {
	struct mapped *w;
	const struct map_binding *binding;
};

static struct expr_value look_up(void *ctx, const char *function, const char *name)
{
	const struct looking *l = ctx;
	const struct map_input *in = find_input(l->w, l->binding, function, name);

	return in ? (struct expr_value){ in->known, in->value } : (struct expr_value){ false, 0 };
}

/* Whether a series belongs to a device that was there when its node's run began. */
static bool is_from_the_start(const struct mapped *w, const struct run_series *s)
{
	const struct run_instance *i = &w->run->instances[s->instance];

	return !s->instance || i->birth_ns <= w->run->nodes[s->node].first_ns;
}

/* A source may read devices in turn: there is no sum until it has read each of them. */
static bool is_awaited(const struct mapped *w, uint32_t series)
{
	const struct run_series *s = &w->run->series[series];

	return !w->counter[series].serial && s->instance && s->state == STATE_PRESENT &&
	       !instance_passes(&w->run->instances[s->instance]) && is_from_the_start(w, s);
}

/* The sum over its series of what each had last; of a gauge, an instance's own. What a device that
 * came later had counted before is no rise. False: none was read in this row. */
static bool sum_counters(const struct mapped *w, const struct map_input *in, double *sum)
{
	bool any = false, all = true;

	*sum = 0;
	for (uint32_t i = in->first; i < in->first + in->nseries; i++) {
		const struct map_counter *c = &w->counter[w->series[i]];

		any |= c->serial == w->serial;
		all &= !is_awaited(w, w->series[i]);
		if (c->serial)
			*sum += c->value - (in->nseries > 1 ? c->before : 0);
	}
	return any && all;
}

static bool read_counter(const struct mapped *w, struct map_input *in)
{
	double sum, rise;
	bool any = sum_counters(w, in, &sum);

	rise = in->before_known ? counter_rise_of(in->before, sum) : (double)NAN;
	in->known = any && (in->how == MAP_COUNTER || !isnan(rise));
	in->value = in->how == MAP_COUNTER ? sum : rise;
	if (any) {
		in->before = sum;
		in->before_known = true;
	}
	return any;
}

static bool read_input(struct mapped *w, struct map_input *in)
{
	struct expr_value now;

	if (in->how != MAP_VALUE)
		return read_counter(w, in);
	now = derive_evaluate(&w->derive, in->cell);
	in->known = now.known;
	in->value = now.v;
	return now.known;
}

/* Whether anything of what the row's own host is measured by was read. */
static bool read_entity(struct mapped *w, const struct map_entity *x)
{
	bool any = false;

	for (uint32_t b = x->first; b < x->first + x->nbindings; b++) {
		const struct map_binding *k = &w->binding[b];

		for (uint32_t i = k->first_input; i < k->first_input + k->ninputs; i++)
			any |= read_input(w, &w->input[i]);
	}
	return any;
}

/* A whole number that a change of unit has moved by the last bits is whole again. */
static double settle(double v)
{
	double whole = round(v);

	return fabs(v - whole) <= fabs(v) * 4 * DBL_EPSILON ? whole : v;
}

static void put_row(struct frame *f, struct mapped *w, const struct map_entity *x)
{
	frame_row(f);
	frame_text(f, HOST, x->host);
	frame_real(f, TIME, (double)((long double)w->utc_ns / NS_PER_S));
	for (uint32_t b = x->first; b < x->first + x->nbindings; b++) {
		struct looking l = { w, &w->binding[b] };
		const struct map_key *key = l.binding->key;
		struct expr_value v = expr_eval(key->value, look_up, &l);

		if (v.known)
			frame_real(f, l.binding->column,
				   settle(w->keys ? v.v : v.v / key->header_divisor));
	}
}

/* What the chunk holds of counters in the row that derive has just read. */
static void read_counters(struct mapped *w)
{
	const struct chunk *c = &w->derive.chunk;
	uint32_t row = w->derive.row - 1;

	w->serial++;
	for (uint32_t i = 0; i < c->ncolumns; i++) {
		uint32_t series = c->column[i].series;

		struct map_counter *to = &w->counter[series];

		if (!w->is_counter[series] || !c->column[i].present[row])
			continue;
		to->value = metric_value(&w->run->metrics[w->run->series[series].metric].row,
					 c->column[i].value[row]);
		if (!to->serial && !is_from_the_start(w, &w->run->series[series]))
			to->before = to->value;
		to->serial = w->serial;
	}
}

static int next_instant(struct mapped *w, struct err *e)
{
	struct instant at;
	int rc = derive_next(&w->derive, &at, e);

	if (rc <= 0)
		return rc;
	read_counters(w);
	w->utc_ns = at.utc_ns;
	w->next = w->node_first[at.node];
	w->end = w->node_first[at.node + 1];
	return 1;
}

static int mapped_fill(struct frame *f, struct err *e)
{
	struct mapped *w = f->state;
	int rc = 1;

	while (w->nentities && !frame_full(f) && rc > 0) {
		if (w->next == w->end)
			rc = next_instant(w, e);
		for (; rc > 0 && w->next < w->end && !frame_full(f); w->next++)
			if (read_entity(w, &w->entity[w->next]))
				put_row(f, w, &w->entity[w->next]);
	}
	return rc < 0 ? rc : 0;
}

static int mapped_rewind(struct frame *f)
{
	struct mapped *w = f->state;

	w->next = w->end = 0;
	w->serial = 0;
	if (!w->nentities)
		return 0;
	memset(w->counter, 0, (w->run->nseries + 1u) * sizeof *w->counter);
	for (uint32_t i = 0; i < w->ninputs; i++)
		w->input[i].before_known = false;
	return derive_rewind(&w->derive);
}

static int mapped_open(struct frame *f, const struct selection *sel, struct err *e)
{
	struct mapped *w = f->state;
	int rc;

	w->run = f->run;
	w->map = sel->map;
	w->keys = sel->map_keys;
	f->schema.table = sel->map->name;
	rc = frame_columns(f, columns, FIRST_VALUE);
	if (!rc)
		rc = mapped_bind(f, w, sel, e);
	return rc == -ENOMEM ? err_set(e, rc, "out of memory for the table %s", sel->map->name)
			     : rc;
}

static void mapped_close(struct frame *f)
{
	mapped_free(f->state);
}

const struct table table_mapped = {
	.name = "mapped",
	.size = sizeof(struct mapped),
	.open = mapped_open,
	.fill = mapped_fill,
	.rewind = mapped_rewind,
	.close = mapped_close,
};
