/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/mpi.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PEERS_KEPT = 4096 };
/* Ranks of one launch come out of MPI_Init together. */
static const double TOGETHER_S = 30;

struct making {
	struct mpi *m;
	const struct run *r;
	const struct series_index *x;
	struct mpi_rank *all; /* of all launches */
	uint32_t nall, all_cap;
	uint32_t *place; /* [ninstances] 1 + place in the launch; 0: not of it */
	uint32_t call_cap;
	uint32_t elapsed, inside, calls, seconds, bytes, least, arrived, messages, peer_bytes;
};

static bool is_of(const struct run *r, uint32_t instance, const char *domain)
{
	const char *d = r->instances[instance].domain;

	return d && !strcmp(d, domain);
}

static uint32_t number_label(const struct run *r, uint32_t instance, const char *key)
{
	const char *text = run_label(r, instance, key);

	return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static double last_of(const struct making *k, uint32_t instance, uint32_t metric)
{
	return series_index_last(k->x, instance, metric);
}

/* ---- which ranks ---- */

static int ranks_find(struct making *k)
{
	const struct run *r = k->r;

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const char *began = run_label(r, i, "began_ns");
		struct mpi_rank *moved;

		if (!is_of(r, i, "mpi_rank") || !began)
			continue;
		moved = array_room(k->all, k->nall, &k->all_cap, sizeof *moved);
		if (!moved)
			return -ENOMEM;
		k->all = moved;
		k->all[k->nall++] = (struct mpi_rank){
			.instance = i,
			.rank = number_label(r, i, "rank"),
			.node = r->instances[i].node,
			.began_s = run_seconds(r, r->instances[i].node, strtoll(began, NULL, 10)),
			.elapsed_s = last_of(k, i, k->elapsed),
			.inside_s = last_of(k, i, k->inside),
			.late_s = NAN,
			.held_s = NAN,
		};
	}
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct mpi_rank *x = a, *y = b;

	if (x->began_s < y->began_s || x->began_s > y->began_s)
		return x->began_s < y->began_s ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_rank(const void *a, const void *b)
{
	const struct mpi_rank *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Behind those of one launch from `first` on: each has a number of its own, all know of as many
 * ranks, and they began together. seen: [nall] of this launch's numbers. */
static uint32_t launch_end(const struct making *k, uint32_t first, uint8_t *seen)
{
	uint32_t ranks = number_label(k->r, k->all[first].instance, "ranks"), i = first;

	memset(seen, 0, k->nall);
	for (; i < k->nall; i++) {
		const struct mpi_rank *x = &k->all[i];

		if (x->began_s > k->all[first].began_s + TOGETHER_S ||
		    number_label(k->r, x->instance, "ranks") != ranks ||
		    (x->rank < k->nall && seen[x->rank]))
			break;
		if (x->rank < k->nall)
			seen[x->rank] = 1;
	}
	return i;
}

/* The launch with most time of ranks. */
static int launch_choose(struct making *k)
{
	uint8_t *seen = malloc((size_t)k->nall + 1);
	uint32_t from = 0, to = 0;
	double most = -1;

	if (!seen)
		return -ENOMEM;
	qsort(k->all, k->nall, sizeof *k->all, by_begin);
	for (uint32_t i = 0, end; i < k->nall; i = end) {
		double sum = 0;

		end = launch_end(k, i, seen);
		for (uint32_t n = i; n < end; n++)
			sum += fmax(0, k->all[n].elapsed_s);
		k->m->nlaunches++;
		if (sum > most) {
			most = sum;
			from = i;
			to = end;
		}
	}
	free(seen);
	k->m->rank = k->all + from;
	k->m->nranks = to - from;
	k->m->ranks = number_label(k->r, k->m->rank[0].instance, "ranks");
	qsort(k->m->rank, k->m->nranks, sizeof *k->m->rank, by_rank);
	for (uint32_t i = 0; i < k->m->nranks; i++)
		k->place[k->m->rank[i].instance] = i + 1;
	return 0;
}

/* ---- calls ---- */

bool mpi_is_begin(const char *name)
{
	return !strncmp(name, "MPI_Init", strlen("MPI_Init"));
}

static int calls_find(struct making *k)
{
	const struct run *r = k->r;

	for (uint32_t i = 1; i < r->ninstances; i++) {
		uint32_t place = k->place[r->instances[i].parent];
		struct mpi_call *moved;

		if (!place || !is_of(r, i, "mpi_call") || !r->instances[i].name)
			continue;
		moved = array_room(k->m->call, k->m->ncalls, &k->call_cap, sizeof *moved);
		if (!moved)
			return -ENOMEM;
		k->m->call = moved;
		k->m->call[k->m->ncalls++] = (struct mpi_call){
			.instance = i,
			.rank = place - 1,
			.name = r->instances[i].name,
			.ranks = number_label(r, i, "ranks"),
			.size_log2 = number_label(r, i, "size_log2"),
			.calls = last_of(k, i, k->calls),
			.seconds = last_of(k, i, k->seconds),
			.bytes = last_of(k, i, k->bytes),
			.least_s = last_of(k, i, k->least),
			.arrived_s = last_of(k, i, k->arrived),
		};
	}
	return 0;
}

static int by_kind(const void *a, const void *b)
{
	const struct mpi_call *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	if (x->ranks != y->ranks)
		return x->ranks < y->ranks ? -1 : 1;
	if (x->size_log2 != y->size_log2)
		return x->size_log2 < y->size_log2 ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool same_kind(const struct mpi_call *x, const struct mpi_call *y)
{
	return !strcmp(x->name, y->name) && x->ranks == y->ranks && x->size_log2 == y->size_log2;
}

/* What data needs to be moved: as long as with the rank that waited least. */
static void transfers_make(struct making *k)
{
	for (uint32_t i = 0, end; i < k->m->ncalls; i = end) {
		double least = INFINITY;

		for (end = i; end < k->m->ncalls && same_kind(&k->m->call[i], &k->m->call[end]);
		     end++)
			least = fmin(least, k->m->call[end].least_s);
		for (uint32_t n = i; n < end; n++) {
			struct mpi_call *c = &k->m->call[n];

			c->least_s = least;
			if (!mpi_is_begin(c->name))
				k->m->rank[c->rank].transfer_s +=
					fmin(c->calls * least, c->seconds);
		}
	}
}

/* ---- efficiencies ---- */

struct mpi_pop mpi_pop_of(const struct mpi_share *s, uint32_t n)
{
	struct mpi_pop p = { NAN, NAN, NAN, NAN, NAN };
	double sum = 0, most = 0, elapsed = 0, ideal = 0;

	for (uint32_t i = 0; i < n; i++) {
		double computes = fmax(0, s[i].elapsed_s - s[i].inside_s);
		double moves = fmin(s[i].transfer_s, s[i].inside_s);

		sum += computes;
		most = fmax(most, computes);
		elapsed = fmax(elapsed, s[i].elapsed_s);
		ideal = fmax(ideal, s[i].elapsed_s - moves);
	}
	if (!n || !(elapsed > 0) || !(most > 0))
		return p;
	p.parallel = sum / n / elapsed;
	p.balance = sum / n / most;
	p.communication = most / elapsed;
	p.serialisation = most / ideal;
	p.transfer = ideal / elapsed;
	return p;
}

static int efficiencies_make(struct making *k)
{
	struct mpi *m = k->m;
	struct mpi_share *s = calloc((size_t)m->nranks + 1, sizeof *s);

	if (!s)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->nranks; i++) {
		const struct mpi_rank *x = &m->rank[i];

		s[i] = (struct mpi_share){ x->elapsed_s, x->inside_s, x->transfer_s };
		m->elapsed_s = fmax(m->elapsed_s, x->elapsed_s);
	}
	m->pop = mpi_pop_of(s, m->nranks);
	free(s);
	return 0;
}

/* ---- functions, and who comes last ---- */

/* What all ranks do together, and none goes on from before another has come; what returns at once
 * is no such call. */
static bool is_collective(const char *name)
{
	static const char *const names[] = { "Barrier",   "Bcast",          "Reduce",
					     "Allreduce", "Reduce_scatter", "Reduce_scatter_block",
					     "Gather",    "Gatherv",        "Scatter",
					     "Scatterv",  "Allgather",      "Allgatherv",
					     "Alltoall",  "Alltoallv",      "Alltoallw",
					     "Scan",      "Exscan" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(name + strlen("MPI_"), names[i]))
			return true;
	return false;
}

/* Of the ranks, when they came to what all did: sums over as many calls. */
struct arrivals {
	double *sum_s, *calls; /* [nranks] */
};

static void arrivals_add(struct arrivals *a, const struct making *k, const struct mpi_call *c)
{
	a->sum_s[c->rank] += c->arrived_s + c->calls * k->m->rank[c->rank].began_s;
	a->calls[c->rank] += c->calls;
}

/* Seconds from the first to the last rank, on average, and the last one's place; NAN: not all did
 * the same, or nothing. */
static double arrivals_spread(const struct arrivals *a, uint32_t n, uint32_t *last)
{
	double first_s = INFINITY, last_s = -INFINITY;

	*last = 0;
	for (uint32_t i = 0; i < n; i++) {
		double mean = a->sum_s[i] / a->calls[i];

		if (!(a->calls[i] > 0) || a->calls[i] < a->calls[0] || a->calls[i] > a->calls[0])
			return NAN;
		if (mean > last_s) {
			last_s = mean;
			*last = i;
		}
		first_s = fmin(first_s, mean);
	}
	return n > 1 ? last_s - first_s : NAN;
}

/* The calls from i on that are of one function. */
static uint32_t function_make(struct making *k, struct arrivals *a, struct arrivals *all,
			      uint32_t i)
{
	struct mpi *m = k->m;
	struct mpi_function *f = &m->function[m->nfunctions++];
	bool together = is_collective(k->m->call[i].name) && m->nranks == m->ranks;
	uint32_t end = i, last;

	*f = (struct mpi_function){ .name = k->m->call[i].name, .spread_s = NAN };
	memset(a->sum_s, 0, m->nranks * sizeof *a->sum_s);
	memset(a->calls, 0, m->nranks * sizeof *a->calls);
	for (; end < k->m->ncalls && !strcmp(k->m->call[end].name, f->name); end++) {
		const struct mpi_call *c = &k->m->call[end];

		f->calls += c->calls;
		f->seconds += c->seconds;
		f->bytes += c->bytes;
		m->rank[c->rank].calls += c->calls;
		m->rank[c->rank].bytes += c->bytes;
		if (together && c->ranks == m->ranks)
			arrivals_add(a, k, c);
	}
	if (!together)
		return end;
	f->spread_s = arrivals_spread(a, m->nranks, &last);
	f->last_rank = m->rank[last].rank;
	for (uint32_t n = 0; n < m->nranks && !isnan(f->spread_s); n++) {
		all->sum_s[n] += a->sum_s[n];
		all->calls[n] += a->calls[n];
	}
	return end;
}

static int by_seconds(const void *a, const void *b)
{
	const struct mpi_function *x = a, *y = b;

	return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static void late_make(struct mpi *m, const struct arrivals *all)
{
	double first_s = INFINITY;

	m->late_s = arrivals_spread(all, m->nranks, &m->late);
	if (isnan(m->late_s))
		return;
	for (uint32_t i = 0; i < m->nranks; i++)
		first_s = fmin(first_s, all->sum_s[i] / all->calls[i]);
	for (uint32_t i = 0; i < m->nranks; i++)
		m->rank[i].late_s = all->sum_s[i] / all->calls[i] - first_s;
}

static int functions_make(struct making *k)
{
	struct mpi *m = k->m;
	double *room = calloc(4 * (size_t)m->nranks + 1, sizeof *room);
	struct arrivals a = { room, room + m->nranks };
	struct arrivals all = { room + 2 * (size_t)m->nranks, room + 3 * (size_t)m->nranks };

	m->function = calloc((size_t)k->m->ncalls + 1, sizeof *m->function);
	if (!room || !m->function) {
		free(room);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < k->m->ncalls;)
		i = function_make(k, &a, &all, i);
	qsort(m->function, m->nfunctions, sizeof *m->function, by_seconds);
	late_make(m, &all);
	free(room);
	return 0;
}

/* ---- who sends to whom ---- */

static int by_bytes(const void *a, const void *b)
{
	const struct mpi_peer *x = a, *y = b;

	if (x->bytes < y->bytes || x->bytes > y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int peers_make(struct making *k)
{
	const struct run *r = k->r;
	struct mpi *m = k->m;
	uint32_t cap = 0;

	for (uint32_t i = 1; i < r->ninstances; i++) {
		uint32_t place = k->place[r->instances[i].parent];
		struct mpi_peer *moved;

		if (!place || !is_of(r, i, "mpi_peer") || !r->instances[i].name)
			continue;
		moved = array_room(m->peer, m->npeers, &cap, sizeof *moved);
		if (!moved)
			return -ENOMEM;
		m->peer = moved;
		m->peer[m->npeers++] = (struct mpi_peer){
			m->rank[place - 1].rank,
			(uint32_t)strtoul(r->instances[i].name, NULL, 10),
			last_of(k, i, k->messages),
			last_of(k, i, k->peer_bytes),
		};
	}
	if (m->npeers)
		qsort(m->peer, m->npeers, sizeof *m->peer, by_bytes);
	m->npeers = m->npeers < PEERS_KEPT ? m->npeers : PEERS_KEPT;
	return 0;
}

/* ---- all of it ---- */

/* What is counted, each in base units at its end. */
static const struct {
	const char *metric;
	size_t id; /* in struct making */
} metrics[] = {
	{ "mpi.rank_elapsed_seconds", offsetof(struct making, elapsed) },
	{ "mpi.rank_inside_seconds", offsetof(struct making, inside) },
	{ "mpi.calls", offsetof(struct making, calls) },
	{ "mpi.call_seconds", offsetof(struct making, seconds) },
	{ "mpi.call_bytes", offsetof(struct making, bytes) },
	{ "mpi.least_seconds", offsetof(struct making, least) },
	{ "mpi.arrived_seconds", offsetof(struct making, arrived) },
	{ "mpi.peer_messages", offsetof(struct making, messages) },
	{ "mpi.peer_bytes", offsetof(struct making, peer_bytes) },
};

enum { METRICS = sizeof metrics / sizeof metrics[0] };

void summary_mpi_ask(struct series_index *x)
{
	for (size_t i = 0; i < METRICS; i++)
		series_index_ask(x, metrics[i].metric, SERIES_LAST);
}

static void metrics_find(struct making *k)
{
	for (size_t i = 0; i < METRICS; i++)
		*(uint32_t *)((char *)k + metrics[i].id) = run_find_metric(k->r, metrics[i].metric);
}

static int launch_make(struct making *k)
{
	struct mpi *m = k->m;
	int rc = launch_choose(k);

	if (!rc)
		rc = calls_find(k);
	if (rc)
		return rc;
	if (m->ncalls)
		qsort(m->call, m->ncalls, sizeof *m->call, by_kind);
	transfers_make(k);
	rc = efficiencies_make(k);
	if (!rc)
		rc = functions_make(k);
	return rc ? rc : peers_make(k);
}

static bool is_asked(const struct run *r)
{
	const char *list = run_find_text(r, 0, "run.annotations");

	return list && strstr(list, "mpi");
}

static int make(struct making *k)
{
	int rc = ranks_find(k);

	if (!rc && !k->nall)
		k->m->missing = "no program that uses MPI and loads libraries was seen";
	else if (!rc)
		rc = launch_make(k);
	k->m->all = k->all;
	return rc;
}

int mpi_make(struct mpi **m, const struct run *r, const struct series_index *x, struct err *e)
{
	struct making k = { .r = r, .x = x };
	int rc = -ENOMEM;

	*m = NULL;
	metrics_find(&k);
	if (!k.elapsed && !is_asked(r))
		return 0;
	*m = k.m = calloc(1, sizeof **m);
	k.place = calloc((size_t)r->ninstances + 1, sizeof *k.place);
	if (k.m) {
		k.m->late_s = k.m->held_s = k.m->held_of_s = NAN;
		k.m->pop = (struct mpi_pop){ NAN, NAN, NAN, NAN, NAN };
	}
	if (k.m && k.place)
		rc = make(&k);
	free(k.place);
	return rc ? err_set(e, rc, "out of memory for what ranks did with MPI") : 0;
}

void mpi_free(struct mpi *m)
{
	if (!m)
		return;
	free(m->all);
	free(m->call);
	free(m->function);
	free(m->peer);
	free(m->phase);
	free(m->stretch);
	free(m);
}

int summary_mpi_make(struct summary *s, const struct run *r, const struct series_index *x,
		     struct err *e)
{
	int rc = mpi_make(&s->mpi, r, x, e);
	const struct mpi *m = s->mpi;

	s->mpi_ranks = m && m->nranks ? (double)m->nranks : NAN;
	s->mpi_elapsed_s = m && m->nranks ? m->elapsed_s : NAN;
	s->mpi_balance = m ? m->pop.balance : NAN;
	s->mpi_serialisation = m ? m->pop.serialisation : NAN;
	s->mpi_transfer = m ? m->pop.transfer : NAN;
	return rc;
}
