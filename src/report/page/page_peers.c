/* SPDX-License-Identifier: Apache-2.0 */
/* page_peers.c - with whom the job talked by TCP, and how much from node to node. */
#include "base/text/escape.h"
#include "report/page/page_html.h"
#include "report/page/page_table.h"
#include "report/summary/peersused.h"

#include <math.h>
#include <string.h>

enum { PEERS = 20, NODES_MOST = 32 };

static void row(struct bytes *b, const struct peer_row *r)
{
	const double *v = r->value, busy = v[PEER_BUSY] > 0 ? v[PEER_BUSY] : (double)NAN;
	char name[512];

	html_name_cell(b, peer_row_name(r, name, sizeof name), NAN);
	html_text_cell(b, r->process);
	html_number_cell(b, UNIT_BYTES, v[PEER_SENT]);
	html_number_cell(b, UNIT_BYTES, v[PEER_RECEIVED]);
	html_number_cell(b, UNIT_COUNT, v[PEER_RETRANSMITS]);
	html_number_cell(b, UNIT_SECONDS, v[PEER_RTT]);
	html_number_cell(b, UNIT_SECONDS, v[PEER_BUSY]);
	html_number_cell(b, UNIT_RATIO, v[PEER_RECEIVER] / busy);
	html_number_cell(b, UNIT_RATIO, v[PEER_BUFFER] / busy);
	html_number_cell(b, UNIT_RATIO, v[PEER_NETWORK] / busy);
	html_text_cell(b, peer_limit_names[peer_limit_of(r)]);
	bytes_puts(b, "</tr>\n");
}

static void table(struct bytes *b, const struct peers_used *u)
{
	static const struct html_heading h[] = {
		{ "Other end", true, false },    { "Process", true, false },
		{ "Sent", false, false },        { "Received", false, false },
		{ "Sent again", false, false },  { "Round trip", false, false },
		{ "Sending", false, false },     { "Waited for reader", false, false },
		{ "Send buffer", false, false }, { "Network", false, false },
		{ "Limited by", true, false },
	};

	html_table(b, "Other ends by bytes", h, sizeof h / sizeof h[0]);
	for (size_t i = 0; i < u->n && i < PEERS; i++)
		row(b, &u->row[i]);
	html_table_end(b);
}

static void matrix(struct bytes *b, const struct peers_used *u)
{
	uint32_t shown = u->nnodes < NODES_MOST + 1 ? u->nnodes : NODES_MOST + 1;
	struct html_heading h[NODES_MOST + 1] = { { "From \\ to", true, false } };

	for (uint32_t to = 1; to < shown; to++)
		h[to].title = u->nodes[to];
	html_table(b, "Bytes from node to node", h, shown);
	for (uint32_t from = 1; from < shown; from++) {
		html_name_cell(b, u->nodes[from], NAN);
		for (uint32_t to = 1; to < shown; to++)
			html_number_cell(b, UNIT_BYTES, u->matrix[(size_t)from * u->nnodes + to]);
		bytes_puts(b, "</tr>\n");
	}
	html_table_end(b);
}

void html_peers(struct bytes *b, const struct page_source *p)
{
	const struct peers_used *u = p->summary->peers_used;
	struct bytes note = { 0 };

	if (!u)
		return;
	bytes_puts(b, "<section aria-labelledby=\"h-peers\">\n<h2 id=\"h-peers\">With whom the job "
		      "talked by TCP</h2>\n<div class=\"panel account\">");
	bytes_printf(b, "<p class=\"soft\">%zu other ends</p>", u->n);
	if (u->note)
		bytes_printf(&note, "Note: %.900s.", u->note);
	html_soft(b, &note);
	if (u->refused)
		bytes_printf(&note, "Not recorded: %.900s.", u->refused);
	html_soft(b, &note);
	bytes_puts(b, "</div>\n");
	if (u->n)
		table(b, u);
	if (u->matrix)
		matrix(b, u);
	bytes_puts(b, "</section>");
	bytes_free(&note);
}
