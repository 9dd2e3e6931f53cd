/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/escape.h"
#include "core/stacks/symbol.h"
#include "report/comparison/flame.h"
#include "report/page/page_html.h"
#include "report/page/page_table.h"
#include "report/summary/mpi.h"
#include "report/summary/path.h"
#include "report/summary/peersused.h"
#include "report/summary/pipeline.h"
#include "report/summary/touched.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What ranks did with MPI: efficiencies, functions, ranks. */

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
	mpi_held_words(m, &words);
	if (words.len)
		html_soft(b, &words);
	if (!m->missing) {
		efficiencies(b, m);
		functions(b, m);
		ranks(b, m, p->run);
	}
	bytes_puts(b, "</section>");
	bytes_free(&words);
}

/* The critical path: the processes that were the job's time, by name. */

enum { NAMES = 10 };

static void name_row(struct bytes *b, const struct path *p, const struct path_name *n,
		     const struct summary *s)
{
	html_name_cell(b, n->name, NAN);
	html_number_cell(b, UNIT_SECONDS, n->on_path_s);
	html_number_cell(b, UNIT_RATIO, n->on_path_s / p->wall_s);
	html_number_cell(b, UNIT_COUNT, n->processes);
	html_number_cell(b, UNIT_RATIO, path_computing_ratio(n));
	html_number_cell(b, UNIT_SECONDS, n->shorter_s);
	html_text_cell(b, s->processes[n->longest].command_line);
	bytes_puts(b, "</tr>\n");
}

static void unknown_row(struct bytes *b, const struct path *p)
{
	html_name_cell(b, "(unknown wait)", NAN);
	html_number_cell(b, UNIT_SECONDS, p->unknown_s);
	html_number_cell(b, UNIT_RATIO, p->unknown_s / p->wall_s);
	for (int i = 0; i < 3; i++) /* nobody has counted or asked them */
		html_number_cell(b, UNIT_COUNT, NAN);
	html_text_cell(b, "children that are too short and too many to be known by themselves");
	bytes_puts(b, "</tr>\n");
}

void html_path(struct bytes *b, const struct page_source *p)
{
	static const struct html_heading h[] = {
		{ "Name", true, false },        { "On the path", false, true },
		{ "Share", false, false },      { "Processes", false, false },
		{ "Computing", false, false },  { "Job, if half as long", false, false },
		{ "The longest", true, false },
	};
	struct path path;
	struct err e;

	if (p->summary->nhosts > 1)
		return;
	if (path_make(&path, p->summary, p->run, &e))
		b->failed = true;
	else if (path_tells(&path, p->summary)) {
		bytes_puts(b, "<section aria-labelledby=\"h-path\">\n<h2 id=\"h-path\">Critical "
			      "path</h2>\n");
		html_table(b,
			   "The chain of processes that made up the job's time, by name, and the "
			   "job's time if those of a name took half as long",
			   h, sizeof h / sizeof h[0]);
		for (uint32_t i = 0; i < path.nnames && i < NAMES; i++)
			name_row(b, &path, &path.name[i], p->summary);
		if (path.unknown_s > 0)
			unknown_row(b, &path);
		html_table_end(b);
		bytes_puts(b, "</section>");
	}
	path_free(&path);
}

/* Which code touched memory first: functions, and their callers as a drawing. */

enum { TOUCHED_FUNCTIONS = 20 };

static void owner_row(struct bytes *b, const struct owners *o, const struct owner *row)
{
	html_name_cell(b, row->function->shown, NAN);
	html_number_cell(b, UNIT_BYTES, row->resident[OWNERS_PEAK]);
	bytes_printf(b, "<td data-v=\"%.9g\">%.3g %%</td>", row->resident[OWNERS_PEAK],
		     100 * row->resident[OWNERS_PEAK] / o->resident[OWNERS_PEAK]);
	html_number_cell(b, UNIT_BYTES, row->touched);
	html_number_cell(b, UNIT_BYTES,
			 row->resident[OWNERS_MOMENTS - 1] - row->resident[OWNERS_FIRST]);
	html_where_cell(b, row->file, row->line);
	html_text_cell(b, *row->function->module ? symbol_base(row->function->module) : NULL);
	bytes_puts(b, "</tr>\n");
}

static void owners(struct bytes *b, const struct owners *o)
{
	static const struct html_heading h[] = {
		{ "Function", true, false },
		{ "At the peak", false, true },
		{ "Share", false, false },
		{ "Touched in all", false, false },
		{ "Growth", false, false },
		{ "Where", true, false },
		{ "Program or library", true, false },
	};

	html_table(b,
		   "Functions that touched memory first: what was resident at the peak, all that "
		   "they touched, and by how much their resident memory grew between the first "
		   "fifth of the run and its end",
		   h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < o->n && i < TOUCHED_FUNCTIONS; i++)
		owner_row(b, o, &o->row[i]);
	html_table_end(b);
}

