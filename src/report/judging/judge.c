/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - applies rules to a summary. */
#include "report/judging/rule.h"
#include "report/judging/rules.h"
#include "report/judging/variables.h"
#include "report/judging/verdict.h"

#include <math.h>
#include <string.h>

/* Smaller is shown earlier. */
static const int ranks[] = {
	[SEVERITY_BAD] = 0,  [SEVERITY_WARN] = 1, [SEVERITY_CANNOT_TELL] = 2,
	[SEVERITY_NOTE] = 3, [SEVERITY_GOOD] = 4,
};
_Static_assert(sizeof ranks / sizeof ranks[0] == SEVERITY_NUMBER_OF, "a rank for each");

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

/* Where the ranks ran out of reach, figures are of who started them: only of its end something can
 * be said. */
static const char theme_of_endings[] = "how it ended";

/* What the rule says of s, or NULL when it has nothing to say. */
static const struct sentence *judge(const struct rule *r, const struct summary *s)
{
	struct expr_value when;

	if (s->story.ranks_elsewhere > 0 && (!r->theme || strcmp(r->theme, theme_of_endings) != 0))
		return NULL;
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

/* A note about energy or about the recording itself is not about the job: it is never the first
 * thing that a healthy job is told. */
static int rank_of(const struct summary_verdict *v)
{
	static const char theme_of_the_rest[] = "energy and the monitor";

	if (v->severity == SEVERITY_NOTE && strcmp(v->theme, theme_of_the_rest) == 0)
		return ranks[SEVERITY_GOOD] + 1;
	return ranks[v->severity];
}

/* Whether a is shown before b, the older of the two: the worse one, then the weightier one. */
static bool is_before(const struct summary_verdict *a, const struct summary_verdict *b)
{
	if (rank_of(a) != rank_of(b))
		return rank_of(a) < rank_of(b);
	if (a->yields != b->yields)
		return b->yields;
	return a->weight_s > b->weight_s;
}

/* Sorted, in the order of the rules where equal; when there is no room the last one goes. */
static void verdict_insert(struct summary *s, const struct summary_verdict *v)
{
	uint32_t at = s->nverdicts;

	while (at && is_before(v, &s->verdicts[at - 1]))
		at--;
	if (at == SUMMARY_VERDICTS)
		return;
	if (s->nverdicts == SUMMARY_VERDICTS)
		s->nverdicts--;
	memmove(&s->verdicts[at + 1], &s->verdicts[at], (s->nverdicts - at) * sizeof *v);
	s->verdicts[at] = *v;
	s->nverdicts++;
}

/* The node and the device that has most (or least) of the proof: "disk.busy_ratio[sda]". */
static void find_where(const struct rule *r, const struct summary *s, struct summary_verdict *v)
{
	const struct summary_metric *found = NULL;
	size_t n = strlen(v->metric);

	for (uint32_t i = 0; i < s->nmetrics; i++) {
		const struct summary_metric *m = &s->metrics[i];
		bool is_device = m->name[n] == '[';

		if (strncmp(m->name, v->metric, n) != 0 || (m->name[n] && !is_device))
			continue;
		if (!found ||
		    (r->where == WHERE_MOST ? stats_mean(&m->stats) > stats_mean(&found->stats)
					    : stats_mean(&m->stats) < stats_mean(&found->stats)))
			found = m;
	}
	if (!found)
		return;
	v->node = s->nhosts > 1 ? found->node : 0;
	if (found->name[n] == '[')
		snprintf(v->instance, sizeof v->instance, "%.*s",
			 (int)strcspn(found->name + n + 1, "]"), found->name + n + 1);
}

/* A metric, or a text of the summary that names one; "": none. */
static const char *proof_of(const struct rule *r, const struct summary *s)
{
	const struct text_variable *named = r->proof ? text_variable_find(r->proof) : NULL;
	const char *metric = named ? named->of(s) : r->proof;

	return metric ? metric : "";
}

/* What the rule gives, else while the metric was beyond its threshold, else the whole run. */
static void find_time(const struct rule *r, const struct summary *s, struct summary_verdict *v)
{
	v->from_s = value_or(&r->from, s, 0);
	v->to_s = value_or(&r->to, s, s->wall_s);
	if (r->during != DURING_ALL && !isnan(v->threshold))
		timeline_beyond(&s->timeline, v->metric, v->threshold, r->during == DURING_BELOW,
				&v->from_s, &v->to_s);
}

static void find_request(const struct rule *r, const struct summary *s, struct summary_verdict *v)
{
	v->amount = value_or(&r->request, s, NAN);
	v->margin = value_or(&r->margin, s, 0);
	v->amount *= 1 + v->margin;
	v->resource = isfinite(v->amount) ? r->resource : RESOURCE_NONE;
}

static const double least_to_warn = 0.05; /* of the time without others */

/* The run as it would have been if others had taken no cores away: what a cost is compared with, so
 * that the job's own causes are named beside others, too. */
static double own_s(const struct summary *s)
{
	double taken = s->story.taken_wall_s;

	return taken > 0 ? fmax(s->wall_s - taken, 0.01 * s->wall_s) : s->wall_s;
}

/* Seconds of the run that the rule is about, for the order: its cost, else its weight, else 0. What
 * others cost is a part of the run; what the job does itself, of the time that others left it. */
static double weight_of(const struct rule *r, const struct summary *s)
{
	double weight = value_or(&r->cost, s, value_or(&r->weight, s, 0));

	if (r->part_of == PART_OF_OWN)
		weight *= s->wall_s / own_s(s);
	return fmin(fmax(weight, 0), s->wall_s);
}

/* Whether what a lost is so small beside what b lost that it cannot be the cause of b. */
static bool is_small(double small, double large, const struct summary *s)
{
	static const double much = 0.25, less = 4;

	large = isnan(large) ? NAN : fmin(large, own_s(s));
	return large >= much * own_s(s) && small * less < large;
}

static bool is_small_beside(const struct rule *a, const struct rule *b, const struct summary *s)
{
	return is_small(value_or(&a->cost, s, NAN), value_or(&b->cost, s, NAN), s);
}

/* The same, also where what b lost is not known, but what it is about. */
static bool is_no_cause_of(const struct rule *a, const struct rule *b, const struct summary *s)
{
	double large = value_or(&b->cost, s, value_or(&b->weight, s, NAN));

	return is_small(value_or(&a->cost, s, NAN), large, s);
}

static void say_cost(const struct summary *s, struct summary_verdict *v)
{
	static const double least_to_say = 0.01;
	size_t n = strlen(v->sentence);
	char seconds[32], share[32];

	if (v->cost_s >= least_to_say * own_s(s))
		snprintf(v->sentence + n, sizeof v->sentence - n,
			 " It costs up to %s, %s of the run.",
			 unit_format(UNIT_SECONDS, v->cost_s, seconds, sizeof seconds),
			 unit_format(UNIT_RATIO, v->cost_s / s->wall_s, share, sizeof share));
}

/* What costs hardly anything is no more than a note. */
static void find_cost(const struct rule *r, const struct summary *s, struct summary_verdict *v)
{
	double cost = value_or(&r->cost, s, NAN);

	v->cost_s = isnan(cost) ? NAN : fmin(fmax(cost, 0), s->wall_s);
	if (v->severity == SEVERITY_WARN && v->cost_s < least_to_warn * own_s(s))
		v->severity = SEVERITY_NOTE;
	say_cost(s, v);
}

static bool is_named(const char *names, const char *name)
{
	char word[SUMMARY_NAME + 2];

	snprintf(word, sizeof word, " %s ", name);
	return names && strstr(names, word);
}

/* What every rule says, without those that others exclude, unless these cost much more. Of two that
 * exclude each other the first one speaks. */
static void judge_all(const struct rules *rules, struct summary *s, const struct sentence **said)
{
	for (size_t i = 0; i < rules->n; i++) {
		said[i] = judge(&rules->rule[i], s);
		verdict_remove(s, rules->rule[i].name);
	}
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *r = &rules->rule[i];

		if (said[i] != &r->say)
			continue;
		for (size_t k = 0; k < rules->n; k++)
			if (said[k] && is_named(r->excludes, rules->rule[k].name) &&
			    !is_small_beside(r, &rules->rule[k], s))
				said[k] = NULL;
		for (uint32_t k = s->nverdicts; k-- > 0;)
			if (is_named(r->excludes, s->verdicts[k].rule))
				verdict_remove(s, s->verdicts[k].rule);
	}
}

