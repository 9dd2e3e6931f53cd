/* SPDX-License-Identifier: Apache-2.0 */
#include "import/write.h"

#include "base/clock.h"
#include "recording/writer.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times of equal whole seconds are moved apart by this; what lies further back is another run. */
enum { APART_NS = 1000000, BACK_MOST_NS = 1100000000, CHUNK_ROWS = 300, EVENTS_MORE = 1024 };

struct writing {
	struct store *store;
	struct store_node *node;
	struct writer *writer;
	struct sample sample;
	int64_t begin_ns, last_ns; /* UTC of its first row, and of the one before this */
	uint64_t moved, behind, short_of_values, timeless, early, rows;
};

static int64_t stored(double v)
{
	int64_t bits;

	memcpy(&bits, &v, sizeof bits);
	return bits;
}

/* The next time of a group; INT64_MAX: there is none. */
static int next_time(struct writing *w, struct store_group *g)
{
	double t;
	int rc;

	do {
		rc = spool_next(&g->cursor, &t);
		if (rc <= 0) {
			g->at_ns = INT64_MAX;
			return rc;
		}
		t += g->interval_s;
		/* 0 .. 2200; what is none has no place in a recording */
		if (t > 0 && t < 7258118400.0) {
			g->at_ns = (int64_t)llroundl((long double)t * NS_PER_S);
			return 1;
		}
		w->behind++;
		for (struct store_series *x = g->series; x && rc > 0; x = x->next)
			if (x->values && spool_next(&x->cursor, &t) < 0)
				rc = -EIO;
	} while (rc > 0);
	return rc;
}

static int begin_groups(struct writing *w)
{
	int rc = 0;

	for (struct store_group *g = w->node->group; g && rc >= 0; g = g->next) {
		g->at_ns = INT64_MAX;
		if (!g->times)
			continue;
		spool_read(&w->store->spool, g->times, &g->cursor);
		for (struct store_series *x = g->series; x; x = x->next) {
			x->sum = 0;
			if (x->values)
				spool_read(&w->store->spool, x->values, &x->cursor);
		}
		rc = next_time(w, g);
		g->origin = rc > 0 && g->interval_s > 0;
		if (g->origin)
			g->at_ns -= llround(g->interval_s * (double)NS_PER_S);
	}
	return rc < 0 ? rc : 0;
}

static struct store_group *earliest(const struct writing *w)
{
	struct store_group *first = NULL;

	for (struct store_group *g = w->node->group; g; g = g->next)
		if (g->at_ns != INT64_MAX && (!first || g->at_ns < first->at_ns))
			first = g;
	return first;
}

static void put_value(struct writing *w, struct store_series *x, double v)
{
	if (x->rises)
		v = x->sum += v;
	sample_put(&w->sample, x->slot, stored(v / x->factor));
}

/* Where the first interval begins nothing has risen. */
static int take_origin(struct writing *w, struct store_group *g)
{
	for (struct store_series *x = g->series; x; x = x->next)
		if (x->rises)
			put_value(w, x, 0);
	g->at_ns += llround(g->interval_s * (double)NS_PER_S);
	g->origin = false;
	return 1;
}

/* One row of a group goes into the sample, and its cursor on. */
static int take_row(struct writing *w, struct store_group *g, bool put)
{
	int rc = 1;

	if (g->origin)
		return take_origin(w, g);
	for (struct store_series *x = g->series; x && rc >= 0; x = x->next) {
		double v = NAN;

		rc = x->values ? spool_next(&x->cursor, &v) : 1;
		w->short_of_values += rc == 0;
		/* What rises begins at 0 where the first of them is not known. */
		if (x->rises && isnan(v) && x->sum == 0 && rc > 0)
			v = 0;
		if (put && rc > 0 && isfinite(v) && (v != 0 || x->cursor.at > x->zeros))
			put_value(w, x, v);
	}
	return rc < 0 ? rc : next_time(w, g);
}

static void declare(struct writing *w, struct store_series *x, uint32_t instance)
{
	x->slot = sample_series(&w->sample, &x->metric, 1, instance);
	if (x->refused)
		sample_refuse(&w->sample, x->slot, STATE_FAILED, x->refused);
}

