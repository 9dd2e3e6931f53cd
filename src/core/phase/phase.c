/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase.c - pairs marks: those of a rule in order of node, track, key and time; each run of equal
 * ones is paired by itself.
 */
#include "core/phase/phase.h"

#include "base/clock.h"
#include "base/text/decimal.h"
#include "core/glob.h"
#include "core/phase/phase_nest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A mark that a rule may make a phase of. Texts are offsets. */
struct candidate {
	uint32_t node, track, mark;
	uint32_t end; /* the number of the pattern that it matches as an end; 0: a start */
	int64_t at_ns;
	size_t name, key;
};

/* Of a phase, until the texts lie still. */
struct phase_texts {
	size_t name, key, said;
};

struct phase_maker {
	const struct run *run;
	const struct phase_wish *wish;
	const struct phase_rule *rule; /* the one that is applied */
	struct phases *out;
	struct bytes text;
	struct phase_texts *texts; /* [out->n] */
	struct candidate *candidate;
	uint32_t ncandidates, phase_cap, texts_cap, loose_cap, candidate_cap;
};

/* ---- what is gathered ---- */

static bool grow(void **array, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t want = *cap ? *cap * 2 : 64;
	void *more;

	if (n < *cap)
		return true;
	if (want < *cap)
		return false;
	more = realloc(*array, want * size);
	if (!more)
		return false;
	*array = more;
	*cap = want;
	return true;
}

/* A text of its own; where it begins. */
static size_t keep(struct phase_maker *m, const char *text)
{
	size_t at = m->text.len;

	bytes_put(&m->text, text, strlen(text) + 1);
	return at;
}

static struct phase *add_phase(struct phase_maker *m, const struct phase_rule *rule)
{
	struct phase *p;

	if (!grow((void **)&m->out->phase, m->out->n, &m->phase_cap, sizeof *p) ||
	    !grow((void **)&m->texts, m->out->n, &m->texts_cap, sizeof *m->texts))
		return NULL;
	p = &m->out->phase[m->out->n];
	*p = (struct phase){ .rule = rule, .end_s = NAN, .duration_s = NAN, .size_bytes = NAN };
	m->texts[m->out->n++] = (struct phase_texts){ 0 };
	return p;
}

static int add_loose(struct phase_maker *m, const struct candidate *c, enum phase_why why)
{
	const struct run_mark *mark = &m->run->marks[c->mark];
	struct phases *p = m->out;

	if (!grow((void **)&p->loose, p->nloose, &m->loose_cap, sizeof *p->loose))
		return -ENOMEM;
	p->loose[p->nloose++] =
		(struct phase_loose){ .rule = m->rule,
				      .name = mark->name,
				      .node = mark->node,
				      .at_s = run_seconds(m->run, mark->node, mark->at_ns),
				      .why = why };
	return 0;
}

/* "*" in what phases are called. */
static void write_name(char *out, size_t size, const char *phase, const struct phase_star *star)
{
	const char *at = strchr(phase, '*');

	if (!at)
		snprintf(out, size, "%s", phase);
	else
		snprintf(out, size, "%.*s%.*s%s", (int)(at - phase), phase, (int)star->n, star->at,
			 at + 1);
}

static bool is_wanted(const struct phase_maker *m, const char *name)
{
	return !m->wish->names || glob_match(m->wish->names, name);
}

static void end_at(struct phase_maker *m, struct phase *p, int64_t end_ns, const char *said)
{
	char value[PHASE_VALUE_MAX], *behind;
	double told;
	int64_t ns;

	p->end_ns = end_ns;
	p->end_s = run_seconds(m->run, p->node, end_ns);
	if (!__builtin_sub_overflow(end_ns, p->begin_ns, &ns) && ns >= 0)
		p->duration_s = (double)ns / NS_PER_S;
	if (!p->rule->duration || !said ||
	    !phase_field(p->rule->fields, said, p->rule->duration, value, sizeof value))
		return;
	told = decimal_parse(value, &behind);
	if (behind == value || *behind || !isfinite(told) || told < 0)
		return;
	p->duration_s = told;
	p->told = true;
}

/* What the end says of it, or else the start. */
static double size_of(const struct phase_maker *m, const char *end, const char *start)
{
	const struct phase_rule *r = m->rule;
	char value[PHASE_VALUE_MAX];
	double step = m->wish->size_step > 0 ? m->wish->size_step : 1000, bytes;

	if (r->size && end && phase_field(r->fields, end, r->size, value, sizeof value) &&
	    phase_size(value, step, &bytes))
		return bytes;
	if (r->size && start && phase_field(r->fields, start, r->size, value, sizeof value) &&
	    phase_size(value, step, &bytes))
		return bytes;
	return NAN;
}

