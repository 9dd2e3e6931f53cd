/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.c - what a process did with MPI, as libsonde_inject.so counts it in the process's file of
 * rings: the rank, its kinds of calls, and the ranks that it sent to.
 */
#include "base/text/number.h"
#include "source/program/spans_part.h"
#include "source/source.h"

#include <stdio.h>
#include <string.h>

enum { NS_PER_UNIT = 1000000000, US_PER_UNIT = 1000000 };
enum { RANK_ELAPSED, RANK_INSIDE, RANK_ROWS };
enum { CALL_CALLS, CALL_SECONDS, CALL_BYTES, CALL_LEAST, CALL_ARRIVED, CALL_ROWS };
enum { PEER_MESSAGES, PEER_BYTES, PEER_ROWS };
enum { FIRST_CALL = RANK_ROWS, FIRST_PEER = FIRST_CALL + CALL_ROWS, ROWS = FIRST_PEER + PEER_ROWS };

static const struct metric metrics[] = {
	[RANK_ELAPSED] = { .name = "mpi.rank_elapsed_seconds",
			   .domain = "mpi_rank",
			   .label = "Time of a rank between MPI_Init and MPI_Finalize",
			   .help = "Time between the end of MPI_Init and the begin of MPI_Finalize, "
				   "by `sonde run --annotations mpi`.",
			   .div = NS_PER_UNIT,
			   .unit = UNIT_ELAPSED_SECONDS },
	[RANK_INSIDE] = { .name = "mpi.rank_inside_seconds",
			  .domain = "mpi_rank",
			  .label = "Time of a rank in MPI",
			  .help = "Part of that time in calls of MPI by the thread that began it, "
				  "with a call that goes on.",
			  .div = NS_PER_UNIT,
			  .unit = UNIT_ELAPSED_SECONDS },
	[FIRST_CALL +
		CALL_CALLS] = { .name = "mpi.calls",
				.domain = "mpi_call",
				.label = "Calls of MPI",
				.help = "Calls of an MPI function that have returned, by rank, "
					"ranks of the communicator and size.",
				.unit = UNIT_COUNT },
	[FIRST_CALL + CALL_SECONDS] = { .name = "mpi.call_seconds",
					.domain = "mpi_call",
					.label = "Time in calls of MPI",
					.help = "Time in these calls, over all threads.",
					.div = NS_PER_UNIT,
					.unit = UNIT_SECONDS },
	[FIRST_CALL +
		CALL_BYTES] = { .name = "mpi.call_bytes",
				.domain = "mpi_call",
				.label = "Bytes of calls of MPI",
				.help = "Bytes that these calls gave to MPI, by count and type "
					"of their arguments; those received where a call "
					"itself receives.",
				.unit = UNIT_BYTES },
	[FIRST_CALL + CALL_LEAST] = { .name = "mpi.least_seconds",
				      .domain = "mpi_call",
				      .label = "Shortest call of MPI",
				      .help = "The shortest of these calls so far.",
				      .div = NS_PER_UNIT,
				      .unit = UNIT_SECONDS,
				      .kind = KIND_GAUGE },
	[FIRST_CALL + CALL_ARRIVED] = { .name = "mpi.arrived_seconds",
					.domain = "mpi_call",
					.label = "Sum of arrivals",
					.help = "Sum over these calls of the time from the end of "
						"MPI_Init until they began.",
					.div = US_PER_UNIT,
					.unit = UNIT_ELAPSED_SECONDS,
					.kind = KIND_TOTAL },
	[FIRST_PEER + PEER_MESSAGES] = { .name = "mpi.peer_messages",
					 .domain = "mpi_peer",
					 .label = "Messages to a rank",
					 .help = "Messages that a rank sent to another one.",
					 .unit = UNIT_COUNT },
	[FIRST_PEER + PEER_BYTES] = { .name = "mpi.peer_bytes",
				      .domain = "mpi_peer",
				      .label = "Bytes sent to a rank",
				      .help = "Bytes that a rank sent to another one.",
				      .unit = UNIT_BYTES },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == ROWS, "a row for each");

const struct source source_mpi = {
	.name = "mpi",
	.what = "calls of MPI, by `sonde run --annotations mpi`",
	SOURCE_METRICS(metrics),
	.declares_itself = true,
};

bool span_reader_has_mpi(const struct span_reader *r)
{
	uint32_t ranks;

	return r->mpi.rank || (span_file_get(r, ring_mpi_at() + offsetof(struct ring_mpi, ranks),
					     &ranks, sizeof ranks) &&
			       ranks);
}

void span_reader_alive(struct span_reader *r, int64_t now_ns)
{
	r->mpi.alive_ns = now_ns;
}

/* An instance of the process's rank, with its series. */
static uint32_t begin(struct span_reader *r, struct sample *s, const struct metric *rows,
		      uint32_t n, const char *name, uint32_t *slot)
{
	uint32_t about = r->mpi.rank ? r->mpi.rank : r->about;
	uint32_t instance = sample_instance(s, rows->domain, name, about, s->mono_ns, 0);

	if (!instance)
		return 0;
	*slot = sample_series(s, rows, n, instance);
	span_label_put(r, s, instance);
	return instance;
}

