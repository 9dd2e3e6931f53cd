/* SPDX-License-Identifier: Apache-2.0 */
/* comparison.c - runs become figures, figures are judged. */
#include "report/comparison/comparison.h"

#include "base/array.h"
#include "core/describe.h"
#include "report/judging/variables.h"
#include "report/summary/code.h"
#include "report/summary/touched.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The figures of a summary that are compared, as `sonde show --json` calls them, in the order they
 * are shown. */
static const struct {
	const char *name;
	bool less_is_better, leads;
} leading[] = {
	{ "wall_seconds", true, true },
	{ "cpu_seconds", true, true },
	{ "cpu_user_seconds", true, false },
	{ "cpu_system_seconds", true, false },
	{ "step_seconds", true, true },
	{ "step_spread_ratio", true, false },
	{ "steps", false, false },
	{ "steps_slow", true, false },
	{ "cores_used", false, true },
	{ "cores_used_peak", false, false },
	{ "peak_memory_bytes", true, true },
	{ "read_bytes", true, true },
	{ "written_bytes", true, true },
	{ "energy_joules", true, true },
	{ "energy_apportioned_joules", true, true },
	{ "processes_started", false, true },
	{ "processes_peak", false, false },
	{ "oom_kills", true, false },
	{ "idle_head_seconds", true, false },
	{ "idle_tail_seconds", true, false },
	{ "unequal_ratio", true, false },
	{ "monitor_cpu_seconds", false, false },
	{ "late_samples", false, false },
	{ "skipped_samples", false, false },
};
enum { LEADING = sizeof leading / sizeof leading[0] };

void comparison_init(struct comparison *x)
{
	*x = (struct comparison){ .level = 0.95, .margin = 0.05 };
}

static double *no_values(const struct comparison *x)
{
	double *value = malloc((x->capacity + 1u) * sizeof *value);

	for (uint32_t i = 0; value && i <= x->capacity; i++)
		value[i] = NAN;
	return value;
}

int comparison_expect(struct comparison *x, uint32_t runs)
{
	x->capacity = runs;
	x->run = calloc(runs + 1u, sizeof *x->run);
	x->failed |= !x->run;
	for (uint32_t i = 0; i < x->nconditions; i++) {
		x->condition[i].figure.value = no_values(x);
		x->failed |= !x->condition[i].figure.value;
	}
	return x->failed ? -ENOMEM : 0;
}

void comparison_free(struct comparison *x)
{
	for (uint32_t i = 0; i < x->nfigures; i++)
		free(x->figure[i].value);
	for (uint32_t i = 0; i < x->nconditions; i++) {
		expr_free(x->condition[i].expression);
		free(x->condition[i].figure.value);
	}
	free(x->figure);
	free(x->run);
	free(x->fact);
	free(x->said);
	for (int i = 0; i < BLAME_SUBJECTS; i++)
		blame_free(&x->blame[i]);
	pool_free(&x->pool);
	*x = (struct comparison){ 0 };
}

/* ---- runs ---- */

struct comparison_figure *comparison_figure(struct comparison *x, const char *name)
{
	for (uint32_t i = 0; i < x->nfigures; i++)
		if (!strcmp(x->figure[i].name, name))
			return &x->figure[i];
	return NULL;
}

/* The figure at `place`, where it was in the run before, or wherever it is, or a new one. */
static struct comparison_figure *figure_at(struct comparison *x, uint32_t place, const char *name)
{
	struct comparison_figure *f = NULL;
	void *grown;

	if (place < x->nfigures && !strcmp(x->figure[place].name, name))
		return &x->figure[place];
	f = comparison_figure(x, name);
	if (f)
		return f;
	if (x->nfigures == COMPARISON_FIGURES_MAX) {
		x->figures_left_out++;
		return NULL;
	}
	grown = array_room(x->figure, x->nfigures, &x->figures_cap, sizeof *x->figure);
	if (grown)
		x->figure = grown;
	f = grown ? &x->figure[x->nfigures] : NULL;
	if (f)
		*f = (struct comparison_figure){ .name = pool_text(&x->pool, name, strlen(name)),
						 .value = no_values(x) };
	if (!f || !f->name || !f->value) {
		free(f ? f->value : NULL);
		x->failed = true;
		return NULL;
	}
	x->nfigures++;
	return f;
}

