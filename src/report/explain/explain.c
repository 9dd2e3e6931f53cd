/* SPDX-License-Identifier: Apache-2.0 */
#include "report/explain/explain.h"

#include "base/text/escape.h"
#include "report/steps/steps.h"
#include "report/summary/mpi.h"
#include "report/summary/peersused.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const explain_topic_names[] = {
	"all", "where", "memory", "io", "wait", "next", "diff"
};
_Static_assert(sizeof explain_topic_names / sizeof explain_topic_names[0] == EXPLAIN_TOPICS,
	       "a name each");

void explain_free(struct explain *x)
{
	free(x->finding);
	*x = (struct explain){ 0 };
}

struct explain_finding *explain_add(struct explain *x, enum explain_topic topic, const char *about)
{
	struct explain_finding *f;

	if (x->n == EXPLAIN_FINDINGS) {
		x->left_out++;
		return NULL;
	}
	f = &x->finding[x->n];
	*f = (struct explain_finding){ .topic = topic,
				       .severity = SEVERITY_NOTE,
				       .confidence = CONFIDENCE_HIGH,
				       .from_s = NAN,
				       .to_s = NAN,
				       .order = x->n++ };
	explain_copy(f->about, sizeof f->about, about);
	return f;
}

struct explain_number *explain_number(struct explain_finding *f, const char *name, enum unit unit,
				      double value, const char *at, ...)
{
	struct explain_number *n;
	va_list ap;

	if (!isfinite(value) || f->nnumbers == EXPLAIN_NUMBERS)
		return NULL;
	n = &f->number[f->nnumbers++];
	*n = (struct explain_number){ .unit = unit, .value = value, .low = NAN, .high = NAN };
	explain_copy(n->name, sizeof n->name, name);
	va_start(ap, at);
	vsnprintf(n->at, sizeof n->at, at, ap);
	va_end(ap);
	return n;
}

void explain_copy(char *out, size_t size, const char *text)
{
	size_t n = strlen(text), room = size - 1;

	if (n > room) {
		for (n = room - 3; n && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
			;
		snprintf(out, size, "%.*s...", (int)n, text);
	} else {
		memcpy(out, text, n + 1);
	}
}

/* A long path would take the room of findings, and is known to who asked. */
static void put_path(struct bytes *out, const char *path)
{
	enum { PATH_ROOM = 100 };
	size_t len = out->len;

	bytes_u8(out, ' ');
	escape_shell(out, path);
	if (out->len - len <= PATH_ROOM)
		return;
	out->len = len;
	bytes_puts(out, " RUN");
}

void explain_settle(struct explain_finding *f, const char *command, const char *path,
		    const char *other)
{
	struct bytes text = { 0 };

	bytes_puts(&text, command);
	put_path(&text, path);
	if (other)
		put_path(&text, other);
	bytes_u8(&text, 0);
	if (!text.failed)
		explain_copy(f->settle, sizeof f->settle, (const char *)text.data);
	bytes_free(&text);
}

/* ---- the order ---- */

/* What is wrong comes first, then what the run did, then what is not known, notes and praise. */
static int group_of(const struct explain_finding *f)
{
	static const int groups[] = {
		[SEVERITY_BAD] = 0,  [SEVERITY_WARN] = 1, [SEVERITY_CANNOT_TELL] = 3,
		[SEVERITY_NOTE] = 4, [SEVERITY_GOOD] = 5,
	};
	_Static_assert(sizeof groups / sizeof groups[0] == SEVERITY_NUMBER_OF, "each");
	static const char *const facts[] = { "end",    "time", "commands", "code",  "waits",
					     "memory", "io",   "figure",   "steps", "mpi" };

	for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
		if (f->severity == SEVERITY_NOTE && !strcmp(f->about, facts[i]))
			return 2;
	return groups[f->severity];
}

static int by_rank(const void *a, const void *b)
{
	const struct explain_finding *f = a, *g = b;
	int difference = group_of(f) - group_of(g);

	return difference ? difference : (f->order > g->order) - (f->order < g->order);
}

static bool is_asked(const struct explain *x, const struct explain_finding *f)
{
	return x->ask == EXPLAIN_ALL || x->ask == f->topic ||
	       (x->ask == EXPLAIN_DIFF && x->comparison) || (x->ask == EXPLAIN_NEXT && *f->next);
}

void explain_rank(struct explain *x)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < x->n; i++)
		if (is_asked(x, &x->finding[i]))
			x->finding[kept++] = x->finding[i];
	x->n = kept;
	if (kept)
		qsort(x->finding, kept, sizeof *x->finding, by_rank);
}

