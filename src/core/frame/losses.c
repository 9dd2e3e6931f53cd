/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/losses.h"

#include "base/text/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kept { KEPT_UNKNOWN, KEPT_SPANS, KEPT_POINTS, KEPT_ROWS };

/* What is lost in one of many samples is in the next, or in the totals. */
static const double few = 0.1;
enum { ENOUGH = 10 };

static const struct {
	const char *key, *what, *verb;
	enum unit unit;
	enum kept kept;
	bool at_least;
	double matters_from; /* share of all of them */
	const char *why;
} rows[] = {
	{ "spans.left_out", "spans", "left out", UNIT_COUNT, KEPT_SPANS, false, 0,
	  "The program made them, or values of counters, faster than Sonde reads them, or spans more "
	  "than 64 deep." },
	{ "spans.wrong_order", "ends of spans", "in a wrong order", UNIT_COUNT, KEPT_UNKNOWN, false,
	  0,
	  "The program ended a span while others within it were open, or one that was not open. "
	  "Coroutines and callbacks need sonde_span_begin." },
	{ "spans.nameless", "names of spans", "put together as (other names)", UNIT_COUNT,
	  KEPT_UNKNOWN, false, 0, "A process has 16,000 names at most." },
	{ "spans.arguments_left_out", "arguments of spans", "left out", UNIT_COUNT, KEPT_UNKNOWN,
	  false, 0,
	  "A span or a mark has 16 arguments of 960 bytes at most, and 200,000 spans of a "
	  "recording have them." },
	{ "counters.values_left_out", "values of counters", "not kept one by one", UNIT_COUNT,
	  KEPT_POINTS, false, 0,
	  "Of more than 1,000 a second, the least, the most and the last of an interval are "
	  "kept." },
	{ "spans.unclear", "spans", "not understood", UNIT_COUNT, KEPT_UNKNOWN, false, 0,
	  "What the program wrote made no sense." },
	{ "marks.left_out_lines", "lines of marks", "left out", UNIT_COUNT, KEPT_UNKNOWN, false, 0,
	  "A recording keeps 100,000 lines, 256 open spans at a time and 64 named tracks." },
	{ "marks.unclear_lines", "lines of marks", "not understood", UNIT_COUNT, KEPT_UNKNOWN,
	  false, 0, "They are not lines that sonde mark writes." },
	{ "marks.unread_bytes", "of marks", "not read", UNIT_BYTES, KEPT_UNKNOWN, false, 0,
	  "They were written faster than they could be read before the end." },
	{ "job.process_records_lost", "records of process starts and exits", "lost", UNIT_COUNT,
	  KEPT_UNKNOWN, true, 0,
	  "Processes started faster than Sonde read of it, or the recorder was stopped." },
	{ "monitor.refused", "series, processes or events", "left out", UNIT_COUNT, KEPT_UNKNOWN,
	  false, 0, "More do not fit into a sample." },
	{ "monitor.samples", "samples", "not recorded", UNIT_COUNT, KEPT_ROWS, false, few,
	  "The disk was full, or a limit of the size of files was reached." },
	{ "monitor.skipped_samples", "samples", "skipped", UNIT_COUNT, KEPT_ROWS, false, few,
	  "Their time had passed: the machine was busy, or the recorder was stopped." },
	{ "monitor.suspended_seconds", "of machine suspend", "not sampled", UNIT_SECONDS,
	  KEPT_UNKNOWN, false, 0, "Nothing ran then. Durations and rates are without this time." },
};
enum { ROWS = sizeof rows / sizeof rows[0] };
_Static_assert((int)ROWS <= (int)LOSSES_MAX, "room for all of them");

static double kept_spans(const struct run *r)
{
	return (double)r->npacked + (r->nspans ? r->nspans - 1 : 0);
}

/* In a damaged recording samples were kept that cannot be read. */
static double kept_rows(const struct run *r)
{
	double n = r->ndamages ? NAN : 0;

	for (uint32_t i = 1; i < r->nnodes; i++)
		n += (double)r->nodes[i].rows;
	return n;
}