static double variable_of(const struct summary *s, const char *name)
{
	struct expr_value v = variable_lookup((void *)(uintptr_t)s, NULL, name);

	return v.known && isfinite(v.v) ? v.v : NAN;
}

static void add_leading(struct comparison *x, const struct summary *s, uint32_t run)
{
	for (uint32_t i = 0; i < LEADING; i++) {
		struct comparison_figure *f = figure_at(x, i, leading[i].name);

		if (!f)
			continue;
		f->unit = variable_find(leading[i].name)->unit;
		f->less_is_better = leading[i].less_is_better;
		f->leads = leading[i].leads;
		f->value[run] = variable_of(s, leading[i].name);
	}
}

/* The mean over time of every metric of the nodes; devices are left to the sums over them. */
static void add_means(struct comparison *x, const struct summary *s, uint32_t run)
{
	const struct variable_function *mean = variable_function_find("mean");
	uint32_t place = LEADING;

	for (uint32_t i = 0; i < s->nmetrics; i++) {
		const struct summary_metric *m = &s->metrics[i];
		struct comparison_figure *f;
		struct bytes name = { 0 };

		if (strchr(m->name, '['))
			continue;
		bytes_printf(&name, "mean(%s)", m->name);
		bytes_u8(&name, '\0');
		x->failed |= name.failed;
		f = name.failed ? NULL : figure_at(x, place, (const char *)name.data);
		bytes_free(&name);
		if (!f)
			continue;
		place = (uint32_t)(f - x->figure) + 1;
		/* An import may measure something else under that name. */
		f->unlike |= f->has_unit && f->unit != m->unit;
		f->has_unit = true;
		f->unit = m->unit;
		/* Of several nodes it is the same each time. */
		if (isnan(f->value[run]))
			f->value[run] = mean->of(s, m->name);
		if (!isfinite(f->value[run]))
			f->value[run] = NAN;
	}
}

/* Of code that has little the estimate is rough. */
static void add_owner(struct comparison *x, const char *function, double bytes, double all,
		      uint32_t run)
{
	const double least = 1 << 20, leads = 0.05;
	struct comparison_figure *f;
	char name[256];

	snprintf(name, sizeof name, "memory(%.200s)", function);
	f = bytes >= least ? figure_at(x, x->nfigures, name) : NULL;
	if (!f)
		return;
	f->unit = UNIT_BYTES;
	f->less_is_better = f->of_code = true;
	f->leads |= bytes >= leads * all;
	f->value[run] = (isnan(f->value[run]) ? 0 : f->value[run]) + bytes;
}

/* What each function had touched of the memory of the peak. */
static void add_owners(struct comparison *x, const struct summary *s, uint32_t run)
{
	const struct owners *o = s->touched && s->touched->peak ? &s->touched->owners : NULL;

	x->run[run].touched = o && o->resident[OWNERS_PEAK] > 0;
	if (!x->run[run].touched)
		return;
	for (uint32_t i = 0; i < o->n; i++)
		add_owner(x, o->row[i].function->name, o->row[i].resident[OWNERS_PEAK],
			  o->resident[OWNERS_PEAK], run);
	add_owner(x, "without samples", o->unseen[OWNERS_PEAK], o->resident[OWNERS_PEAK], run);
}

/* A run that knows the code of its memory has none of what is not there. */
static void settle_owners(const struct comparison *x, struct comparison_figure *f)
{
	for (uint32_t i = 0; i < x->nruns && f->of_code; i++)
		if (x->run[i].touched && isnan(f->value[i]))
			f->value[i] = 0;
}

/* The unit of a quantity that is a figure or a metric by itself. */
struct unit_search {
	const struct summary *s;
	enum unit unit;
	unsigned names;
};

static void find_unit(void *ctx, const char *function, const char *name)
{
	struct unit_search *u = ctx;
	const struct variable *v = function ? NULL : variable_find(name);

	u->unit = v ? v->unit : UNIT_ONE;
	if (function && !strcmp(function, "time"))
		u->unit = UNIT_SECONDS;
	if (function && !strcmp(function, "memory"))
		u->unit = UNIT_BYTES;
	for (uint32_t i = 0; function && i < u->s->nmetrics; i++)
		if (!strncmp(u->s->metrics[i].name, name, strlen(name)) &&
		    strchr("[", u->s->metrics[i].name[strlen(name)]))
			u->unit = u->s->metrics[i].unit;
	u->names++;
}