/* The findings of two runs: what the gate says, the figures that differ, the code
 * that is blamed, and what else is not the same. */

enum { FACTS_MOST = 4, PARTS_MOST = EXPLAIN_NUMBERS };

/* Appends bytes as text, cut where there is no room. */
static void take(char *out, size_t size, struct bytes *text)
{
	bytes_u8(text, 0);
	if (!text->failed)
		explain_copy(out, size, (const char *)text->data);
	bytes_free(text);
}

static void add_gate(struct explain *x)
{
	const struct comparison *c = x->comparison;
	struct explain_finding *f = explain_add(x, EXPLAIN_DIFF, "gate");
	struct bytes sentence = { 0 }, advice = { 0 };

	if (!f)
		return;
	comparison_sentence(&sentence, c);
	comparison_advice(&advice, c);
	take(f->claim, sizeof f->claim, &sentence);
	take(f->next, sizeof f->next, &advice);
	f->severity = c->verdict == GATE_FAILED         ? SEVERITY_BAD
		      : c->verdict == GATE_INCONCLUSIVE ? SEVERITY_CANNOT_TELL
							: SEVERITY_GOOD;
	for (uint32_t i = 0; i < c->nconditions; i++) {
		const struct comparison_figure *g = &c->condition[i].figure;
		struct explain_number *n = explain_number(f, c->condition[i].quantity, UNIT_RATIO,
							  g->result.difference / fabs(g->result.a),
							  "compare:/gate/%u/difference_ratio", i);

		if (n) {
			n->low = g->result.low / fabs(g->result.a);
			n->high = g->result.high / fabs(g->result.a);
		}
	}
	explain_settle(f, "sonde compare", x->path, x->other);
}

/* ---- figures ---- */

static enum explain_topic topic_of(const char *figure)
{
	if (strstr(figure, "memory") || strstr(figure, "oom"))
		return EXPLAIN_MEMORY;
	if (strstr(figure, "read_") || strstr(figure, "written_"))
		return EXPLAIN_IO;
	return strncmp(figure, "idle", 4) ? EXPLAIN_WHERE : EXPLAIN_WAIT;
}

static bool differs(const struct comparison_figure *f)
{
	return f->result.finding == COMPARE_LESS || f->result.finding == COMPARE_MORE;
}

/* i: of the figures that `compare --json` has. */
static void add_figure(struct explain *x, const struct comparison_figure *g, uint32_t i)
{
	struct explain_finding *f = explain_add(x, topic_of(g->name), "figure");
	const char *word = comparison_word(g);
	char a[32], b[32], change[64], low[64], high[64];
	struct explain_number *n;

	if (!f)
		return;
	f->severity = !strcmp(word, "worse") ? SEVERITY_WARN : SEVERITY_NOTE;
	snprintf(f->claim, sizeof f->claim, "%.80s is %s: %s [%s, %s], from %s to %s", g->name,
		 word, comparison_change(g, g->result.difference, change, sizeof change),
		 comparison_change(g, g->result.low, low, sizeof low),
		 comparison_change(g, g->result.high, high, sizeof high),
		 unit_format(g->unit, g->result.a, a, sizeof a),
		 unit_format(g->unit, g->result.b, b, sizeof b));
	n = explain_number(f, g->name, g->unit, g->result.difference,
			   "compare:/figures/%u/difference", i);
	if (n) {
		n->low = g->result.low;
		n->high = g->result.high;
	}
	explain_number(f, "a", g->unit, g->result.a, "compare:/figures/%u/a", i);
	explain_number(f, "b", g->unit, g->result.b, "compare:/figures/%u/b", i);
	explain_settle(f, "sonde compare", x->path, x->other);
}