static void rule_apply(const struct rule *r, const struct sentence *said, bool yields,
		       struct summary *s)
{
	struct summary_verdict v = { .severity = r->severity,
				     .confidence = r->confidence,
				     .yields = yields,
				     .cost_s = NAN,
				     .amount = NAN,
				     .margin = NAN };

	snprintf(v.rule, sizeof v.rule, "%s", r->name);
	snprintf(v.theme, sizeof v.theme, "%s", r->theme ? r->theme : "");
	snprintf(v.about, sizeof v.about, "%s", r->about);
	snprintf(v.metric, sizeof v.metric, "%s", proof_of(r, s));
	sentence_write(said, s, v.sentence, VERDICT_SENTENCE);
	sentence_numbers(said, s, &v);
	v.threshold = value_or(&r->threshold, s, NAN);
	if (r->where != WHERE_ALL)
		find_where(r, s, &v);
	find_time(r, s, &v);
	if (said == &r->cannot)
		v.severity = SEVERITY_CANNOT_TELL;
	else {
		find_cost(r, s, &v);
		v.weight_s = weight_of(r, s);
		if (r->resource)
			find_request(r, s, &v);
	}
	verdict_insert(s, &v);
}

/* A complaint, but one that another resource was asked for in vain: that takes nothing from praise,
 * which is of the same theme. */
static bool spoils_praise(const struct summary *s, const struct summary_verdict *v,
			  const struct summary_verdict *praise)
{
	return v->severity == SEVERITY_BAD ||
	       (v->severity == SEVERITY_WARN &&
		(v->cost_s >= least_to_warn * own_s(s) || strcmp(v->theme, praise->theme) != 0));
}

