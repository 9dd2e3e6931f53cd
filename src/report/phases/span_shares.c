/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases/span_shares.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/text/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	CELLS_MAX = 4 << 20, /* names times ranks */
	KEPT = 512,          /* spans of a track that may lie in one to come */
	NAME_SHOWN = 48,
};

/* What has ended on a track, by its ends, until one around it does. */
struct ended {
	int64_t begin_ns, took_ns;
};
struct track {
	struct ended *ended;
	uint32_t n, cap;
};

struct making {
	const struct run *r;
	uint32_t *who;      /* [ninstances] 1 + which; 0: none */
	const char **label; /* of each: its rank, or the name of the thread */
	uint32_t nwho, who_cap;
	struct track *track;   /* [ninstances] */
	uint32_t *slot, slots; /* a hash table of names, + 1 */
	const char **name;
	uint32_t nnames, name_cap;
	int64_t *self_ns; /* [nnames][nwho]; -1: it has none */
};

/* ---- who ---- */

static uint32_t find_label(const struct making *m, const char *label)
{
	uint32_t i = 0;

	while (i < m->nwho && m->label[i] != label)
		i++;
	return i;
}

static int add_label(struct making *m, const char *label)
{
	const char **moved = array_room(m->label, m->nwho, &m->who_cap, sizeof *moved);

	if (!moved)
		return -ENOMEM;
	m->label = moved;
	m->label[m->nwho++] = label;
	return 0;
}

/* Equal texts of a run have one address. Tracks of imports have no threads. */
static int find_who(struct making *m, bool of_ranks)
{
	for (uint32_t i = 1; i < m->r->ninstances; i++) {
		const struct run_instance *in = &m->r->instances[i];
		const char *rank = run_label(m->r, i, "rank"), *tid = run_label(m->r, i, "tid");
		const char *label = of_ranks ? rank : in->name;
		uint32_t at;

		if (!in->domain || strcmp(in->domain, "track") != 0 || !label ||
		    (!of_ranks && !tid))
			continue;
		at = of_ranks ? find_label(m, label) : m->nwho;
		if (at == m->nwho && add_label(m, label))
			return -ENOMEM;
		m->who[i] = at + 1;
	}
	return 0;
}

/* ---- names ---- */

static uint32_t *slot_of(const struct making *m, const char *name)
{
	uint64_t h = ((uint64_t)(uintptr_t)name >> 3) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(h >> 32) & (m->slots - 1);

	while (m->slot[i] && m->name[m->slot[i] - 1] != name)
		i = (i + 1) & (m->slots - 1);
	return &m->slot[i];
}

static int names_grow(struct making *m)
{
	uint32_t slots = m->slots ? m->slots * 2 : 256;
	uint32_t *slot = calloc(slots, sizeof *slot);

	if (!slot)
		return -ENOMEM;
	free(m->slot);
	m->slot = slot;
	m->slots = slots;
	for (uint32_t i = 0; i < m->nnames; i++)
		*slot_of(m, m->name[i]) = i + 1;
	return 0;
}

static int add_name(struct making *m, const struct run_span *s)
{
	const char **moved;

	if (m->nnames >= m->slots / 2 && names_grow(m))
		return -ENOMEM;
	if (*slot_of(m, s->name))
		return 0;
	moved = array_room(m->name, m->nnames, &m->name_cap, sizeof *moved);
	if (!moved)
		return -ENOMEM;
	m->name = moved;
	m->name[m->nnames++] = s->name;
	*slot_of(m, s->name) = m->nnames;
	return 0;
}