/* Instances of one domain and name are one; the list is short. */
static uint32_t find_instance(struct writing *w, const struct store_series *x, uint32_t *ids)
{
	uint32_t at = 0;

	if (!x->instance || !x->metric.domain)
		return 0;
	for (struct store_group *g = w->node->group; g; g = g->next)
		for (struct store_series *y = g->series; y; y = y->next, at++) {
			if (!y->instance || !y->metric.domain ||
			    strcmp(y->instance, x->instance) != 0 ||
			    strcmp(y->metric.domain, x->metric.domain) != 0)
				continue;
			if (!ids[at])
				ids[at] = sample_instance(&w->sample, x->metric.domain, x->instance,
							  0, 0, x->aside ? INSTANCE_ASIDE : 0);
			return ids[at];
		}
	return 0;
}

static int declare_all(struct writing *w, uint32_t nseries)
{
	uint32_t *ids = pool_take(&w->store->pool, (nseries + 1) * sizeof *ids);

	if (!ids)
		return -ENOMEM;
	memset(ids, 0, (nseries + 1) * sizeof *ids);
	for (struct store_group *g = w->node->group; g; g = g->next)
		for (struct store_series *x = g->series; x; x = x->next)
			declare(w, x, find_instance(w, x, ids));
	return 0;
}

static void say_metas(struct writing *w, const char *from)
{
	struct sample *s = &w->sample;

	sample_meta_text(s, "import.from", from);
	sample_meta_text(s, "sonde.version", SONDE_VERSION); /* who has written it counts right */
	sample_meta_text(s, "node.host", w->node->host);
	if (w->store->interval_s > 0)
		sample_meta_int(s, "run.interval_ns",
				llround(w->store->interval_s * (double)NS_PER_S));
	for (const struct store_meta *m = w->node->meta; m; m = m->next) {
		if (m->text)
			sample_meta_text(s, m->key, m->text);
		else if (m->whole && fabs(m->number) < 9e15)
			sample_meta_int(s, m->key, (int64_t)m->number);
		else
			sample_meta_real(s, m->key, m->number);
	}
	for (uint32_t i = 0; i < w->store->nnotes; i++) {
		char key[32];

		snprintf(key, sizeof key, "import.note_%u", i + 1);
		sample_meta_text(s, key, w->store->note[i]);
	}
}

/* The span that a BEGIN opens: to the END of its name that is next, or it has none. */
static struct store_event *end_of(struct store_event *begin)
{
	for (struct store_event *x = begin->next; x; x = x->next)
		if (x->kind == STORE_END && !strcmp(x->name, begin->name) && x->at_s >= begin->at_s)
			return x;
	return NULL;
}

/* Times of the row that begins the run; what lies before it has no place. */
static bool mono_of(const struct writing *w, const struct store_event *x, int64_t *mono_ns)
{
	double after_s = x->at_s - (double)w->begin_ns / (double)NS_PER_S;

	*mono_ns = 0;
	if (!(after_s > -1e6 && after_s < 1e9))
		return false;
	*mono_ns = llroundl((long double)x->at_s * NS_PER_S) - w->begin_ns;
	return *mono_ns >= 0;
}

static void put_event(struct writing *w, struct store_event *x, int64_t at_ns)
{
	struct store_event *end = x->kind == STORE_BEGIN ? end_of(x) : NULL;
	int64_t end_ns = INT64_MAX;

	switch (x->kind) {
	case STORE_MARK:
		sample_mark(&w->sample, 0, at_ns, x->name, x->text);
		break;
	case STORE_BEGIN:
		if (end && mono_of(w, end, &end_ns))
			end->kind = STORE_TAKEN;
		sample_span(&w->sample, 0, at_ns, end_ns, x->name, x->text);
		break;
	case STORE_END:
		sample_mark(&w->sample, 0, at_ns, x->name, "end without a begin");
		break;
	case STORE_TAKEN:
		break;
	}
}

static void put_events(struct writing *w)
{
	int64_t at_ns;

	for (struct store_event *x = w->node->event; x; x = x->next)
		if (mono_of(w, x, &at_ns))
			put_event(w, x, at_ns);
		else
			w->early++;
}

static int write_row(struct writing *w, int64_t utc_ns, struct err *e)
{
	w->rows++;
	w->last_ns = utc_ns;
	return writer_sample(w->writer, &w->sample, e);
}