static void begin_at(const struct phase_maker *m, struct phase *p, uint32_t node, uint32_t track,
		     int64_t begin_ns)
{
	p->node = node;
	p->track = track;
	p->begin_ns = begin_ns;
	p->end_ns = INT64_MAX;
	p->begin_s = run_seconds(m->run, node, begin_ns);
}

/* ---- spans ---- */

static int add_span(struct phase_maker *m, const struct run_span *s)
{
	const char *said = s->detail ? s->detail : "";
	char name[PHASE_NAME_MAX * 2];
	struct phase_star star;
	struct phase *p;

	if (!phase_words_match(&m->rule->spans, s->name ? s->name : "", &star))
		return 0;
	write_name(name, sizeof name, m->rule->phase, &star);
	if (!is_wanted(m, name))
		return 0;
	p = add_phase(m, m->rule);
	if (!p)
		return -ENOMEM;
	begin_at(m, p, s->node, s->track, s->begin_ns);
	if (s->end_ns != INT64_MAX)
		end_at(m, p, s->end_ns, said);
	p->size_bytes = size_of(m, said, NULL);
	m->texts[m->out->n - 1] = (struct phase_texts){ keep(m, name), keep(m, ""), keep(m, said) };
	return 0;
}

static int too_many(const struct run *r, struct err *e)
{
	uint64_t spans = r->npacked + (r->nspans ? r->nspans - 1 : 0);

	return err_set(e, -E2BIG,
		       "%.300s has %llu spans, and phases are made of %d at most: choose some by "
		       "name, or see sonde show --spans",
		       r->path, (unsigned long long)spans, PHASES_MAX);
}

/* Those stored in bulk. */
static int add_packs(struct phase_maker *m, struct err *e)
{
	const struct run_span *span;
	int rc = 0;

	for (uint32_t i = 0; i < m->run->npacks && !rc; i++) {
		int n = m->run->unpack(m->run, i, &span, e);

		rc = n < 0 ? n : 0;
		for (int k = 0; k < n && !rc; k++)
			rc = add_span(m, &span[k]);
		if (!rc && m->out->n > PHASES_MAX)
			return too_many(m->run, e);
	}
	return rc;
}

/* ---- pairs of marks ---- */

static const char *said_by(const struct phase_maker *m, const struct candidate *c)
{
	const char *text = m->run->marks[c->mark].message;

	return text ? text : "";
}

/* The end, NULL: none was there; then until_ns, unless that is INT64_MAX. */
static int add_pair(struct phase_maker *m, const struct candidate *start,
		    const struct candidate *end, int64_t until_ns)
{
	const struct run_mark *mark = &m->run->marks[start->mark];
	const char *first = said_by(m, start), *last = end ? said_by(m, end) : "";
	struct bytes both = { 0 };
	struct phase *p;

	if (!end && until_ns == INT64_MAX && m->rule->no_end == PHASE_UNTOLD)
		return 0;
	p = add_phase(m, m->rule);
	if (!p)
		return -ENOMEM;
	begin_at(m, p, mark->node, mark->instance, mark->at_ns);
	if (end)
		end_at(m, p, m->run->marks[end->mark].at_ns, last);
	else if (until_ns != INT64_MAX)
		end_at(m, p, until_ns, NULL);
	p->size_bytes = size_of(m, last, first);
	bytes_printf(&both, "%s%s%s", first,
		     *first && *last ? m->rule->fields == PHASE_COMMAS ? "," : " " : "", last);
	bytes_u8(&both, 0);
	m->text.failed |= both.failed;
	if (!both.failed)
		m->texts[m->out->n - 1] = (struct phase_texts){ start->name, start->key,
								keep(m, (const char *)both.data) };
	bytes_free(&both);
	return 0;
}

/* Candidates of one node, track and key, in order of time: one pair at most. */
static int pair_first(struct phase_maker *m, const struct candidate *c, uint32_t n)
{
	const struct candidate *start = NULL, *end = NULL;
	int rc = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!c[i].end)
			start = start ? start : &c[i];
		else if (start && (!end || c[i].end < end->end))
			end = &c[i];
	for (uint32_t i = 0; i < n && !rc; i++) {
		bool before = c[i].end && (!start || &c[i] < start);

		if (before && m->rule->no_start == PHASE_START_TOLD)
			rc = add_loose(m, &c[i], PHASE_NO_START);
		else if (&c[i] != start && &c[i] != end && !before &&
			 (!c[i].end || c[i].end == end->end))
			rc = add_loose(m, &c[i], PHASE_LEFT_OUT);
	}
	return rc || !start ? rc : add_pair(m, start, end, INT64_MAX);
}

