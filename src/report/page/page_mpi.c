/* SPDX-License-Identifier: Apache-2.0 */
/* page_mpi.c - what ranks did with MPI: efficiencies, functions, ranks. */
#include "report/page/page_html.h"
#include "report/page/page_table.h"
#include "report/summary/mpi.h"

#include <math.h>
#include <stdio.h>

enum { FUNCTIONS = 20, RANKS = 1024 };

static void pop_cells(struct bytes *b, const struct mpi_pop *p)
{
	html_number_cell(b, UNIT_RATIO, p->parallel);
	html_number_cell(b, UNIT_RATIO, p->balance);
	html_number_cell(b, UNIT_RATIO, p->communication);
	html_number_cell(b, UNIT_RATIO, p->serialisation);
	html_number_cell(b, UNIT_RATIO, p->transfer);
}

static void efficiency_row(struct bytes *b, const char *name, double elapsed_s, uint32_t ranks,
			   const struct mpi_pop *pop)
{
	html_name_cell(b, name, NAN);
	html_number_cell(b, UNIT_COUNT, ranks);
	html_number_cell(b, UNIT_SECONDS, elapsed_s);
	pop_cells(b, pop);
	bytes_puts(b, "</tr>");
}

static void efficiencies(struct bytes *b, const struct mpi *m)
{
	static const struct html_heading h[] = {
		{ "Part", true, false },           { "Ranks", false, false },
		{ "Time", false, false },          { "Parallel efficiency", false, false },
		{ "Load balance", false, false },  { "Communication", false, false },
		{ "Serialisation", false, false }, { "Transfer", false, false },
	};

	html_table(b,
		   "Efficiencies: parallel is load balance times communication, and communication "
		   "is serialisation times transfer",
		   h, sizeof h / sizeof h[0]);
	efficiency_row(b, "all", m->elapsed_s, m->nranks, &m->pop);
	for (uint32_t i = 0; i < m->nphases; i++)
		efficiency_row(b, m->phase[i].name, m->phase[i].elapsed_s, m->phase[i].nranks,
			       &m->phase[i].pop);
	html_table_end(b);
}

static void functions(struct bytes *b, const struct mpi *m)
{
	static const struct html_heading h[] = {
		{ "Function", true, false },        { "Time of all ranks", false, true },
		{ "Calls", false, false },          { "Bytes", false, false },
		{ "Arrival spread", false, false },
	};

	html_table(b, "Functions of MPI", h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < m->nfunctions && i < FUNCTIONS; i++) {
		const struct mpi_function *f = &m->function[i];

		html_name_cell(b, f->name, NAN);
		html_number_cell(b, UNIT_SECONDS, f->seconds);
		html_number_cell(b, UNIT_COUNT, f->calls);
		html_number_cell(b, UNIT_BYTES, f->bytes);
		html_number_cell(b, UNIT_SECONDS, f->spread_s);
		bytes_puts(b, "</tr>");
	}
	html_table_end(b);
}

static void ranks(struct bytes *b, const struct mpi *m, const struct run *r)
{
	static const struct html_heading h[] = {
		{ "Rank", true, false },   { "Host", true, false },   { "Time", false, false },
		{ "In MPI", false, true }, { "Calls", false, false }, { "Bytes", false, false },
		{ "Late", false, false },
	};
	char name[32];

	html_table(b, "Ranks, and how much later than the first they come to what all do", h,
		   sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < m->nranks && i < RANKS; i++) {
		const struct mpi_rank *x = &m->rank[i];

		snprintf(name, sizeof name, "%u", x->rank);
		html_name_cell(b, name, NAN);
		html_text_cell(b, r->nodes[x->node].host);
		html_number_cell(b, UNIT_SECONDS, x->elapsed_s);
		html_number_cell(b, UNIT_SECONDS, x->inside_s);
		html_number_cell(b, UNIT_COUNT, x->calls);
		html_number_cell(b, UNIT_BYTES, x->bytes);
		html_number_cell(b, UNIT_SECONDS, x->late_s);
		bytes_puts(b, "</tr>");
	}
	html_table_end(b);
}

void html_mpi(struct bytes *b, const struct page_source *p)
{
	struct mpi *m = p->summary->mpi;
	struct bytes words = { 0 };
	struct err e;

	if (!m)
		return;
	if (!m->nphases && mpi_phases_make(m, p->run, &e))
		b->failed = true;
	bytes_puts(b, "<section aria-labelledby=\"h-mpi\">\n<h2 id=\"h-mpi\">What ranks did with "
		      "MPI</h2>\n");
	mpi_words(m, 3, &words);
	html_soft(b, &words);
	if (!m->missing) {
		efficiencies(b, m);
		functions(b, m);
		ranks(b, m, p->run);
	}
	bytes_puts(b, "</section>");
	bytes_free(&words);
}