static int64_t bounded(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static void rank_begin(struct span_reader *r, struct sample *s, const struct ring_mpi *x)
{
	struct mpi_reading *m = &r->mpi;
	char name[32], text[24];

	snprintf(r->rank, sizeof r->rank, "%u", x->rank);
	snprintf(name, sizeof name, "rank %u", x->rank);
	snprintf(text, sizeof text, "%u", x->ranks);
	m->rank = begin(r, s, &metrics[RANK_ELAPSED], RANK_ROWS, name, &m->rank_slot);
	sample_label(s, m->rank, "ranks", text);
	snprintf(text, sizeof text, "%lld", (long long)x->began_ns);
	sample_label(s, m->rank, "began_ns", text);
}

/* A call that goes on is counted until now, or until the process was last there. Time does not run
 * back: what was read in the middle of a change is seen with the next sample. */
static void rank_put(struct span_reader *r, struct sample *s, const struct ring_mpi *x)
{
	struct mpi_reading *m = &r->mpi;
	int64_t now_ns = m->alive_ns && m->alive_ns < s->mono_ns ? m->alive_ns : s->mono_ns;
	int64_t until_ns = x->ended_ns > 0 && x->ended_ns < s->mono_ns ? x->ended_ns : now_ns;
	int64_t elapsed = until_ns - x->began_ns, inside = x->inside_ns;

	if (x->open_ns >= x->began_ns && x->open_ns < until_ns)
		number_add(&inside, until_ns - x->open_ns);
	if (elapsed > m->elapsed_ns)
		m->elapsed_ns = elapsed;
	if (inside > m->inside_ns)
		m->inside_ns = inside < m->elapsed_ns ? inside : m->elapsed_ns;
	if (!m->rank_slot)
		return;
	sample_put(s, m->rank_slot + RANK_ELAPSED, m->elapsed_ns);
	sample_put(s, m->rank_slot + RANK_INSIDE, m->inside_ns);
}

static void call_begin(struct span_reader *r, struct sample *s, uint32_t i, struct ring_call *c)
{
	struct mpi_reading *m = &r->mpi;
	char text[24];

	c->name[sizeof c->name - 1] = '\0';
	m->call[i] = begin(r, s, &metrics[FIRST_CALL], CALL_ROWS, c->name, &m->call_slot[i]);
	snprintf(text, sizeof text, "%u", c->ranks);
	sample_label(s, m->call[i], "ranks", text);
	snprintf(text, sizeof text, "%u", c->size_log2);
	sample_label(s, m->call[i], "size_log2", text);
}

static void call_put(struct span_reader *r, struct sample *s, uint32_t i, struct ring_call *c)
{
	struct mpi_reading *m = &r->mpi;

	if (!m->call[i] && c->calls)
		call_begin(r, s, i, c);
	if (!m->call_slot[i])
		return;
	sample_put(s, m->call_slot[i] + CALL_CALLS, bounded(c->calls));
	sample_put(s, m->call_slot[i] + CALL_SECONDS, bounded(c->ns));
	sample_put(s, m->call_slot[i] + CALL_BYTES, bounded(c->bytes));
	sample_put(s, m->call_slot[i] + CALL_LEAST, bounded(c->least_ns));
	sample_put(s, m->call_slot[i] + CALL_ARRIVED, bounded(c->arrived_us));
}

static void peer_put(struct span_reader *r, struct sample *s, uint32_t i, const struct ring_peer *p)
{
	struct mpi_reading *m = &r->mpi;
	char name[32];

	if (!m->peer[i] && p->messages) {
		snprintf(name, sizeof name, "%u", p->rank - 1);
		m->peer[i] = begin(r, s, &metrics[FIRST_PEER], PEER_ROWS, name, &m->peer_slot[i]);
	}
	if (!m->peer_slot[i])
		return;
	sample_put(s, m->peer_slot[i] + PEER_MESSAGES, bounded(p->messages));
	sample_put(s, m->peer_slot[i] + PEER_BYTES, bounded(p->bytes));
}

void span_mpi_put(struct span_reader *r, struct span_intake *in, struct sample *s)
{
	struct ring_mpi *x = &in->mpi;

	if (!span_reader_has_mpi(r) || !span_file_get(r, ring_mpi_at(), x, sizeof *x) ||
	    !x->ranks || x->rank >= x->ranks || x->ranks > INT32_MAX || x->began_ns <= 0 ||
	    x->began_ns > s->mono_ns || x->inside_ns < 0)
		return;
	if (!r->mpi.rank)
		rank_begin(r, s, x);
	if (!r->mpi.rank)
		return;
	rank_put(r, s, x);
	for (uint32_t i = 0; i < RING_CALLS_MAX; i++)
		if (x->call[i].named == 1)
			call_put(r, s, i, &x->call[i]);
	for (uint32_t i = 0; i < RING_PEERS_MAX; i++)
		if (x->peer[i].rank && x->peer[i].rank <= x->ranks)
			peer_put(r, s, i, &x->peer[i]);
}

static void end(struct sample *s, uint32_t instance, uint32_t slot, uint32_t rows, int64_t end_ns)
{
	if (slot)
		sample_series_end(s, slot, rows);
	if (instance)
		sample_end(s, instance, end_ns);
}

void span_mpi_end(struct span_reader *r, struct sample *s, int64_t end_ns)
{
	struct mpi_reading *m = &r->mpi;

	for (uint32_t i = 0; i < RING_CALLS_MAX; i++)
		end(s, m->call[i], m->call_slot[i], CALL_ROWS, end_ns);
	for (uint32_t i = 0; i < RING_PEERS_MAX; i++)
		end(s, m->peer[i], m->peer_slot[i], PEER_ROWS, end_ns);
	end(s, m->rank, m->rank_slot, RANK_ROWS, end_ns);
}
