/* SPDX-License-Identifier: Apache-2.0 */
/* bench_advise.c - what is best of what was tried, how sure that is, and what to try next. */
#include "base/text/escape.h"
#include "bench/advice.h"
#include "console/command.h"
#include "core/glob.h"
#include "report/comparison/comparison.h"
#include "trial/benchprint.h"
#include "trial/lockfile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct advise_options {
	struct benchask ask;
	struct option_list constraint;
	const char *hardware, *margin, *better, *spec, *lock;
	bool json;
};

static const struct option rows[] = {
	BENCHASK_ROWS(struct advise_options),
	{ .name = "hardware",
	  .type = ARG_TEXT,
	  .value = "GLOB",
	  .help = "Use trials on machines whose processor, GPU or host matches: '*EPYC*'. "
		  "Default: the machine of the newest trial.",
	  OPTION_OFFSET(struct advise_options, hardware) },
	{ .name = "constraint",
	  .type = ARG_LIST,
	  .value = "CONDITION",
	  .help = "Consider only combinations that meet this in every successful trial, such as "
		  "'peak_memory_bytes<4G'. Repeatable.",
	  OPTION_OFFSET(struct advise_options, constraint) },
	{ .name = "margin",
	  .type = ARG_TEXT,
	  .value = "PERCENT",
	  .fallback = "5%",
	  .help = "Treat smaller differences as a tie.",
	  OPTION_OFFSET(struct advise_options, margin) },
	{ .name = "better",
	  .type = ARG_TEXT,
	  .value = "LESS|MORE",
	  .help = "Which direction of the figure is better, if neither its unit nor its model "
		  "defines it: less or more.",
	  OPTION_OFFSET(struct advise_options, better) },
	{ .name = "spec",
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "Also write what to try next to FILE, as a specification for sonde bench sweep.",
	  OPTION_OFFSET(struct advise_options, spec) },
	{ .name = "lock",
	  .type = ARG_TEXT,
	  .value = "FILE",
	  .help = "Also write the packages of the leading combination to FILE, as requirements "
		  "for pip.",
	  OPTION_OFFSET(struct advise_options, lock) },
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the advice as JSON, schema sonde/bench-advise/1.",
	  OPTION_OFFSET(struct advise_options, json) },
};

static const struct example examples[] = {
	{ "bench advise PiMatmul", "by its score, or its first result" },
	{ "bench advise PiMatmul -c elapsed --constraint 'peak_memory_bytes<4G'",
	  "with a memory limit" },
	{ "bench advise PiMatmul --spec next.yaml --lock requirements.txt",
	  "what to try next, and the best packages, as files" },
};

struct answer {
	const struct advise_options *o;
	struct campaign c;
	struct campaign_groups groups;
	const struct bench_figure *figure;
	struct campaign_condition constraint[ADVICE_CONSTRAINTS];
	struct advice_wish wish;
	struct advice advice;
	char machine[200]; /* hostile */
	uint32_t others;   /* trials on other machines */
	struct campaign_groups workloads;
	struct best *best; /* [workloads.n] */
	uint32_t shown;    /* the workload that groups and advice are of */
};

/* What is best of a workload. */
struct best {
	const char *label; /* of the combination; NULL: there is none */
	double value;
	uint32_t n, tried;
	enum advice_verdict verdict;
};

/* ---- one machine ---- */

static const char *const machine_names[] = { "host.cpu_model", "hwinfo.cpu_info.brand_raw",
					     "runtime_environment.hardware.cpu_model", "host" };
enum { MACHINE_NAMES = sizeof machine_names / sizeof machine_names[0] };

static bool is_hardware(const struct campaign *c, uint32_t trial, const char *glob)
{
	const struct bench_environment *v = campaign_environment(c, trial);

	for (size_t i = 0; i < MACHINE_NAMES; i++) {
		const char *text = campaign_text(c, trial, machine_names[i]);

		if (text && glob_match(glob, text))
			return true;
	}
	for (uint32_t i = 0; v && i < v->n; i++)
		if (glob_match("host.gpu*.model", v->fact[i].name) &&
		    glob_match(glob, v->fact[i].text))
			return true;
	return false;
}

