/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.c - who the job talks to, as text and JSON: what ranks did with MPI, and peers by TCP. */
#include "report/summary/mpi.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "report/lines.h"
#include "report/summary/peersused.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 48, FUNCTIONS = 20, RANKS = 64, PEERS = 20 };
/* Ranks that come together as closely as clocks can tell are not late. */
static const double late_matters_s = 1e-4;

/* ---- in a line ---- */

void mpi_late_words(const struct mpi *m, struct bytes *out)
{
	if (!(m->late_s >= late_matters_s))
		return;
	bytes_printf(out, "rank %u comes last to what all do, ", m->rank[m->late].rank);
	lines_number(out, UNIT_SECONDS, m->late_s);
	bytes_puts(out, " behind the first on average");
}

void mpi_held_words(const struct mpi *m, struct bytes *out)
{
	const double matters = 0.03;
	uint32_t most = mpi_held_most(m);
	const struct mpi_stretch *longest;
	double held_s = m->nranks ? m->rank[most].held_s : (double)NAN;

	if (!(held_s >= matters * m->held_of_s) || !(held_s >= late_matters_s))
		return;
	bytes_printf(out, "while rank %u computed, the others were in MPI for at least ",
		     m->rank[most].rank);
	lines_number(out, UNIT_SECONDS, held_s);
	bytes_puts(out, " on average (");
	lines_number(out, UNIT_RATIO, held_s / m->held_of_s);
	bytes_puts(out, ")");
	longest = mpi_held_longest(m);
	if (!longest)
		return;
	bytes_puts(out, ", ");
	lines_number(out, UNIT_SECONDS, longest->held_s);
	bytes_puts(out, " of that from ");
	lines_number(out, UNIT_SECONDS, longest->from_s);
	bytes_puts(out, " to ");
	lines_number(out, UNIT_SECONDS, longest->to_s);
}

static void ratio_put(struct bytes *out, const char *name, double ratio, const char *behind)
{
	bytes_printf(out, "%s ", name);
	lines_number(out, UNIT_RATIO, ratio);
	bytes_puts(out, behind);
}

static void functions_put(const struct mpi *m, unsigned most, struct bytes *out)
{
	double all = 0;

	for (uint32_t i = 0; i < m->nranks; i++)
		all += m->rank[i].elapsed_s;
	for (uint32_t i = 0, n = 0; i < m->nfunctions && n < most; i++) {
		char name[NAME_SHOWN];

		if (mpi_is_begin(m->function[i].name) || !(all > 0))
			continue;
		bytes_puts(out, n++ ? ", " : "; ");
		ratio_put(out, escape_terminal_into(name, sizeof name, m->function[i].name),
			  m->function[i].seconds / all, "");
	}
}

void mpi_words(const struct mpi *m, unsigned most, struct bytes *out)
{
	if (m->missing) {
		bytes_puts(out, m->missing);
		return;
	}
	bytes_printf(out, "%u rank%s", m->nranks, m->nranks == 1 ? "" : "s");
	if (!isnan(m->pop.parallel)) {
		ratio_put(out, ": parallel efficiency", m->pop.parallel, " (");
		ratio_put(out, "load balance", m->pop.balance, ", ");
		ratio_put(out, "serialisation", m->pop.serialisation, ", ");
		ratio_put(out, "transfer", m->pop.transfer, ")");
	}
	functions_put(m, most, out);
	if (m->late_s >= late_matters_s)
		bytes_puts(out, "; ");
	mpi_late_words(m, out);
}

/* ---- tables ---- */

static const char *number(enum unit unit, double v, char *out, size_t size)
{
	return isnan(v) ? "-" : unit_format(unit, v, out, size);
}

static void pop_print(const struct mpi_pop *p, FILE *out)
{
	const double ratio[] = { p->parallel, p->balance, p->communication, p->serialisation,
				 p->transfer };
	char text[32];

	for (size_t i = 0; i < sizeof ratio / sizeof ratio[0]; i++)
		fprintf(out, " %9s", number(UNIT_RATIO, ratio[i], text, sizeof text));
}

