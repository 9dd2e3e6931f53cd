/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - applies rules to a summary. */
#include "report/rule.h"
#include "report/rules.h"
#include "report/variables.h"

#include <math.h>
#include <string.h>

static const struct {
	const char *name;
	int rank; /* smaller is shown earlier */
} severities[] = {
	[SEVERITY_NOTE] = { "note", 3 },
	[SEVERITY_GOOD] = { "good", 4 },
	[SEVERITY_WARN] = { "warn", 1 },
	[SEVERITY_BAD] = { "bad", 0 },
	[SEVERITY_CANNOT_TELL] = { "cannot-tell", 2 },
};
_Static_assert(sizeof severities / sizeof severities[0] == SEVERITY_NUMBER_OF, "a row for each");

const char *severity_name(enum severity severity)
{
	return severities[severity].name;
}

static struct expr_value value_of(const struct expr *x, const struct summary *s)
{
	return expr_eval(x, variable_lookup, (void *)s);
}

static double value_or(const struct rule_expr *x, const struct summary *s, double otherwise)
{
	struct expr_value v = { 0 };

	if (x->x)
		v = value_of(x->x, s);
	return v.known ? v.v : otherwise;
}

static bool needs_known(const struct rule *r, const struct summary *s)
{
	for (size_t i = 0; i < r->nneeds; i++)
		if (!value_of(r->needs[i].x, s).known)
			return false;
	return true;
}

/* What the rule says of s, or NULL when it has nothing to say. */
static const struct sentence *judge(const struct rule *r, const struct summary *s)
{
	struct expr_value when;

	if (r->enough.x && value_or(&r->enough, s, 0) == 0)
		return NULL;
	when = value_of(r->when.x, s);
	if (!needs_known(r, s) || !when.known)
		return r->cannot.source ? &r->cannot : NULL;
	return when.v != 0 ? &r->say : NULL;
}

static void verdict_remove(struct summary *s, const char *rule)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (strcmp(s->verdicts[i].rule, rule) != 0)
			s->verdicts[kept++] = s->verdicts[i];
	s->nverdicts = kept;
}

/* Sorted by rank, in the order of the rules where equal; when there is no room the mildest go. */
static void verdict_insert(struct summary *s, const struct summary_verdict *v)
{
	int rank = severities[v->severity].rank;
	uint32_t at = s->nverdicts;

	while (at && severities[s->verdicts[at - 1].severity].rank > rank)
		at--;
	if (at == SUMMARY_VERDICTS)
		return;
	if (s->nverdicts == SUMMARY_VERDICTS)
		s->nverdicts--;
	memmove(&s->verdicts[at + 1], &s->verdicts[at], (s->nverdicts - at) * sizeof *v);
	s->verdicts[at] = *v;
	s->nverdicts++;
}

static void rule_apply(const struct rule *r, struct summary *s)
{
	const struct sentence *said = judge(r, s);
	struct summary_verdict v = { .severity = r->severity };

	verdict_remove(s, r->name);
	if (!said)
		return;
	if (said == &r->cannot)
		v.severity = SEVERITY_CANNOT_TELL;
	snprintf(v.rule, sizeof v.rule, "%s", r->name);
	snprintf(v.metric, sizeof v.metric, "%s", r->proof ? r->proof : "");
	sentence_write(said, s, v.sentence, sizeof v.sentence);
	v.threshold = value_or(&r->threshold, s, NAN);
	v.from_s = value_or(&r->from, s, 0);
	v.to_s = value_or(&r->to, s, s->wall_s);
	verdict_insert(s, &v);
}

void rules_apply(const struct rules *rules, struct summary *s)
{
	for (size_t i = 0; i < rules->n; i++)
		rule_apply(&rules->rule[i], s);
}