/* Of all that are left only the machine of the newest trial stays. */
static int choose_machine(struct answer *a, struct err *e)
{
	struct campaign_groups machines;
	const struct campaign_group *newest = NULL;
	const char *name = NULL;
	uint32_t last = 0; /* its newest trial */
	int rc;

	for (uint32_t i = 0; i < a->c.g.ntrials && a->o->hardware; i++)
		a->c.left_out[i] |= !is_hardware(&a->c, i, a->o->hardware);
	rc = campaign_group(&machines, &a->c, CAMPAIGN_HARDWARE, e);
	for (uint32_t i = 0; i < machines.n && !rc; i++) {
		const struct campaign_group *g = &machines.group[i];

		if (g->n && (!newest || g->trial[g->n - 1] > last)) {
			last = g->trial[g->n - 1];
			newest = g;
		}
	}
	for (uint32_t i = 0; i < machines.n && newest; i++)
		for (uint32_t k = 0; k < machines.group[i].n && &machines.group[i] != newest; k++) {
			a->c.left_out[machines.group[i].trial[k]] = true;
			a->others++;
		}
	for (size_t i = 0; newest && i < MACHINE_NAMES && !name; i++)
		name = campaign_text(&a->c, last, machine_names[i]);
	snprintf(a->machine, sizeof a->machine, "%s", name ? name : "an unknown machine");
	campaign_groups_free(&machines);
	return rc;
}

/* ---- text ---- */

static void put_label(struct bytes *b, const struct candidate *x)
{
	escape_terminal(b, *x->group->label ? x->group->label : "the only combination tried");
}

/* "+3.1 to +5.0"; an end that is more than ten times as much is only said to be so. */
static void put_interval(char *out, size_t size, const struct candidate *x)
{
	if (x->high > 10)
		snprintf(out, size, "%+.1f to > +1000", 100 * x->low);
	else
		snprintf(out, size, "%+.1f to %+.1f", 100 * x->low, 100 * x->high);
}

static void verdict_text(struct bytes *b, const struct answer *a)
{
	const struct advice *v = &a->advice;
	const struct candidate *lead = v->candidate;
	uint32_t count[STANDING_NUMBER_OF] = { 0 };
	char number[64] = "", n[32] = "";

	for (uint32_t i = 0; i < v->n; i++)
		count[v->candidate[i].standing]++;
	if (v->ntaken) {
		benchask_number(a->figure, lead->centre, number, sizeof number);
		benchask_trials(lead->n, n, sizeof n);
	}
	switch (v->verdict) {
	case ADVICE_WINNER:
		bytes_puts(b, "Best: ");
		put_label(b, lead);
		bytes_printf(b, ", %s in %s. It is better than %s, with 95 %% confidence.\n",
			     number, n, v->ntaken == 2 ? "the other" : "each of the others");
		break;
	case ADVICE_TIE:
		bytes_printf(b, "A tie: %u are the same within %.3g %%. ", count[STANDING_SAME] + 1,
			     100 * a->wish.margin);
		put_label(b, lead);
		bytes_printf(b, " is one of them, %s in %s.\n", number, n);
		break;
	case ADVICE_UNDECIDED:
		if (lead->standing != STANDING_LEADS) {
			bytes_printf(b, "No winner yet: no combination has %d trials.\n",
				     ADVICE_LEAST);
			break;
		}
		bytes_puts(b, "No winner yet: ");
		put_label(b, lead);
		bytes_printf(b, " leads with %s in %s, but %u of %u others may be as good.\n",
			     number, n, count[STANDING_OPEN], v->ntaken - 1);
		break;
	case ADVICE_SINGLE:
		bytes_puts(b, "No choice: ");
		put_label(b, lead);
		bytes_printf(b, ", %s in %s.\n", number, n);
		break;
	default:
		bytes_puts(b, "No advice possible.\n");
	}
}

static void candidate_text(struct bytes *b, const struct answer *a, const struct candidate *x)
{
	char number[64], change[64] = "", interval[64] = "";

	if (!isnan(x->change))
		snprintf(change, sizeof change, "%+.1f %%", 100 * x->change);
	if (!isnan(x->change) && !isnan(x->low))
		put_interval(interval, sizeof interval, x);
	bytes_printf(b, "  %-8s %6u %6u  %12s %10s %18s  ", standing_name(x->standing), x->n,
		     x->nfailed, benchask_number(a->figure, x->centre, number, sizeof number),
		     change, interval);
	put_label(b, x);
	if (x->hopeless && x->standing == STANDING_OPEN)
		bytes_printf(b, " (more than %d trials would decide)", ADVICE_MOST);
	if (x->broken) {
		bytes_puts(b, x->standing == STANDING_REFUSED ? " (breaks " : " (does not tell ");
		escape_terminal(b, x->broken);
		bytes_puts(b, ")");
	} else if (x->reason) {
		char why[160];

		bytes_printf(b, " (failed: %s)", escape_terminal_into(why, sizeof why, x->reason));
	}
	bytes_u8(b, '\n');
}