/* Groups whose next row is of the same time share a sample. */
static int write_rows(struct writing *w, struct err *e)
{
	struct store_group *first;
	int rc = 0;

	while (rc >= 0 && (first = earliest(w))) {
		int64_t at_ns = first->at_ns, utc_ns = at_ns;
		bool behind = w->rows && at_ns < w->last_ns - BACK_MOST_NS;

		if (w->rows && utc_ns <= w->last_ns && !behind) {
			utc_ns = w->last_ns + APART_NS;
			w->moved++;
		}
		if (!w->rows)
			w->begin_ns = utc_ns;
		w->behind += behind;
		sample_begin(&w->sample, utc_ns, utc_ns - w->begin_ns);
		if (!w->rows) {
			sample_clock(&w->sample, 0, utc_ns, -1, false);
			put_events(w);
		}
		for (struct store_group *g = w->node->group; g && rc >= 0; g = g->next)
			if (g->at_ns == at_ns)
				rc = take_row(w, g, !behind);
		if (rc >= 0 && !behind)
			rc = write_row(w, utc_ns, e);
	}
	return rc < 0 ? rc : 0;
}

/* Values for which there is no time. */
static void count_timeless(struct writing *w)
{
	for (struct store_group *g = w->node->group; g; g = g->next)
		for (struct store_series *x = g->series; g->times && x; x = x->next)
			if (x->values)
				w->timeless +=
					spool_count(&w->store->spool, x->values) - x->cursor.at;
}

static void note_faults(struct writing *w)
{
	const char *host = w->node->host;

	if (w->moved)
		store_note(w->store,
			   "%.100s: time stamps that did not grow were moved by 1 ms: %llu", host,
			   (unsigned long long)w->moved);
	if (w->behind)
		store_leave_out(w->store,
				"%.100s: rows left out that lie before others, or at no time: %llu",
				host, (unsigned long long)w->behind);
	if (w->short_of_values)
		store_note(w->store, "%.100s: values that are missing at the end of a key: %llu",
			   host, (unsigned long long)w->short_of_values);
	if (w->early)
		store_leave_out(w->store,
				"%.100s: events left out that lie before the first sample: %llu",
				host, (unsigned long long)w->early);
	count_timeless(w);
	if (w->timeless)
		store_note(w->store, "%.100s: values without a time were dropped: %llu", host,
			   (unsigned long long)w->timeless);
}

static int write_node(struct writing *w, const char *from, int dirfd, const char **name,
		      struct err *e)
{
	const struct writer_options o = { .chunk_rows = CHUNK_ROWS };
	const uint32_t nseries = w->node->nseries;
	struct writer_figures figures;
	int rc = sample_init(&w->sample, nseries + 64,
			     3 * nseries + STORE_METAS_MAX + EVENTS_MORE + w->node->nevents);

	if (rc)
		return err_set(e, rc, "out of memory for %u series", nseries);
	rc = writer_open(&w->writer, dirfd, w->node->host, &o, e);
	if (rc) {
		sample_free(&w->sample);
		return rc;
	}
	say_metas(w, from);
	rc = declare_all(w, nseries);
	rc = rc ? rc : begin_groups(w);
	rc = rc ? err_set(e, rc, "%s: %s", w->node->host, strerror(-rc)) : write_rows(w, e);
	writer_figures(w->writer, &figures);
	*name = store_text(w->store, figures.name);
	if (rc)
		writer_close(w->writer, NULL);
	else
		rc = writer_close(w->writer, e);
	sample_free(&w->sample);
	note_faults(w);
	return rc;
}

int import_write(struct store *s, int dirfd, const char *from,
		 void (*wrote)(void *ctx, const char *name), void *ctx, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->nnodes && !rc; i++) {
		struct writing w = { .store = s, .node = &s->node[i] };
		const char *name = NULL;

		rc = write_node(&w, from, dirfd, &name, e);
		if (!rc && name)
			wrote(ctx, name);
	}
	return rc;
}

enum { NOTE_SIZE = 400 };

int store_open(struct store *s, const char *directory)
{
	*s = (struct store){ 0 };
	return spool_open(&s->spool, directory);
}

void store_close(struct store *s)
{
	spool_close(&s->spool);
	free(s->node);
	pool_free(&s->pool);
	*s = (struct store){ 0 };
}

const char *store_text(struct store *s, const char *text)
{
	return pool_text(&s->pool, text, strlen(text));
}

static void add_note(struct store *s, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));