static void add_conditions(struct comparison *x, const struct summary *s, uint32_t run)
{
	for (uint32_t i = 0; i < x->nconditions; i++) {
		struct comparison_condition *c = &x->condition[i];
		struct expr_value v =
			expr_eval(c->expression, variable_lookup, (void *)(uintptr_t)s);
		struct unit_search u = { .s = s };

		c->figure.value[run] = v.known ? v.v : NAN;
		expr_names(c->expression, find_unit, &u);
		/* Alone, or with a function around it: then nothing else is in the text. */
		if (u.names == 1 && !c->quantity[strcspn(c->quantity, " +-*/<>=")] && v.known)
			c->figure.unit = u.unit;
	}
}

static const char *keep(struct comparison *x, const char *text)
{
	const char *kept = text ? pool_text(&x->pool, text, strlen(text)) : NULL;

	x->failed |= text && !kept;
	return kept;
}

int comparison_add_run(struct comparison *x, enum comparison_group group, const struct run *r,
		       const struct summary *s)
{
	struct comparison_run *run = &x->run[x->nruns];

	if (x->failed || x->nruns == x->capacity)
		return -ENOMEM;
	*run = (struct comparison_run){
		.path = keep(x, s->path),
		.command = keep(x, s->command),
		.memory_kind = keep(x, s->peak_memory_kind),
		.energy_of = keep(x, s->energy_of),
		.group = group,
		.start_utc_ns = s->start_utc_ns,
		.hosts = s->nhosts,
		.stacks = s->code && s->code->stacks && s->code->stacks->total > 0,
	};
	add_leading(x, s, x->nruns);
	add_means(x, s, x->nruns);
	add_owners(x, s, x->nruns);
	add_conditions(x, s, x->nruns);
	if (group != GROUP_HISTORY) {
		comparison_say(x, r, group);
		comparison_say_inputs(x, s->files_used, group);
		blame_add(x->blame, group == GROUP_B, r, s);
	}
	x->n[group]++;
	x->nruns++;
	return x->failed ? -ENOMEM : 0;
}

/* ---- what is no recording ---- */

struct values {
	const struct comparison_value *value;
	uint32_t n;
};

static const struct comparison_value *value_find(const struct values *v, const char *name)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (!strcmp(v->value[i].name, name))
			return &v->value[i];
	return NULL;
}

static struct expr_value value_lookup(void *ctx, const char *function, const char *name)
{
	const struct comparison_value *found = function ? NULL : value_find(ctx, name);
	bool known = found && isfinite(found->v);

	return (struct expr_value){ .known = known, .v = known ? found->v : 0 };
}

static void add_value_conditions(struct comparison *x, struct values *v, uint32_t run)
{
	for (uint32_t i = 0; i < x->nconditions; i++) {
		struct comparison_condition *c = &x->condition[i];
		const struct comparison_value *alone = value_find(v, c->quantity);
		struct expr_value value = expr_eval(c->expression, value_lookup, v);

		c->figure.value[run] = value.known ? value.v : NAN;
		if (alone)
			c->figure.unit = alone->unit;
		if (alone && alone->unit == UNIT_ONE && !c->figure.unit_text)
			c->figure.unit_text = keep(x, alone->unit_text);
	}
}

int comparison_add_values(struct comparison *x, const struct comparison_run *run,
			  const struct comparison_value *value, uint32_t n)
{
	struct values v = { value, n };

	if (x->failed || x->nruns == x->capacity)
		return -ENOMEM;
	x->run[x->nruns] = *run;
	x->run[x->nruns].path = keep(x, run->path);
	x->run[x->nruns].command = keep(x, run->command);
	for (uint32_t i = 0; i < n; i++) {
		struct comparison_figure *f = figure_at(x, i, value[i].name);

		if (!f)
			continue;
		f->unit = value[i].unit;
		if (!f->unit_text && value[i].unit == UNIT_ONE)
			f->unit_text = keep(x, value[i].unit_text);
		f->less_is_better = value[i].less_is_better;
		f->more_is_better = value[i].more_is_better;
		f->leads = value[i].leads;
		f->value[x->nruns] = isfinite(value[i].v) ? value[i].v : (double)NAN;
	}
	add_value_conditions(x, &v, x->nruns);
	x->n[run->group]++;
	x->nruns++;
	return x->failed ? -ENOMEM : 0;
}