/* Those that people quote come first. */
static void add_figures(struct explain *x)
{
	const struct comparison *c = x->comparison;

	for (int leads = 1; leads >= 0; leads--) {
		uint32_t shown = 0;

		for (uint32_t i = 0; i < c->nfigures; i++) {
			const struct comparison_figure *g = &c->figure[i];

			if (g->result.finding == COMPARE_UNKNOWN)
				continue;
			if (differs(g) && g->leads == (leads == 1))
				add_figure(x, g, shown);
			shown++;
		}
	}
}

/* ---- code and waits ---- */

/* The parts of the level that `blame_sentence` speaks of: the first where any is blamed. */
static enum blame_level level_of(const struct blame *b)
{
	const enum blame_level *order = blame_words[b->subject].order;

	for (int k = 0; k < blame_words[b->subject].norder; k++)
		for (uint32_t i = 0; i < b->nparts; i++)
			if (b->part[i].level == order[k] && b->part[i].blamed)
				return order[k];
	return order[0];
}

/* Blamed parts, largest first; of none, the largest. */
static void put_parts(struct explain_finding *f, const struct blame *b)
{
	enum blame_level level = level_of(b);
	bool taken[BLAME_PARTS_MAX] = { false };

	for (int n = 0; n < PARTS_MOST; n++) {
		const struct blame_part *most = NULL;
		uint32_t at = 0, place = 0;
		struct explain_number *number;

		for (uint32_t i = 0, k = 0; i < b->nparts; i++) {
			const struct blame_part *p = &b->part[i];

			if (p->level != level)
				continue;
			if (!taken[i] &&
			    (!most || fabs(p->result.difference) > fabs(most->result.difference))) {
				most = p;
				at = i;
				place = k;
			}
			k++;
		}
		if (!most || (n && !most->blamed))
			return;
		taken[at] = true;
		number = explain_number(f, most->name, UNIT_SECONDS, most->result.difference,
					"compare:/%s/%s/%u/difference_seconds",
					blame_words[b->subject].key, blame_level_names[level],
					place);
		if (!number)
			return;
		number->low = most->result.low;
		number->high = most->result.high;
	}
}

static void add_blame(struct explain *x, const struct blame *b)
{
	static const char *const topics[] = {
		[BLAME_WALL] = "phases",
		[BLAME_CPU] = "blame",
		[BLAME_TIME] = "waits",
	};
	bool of_code = b->subject == BLAME_CPU, certain = false;
	struct explain_finding *f;
	struct bytes sentence = { 0 };

	/* Waits are not recorded unless they are asked for, and most jobs have no phases. */
	if (!of_code && blame_is_empty(b))
		return;
	f = explain_add(x, b->subject == BLAME_TIME ? EXPLAIN_WAIT : EXPLAIN_WHERE,
			topics[b->subject]);
	if (!f)
		return;
	for (uint32_t i = 0; i < b->nparts; i++)
		certain |= b->judged && b->part[i].blamed;
	f->severity = certain ? SEVERITY_WARN : SEVERITY_CANNOT_TELL;
	if (blame_is_empty(b)) {
		explain_copy(f->claim, sizeof f->claim,
			     "Which code makes the difference is not known: stacks were not "
			     "recorded");
		explain_copy(f->settle, sizeof f->settle, "sonde run --stacks -- COMMAND");
		return;
	}
	blame_sentence(&sentence, b);
	take(f->claim, sizeof f->claim, &sentence);
	if (b->judged)
		put_parts(f, b);
	explain_settle(f, "sonde compare", x->path, x->other);
}