static void efficiencies_print(const struct mpi *m, FILE *out)
{
	char text[32], name[NAME_SHOWN];

	fprintf(out, "%10s %9s %9s %9s %9s %9s  %s\n", "TIME", "PARALLEL", "BALANCE", "COMMUNIC.",
		"SERIALIS.", "TRANSFER", "EFFICIENCY OF");
	fprintf(out, "%10s", number(UNIT_SECONDS, m->elapsed_s, text, sizeof text));
	pop_print(&m->pop, out);
	fprintf(out, "  all, %u rank%s\n", m->nranks, m->nranks == 1 ? "" : "s");
	for (uint32_t i = 0; i < m->nphases; i++) {
		const struct mpi_phase *p = &m->phase[i];

		fprintf(out, "%10s", number(UNIT_SECONDS, p->elapsed_s, text, sizeof text));
		pop_print(&p->pop, out);
		fprintf(out, "  %s, %u rank%s%s\n",
			escape_terminal_into(name, sizeof name, p->name), p->nranks,
			p->nranks == 1 ? "" : "s",
			isnan(p->pop.parallel) ? ": too short for the samples" : "");
	}
}

static void functions_print(const struct mpi *m, FILE *out)
{
	fprintf(out, "\n%10s %10s %10s %10s  %s\n", "TIME", "CALLS", "BYTES", "ARRIVAL",
		"FUNCTION");
	for (uint32_t i = 0; i < m->nfunctions && i < FUNCTIONS; i++) {
		const struct mpi_function *f = &m->function[i];
		char time[32], calls[32], bytes[32], spread[32], name[NAME_SHOWN];

		fprintf(out, "%10s %10s %10s %10s  %s",
			number(UNIT_SECONDS, f->seconds, time, sizeof time),
			number(UNIT_COUNT, f->calls, calls, sizeof calls),
			number(UNIT_BYTES, f->bytes, bytes, sizeof bytes),
			number(UNIT_SECONDS, f->spread_s, spread, sizeof spread),
			escape_terminal_into(name, sizeof name, f->name));
		if (f->spread_s >= late_matters_s)
			fprintf(out, " (last: rank %u)", f->last_rank);
		fputc('\n', out);
	}
}

static void ranks_print(const struct mpi *m, const struct run *r, FILE *out)
{
	fprintf(out, "\n%10s %10s %10s %10s %10s %10s %10s  %s\n", "TIME", "IN MPI", "TRANSFER",
		"CALLS", "BYTES", "LATE", "HELD UP", "RANK");
	for (uint32_t i = 0; i < m->nranks && i < RANKS; i++) {
		const struct mpi_rank *x = &m->rank[i];
		char time[32], in[32], moves[32], calls[32], bytes[32], late[32], held[32],
			host[NAME_SHOWN];

		fprintf(out, "%10s %10s %10s %10s %10s %10s %10s  %u on %s\n",
			number(UNIT_SECONDS, x->elapsed_s, time, sizeof time),
			number(UNIT_SECONDS, x->inside_s, in, sizeof in),
			number(UNIT_SECONDS, x->transfer_s, moves, sizeof moves),
			number(UNIT_COUNT, x->calls, calls, sizeof calls),
			number(UNIT_BYTES, x->bytes, bytes, sizeof bytes),
			number(UNIT_SECONDS, x->late_s, late, sizeof late),
			number(UNIT_SECONDS, x->held_s, held, sizeof held), x->rank,
			escape_terminal_into(host, sizeof host, r->nodes[x->node].host));
	}
	if (m->nranks > RANKS)
		fprintf(out, "and %u more ranks: --json has them all\n", m->nranks - RANKS);
}

static void peers_print(const struct mpi *m, FILE *out)
{
	if (m->npeers)
		fprintf(out, "\n%10s %10s  %s\n", "SENT", "MESSAGES", "FROM RANK TO RANK");
	for (uint32_t i = 0; i < m->npeers && i < PEERS; i++) {
		const struct mpi_peer *p = &m->peer[i];
		char bytes[32], messages[32];

		fprintf(out, "%10s %10s  %u to %u\n",
			number(UNIT_BYTES, p->bytes, bytes, sizeof bytes),
			number(UNIT_COUNT, p->messages, messages, sizeof messages), p->from, p->to);
	}
	if (m->npeers > PEERS)
		fprintf(out, "and %u more pairs: --json has them\n", m->npeers - PEERS);
}

static void words_print(void (*words)(const struct mpi *m, struct bytes *out), const struct mpi *m,
			FILE *out)
{
	struct bytes text = { 0 };

	words(m, &text);
	bytes_u8(&text, '\0');
	if (text.len > 1 && !text.failed)
		fprintf(out, "\n%s\n", (const char *)text.data);
	bytes_free(&text);
}