/* ---- judging ---- */

/* Figures that are measured in one of several ways, each of which gives another number. */
static const struct {
	const char *figure;
	size_t way; /* of a const char * in struct comparison_run */
} in_ways[] = {
	{ "peak_memory_bytes", offsetof(struct comparison_run, memory_kind) },
	{ "energy_joules", offsetof(struct comparison_run, energy_of) },
	{ "energy_apportioned_joules", offsetof(struct comparison_run, energy_of) },
};

static const char *way_of(const struct comparison_run *run, size_t way)
{
	const char *text;

	memcpy(&text, (const char *)run + way, sizeof text);
	return text;
}

struct past {
	const struct history *history;
	const struct history_run *run;
};

static struct expr_value past_figure(void *ctx, const char *function, const char *name)
{
	const struct past *p = ctx;
	double v = function ? NAN : history_figure(p->history, p->run, name);

	return (struct expr_value){ !isnan(v), isnan(v) ? 0 : v };
}

/* A figure that the run may have measured in another way than the others is not known of it. */
static void forget_unknown_ways(struct comparison *x, uint32_t run)
{
	for (size_t k = 0; k < sizeof in_ways / sizeof in_ways[0]; k++) {
		if (way_of(&x->run[run], in_ways[k].way))
			continue;
		comparison_figure(x, in_ways[k].figure)->value[run] = NAN;
		for (uint32_t i = 0; i < x->nconditions; i++)
			if (strstr(x->condition[i].quantity, in_ways[k].figure))
				x->condition[i].figure.value[run] = NAN;
	}
}

int comparison_add_past(struct comparison *x, const struct history *h, const struct history_run *r)
{
	struct past p = { h, r };
	double nodes = history_figure(h, r, "nodes");

	if (x->failed || x->nruns == x->capacity)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->nruns; i++)
		if (x->run[i].start_utc_ns == r->start_ns)
			return 0;
	x->run[x->nruns] = (struct comparison_run){
		.path = keep(x, r->text[HISTORY_PATH]),
		.command = keep(x, r->text[HISTORY_COMMAND]),
		.memory_kind = keep(x, history_said(h, r, "peak_memory_kind")),
		.group = GROUP_HISTORY,
		.start_utc_ns = r->start_ns,
		.hosts = nodes > 0 && nodes < UINT32_MAX ? (uint32_t)nodes : 0
	};
	for (uint32_t i = 0; i < LEADING; i++) {
		struct comparison_figure *f = figure_at(x, i, leading[i].name);

		if (!f)
			return -ENOMEM;
		f->value[x->nruns] = history_figure(h, r, f->name);
	}
	for (uint32_t i = 0; i < x->nconditions; i++) {
		struct expr_value v = expr_eval(x->condition[i].expression, past_figure, &p);

		x->condition[i].figure.value[x->nruns] = v.known ? v.v : NAN;
	}
	forget_unknown_ways(x, x->nruns);
	x->n[GROUP_HISTORY]++;
	x->nruns++;
	return x->failed ? -ENOMEM : 0;
}

/* How many runs of a group were measured in that way. */
static uint32_t count_way(const struct comparison *x, enum comparison_group group, size_t way,
			  const char *like)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->nruns; i++) {
		const char *this = way_of(&x->run[i], way);

		n += x->run[i].group == group && this && !strcmp(this, like);
	}
	return n;
}

/* The way that most runs of the group with fewer of them were measured in; NULL: none is known. */
static const char *common_way(const struct comparison *x, size_t way, bool *in_both)
{
	const char *best = NULL;
	uint32_t most = 0;

	for (uint32_t i = 0; i < x->nruns; i++) {
		const char *this = way_of(&x->run[i], way);
		uint32_t a = this ? count_way(x, GROUP_A, way, this) : 0;
		uint32_t b = this ? count_way(x, GROUP_B, way, this) : 0;

		if (!this || (best && (a < b ? a : b) <= most))
			continue;
		best = this;
		most = a < b ? a : b;
	}
	*in_both = most > 0;
	return best;
}