/* Praise does not stand beside a complaint. */
static void remove_contradicted(struct summary *s)
{
	for (uint32_t i = s->nverdicts; i-- > 0;) {
		bool spoiled = false;

		for (uint32_t k = 0; k < s->nverdicts; k++)
			spoiled |= spoils_praise(s, &s->verdicts[k], &s->verdicts[i]);
		if (spoiled && s->verdicts[i].severity == SEVERITY_GOOD)
			verdict_remove(s, s->verdicts[i].rule);
	}
}

/* Whose cores others took may want to know whether anything else is wrong: nothing that a rule
 * knows is, and it had work for all the cores that it may use. */
static void say_rest_is_fine(struct summary *s)
{
	static const double nearly_all = 0.8;
	struct summary_verdict *v = s->nverdicts ? s->verdicts : NULL;
	size_t n;

	if (!v || strcmp(v->rule, "crowded") != 0 || s->exit_code != 0 ||
	    !(story_cores_wanted(s) >= nearly_all * summary_cores(s).v))
		return;
	for (uint32_t i = 1; i < s->nverdicts; i++)
		if (rank_of(&s->verdicts[i]) < ranks[SEVERITY_GOOD] &&
		    s->verdicts[i].severity != SEVERITY_CANNOT_TELL)
			return;
	n = strlen(v->sentence);
	snprintf(v->sentence + n, sizeof v->sentence - n,
		 " The job itself had work for its cores, and nothing else was found.");
}

static const struct rule *rule_of(const struct rules *rules, const struct summary_verdict *v)
{
	for (size_t i = 0; i < rules->n; i++)
		if (!strcmp(rules->rule[i].name, v->rule))
			return &rules->rule[i];
	return NULL;
}

/* Which command used the CPU time, and on how many cores. */
static bool names_process(const struct sentence *say)
{
	for (size_t i = 0; i < say->nparts; i++)
		if (say->part[i].source && !strcmp(say->part[i].source, "hot_process"))
			return true;
	return false;
}

/* What a verdict before it has said already is not said again. */
static void say_briefly(const struct rules *rules, struct summary *s)
{
	bool named = false;

	for (uint32_t i = 0; i < s->nverdicts; i++) {
		struct summary_verdict *v = &s->verdicts[i];
		const struct rule *r = rule_of(rules, v);

		if (!r || v->severity == SEVERITY_CANNOT_TELL)
			continue;
		if (named && r->briefly.source) {
			sentence_write(&r->briefly, s, v->sentence, VERDICT_SENTENCE);
			say_cost(s, v);
		}
		named |= names_process(&r->say);
	}
}

void rules_apply(const struct rules *rules, struct summary *s)
{
	const struct sentence *said[RULES_MAX] = { NULL };

	judge_all(rules, s, said);
	for (size_t i = 0; i < rules->n; i++) {
		bool yields = false;

		for (size_t k = 0; k < rules->n && !yields; k++)
			yields = said[k] == &rules->rule[k].say &&
				 is_named(rules->rule[i].yields, rules->rule[k].name) &&
				 !is_no_cause_of(&rules->rule[k], &rules->rule[i], s);
		if (said[i])
			rule_apply(&rules->rule[i], said[i], yields, s);
	}
	remove_contradicted(s);
	say_briefly(rules, s);
	say_rest_is_fine(s);
	requests_write(s);
}

/* ---- which metrics rules look at ---- */

static void add_name(struct bytes *names, const char *name)
{
	bytes_printf(names, "%s%s", names->len ? "," : "", name);
}

/* A name without a function is a figure of the summary; growth is told by footers, and
 * what was printed, which code ran and what was waited for are no metrics. */
static void add_metric(void *ctx, const char *function, const char *name)
{
	const struct variable_function *f = function ? variable_function_find(function) : NULL;

	if (function && strcmp(function, "grown") != 0 && strcmp(function, "error") != 0 &&
	    strncmp(function, "share", 5) != 0 && !(f && f->knows))
		add_name(ctx, name);
}

static void add_expr(struct bytes *names, const struct rule_expr *x)
{
	if (x->x)
		expr_names(x->x, add_metric, names);
}

static void add_sentence(struct bytes *names, const struct sentence *s)
{
	for (size_t i = 0; i < s->nparts; i++)
		if (s->part[i].x)
			expr_names(s->part[i].x, add_metric, names);
}

void rules_metrics(const struct rules *rules, struct bytes *names, struct bytes *told)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *r = &rules->rule[i];

		for (size_t k = 0; k < r->nneeds; k++)
			add_expr(names, &r->needs[k]);
		add_expr(names, &r->enough);
		add_expr(names, &r->when);
		add_expr(names, &r->threshold);
		add_expr(names, &r->from);
		add_expr(names, &r->to);
		add_sentence(names, &r->say);
		add_sentence(names, &r->briefly);
		add_expr(names, &r->request);
		add_expr(names, &r->cost);
		add_expr(names, &r->weight);
		add_sentence(names, &r->cannot);
		if (r->proof && r->where)
			add_name(names, r->proof);
		if (r->proof && r->during)
			add_name(told, r->proof);
	}
}