void mpi_print(const struct mpi *m, const struct run *r, FILE *out)
{
	if (m->missing) {
		fprintf(out, "%s\n", m->missing);
		return;
	}
	efficiencies_print(m, out);
	functions_print(m, out);
	ranks_print(m, r, out);
	peers_print(m, out);
	words_print(mpi_late_words, m, out);
	words_print(mpi_held_words, m, out);
	if (m->nranks < m->ranks)
		fprintf(out, "\n%u of %u ranks were recorded\n", m->nranks, m->ranks);
	if (m->nlaunches > 1)
		fprintf(out, "\nthe longest of %u launches\n", m->nlaunches);
}

/* ---- JSON ---- */

static void pop_json(struct json *j, const struct mpi_pop *p)
{
	json_key(j, "efficiency");
	json_object(j);
	json_put_real(j, "parallel_ratio", p->parallel);
	json_put_real(j, "load_balance_ratio", p->balance);
	json_put_real(j, "communication_ratio", p->communication);
	json_put_real(j, "serialisation_ratio", p->serialisation);
	json_put_real(j, "transfer_ratio", p->transfer);
	json_object_end(j);
}

static void ranks_json(struct json *j, const struct mpi *m, const struct run *r)
{
	json_key(j, "ranks");
	json_array(j);
	for (uint32_t i = 0; i < m->nranks; i++) {
		const struct mpi_rank *x = &m->rank[i];

		json_object(j);
		json_put_int(j, "rank", x->rank);
		json_put_text(j, "host", r->nodes[x->node].host);
		json_put_real(j, "elapsed_seconds", x->elapsed_s);
		json_put_real(j, "inside_seconds", x->inside_s);
		json_put_real(j, "transfer_seconds", x->transfer_s);
		json_put_real(j, "calls", x->calls);
		json_put_real(j, "bytes", x->bytes);
		json_put_real(j, "late_seconds", x->late_s);
		json_put_real(j, "held_seconds", x->held_s);
		json_object_end(j);
	}
	json_array_end(j);
}

static void functions_json(struct json *j, const struct mpi *m)
{
	json_key(j, "functions");
	json_array(j);
	for (uint32_t i = 0; i < m->nfunctions; i++) {
		const struct mpi_function *f = &m->function[i];

		json_object(j);
		json_put_text(j, "function", f->name);
		json_put_real(j, "calls", f->calls);
		json_put_real(j, "seconds", f->seconds);
		json_put_real(j, "bytes", f->bytes);
		json_put_real(j, "arrival_spread_seconds", f->spread_s);
		json_key(j, "last_rank");
		if (isnan(f->spread_s))
			json_null(j);
		else
			json_int(j, f->last_rank);
		json_object_end(j);
	}
	json_array_end(j);
}

static void calls_json(struct json *j, const struct mpi *m)
{
	json_key(j, "calls");
	json_array(j);
	for (uint32_t i = 0; i < m->ncalls; i++) {
		const struct mpi_call *c = &m->call[i];

		json_object(j);
		json_put_int(j, "rank", m->rank[c->rank].rank);
		json_put_text(j, "function", c->name);
		json_put_int(j, "communicator_ranks", c->ranks);
		json_put_real(j, "size_at_most_bytes", ldexp(1, (int)(c->size_log2 & 0x3f)));
		json_put_real(j, "calls", c->calls);
		json_put_real(j, "seconds", c->seconds);
		json_put_real(j, "bytes", c->bytes);
		json_object_end(j);
	}
	json_array_end(j);
}

static void phases_json(struct json *j, const struct mpi *m)
{
	json_key(j, "phases");
	json_array(j);
	for (uint32_t i = 0; i < m->nphases; i++) {
		const struct mpi_phase *p = &m->phase[i];

		json_object(j);
		json_put_text(j, "phase", p->name);
		json_put_int(j, "ranks", p->nranks);
		json_put_real(j, "elapsed_seconds", p->elapsed_s);
		pop_json(j, &p->pop);
		json_object_end(j);
	}
	json_array_end(j);
}

static void peers_json(struct json *j, const struct mpi *m)
{
	json_key(j, "peers");
	json_array(j);
	for (uint32_t i = 0; i < m->npeers; i++) {
		const struct mpi_peer *p = &m->peer[i];

		json_object(j);
		json_put_int(j, "from", p->from);
		json_put_int(j, "to", p->to);
		json_put_real(j, "messages", p->messages);
		json_put_real(j, "bytes", p->bytes);
		json_object_end(j);
	}
	json_array_end(j);
}