/* Likewise, as many as there are; open: room for as many starts. */
static int pair(struct phase_maker *m, const struct candidate *c, uint32_t n,
		const struct candidate **open)
{
	const struct phase_rule *r = m->rule;
	uint32_t first = 0, last = 0; /* open[first..last) wait for an end */
	int64_t end_ns = INT64_MAX;
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++) {
		if (!c[i].end) {
			for (; r->no_end == PHASE_NEXT && first < last && !rc; first++)
				rc = add_pair(m, open[first], NULL, c[i].at_ns);
			open[last++] = &c[i];
		} else if (first < last) {
			rc = add_pair(m, r->several == PHASE_NEWEST ? open[--last] : open[first++],
				      &c[i], INT64_MAX);
		} else if (r->no_start == PHASE_START_TOLD) {
			rc = add_loose(m, &c[i], PHASE_NO_START);
		}
	}
	if (r->no_end == PHASE_NEXT)
		end_ns = m->run->nodes[c[0].node].last_ns;
	for (; first < last && !rc; first++)
		rc = add_pair(m, open[first], NULL,
			      end_ns < open[first]->at_ns ? INT64_MAX : end_ns);
	return rc;
}

/* ---- a rule ---- */

/* Whether a rule without a * names this mark, and so those with one leave it alone. */
static bool is_named(const struct phase_rules *rules, const char *name)
{
	struct phase_star star;

	for (uint32_t i = 0; i < rules->n; i++) {
		const struct phase_rule *r = &rules->rule[i];

		if (r->start.n && !strchr(r->start.word[0], '*') &&
		    (phase_words_match(&r->start, name, &star) ||
		     phase_words_match(&r->end, name, &star)))
			return true;
	}
	return false;
}

/* "img=ubuntu grtype=docker": of keys that are not there nothing. */
static size_t keep_key(struct phase_maker *m, const char *said)
{
	const struct phase_rule *r = m->rule;
	char value[PHASE_VALUE_MAX];
	size_t at = m->text.len;

	for (uint32_t i = 0; i < r->key.n; i++)
		if (phase_field(r->fields, said, r->key.word[i], value, sizeof value))
			bytes_printf(&m->text, "%s%s=%s", m->text.len > at ? " " : "",
				     r->key.word[i], value);
	bytes_u8(&m->text, 0);
	return at;
}

static int add_candidate(struct phase_maker *m, uint32_t i, const struct phase_star *star,
			 uint32_t end)
{
	const struct run_mark *mark = &m->run->marks[i];
	char name[PHASE_NAME_MAX * 2];
	struct candidate *c;

	write_name(name, sizeof name, m->rule->phase, star);
	if (!is_wanted(m, name))
		return 0;
	if (!grow((void **)&m->candidate, m->ncandidates, &m->candidate_cap, sizeof *c))
		return -ENOMEM;
	c = &m->candidate[m->ncandidates++];
	*c = (struct candidate){ .node = mark->node,
				 .track = m->rule->within == PHASE_TRACK ? mark->instance : 0,
				 .mark = i,
				 .at_ns = mark->at_ns,
				 .end = end,
				 .name = keep(m, name) };
	c->key = keep_key(m, mark->message ? mark->message : "");
	return m->text.failed ? -ENOMEM : 0;
}

/* An end that is a start as well ends what was there before. */
static int add_mark(struct phase_maker *m, const struct phase_rules *rules, uint32_t i)
{
	const struct phase_rule *r = m->rule;
	const char *name = m->run->marks[i].name ? m->run->marks[i].name : "";
	struct phase_star from, to;
	uint32_t start = phase_words_match(&r->start, name, &from);
	uint32_t end = phase_words_match(&r->end, name, &to);
	int rc = 0;

	if ((!start && !end) || (strchr(r->start.word[0], '*') && is_named(rules, name)))
		return 0;
	if (end)
		rc = add_candidate(m, i, &to, end);
	if (start && !rc)
		rc = add_candidate(m, i, &from, 0);
	return rc;
}

static int by_place(const void *a, const void *b, void *ctx)
{
	const struct phase_maker *m = ctx;
	const struct candidate *x = a, *y = b;
	const char *text = (const char *)m->text.data;
	int order;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (m->rule->no_end == PHASE_NEXT)
		return 0;
	order = strcmp(text + x->name, text + y->name);
	return order ? order : strcmp(text + x->key, text + y->key);
}