static void missing(struct bytes *b, const struct touched_memory *t)
{
	struct bytes text = { 0 };

	for (unsigned i = 0; touched_say(t, i, &text); i++)
		html_soft(b, &text);
	bytes_free(&text);
}

static void drawing(struct bytes *b, const struct stacks *s)
{
	struct flame f = { 0 };

	bytes_puts(b, "<div class=\"panel scroll\">");
	if (flame_add(&f, 0, s) || flame_svg_of_memory(b, &f))
		b->failed = true;
	bytes_puts(b, "</div>\n");
	flame_free(&f);
}

void html_touched(struct bytes *b, const struct page_source *p)
{
	const struct touched_memory *t = p->summary->touched;

	if (!t)
		return;
	bytes_puts(b, "<section aria-labelledby=\"h-touched\">\n<h2 id=\"h-touched\">Which code "
		      "touched memory first</h2>\n");
	if (!t->peak || !(t->peak->total > 0)) {
		bytes_puts(b, "<div class=\"panel empty\"><p>No samples of page faults.</p>");
		missing(b, t);
		bytes_puts(b, "</div></section>");
		return;
	}
	bytes_puts(b, "<div class=\"panel account\"><p class=\"soft\">");
	html_value(b, UNIT_BYTES, t->owners.resident[OWNERS_PEAK]);
	bytes_puts(b, " were resident at the peak, ");
	html_value(b, UNIT_SECONDS, t->owners.moment_s[OWNERS_PEAK]);
	bytes_printf(b, " after the start; %.0f samples of page faults</p>", t->samples);
	missing(b, t);
	bytes_puts(b, "</div>\n");
	owners(b, &t->owners);
	drawing(b, t->peak);
	bytes_puts(b, "</section>");
}

/* With whom the job talked by TCP, and how much from node to node. */

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

/* The tasks of workflow tools, by rule, with lines to paste. */

enum { RULES = 50 };

static void rule_row(struct bytes *b, const struct pipeline_rule *r, const struct summary *s)
{
	html_name_cell(b, r->name, NAN);
	html_number_cell(b, UNIT_SECONDS, r->wall_s);
	html_number_cell(b, UNIT_COUNT, r->tasks);
	html_number_cell(b, UNIT_SECONDS, r->wall_median_s);
	html_number_cell(b, UNIT_SECONDS, r->wall_max_s);
	html_number_cell(b, UNIT_BYTES, r->peak_bytes);
	html_number_cell(b, UNIT_COUNT, r->peaks);
	html_number_cell(b, UNIT_CORES, r->cores);
	html_number_cell(b, UNIT_BYTES, r->read_bytes);
	html_number_cell(b, UNIT_BYTES, r->written_bytes);
	html_number_cell(b, UNIT_BYTES, r->gpu_bytes);
	html_text_cell(b, r->longest == UINT32_MAX ? NULL : s->processes[r->longest].command_line);
	bytes_puts(b, "</tr>\n");
}

static void lines(struct bytes *b, const struct pipeline *of)
{
	struct bytes text = { 0 };

	pipeline_paste(&text, of, NULL);
	for (uint32_t i = 0; i < of->nrules && i < RULES; i++)
		pipeline_paste(&text, of, &of->rule[i]);
	b->failed |= text.failed;
	if (text.len) {
		bytes_puts(b, "<details><summary>Lines to paste</summary>\n<pre>");
		bytes_put(b, text.data, text.len);
		bytes_puts(b, "</pre></details>\n");
	}
	bytes_free(&text);
}

static void one(struct bytes *b, const struct pipeline *of, const struct summary *s)
{
	static const struct html_heading h[] = {
		{ "Name", true, false },        { "Wall time of all", false, true },
		{ "Tasks", false, false },      { "Median", false, false },
		{ "Longest", false, false },    { "Peak memory", false, false },
		{ "Known of", false, false },   { "Cores", false, false },
		{ "Read", false, false },       { "Written", false, false },
		{ "GPU memory", false, false }, { "The longest", true, false },
	};
	char caption[200];

	snprintf(caption, sizeof caption,
		 "%.60s: tasks by name. Known of: tasks whose memory a sample saw; the peak is "
		 "theirs",
		 of->tool->label);
	html_table(b, caption, h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < of->nrules && i < RULES; i++)
		rule_row(b, &of->rule[i], s);
	html_table_end(b);
	lines(b, of);
}

void html_pipelines(struct bytes *b, const struct page_source *p)
{
	struct pipelines all;
	struct err e;

	if (pipelines_make(&all, p->summary, p->run, NULL, &e))
		b->failed = true;
	if (all.n)
		bytes_puts(b, "<section aria-labelledby=\"h-pipelines\">\n"
			      "<h2 id=\"h-pipelines\">Pipelines</h2>\n");
	for (uint32_t i = 0; i < all.n && !b->failed; i++)
		one(b, &all.of[i], p->summary);
	if (all.n)
		bytes_puts(b, "</section>");
	pipelines_free(&all);
}