/* The values of runs that were measured in another way are left out. */
static void leave_out(const struct comparison *x, struct comparison_figure *f, size_t way,
		      const char *common, bool in_both)
{
	uint32_t others = 0;

	for (uint32_t i = 0; i < x->nruns; i++) {
		const char *this = way_of(&x->run[i], way);

		if (!this || !strcmp(this, common))
			continue;
		others += x->run[i].group != GROUP_HISTORY && isfinite(f->value[i]);
		f->value[i] = in_both ? NAN : f->value[i];
	}
	f->unlike = others && !in_both;
	f->left_out = f->unlike ? 0 : others;
}

static void mark_unlike(struct comparison *x)
{
	for (size_t k = 0; k < sizeof in_ways / sizeof in_ways[0]; k++) {
		struct comparison_figure *f = comparison_figure(x, in_ways[k].figure);
		bool in_both;
		const char *common = common_way(x, in_ways[k].way, &in_both);

		if (f && common)
			leave_out(x, f, in_ways[k].way, common, in_both);
		for (uint32_t i = 0; common && i < x->nconditions; i++)
			if (strstr(x->condition[i].quantity, in_ways[k].figure))
				leave_out(x, &x->condition[i].figure, in_ways[k].way, common,
					  in_both);
	}
}

/* A group's values of a figure, in the order of the runs. */
static uint32_t gather(const struct comparison *x, const struct comparison_figure *f,
		       enum comparison_group group, double *value, int64_t *at)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->nruns; i++) {
		if (x->run[i].group != group || !isfinite(f->value[i]))
			continue;
		at[n] = x->run[i].start_utc_ns;
		value[n++] = f->value[i];
	}
	return n;
}

/* value and at have room for all runs of each group. */
static int judge_figure(struct comparison *x, struct comparison_figure *f, struct compare_wish *w,
			double *value, int64_t *at)
{
	uint32_t na = gather(x, f, GROUP_A, value, at);
	uint32_t nb = gather(x, f, GROUP_B, value + na, at + na);
	uint32_t nh = gather(x, f, GROUP_HISTORY, value + na + nb, at + na + nb);
	bool timed = !x->independent;
	int rc;

	if (f->unlike)
		na = nb = 0;
	f->history = 0;
	if (nh >= HISTORY_LEAST && (na == 1 || nb == 1)) {
		w->spread = describe(value + na + nb, nh).sd;
		w->spread_df = nh - 1;
		f->history = nh;
	}
	for (uint32_t i = 0; i < na + nb; i++)
		timed = timed && at[i] != 0;
	rc = compare_groups(&f->result, &(struct sample_group){ value, timed ? at : NULL, na },
			    &(struct sample_group){ value + na, timed ? at + na : NULL, nb }, w);
	if (!rc && f->result.spread > 0)
		f->repeats = compare_repeats(f->result.spread, f->result.margin, w->level);
	return rc;
}

int comparison_judge(struct comparison *x)
{
	double *value = calloc(x->nruns + 1u, sizeof *value);
	int64_t *at = calloc(x->nruns + 1u, sizeof *at);

	x->failed |= !value || !at || comparison_facts(x);
	for (struct blame *b = x->blame; b < x->blame + BLAME_SUBJECTS; b++) {
		b->independent = x->independent;
		x->failed |= blame_judge(b) != 0;
	}
	mark_unlike(x);
	for (uint32_t i = 0; !x->failed && i < x->nfigures; i++) {
		struct comparison_figure *f = &x->figure[i];
		struct compare_wish w = { .margin_ratio = x->margin, .level = x->level };

		settle_owners(x, f);
		w.margin_absolute = comparison_floor_of(x, f->name, f->unit);
		x->failed |= judge_figure(x, f, &w, value, at) != 0;
	}
	for (uint32_t i = 0; !x->failed && i < x->nconditions; i++) {
		struct comparison_condition *c = &x->condition[i];
		struct compare_wish w = { .level = x->level };

		comparison_settle_times(x, c);
		w.margin_ratio = c->relative ? c->threshold : 0;
		w.margin_absolute = fmax(c->relative ? 0 : c->threshold,
					 comparison_floor_of(x, c->quantity, c->figure.unit));
		x->failed |= judge_figure(x, &c->figure, &w, value, at) != 0;
	}
	if (!x->failed)
		comparison_judge_gate(x);
	free(value);
	free(at);
	return x->failed ? -ENOMEM : 0;
}