static void step_text(struct bytes *b, const struct answer *a, uint32_t i)
{
	const struct advice_step *s = &a->advice.step[i];
	const struct candidate *x = &a->advice.candidate[s->candidate];

	bytes_printf(b, "  %u. ", i + 1);
	if (s->parameter) {
		escape_terminal(b, s->parameter);
		bytes_puts(b, "=");
		escape_terminal(b, s->value);
		bytes_printf(b, ", else as what leads, %u times: %s\n", s->repeats, s->why);
		return;
	}
	put_label(b, x);
	bytes_printf(b, ", %u more time%s: %s\n", s->repeats, s->repeats == 1 ? "" : "s", s->why);
}

static const char *workload_label(const struct answer *a, uint32_t i)
{
	const char *label = a->workloads.group[i].label;

	return *label ? label : "the only one";
}

static void workloads_text(struct bytes *b, const struct answer *a)
{
	char number[64];

	bytes_printf(b, "Best per workload:\n  %-10s %6s  %12s  %s\n", "", "TRIALS", "VALUE",
		     "WORKLOAD: BEST OF WHAT WAS TRIED");
	for (uint32_t i = 0; i < a->workloads.n; i++) {
		const struct best *x = &a->best[i];

		bytes_printf(b, "  %-10s %6u  %12s  ", advice_verdict_name(x->verdict), x->n,
			     benchask_number(a->figure, x->value, number, sizeof number));
		escape_terminal(b, workload_label(a, i));
		bytes_puts(b, ": ");
		escape_terminal(b, !x->label ? "-" : *x->label ? x->label : "the only combination");
		bytes_u8(b, '\n');
	}
	bytes_puts(b, "The newest one, ");
	escape_terminal(b, workload_label(a, a->shown));
	bytes_puts(b, "; --where selects another:\n");
}

static void text(struct bytes *b, const struct answer *a)
{
	const struct advice *v = &a->advice;

	escape_terminal(b, a->c.g.indicator);
	bytes_puts(b, ", ");
	escape_terminal(b, a->figure->name);
	if (a->figure->unit) {
		bytes_puts(b, " [");
		escape_terminal(b, a->figure->unit);
		bytes_puts(b, "]");
	}
	bytes_printf(b, ", %s is better, on ", a->wish.more_is_better ? "more" : "less");
	escape_terminal(b, a->machine);
	bytes_u8(b, '\n');
	if (a->workloads.n > 1)
		workloads_text(b, a);
	verdict_text(b, a);
	if (v->n)
		bytes_printf(b, "  %-8s %6s %6s  %12s %10s %18s  %s\n", "", "TRIALS", "FAILED",
			     "VALUE", "CHANGE", "95 % INTERVAL", "TRIED");
	for (uint32_t i = 0; i < v->n; i++)
		candidate_text(b, a, &v->candidate[i]);
	if (v->nsteps)
		bytes_puts(b, "What to try next:\n");
	for (uint32_t i = 0; i < v->nsteps; i++)
		step_text(b, a, i);
}

/* ---- JSON ---- */

static void candidate_json(struct json *j, const struct answer *a, const struct candidate *x)
{
	double lead = fabs(a->advice.candidate[0].centre);

	json_object(j);
	json_put_text(j, "label", x->group->label);
	benchask_parameters_json(j, &a->c, x->group->trial[0]);
	json_put_text(j, "component", campaign_text(&a->c, x->group->trial[0], "component"));
	json_put_text(j, "version", campaign_text(&a->c, x->group->trial[0], "version"));
	json_put_text(j, "standing", standing_name(x->standing));
	json_put_int(j, "n", x->n);
	json_put_int(j, "failed", x->nfailed);
	json_put_text(j, "reason", x->reason);
	json_put_text(j, "constraint", x->broken);
	json_put_real(j, "value", x->centre);
	json_put_real(j, "difference", lead * x->change);
	json_put_real(j, "difference_low", lead * x->low);
	json_put_real(j, "difference_high", lead * x->high);
	json_put_real(j, "ratio", 1 + x->change);
	json_put_real(j, "p", x->p);
	json_put_bool(j, "hopeless", x->hopeless && x->standing == STANDING_OPEN);
	json_key(j, "more");
	if (x->more)
		json_int(j, x->more);
	else
		json_null(j);
	json_object_end(j);
}

static void step_json(struct json *j, const struct advice_step *s)
{
	json_object(j);
	json_put_int(j, "candidate", s->candidate);
	json_put_int(j, "repeats", s->repeats);
	json_put_text(j, "parameter", s->parameter);
	json_put_text(j, "value", s->value);
	json_put_text(j, "why", s->why);
	json_object_end(j);
}