static void stretches_json(struct json *j, const struct mpi *m)
{
	json_put_real(j, "held_seconds", m->held_s);
	json_put_real(j, "held_of_seconds", m->held_of_s);
	json_key(j, "waited_for");
	json_array(j);
	for (uint32_t i = 0; i < m->nstretches; i++) {
		const struct mpi_stretch *s = &m->stretch[i];

		json_object(j);
		json_put_int(j, "rank", m->rank[s->rank].rank);
		json_put_real(j, "from_seconds", s->from_s);
		json_put_real(j, "to_seconds", s->to_s);
		json_put_real(j, "held_seconds", s->held_s);
		json_object_end(j);
	}
	json_array_end(j);
}

void mpi_json(const struct mpi *recorded, const struct run *r, struct bytes *out)
{
	static const struct mpi none = { .missing = "not recorded; use run --annotations mpi",
					 .pop = { NAN, NAN, NAN, NAN, NAN },
					 .late_s = NAN,
					 .held_s = NAN,
					 .held_of_s = NAN };
	const struct mpi *m = recorded ? recorded : &none;
	struct json j = { .out = out, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/mpi/1");
	json_put_text(&j, "recording", r->path);
	json_put_text(&j, "missing", m->missing);
	json_put_int(&j, "launches", m->nlaunches);
	json_put_int(&j, "ranks_of_all", m->ranks);
	json_put_real(&j, "elapsed_seconds", m->nranks ? m->elapsed_s : NAN);
	pop_json(&j, &m->pop);
	json_put_real(&j, "late_seconds", m->late_s);
	json_key(&j, "late_rank");
	if (!m->nranks || isnan(m->late_s))
		json_null(&j);
	else
		json_int(&j, m->rank[m->late].rank);
	ranks_json(&j, m, r);
	functions_json(&j, m);
	calls_json(&j, m);
	peers_json(&j, m);
	phases_json(&j, m);
	stretches_json(&j, m);
	json_object_end(&j);
	bytes_puts(out, "\n");
}

/* With whom the job talked by TCP, for terminals and scripts. */

enum { JSON_ROWS = 20000, MATRIX_NODES = 16 };

static void print_row(FILE *out, const struct peer_row *r)
{
	const double *v = r->value, busy = v[PEER_BUSY];
	static const enum peer_used parts[] = { PEER_RECEIVER, PEER_BUFFER, PEER_NETWORK };
	const char *limit = peer_limit_names[peer_limit_of(r)];
	char text[CELL], name[512], shown[512];

	fprintf(out, " %10s", cell_text(text, UNIT_BYTES, v[PEER_SENT]));
	fprintf(out, " %10s", cell_text(text, UNIT_BYTES, v[PEER_RECEIVED]));
	fprintf(out, " %10s", cell_text(text, UNIT_COUNT, v[PEER_RETRANSMITS]));
	fprintf(out, " %10s", cell_text(text, UNIT_SECONDS, v[PEER_RTT]));
	fprintf(out, " %10s", cell_text(text, UNIT_SECONDS, busy));
	for (size_t i = 0; i < 3; i++)
		fprintf(out, " %8s", busy > 0 ? cell_share(text, v[parts[i]] / busy) : "-");
	fprintf(out, "  %-11s", limit ? limit : "-");
	fprintf(out, "  %s%s",
		escape_terminal_into(shown, sizeof shown, r->process ? r->process : "(not known)"),
		r->direction && !strcmp(r->direction, "in") ? " <- " : " -> ");
	fprintf(out, "%s%s\n",
		escape_terminal_into(shown, sizeof shown, peer_row_name(r, name, sizeof name)),
		v[PEER_UNSEEN] > 0 ? " (at least)" : "");
}

static void print_matrix(FILE *out, const struct peers_used *u)
{
	uint32_t shown = u->nnodes < MATRIX_NODES + 1 ? u->nnodes : MATRIX_NODES + 1;
	char text[CELL], name[64];

	fprintf(out, "\nFrom node (row) to node (column)\n %12s", "");
	for (uint32_t to = 1; to < shown; to++)
		fprintf(out, " %12.12s", escape_terminal_into(name, sizeof name, u->nodes[to]));
	fprintf(out, "\n");
	for (uint32_t from = 1; from < shown; from++) {
		fprintf(out, " %12.12s", escape_terminal_into(name, sizeof name, u->nodes[from]));
		for (uint32_t to = 1; to < shown; to++)
			fprintf(out, " %12s",
				cell_text(text, UNIT_BYTES,
					  u->matrix[(size_t)from * u->nnodes + to]));
		fprintf(out, "\n");
	}
	if (shown < u->nnodes)
		fprintf(out, "  and %u nodes more: --json has them\n", u->nnodes - shown);
}

void peers_used_print(const struct peers_used *u, size_t most, FILE *out)
{
	char text[1024];

	fprintf(out,
		"With whom the job talked by TCP; of the time sending it waited for the reader, the "
		"send buffer, the network\n");
	fprintf(out, " %10s %10s %10s %10s %10s %8s %8s %8s  %-11s  %s\n", "sent", "received",
		"resent", "round trip", "sending", "reader", "buffer", "network", "limited by",
		"process and other end");
	for (size_t i = 0; i < u->n && i < most; i++)
		print_row(out, &u->row[i]);
	if (u->n > most)
		fprintf(out, "  and %zu more\n", u->n - most);
	if (u->matrix)
		print_matrix(out, u);
	if (u->note)
		fprintf(out, "Note: %s.\n", escape_terminal_into(text, sizeof text, u->note));
	if (u->refused)
		fprintf(out, "Not recorded: %s.\n",
			escape_terminal_into(text, sizeof text, u->refused));
}

static void json_row(struct json *j, const struct peers_used *u, const struct peer_row *r)
{
	json_object(j);
	json_put_text(j, "node", u->nodes[r->node]);
	json_put_text(j, "process", r->process);
	json_put_text(j, "name", r->name);
	json_put_text(j, "direction", r->direction);
	json_put_text(j, "local_address", r->local);
	json_put_text(j, "remote_address", r->remote);
	json_put_text(j, "remote_node", r->remote_node);
	json_put_real(j, "port", r->port ? strtod(r->port, NULL) : (double)NAN);
	for (int i = 0; i < PEER_USED; i++)
		json_put_real(j, peer_used_names[i], r->value[i]);
	json_put_text(j, "limited_by", peer_limit_names[peer_limit_of(r)]);
	json_object_end(j);
}

static void json_matrix(struct json *j, const struct peers_used *u)
{
	for (uint32_t from = 1; from < u->nnodes; from++)
		for (uint32_t to = 1; to < u->nnodes; to++) {
			double bytes = u->matrix[(size_t)from * u->nnodes + to];

			if (!(bytes > 0))
				continue;
			json_object(j);
			json_put_text(j, "from", u->nodes[from]);
			json_put_text(j, "to", u->nodes[to]);
			json_put_real(j, "bytes", bytes);
			json_object_end(j);
		}
}

void peers_used_json(const struct peers_used *u, struct bytes *out)
{
	struct json j = { .out = out, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/peers/1");
	json_put_text(&j, "note", u ? u->note : NULL);
	json_put_text(&j, "not_recorded",
		      u ? u->refused : "no connections were recorded: use `sonde run --peers`");
	json_key(&j, "peers");
	json_array(&j);
	for (size_t i = 0; u && i < u->n && i < JSON_ROWS; i++)
		json_row(&j, u, &u->row[i]);
	json_array_end(&j);
	json_key(&j, "matrix");
	json_array(&j);
	if (u && u->matrix)
		json_matrix(&j, u);
	json_array_end(&j);
	json_object_end(&j);
	bytes_puts(out, "\n");
}

void peers_used_words(const struct peers_used *u, size_t most, struct bytes *out)
{
	static const char *const waited[] = {
		[PEER_LIMIT_READER] = ", waited for the reader",
		[PEER_LIMIT_BUFFER] = ", waited for the send buffer",
		[PEER_LIMIT_NETWORK] = ", waited for the network",
		[PEER_LIMIT_PROGRAM] = "",
	};
	char text[CELL], name[512];

	for (size_t i = 0; i < u->n && i < most; i++) {
		const struct peer_row *r = &u->row[i];
		bool sent = r->value[PEER_SENT] >= r->value[PEER_RECEIVED];
		const char *why = sent ? waited[peer_limit_of(r)] : NULL;

		bytes_puts(out, i ? "; " : "");
		cell_text(text, UNIT_BYTES, r->value[sent ? PEER_SENT : PEER_RECEIVED]);
		bytes_printf(out, "%s %s ", text, sent ? "to" : "from");
		escape_terminal(out, peer_row_name(r, name, sizeof name));
		bytes_puts(out, why ? why : "");
	}
}