/* ---- machines and settings ---- */

static void add_facts(struct explain *x)
{
	const struct comparison *c = x->comparison;
	struct explain_finding *f = c->nfacts ? explain_add(x, EXPLAIN_WHERE, "settings") : NULL;
	size_t n;

	if (!f)
		return;
	snprintf(f->claim, sizeof f->claim, "%u thing%s of machines, software or job differ%s",
		 c->nfacts, c->nfacts == 1 ? "" : "s", c->nfacts == 1 ? "s" : "");
	for (uint32_t i = 0; i < c->nfacts && i < FACTS_MOST; i++) {
		char a[32], b[32];

		explain_copy(a, sizeof a, c->fact[i].a ? c->fact[i].a : "nothing");
		explain_copy(b, sizeof b, c->fact[i].b ? c->fact[i].b : "nothing");
		n = strlen(f->claim);
		snprintf(f->claim + n, sizeof f->claim - n, "%s %.24s %s -> %s", i ? ";" : ":",
			 c->fact[i].key, a, b);
	}
	explain_settle(f, "sonde compare", x->path, x->other);
}

int explain_pair(struct explain *x, const struct comparison *c, const char *a, const char *b,
		 enum explain_topic ask)
{
	*x = (struct explain){ .path = a, .other = b, .comparison = c, .ask = ask };
	x->finding = calloc(EXPLAIN_FINDINGS, sizeof *x->finding);
	if (!x->finding)
		return -ENOMEM;
	add_gate(x);
	add_figures(x);
	for (int i = 0; i < BLAME_SUBJECTS; i++)
		add_blame(x, &c->blame[i]);
	add_facts(x);
	explain_rank(x);
	return 0;
}

/* What views of their own have in short: steps, connections, and ranks of MPI. */

/* ---- steps ---- */

static const struct step *slowest(const struct steps *x)
{
	const struct step *most = NULL;

	for (uint32_t i = 0; i < x->n; i++)
		if (x->step[i].kind == STEP_SLOW &&
		    (!most || x->step[i].to_s - x->step[i].from_s > most->to_s - most->from_s))
			most = &x->step[i];
	return most;
}

static void put_slowest(struct explain_finding *f, const struct steps *x)
{
	const struct step *p = slowest(x);
	uint32_t i = p ? (uint32_t)(p - x->step) : 0;
	struct bytes words = { 0 };
	char at[32], took[32];
	size_t n = strlen(f->claim);

	if (!p)
		return;
	step_words(p, &words);
	bytes_u8(&words, '\0');
	snprintf(f->claim + n, sizeof f->claim - n, "; the slowest, step %u at %s, took %s%s%.160s",
		 i + 1, unit_format(UNIT_SECONDS, p->from_s, at, sizeof at),
		 unit_format(UNIT_SECONDS, p->to_s - p->from_s, took, sizeof took),
		 words.len > 1 ? ": " : "", words.failed ? "" : (const char *)words.data);
	bytes_free(&words);
	f->from_s = p->from_s;
	f->to_s = p->to_s;
	explain_number(f, "slowest step from_seconds", UNIT_SECONDS, p->from_s,
		       "steps:/steps/%u/from_seconds", i);
	explain_number(f, "slowest step to_seconds", UNIT_SECONDS, p->to_s,
		       "steps:/steps/%u/to_seconds", i);
}