/* Each span of who there is, those of a track in the order of their ends. */
static int visit(struct making *m, int (*visitor)(struct making *, const struct run_span *))
{
	const struct run *r = m->r;
	const struct run_span *s;
	int rc = 0;

	for (uint32_t i = 1; i < r->nspans && !rc; i++)
		if (m->who[r->spans[i].track])
			rc = visitor(m, &r->spans[i]);
	for (uint32_t i = 0; i < r->npacks && !rc; i++) {
		int n = m->who[r->packs[i].track] ? r->unpack(r, i, &s, NULL) : 0;

		rc = n < 0 ? n : 0;
		for (int k = 0; k < n && !rc; k++)
			rc = visitor(m, &s[k]);
	}
	return rc;
}

/* ---- their own time ---- */

/* The two that ended first become one. */
static void forget(struct track *t)
{
	t->ended[1].begin_ns = t->ended[0].begin_ns < t->ended[1].begin_ns ? t->ended[0].begin_ns
									   : t->ended[1].begin_ns;
	t->ended[1].took_ns += t->ended[0].took_ns;
	memmove(t->ended, t->ended + 1, --t->n * sizeof *t->ended);
}

/* How long a span took without those in it; -1: out of memory. */
static int64_t take(struct track *t, int64_t begin_ns, int64_t end_ns)
{
	int64_t within_ns = 0, took_ns = end_ns - begin_ns;
	struct ended *moved;

	while (t->n && t->ended[t->n - 1].begin_ns >= begin_ns)
		within_ns += t->ended[--t->n].took_ns;
	if (t->n == KEPT)
		forget(t);
	moved = array_room(t->ended, t->n, &t->cap, sizeof *moved);
	if (!moved)
		return -1;
	t->ended = moved;
	t->ended[t->n++] = (struct ended){ begin_ns, took_ns };
	return within_ns < took_ns ? took_ns - within_ns : 0;
}

static int add_time(struct making *m, const struct run_span *s)
{
	int64_t ns, *to;

	if (s->end_ns == INT64_MAX || s->end_ns < s->begin_ns)
		return 0;
	ns = take(&m->track[s->track], s->begin_ns, s->end_ns);
	if (ns < 0)
		return -ENOMEM;
	to = &m->self_ns[(size_t)(*slot_of(m, s->name) - 1) * m->nwho + m->who[s->track] - 1];
	*to = *to < 0 ? ns : *to + ns;
	return 0;
}

static int add_all(struct making *m)
{
	size_t cells = (size_t)m->nnames * m->nwho;

	m->self_ns = malloc((cells + 1) * sizeof *m->self_ns);
	if (!m->self_ns)
		return -ENOMEM;
	memset(m->self_ns, 0xff, cells * sizeof *m->self_ns);
	return visit(m, add_time);
}

/* ---- the figures ---- */

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double gain(const struct span_share *s)
{
	return (s->most_s - s->mean_s) * s->n;
}

static int by_gain(const void *a, const void *b)
{
	double x = gain(a), y = gain(b);

	return (x < y) - (x > y);
}

/* room: of as many as there are ranks. False: fewer than two have it. */
static bool figure(const struct making *m, uint32_t name, double *room, struct span_share *s)
{
	*s = (struct span_share){ .name = m->name[name] };
	for (uint32_t i = 0; i < m->nwho; i++) {
		int64_t ns = m->self_ns[(size_t)name * m->nwho + i];
		double took_s = (double)ns / NS_PER_S;

		if (ns < 0)
			continue;
		if (!s->n || took_s > s->most_s) {
			s->most_s = took_s;
			s->most_of = m->label[i];
		}
		s->mean_s += took_s;
		room[s->n++] = took_s;
	}
	if (s->n < 2)
		return false;
	qsort(room, s->n, sizeof *room, by_number);
	s->mean_s /= s->n;
	s->least_s = room[0];
	s->median_s = s->n % 2 ? room[s->n / 2] : (room[s->n / 2 - 1] + room[s->n / 2]) / 2;
	return true;
}