static void workloads_json(struct json *j, const struct answer *a)
{
	json_put_text(j, "workload", a->workloads.n ? a->workloads.group[a->shown].label : NULL);
	json_key(j, "workloads");
	json_array(j);
	for (uint32_t i = 0; i < a->workloads.n; i++) {
		const struct best *x = &a->best[i];

		json_object(j);
		json_put_text(j, "label", a->workloads.group[i].label);
		json_put_text(j, "verdict", advice_verdict_name(x->verdict));
		json_put_text(j, "best", x->label);
		json_put_real(j, "value", x->value);
		json_put_int(j, "n", x->n);
		json_put_int(j, "candidates", x->tried);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json(struct bytes *b, const struct answer *a)
{
	struct json j = { .out = b, .indent = true };
	const struct advice *v = &a->advice;

	json_object(&j);
	json_put_text(&j, "schema", "sonde/bench-advise/1");
	json_put_text(&j, "indicator", a->c.g.indicator);
	json_put_text(&j, "figure", a->figure->name);
	json_put_text(&j, "unit", a->figure->unit);
	json_put_text(&j, "better", a->wish.more_is_better ? "more" : "less");
	json_put_text(&j, "hardware", a->machine);
	json_put_int(&j, "trials_on_others", a->others);
	json_put_int(&j, "failed_silently", v->nsilent);
	json_put_real(&j, "margin", a->wish.margin);
	workloads_json(&j, a);
	json_put_text(&j, "verdict", advice_verdict_name(v->verdict));
	json_key(&j, "candidates");
	json_array(&j);
	for (uint32_t i = 0; i < v->n; i++)
		candidate_json(&j, a, &v->candidate[i]);
	json_array_end(&j);
	json_key(&j, "next");
	json_array(&j);
	for (uint32_t i = 0; i < v->nsteps; i++)
		step_json(&j, &v->step[i]);
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

/* ---- the command ---- */

static int parse(struct answer *a, struct err *e)
{
	const struct advise_options *o = a->o;
	bool relative;
	int rc = 0;

	if (!comparison_number(o->margin, &a->wish.margin, &relative))
		return err_set(e, -EINVAL, "option --margin takes a share such as 5%%, not '%.80s'",
			       o->margin);
	if (!relative)
		a->wish.margin /= 100;
	if (o->better && strcmp(o->better, "less") != 0 && strcmp(o->better, "more") != 0)
		return err_set(e, -EINVAL, "option --better takes less or more, not '%.80s'",
			       o->better);
	if (o->constraint.n > ADVICE_CONSTRAINTS)
		return err_set(e, -EINVAL, "more than %d constraints", ADVICE_CONSTRAINTS);
	for (uint32_t i = 0; i < o->constraint.n && !rc; i++)
		rc = campaign_condition_parse(&a->constraint[i], o->constraint.text[i], e);
	a->wish.constraint = a->constraint;
	a->wish.text = o->constraint.text;
	a->wish.nconstraints = o->constraint.n;
	return rc;
}

/* Of the trials of one workload; the others are left out for that time. */
static int advise_one(struct answer *a, const struct campaign_group *w, struct err *e)
{
	bool *others = a->c.left_out;
	bool *left_out = malloc(a->c.g.ntrials + 1u);
	int rc;

	if (!left_out)
		return err_set(e, -ENOMEM, "out of memory for the workloads");
	memset(left_out, true, a->c.g.ntrials + 1u);
	for (uint32_t i = 0; i < w->n; i++)
		left_out[w->trial[i]] = others[w->trial[i]];
	a->c.left_out = left_out;
	rc = campaign_group(&a->groups, &a->c, CAMPAIGN_PARAMETERS | CAMPAIGN_SOFTWARE, e);
	if (!rc)
		rc = advice_make(&a->advice, &a->c, &a->groups, a->figure, &a->wish, e);
	a->c.left_out = others;
	free(left_out);
	return rc;
}

static void free_one(struct answer *a)
{
	advice_free(&a->advice);
	campaign_groups_free(&a->groups);
}

static int keep_best(struct answer *a, struct best *b, struct err *e)
{
	const struct advice *v = &a->advice;
	const struct candidate *lead = v->candidate;

	*b = (struct best){ .value = NAN, .verdict = v->verdict, .tried = v->n };
	if (!v->ntaken)
		return 0;
	b->value = lead->centre;
	b->n = lead->n;
	b->label = pool_text(&a->c.pool, lead->group->label, strlen(lead->group->label));
	return b->label ? 0 : err_set(e, -ENOMEM, "out of memory for the workloads");
}

/* Each workload by itself; that of the newest trial is shown whole. */
static int advise_all(struct answer *a, struct err *e)
{
	int rc = campaign_group(&a->workloads, &a->c, CAMPAIGN_WORKLOAD, e);
	uint32_t last = 0;

	a->best = calloc(a->workloads.n + 1u, sizeof *a->best);
	if (!rc && !a->best)
		rc = err_set(e, -ENOMEM, "out of memory for the workloads");
	for (uint32_t i = 0; i < a->workloads.n && !rc; i++) {
		const struct campaign_group *w = &a->workloads.group[i];

		if (w->trial[w->n - 1] >= last) {
			last = w->trial[w->n - 1];
			a->shown = i;
		}
	}
	for (uint32_t i = 0; i < a->workloads.n && !rc; i++) {
		if (i == a->shown)
			continue;
		rc = advise_one(a, &a->workloads.group[i], e);
		if (!rc)
			rc = keep_best(a, &a->best[i], e);
		free_one(a);
	}
	if (!rc && a->workloads.n)
		rc = advise_one(a, &a->workloads.group[a->shown], e);
	return rc || !a->workloads.n ? rc : keep_best(a, &a->best[a->shown], e);
}

static int find(struct answer *a, int noperands, char **operands, struct err *e)
{
	int rc = parse(a, e);

	if (!rc)
		rc = benchask_read(&a->c, &a->figure, &a->o->ask, "bench advise",
				   noperands == 1 ? operands[0] : NULL, e);
	if (!rc && !a->o->better && a->figure->sense == BENCH_NEITHER)
		return err_set(e, -EINVAL,
			       "it is not known whether less or more of %.80s is better; use "
			       "--better",
			       a->figure->name);
	if (rc)
		return rc;
	a->wish.more_is_better = a->o->better ? !strcmp(a->o->better, "more")
					      : a->figure->sense == BENCH_MORE_IS_BETTER;
	rc = choose_machine(a, e);
	return rc ? rc : advise_all(a, e);
}

static int write_files(const struct answer *a, struct err *e)
{
	int rc = 0;

	if (a->o->lock)
		rc = advicefile_lock(a->o->lock, &a->c, &a->advice, e);
	if (!rc && a->o->spec)
		rc = advicefile_spec(a->o->spec, a->o->ask.store, &a->c, &a->advice, e);
	return rc;
}

static int advise_exec(const void *options, int noperands, char **operands)
{
	struct answer a = { .o = options };
	struct bytes b = { 0 };
	struct err e = { "" };
	int rc = find(&a, noperands, operands, &e), code;

	if (rc) {
		say("bench advise: %s", e.text);
		code = rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else {
		if (a.others)
			say("bench advise: %u trials on other machines are skipped; select "
			    "machines with --hardware",
			    a.others);
		benchask_say_silent(&a.c, "bench advise");
		benchprint_say_doubts(&a.c.g, a.c.left_out, "bench advise");
		if (a.o->json)
			json(&b, &a);
		else
			text(&b, &a);
		code = print_bytes(&b);
		rc = write_files(&a, &e);
		if (rc)
			say("bench advise: %s", e.text);
		code = rc ? EXIT_FAILED : code;
	}
	free_one(&a);
	campaign_groups_free(&a.workloads);
	free(a.best);
	campaign_free(&a.c);
	return code;
}

const struct command command_bench_advise = {
	.name = "bench advise",
	.operands = "INDICATOR|sweep:NAME|bench:ID",
	.what = "Show the best tried combination, how certain that is, and what to try next",
	.description =
		"Ranks all tried combinations of parameters and software of an indicator on one "
		"machine, best first, and compares each with the leader. A combination wins only "
		"if it is shown to be better than every other one, with 95 % confidence for all "
		"comparisons together, and only with three trials or more. Figures that are "
		"always positive are compared as ratios. Combinations shown to be equal within the margin are a "
		"tie. For the rest it prints how many more trials are needed. Failed trials are "
		"counted separately and decide nothing. A combination that violates a constraint "
		"in any other trial, or has no value for it in any, is excluded.\n\n"
		"Parameters that say what is to be done, such as matrix_size, are a workload, and "
		"no choice: each workload has its own best. A model says role=workload or "
		"role=choice; else the name decides.\n\n"
		"It also suggests what to try next: combinations that might beat the leader, most "
		"promising first; untried neighbouring values of each parameter; and one step "
		"beyond the range if the leader is at its edge.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct advise_options),
	COMMAND_EXAMPLES(examples),
	.exec = advise_exec,
};