void explain_steps(struct explain *x)
{
	const struct summary *s = x->summary;
	const struct steps *steps = s->iterations;
	struct bytes words = { 0 };
	struct explain_finding *f;

	if (!steps || !steps->n || !(f = explain_add(x, EXPLAIN_WHERE, "steps")))
		return;
	steps_words(steps, &words);
	bytes_u8(&words, '\0');
	snprintf(f->claim, sizeof f->claim, "Steps: %.160s",
		 words.failed ? "" : (const char *)words.data);
	bytes_free(&words);
	explain_number(f, "steps", UNIT_COUNT, s->steps_found, "show:/job/steps");
	explain_number(f, "step_seconds", UNIT_SECONDS, s->step_s, "show:/job/step_seconds");
	explain_number(f, "steps_slow", UNIT_COUNT, s->steps_slow, "show:/job/steps_slow");
	put_slowest(f, steps);
	f->confidence = steps->source == STEPS_OF_SPANS || steps->source == STEPS_OF_MARKS
				? CONFIDENCE_HIGH
				: CONFIDENCE_MEDIUM;
	if (steps->metric)
		explain_copy(f->metric, sizeof f->metric, steps->metric);
	explain_settle(f, "sonde show --steps", s->path, NULL);
}

/* ---- connections ---- */

/* The other ends of the most bytes. Nothing where nobody asked for connections. */
void explain_peers(struct explain *x)
{
	static const enum peer_used shown[] = { PEER_SENT, PEER_RECEIVED, PEER_BUSY, PEER_RECEIVER,
						PEER_BUFFER };
	const struct summary *s = x->summary;
	const struct peers_used *u = s->peers_used;
	struct explain_finding *f;
	struct bytes words = { 0 };

	if (!u || !(f = explain_add(x, EXPLAIN_IO, "peers")))
		return;
	f->confidence = CONFIDENCE_HIGH;
	peers_used_words(u, 2, &words);
	bytes_u8(&words, '\0');
	if (u->n && !words.failed) {
		snprintf(f->claim, sizeof f->claim, "By TCP: %.380s", (const char *)words.data);
	} else {
		f->severity = u->refused ? SEVERITY_CANNOT_TELL : SEVERITY_NOTE;
		snprintf(f->claim, sizeof f->claim,
			 "With whom it talked by TCP is not known: %.200s",
			 u->refused ? u->refused : "no connection was seen");
	}
	bytes_free(&words);
	for (size_t i = 0; u->n && i < sizeof shown / sizeof shown[0]; i++)
		explain_number(f, peer_used_names[shown[i]],
			       shown[i] <= PEER_RECEIVED ? UNIT_BYTES : UNIT_SECONDS,
			       u->row[0].value[shown[i]], "peers:/peers/0/%s",
			       peer_used_names[shown[i]]);
	explain_settle(f, "sonde show --peers", s->path, NULL);
}

/* ---- for which rank the others waited ---- */

void explain_mpi(struct explain *x)
{
	const struct mpi *m = x->summary->mpi;
	const struct mpi_stretch *longest;
	struct bytes words = { 0 };
	struct explain_finding *f = NULL;
	uint32_t most;

	if (!m || m->missing)
		return;
	mpi_held_words(m, &words);
	bytes_u8(&words, '\0');
	if (words.len > 1 && !words.failed)
		f = explain_add(x, EXPLAIN_WAIT, "mpi");
	if (f)
		snprintf(f->claim, sizeof f->claim, "W%.380s", (const char *)words.data + 1);
	bytes_free(&words);
	if (!f)
		return;
	most = mpi_held_most(m);
	longest = mpi_held_longest(m);
	f->confidence = CONFIDENCE_MEDIUM; /* it is a lower bound */
	explain_number(f, "held_seconds of it", UNIT_SECONDS, m->rank[most].held_s,
		       "mpi:/ranks/%u/held_seconds", most);
	explain_number(f, "held_of_seconds", UNIT_SECONDS, m->held_of_s, "mpi:/held_of_seconds");
	if (longest) {
		f->from_s = longest->from_s;
		f->to_s = longest->to_s;
		explain_number(f, "longest stretch held_seconds", UNIT_SECONDS, longest->held_s,
			       "mpi:/waited_for/%u/held_seconds", (uint32_t)(longest - m->stretch));
	}
	explain_settle(f, "sonde show --mpi", x->summary->path, NULL);
}