static int make(struct span_shares *x, struct making *m)
{
	double *room;

	if (find_who(m, true))
		return -ENOMEM;
	x->of_ranks = m->nwho > 1;
	if (!x->of_ranks) {
		m->nwho = 0;
		memset(m->who, 0, m->r->ninstances * sizeof *m->who);
		if (find_who(m, false))
			return -ENOMEM;
	}
	if (m->nwho < 2 || visit(m, add_name))
		return m->nwho < 2 ? 0 : -ENOMEM;
	x->too_many = (uint64_t)m->nnames * m->nwho > CELLS_MAX;
	if (x->too_many)
		return 0;
	room = calloc(m->nwho, sizeof *room);
	x->share = calloc(m->nnames + 1u, sizeof *x->share);
	if (!room || !x->share || add_all(m)) {
		free(room);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < m->nnames; i++)
		x->n += figure(m, i, room, &x->share[x->n]);
	qsort(x->share, x->n, sizeof *x->share, by_gain);
	free(room);
	return 0;
}

int span_shares_make(struct span_shares *x, const struct run *r, struct err *e)
{
	struct making m = { .r = r,
			    .who = calloc(r->ninstances + 1u, sizeof *m.who),
			    .track = calloc(r->ninstances + 1u, sizeof *m.track) };
	int rc = m.who && m.track ? make(x, &m) : -ENOMEM;

	for (uint32_t i = 0; m.track && i < r->ninstances; i++)
		free(m.track[i].ended);
	free(m.track);
	free(m.who);
	free(m.label);
	free(m.slot);
	free(m.name);
	free(m.self_ns);
	return rc ? err_set(e, rc, "out of memory for the spans of %.300s", r->path) : 0;
}

void span_shares_free(struct span_shares *x)
{
	free(x->share);
	*x = (struct span_shares){ 0 };
}

/* ---- for people, and as JSON ---- */

void span_shares_print(const struct span_shares *x, FILE *out, uint32_t most)
{
	const char *each = x->of_ranks ? "rank" : "thread";

	if (x->too_many)
		fprintf(out, "\nspans by %s: there are too many names and %ss\n", each, each);
	if (!x->n)
		return;
	fprintf(out, "\nspans by %s, without those within them\n  %7s  %10s  %10s  %10s  %8s\n",
		each, x->of_ranks ? "ranks" : "threads", "least", "median", "most", "balance");
	for (uint32_t i = 0; i < x->n && i < most; i++) {
		const struct span_share *s = &x->share[i];
		char least[32], median[32], top[32], name[NAME_SHOWN], of[NAME_SHOWN];

		fprintf(out, "  %7u  %10s  %10s  %10s  %6.0f %%  %s (most: %s%s)\n", s->n,
			unit_format(UNIT_SECONDS, s->least_s, least, sizeof least),
			unit_format(UNIT_SECONDS, s->median_s, median, sizeof median),
			unit_format(UNIT_SECONDS, s->most_s, top, sizeof top),
			s->most_s > 0 ? 100 * s->mean_s / s->most_s : 100,
			escape_terminal_into(name, sizeof name, s->name),
			x->of_ranks ? "rank " : "",
			escape_terminal_into(of, sizeof of, s->most_of));
	}
	fprintf(out, "  balance: their mean as a share of the most; 100 %% is even\n");
}

void span_shares_json(struct json *j, const struct span_shares *x)
{
	json_key(j, "shares");
	json_object(j);
	json_put_text(j, "of", x->of_ranks ? "rank" : "thread");
	json_key(j, "spans");
	json_array(j);
	for (const struct span_share *s = x->share; s < x->share + x->n; s++) {
		json_object(j);
		json_put_text(j, "name", s->name);
		json_put_int(j, "count", s->n);
		json_put_real(j, "least_seconds", s->least_s);
		json_put_real(j, "median_seconds", s->median_s);
		json_put_real(j, "most_seconds", s->most_s);
		json_put_real(j, "mean_seconds", s->mean_s);
		json_put_text(j, "most_of", s->most_of);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}