static void add_note(struct store *s, const char *format, va_list ap)
{
	char text[NOTE_SIZE];

	vsnprintf(text, sizeof text, format, ap);
	for (uint32_t i = 0; i < s->nnotes; i++)
		if (!strcmp(s->note[i], text))
			return;
	if (s->nnotes < STORE_NOTES_MAX && (s->note[s->nnotes] = store_text(s, text)))
		s->nnotes++;
}

void store_note(struct store *s, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add_note(s, format, ap);
	va_end(ap);
}

void store_leave_out(struct store *s, const char *format, ...)
{
	va_list ap;

	s->left_out++;
	va_start(ap, format);
	add_note(s, format, ap);
	va_end(ap);
}

static int64_t add_node(struct store *s, const char *host)
{
	struct store_node *n;

	if (s->nnodes == STORE_NODES_MAX)
		return -1;
	if (s->nnodes == s->cap) {
		uint32_t cap = s->cap ? s->cap * 2 : 16;

		n = reallocarray(s->node, cap, sizeof *n);
		if (!n)
			return -1;
		s->node = n;
		s->cap = cap;
	}
	n = &s->node[s->nnodes];
	*n = (struct store_node){ .host = store_text(s, host) };
	return n->host ? (int64_t)s->nnodes++ : -1;
}

/* The same host's parts come one after the other. */
int64_t store_node(struct store *s, const char *host)
{
	for (uint32_t i = s->nnodes; i-- > 0;)
		if (!strcmp(s->node[i].host, host))
			return i;
	return add_node(s, host);
}

struct store_group *store_group(struct store *s, uint32_t node)
{
	struct store_node *n = &s->node[node];
	struct store_group *g = NULL, **last;

	if (n->ngroups < STORE_GROUPS_MAX)
		g = pool_take(&s->pool, sizeof *g);

	if (!g)
		return NULL;
	*g = (struct store_group){ .node = node };
	for (last = &n->group; *last; last = &(*last)->next)
		;
	*last = g;
	n->ngroups++;
	return g;
}

struct store_series *store_series(struct store *s, struct store_group *g)
{
	struct store_series *x = NULL;

	if (s->nseries < STORE_SERIES_MAX && g->nseries < STORE_GROUP_SERIES_MAX &&
	    s->node[g->node].nseries < STORE_NODE_SERIES_MAX)
		x = pool_take(&s->pool, sizeof *x);
	if (!x)
		return NULL;
	*x = (struct store_series){ .factor = 1 };
	*(g->last ? &g->last->next : &g->series) = x;
	g->last = x;
	g->nseries++;
	s->node[g->node].nseries++;
	s->nseries++;
	return x;
}

static struct store_meta *add_meta(struct store *s, uint32_t node, const char *key)
{
	struct store_node *n = &s->node[node];
	struct store_meta *m = n->nmetas < STORE_METAS_MAX ? pool_take(&s->pool, sizeof *m) : NULL;

	if (!m) {
		store_leave_out(s,
				"%.100s: too many keys describe the machine; the rest is left out",
				n->host);
		return NULL;
	}
	*m = (struct store_meta){ .key = store_text(s, key), .next = n->meta };
	if (!m->key)
		return NULL;
	n->meta = m;
	n->nmetas++;
	return m;
}

void store_meta_text(struct store *s, uint32_t node, const char *key, const char *text)
{
	struct store_meta *m = add_meta(s, node, key);

	if (m)
		m->text = pool_text(&s->pool, text, strnlen(text, STORE_META_TEXT_MAX));
}

void store_meta_number(struct store *s, uint32_t node, const char *key, double v, bool whole)
{
	struct store_meta *m = add_meta(s, node, key);

	if (m) {
		m->number = v;
		m->whole = whole;
	}
}

void store_event(struct store *s, uint32_t node, enum store_event_kind kind, double at_s,
		 const char *name, const char *text)
{
	struct store_node *n = &s->node[node];
	struct store_event *x =
		n->nevents < STORE_EVENTS_MAX ? pool_take(&s->pool, sizeof *x) : NULL;

	if (x)
		*x = (struct store_event){ .kind = kind,
					   .at_s = at_s,
					   .name = store_text(s, name),
					   .text = store_text(s, text) };
	if (!x || !x->name || !x->text) {
		store_leave_out(s, "%.100s: too many events; those behind are left out", n->host);
		return;
	}
	*(n->last_event ? &n->last_event->next : &n->event) = x;
	n->last_event = x;
	n->nevents++;
}
