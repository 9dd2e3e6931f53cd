/* SPDX-License-Identifier: Apache-2.0 */
/* peersused.c - with whom the job talked by TCP, for terminals and scripts. */
#include "report/summary/peersused.h"

#include "base/text/escape.h"
#include "base/text/json.h"
#include "report/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