/* The last that each node said: of[node * ROWS + row]. */
static void take(const struct run *r, int64_t *of)
{
	for (uint32_t i = 1; i < r->nmetas; i++) {
		const struct run_meta *m = &r->metas[i];

		for (size_t k = 0; k < ROWS && m->type == META_INT && m->node < r->nnodes; k++)
			if (*m->key == *rows[k].key && !strcmp(m->key, rows[k].key))
				of[m->node * (size_t)ROWS + k] = m->value > 0 ? m->value : 0;
	}
}

/* Of the samples that were taken, those that are not there. In a damaged recording they were. */
static double sum_of(const struct run *r, const int64_t *of, size_t k)
{
	bool unwritten = !strcmp(rows[k].key, "monitor.samples");
	double sum = 0;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		double v = (double)of[i * (size_t)ROWS + k];

		if (unwritten)
			v = r->ndamages ? 0 : fmax(v - (double)r->nodes[i].rows, 0);
		sum += v;
	}
	return sum;
}

static void put_words(struct loss *l, size_t k)
{
	char lost[32], of[32], whole[40] = "", share[40] = "";

	unit_format(rows[k].unit, l->lost, lost, sizeof lost);
	if (!isnan(l->of)) {
		unit_format(rows[k].unit, l->of, of, sizeof of);
		snprintf(whole, sizeof whole, " of %s", of);
		unit_format(UNIT_RATIO, l->lost / l->of, of, sizeof of);
		snprintf(share, sizeof share, " (%s)", of);
	}
	snprintf(l->words, sizeof l->words, "%s%s%s %s %s%s", l->at_least ? "at least " : "", lost,
		 whole, rows[k].what, rows[k].verb, share);
}

static void add(struct losses *x, size_t k, double lost, double kept)
{
	struct loss *l = &x->row[x->n++];

	*l = (struct loss){ .key = rows[k].key,
			    .what = rows[k].what,
			    .lost = lost,
			    .of = lost + kept,
			    .at_least = rows[k].at_least,
			    .why = rows[k].why };
	l->matters = (rows[k].matters_from <= 0 || lost >= rows[k].matters_from * l->of) &&
		     !(l->of < ENOUGH);
	put_words(l, k);
}

static double kept_of(const struct run *r, enum kept kept)
{
	switch (kept) {
	case KEPT_SPANS:
		return kept_spans(r);
	case KEPT_POINTS:
		return r->npoints;
	case KEPT_ROWS:
		return kept_rows(r);
	case KEPT_UNKNOWN:
		break;
	}
	return NAN;
}

int losses_make(struct losses *x, const struct run *r)
{
	int64_t *of = calloc(r->nnodes + 1u, ROWS * sizeof *of);

	x->n = 0;
	if (!of)
		return -ENOMEM;
	take(r, of);
	for (size_t k = 0; k < ROWS; k++) {
		double lost = sum_of(r, of, k);

		if (lost > 0)
			add(x, k, lost, kept_of(r, rows[k].kept));
	}
	free(of);
	return 0;
}

void losses_words(const struct losses *x, bool all, struct bytes *out)
{
	bool any = false;

	for (uint32_t i = 0; i < x->n; i++) {
		if (!all && !x->row[i].matters)
			continue;
		bytes_puts(out, any ? "; " : "");
		bytes_puts(out, x->row[i].words);
		any = true;
	}
}

void losses_json(const struct losses *x, struct json *j)
{
	json_key(j, "losses");
	json_array(j);
	for (const struct loss *l = x->row; l < x->row + x->n; l++) {
		json_object(j);
		json_put_text(j, "what", l->what);
		json_put_real(j, "lost", l->lost);
		json_put_real(j, "of", l->of);
		json_put_bool(j, "at_least", l->at_least);
		json_put_text(j, "words", l->words);
		json_put_text(j, "why", l->why);
		json_object_end(j);
	}
	json_array_end(j);
}