static int by_place_and_time(const void *a, const void *b, void *ctx)
{
	const struct candidate *x = a, *y = b;
	int order = by_place(a, b, ctx);

	if (order)
		return order;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->mark != y->mark)
		return x->mark < y->mark ? -1 : 1;
	return (x->end == 0) - (y->end == 0);
}

static int pair_all(struct phase_maker *m)
{
	const struct candidate **open =
		calloc(m->ncandidates + 1, sizeof(const struct candidate *));
	int rc = open ? 0 : -ENOMEM;
	uint32_t n;

	qsort_r(m->candidate, m->ncandidates, sizeof *m->candidate, by_place_and_time, m);
	for (uint32_t i = 0; i < m->ncandidates && !rc; i += n) {
		for (n = 1; i + n < m->ncandidates; n++)
			if (by_place(&m->candidate[i], &m->candidate[i + n], m))
				break;
		rc = m->rule->several == PHASE_FIRST ? pair_first(m, m->candidate + i, n)
						     : pair(m, m->candidate + i, n, open);
	}
	free(open);
	return rc;
}

static int apply(struct phase_maker *m, const struct phase_rules *rules, struct err *e)
{
	bool spans = m->rule->spans.n && !m->wish->marks_only;
	int rc = 0;

	for (uint32_t i = 1; spans && i < m->run->nspans && !rc; i++)
		rc = add_span(m, &m->run->spans[i]);
	if (spans && !rc)
		rc = add_packs(m, e);
	m->ncandidates = 0;
	for (uint32_t i = 1; m->rule->start.n && i < m->run->nmarks && !rc; i++)
		rc = add_mark(m, rules, i);
	return rc || !m->ncandidates ? rc : pair_all(m);
}

/* ---- all ---- */

static int by_begin(const void *a, const void *b)
{
	const struct phase *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (x->begin_s != y->begin_s)
		return x->begin_s < y->begin_s ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return order ? order : strcmp(x->key, y->key);
}

/* Of lines that had no time of their own their texts say within how long before they were seen:
 * its start and its end add up. */
static double uncertain_of(const struct phase *p)
{
	static const char key[] = "seen_within=";
	const char *at = p->text;
	double sum = 0, within;
	char *behind;

	if (p->told || isnan(p->duration_s))
		return 0;
	while ((at = strstr(at, key))) {
		bool begins = at == p->text || at[-1] == ' ';

		at += sizeof key - 1;
		within = decimal_parse(at, &behind);
		if (begins && behind > at && isfinite(within) && within > 0)
			sum += within;
	}
	return sum;
}

/* What was kept lies still now. */
static int settle(struct phase_maker *m)
{
	struct phases *p = m->out;

	if (m->text.failed)
		return -ENOMEM;
	p->text = (char *)m->text.data;
	m->text = (struct bytes){ 0 };
	for (uint32_t i = 0; i < p->n && m->texts; i++) {
		p->phase[i].name = p->text + m->texts[i].name;
		p->phase[i].key = p->text + m->texts[i].key;
		p->phase[i].text = p->text + m->texts[i].said;
		p->phase[i].uncertain_s = uncertain_of(&p->phase[i]);
	}
	if (p->n)
		qsort(p->phase, p->n, sizeof *p->phase, by_begin);
	return phases_nest(p, m->run);
}

int phases_make(struct phases *p, const struct run *r, const struct phase_rules *rules,
		const struct phase_wish *w, struct err *e)
{
	struct phase_maker m = { .run = r, .wish = w, .out = p };
	int rc = 0;

	*p = (struct phases){ 0 };
	for (uint32_t i = 0; i < rules->n && !rc; i++) {
		m.rule = &rules->rule[i];
		rc = apply(&m, rules, e);
	}
	if (!rc)
		rc = settle(&m);
	bytes_free(&m.text);
	free(m.texts);
	free(m.candidate);
	if (rc)
		phases_free(p);
	return rc == -ENOMEM ? err_set(e, rc, "out of memory for the phases of %.300s", r->path)
			     : rc;
}

int phases_make_some(struct phases *p, const struct run *r, const struct phase_rules *rules,
		     struct err *e)
{
	int rc = phases_make(p, r, rules, &(struct phase_wish){ 0 }, e);

	return rc == -E2BIG
		       ? phases_make(p, r, rules, &(struct phase_wish){ .marks_only = true }, e)
		       : rc;
}

void phases_free(struct phases *p)
{
	free(p->phase);
	free(p->loose);
	free(p->text);
	*p = (struct phases){ 0 };
}
