/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - the steps of a job, for a terminal and as JSON. */
#include "report/steps/steps.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "core/stacks/symbol.h"

#include <math.h>

enum { CELL = 64, SHOWN = 12 };

const char *const step_kind_names[STEP_KINDS] = {
	[STEP_PLAIN] = "plain", [STEP_WARM_UP] = "warm-up", [STEP_CHECKPOINT] = "checkpoint",
	[STEP_SLOW] = "slow",   [STEP_SHORT] = "short",
};

const char *const steps_source_words[STEPS_SOURCES] = {
	[STEPS_OF_SAMPLES] = "Found in samples",
	[STEPS_OF_SPANS] = "Spans",
	[STEPS_OF_MARKS] = "From mark to mark",
	[STEPS_OF_STARTS] = "From start to start of a process",
	[STEPS_OF_CALLS] = "From call to call",
};
static const char *const source_names[STEPS_SOURCES] = {
	[STEPS_OF_SAMPLES] = "samples", [STEPS_OF_SPANS] = "spans", [STEPS_OF_MARKS] = "marks",
	[STEPS_OF_STARTS] = "starts",   [STEPS_OF_CALLS] = "calls",
};

static const char *wait_words(enum waiting_part part)
{
	switch (part) {
	case WAITING_ON_CPU:
		return "on a CPU";
	case WAITING_READY:
		return "ready, but without a core";
	case WAITING_UNSEEN:
		return "waits that no look saw";
	case WAITING_FORBIDDEN:
		return "waits that may not be read";
	default:
		return wait_kind_words((enum wait_kind)((int)part - WAITING_FIRST_KIND));
	}
}

static const char *seconds(double v, char out[CELL])
{
	return unit_format(UNIT_SECONDS, v, out, CELL);
}

void step_growth_words(const struct step_growth *g, struct bytes *out)
{
	const char *module = symbol_base(g->module);
	bool waits = g->kind == SAMPLE_WAITS;

	bytes_puts(out, waits ? wait_words(g->part) : "CPU time in ");
	if (*g->function)
		bytes_printf(out, "%s%s", waits ? " in " : "", g->function);
	else if (!waits)
		bytes_puts(out, "unknown code");
	if (*module && *module != '[')
		bytes_printf(out, " (%s)", module);
}

static void growth_words(const struct step_growth *g, struct bytes *out)
{
	char here[CELL], usual[CELL];

	step_growth_words(g, out);
	bytes_printf(out, " %s, usually %s", seconds(g->here_s, here), seconds(g->usual_s, usual));
}

void step_words(const struct step *p, struct bytes *out)
{
	for (uint32_t i = 0; i < p->ndifferent; i++) {
		const struct step_difference *d = &p->different[i];
		const struct step_measure *m = &step_measures[d->measure];
		char here[CELL], usual[CELL];

		bytes_printf(out, "%s%s %s, usually %s", i ? "; " : "", m->label,
			     unit_format(m->unit, d->here, here, CELL),
			     unit_format(m->unit, d->usual, usual, CELL));
	}
	if (p->grew.function) {
		bytes_puts(out, p->ndifferent ? "; " : "");
		growth_words(&p->grew, out);
	}
}

void steps_words(const struct steps *x, struct bytes *out)
{
	char mean[CELL], low[CELL], high[CELL];

	if (!x || !x->n)
		return;
	bytes_printf(out, "%u of %s (nine of ten %s to %s)", x->n, seconds(x->mean_s, mean),
		     seconds(x->low_s, low), seconds(x->high_s, high));
	if (x->count[STEP_CHECKPOINT])
		bytes_printf(out, "; %u with a checkpoint", x->count[STEP_CHECKPOINT]);
	if (x->count[STEP_SLOW])
		bytes_printf(out, "; %u slow", x->count[STEP_SLOW]);
	if (x->ngrew && x->grew[0].of == STEP_SLOW) {
		bytes_puts(out, ", in which grew: ");
		growth_words(&x->grew[0], out);
	}
}

static void source_text(struct bytes *b, const struct steps *x)
{
	char name[STEP_NAME * 4], interval[CELL];

	if (*x->name)
		bytes_printf(b, "%s: %s\n", steps_source_words[x->source],
			     escape_terminal_into(name, sizeof name, x->name));
	else
		bytes_printf(b, "Found in %s, sampled every %s\n", x->metric,
			     seconds(x->interval_s, interval));
}

static void figures_text(struct bytes *b, const struct steps *x)
{
	char v[4][CELL];

	bytes_printf(b, "%10s  mean of plain steps, +- %s; median %s\n", seconds(x->mean_s, v[0]),
		     isnan(x->error_s) ? "-" : seconds(x->error_s, v[1]),
		     seconds(x->median_s, v[2]));
	bytes_printf(b, "%10s  to %s: nine of ten; standard deviation %.1f %%\n",
		     seconds(x->low_s, v[0]), seconds(x->high_s, v[1]), 100 * x->spread_ratio);
	bytes_printf(b, "%10s  before the first step\n", seconds(x->before_s, v[0]));
	bytes_printf(b, "%10u  plain", x->count[STEP_PLAIN]);
	for (int k = STEP_WARM_UP; k < STEP_KINDS; k++)
		if (x->count[k])
			bytes_printf(b, ", %u %s", x->count[k], step_kind_names[k]);
	bytes_puts(b, "\n");
	if (x->checkpoint_s > 0)
		bytes_printf(b, "%10s  longer with a checkpoint", seconds(x->checkpoint_s, v[0]));
	if (x->checkpoint_s > 0 && x->every > 0)
		bytes_printf(b, ", every %.0f steps", x->every);
	if (x->checkpoint_s > 0)
		bytes_puts(b, "\n");
}

static void step_row(struct bytes *b, const struct step *p, uint32_t i)
{
	struct bytes words = { 0 };
	char at[CELL], length[CELL];

	step_words(p, &words);
	bytes_u8(&words, '\0');
	bytes_printf(b, "%6u %10s %10s  %-10s  ", i + 1, seconds(p->from_s, at),
		     seconds(p->to_s - p->from_s, length), step_kind_names[p->kind]);
	if (!words.failed)
		escape_terminal(b, (const char *)words.data);
	bytes_puts(b, "\n");
	b->failed |= words.failed;
	bytes_free(&words);
}

static void growth_text(struct bytes *b, const struct step_growth *g, struct bytes *words)
{
	char by[CELL], usual[CELL];

	bytes_u8(words, '\0');
	b->failed |= words->failed;
	bytes_printf(b, "%10s  ", seconds(g->here_s - g->usual_s, by));
	if (!words->failed)
		escape_terminal(b, (const char *)words->data);
	bytes_printf(b, "; usually %s\n", seconds(g->usual_s, usual));
}

/* What grew in slow steps, then in those with a checkpoint. */
static void growths_text(struct bytes *b, const struct steps *x)
{
	for (uint32_t i = 0; i < x->ngrew; i++) {
		struct bytes words = { 0 };

		if (!i || x->grew[i].of != x->grew[i - 1].of)
			bytes_printf(b, "\n%10s  %s\n", "+ a step",
				     x->grew[i].of == STEP_SLOW
					     ? "grew in slow steps: code, waits"
					     : "grew in steps with a checkpoint: code, waits");
		step_growth_words(&x->grew[i], &words);
		growth_text(b, &x->grew[i], &words);
		bytes_free(&words);
	}
}

/* Those that are not plain; with all, every one. */
static void rows_text(struct bytes *b, const struct steps *x, bool all)
{
	uint32_t shown = 0, more = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		if (!all && x->step[i].kind == STEP_PLAIN)
			continue;
		if (!all && shown == SHOWN) {
			more++;
			continue;
		}
		if (!shown++)
			bytes_printf(b, "\n%6s %10s %10s  %-10s  %s\n", "step", "at", "took",
				     "kind", "what was different");
		step_row(b, &x->step[i], i);
	}
	if (more)
		bytes_printf(b, "and %u more that are not plain: --all\n", more);
}

void steps_text(struct bytes *b, const struct steps *x, const struct run *r, bool all)
{
	char host[CELL];

	if (!x->n)
		return;
	bytes_printf(b, "%u steps", x->n);
	if (x->node && r->nodes[x->node].host && r->nnodes > 2)
		bytes_printf(b, " on %s",
			     escape_terminal_into(host, sizeof host, r->nodes[x->node].host));
	bytes_puts(b, ". ");
	source_text(b, x);
	figures_text(b, x);
	growths_text(b, x);
	rows_text(b, x, all);
}

static void differences_json(struct json *j, const struct step *p)
{
	json_key(j, "different");
	json_array(j);
	for (uint32_t i = 0; i < p->ndifferent; i++) {
		const struct step_measure *m = &step_measures[p->different[i].measure];

		json_object(j);
		json_put_text(j, "what", m->label);
		json_put_text(j, "metric", m->metric);
		json_put_text(j, "unit", unit_name(m->unit));
		json_put_real(j, "mean", p->different[i].here);
		json_put_real(j, "usual", p->different[i].usual);
		json_object_end(j);
	}
	json_array_end(j);
}

static void growth_json(struct json *j, const struct step_growth *g)
{
	json_object(j);
	json_put_text(j, "in", step_kind_names[g->of]);
	json_put_text(j, "kind",
		      g->kind == SAMPLE_WAITS    ? "wait"
		      : g->kind == SAMPLE_PYTHON ? "python"
						 : "code");
	json_put_text(j, "wait", g->kind == SAMPLE_WAITS ? wait_words(g->part) : NULL);
	json_put_text(j, "function", *g->function ? g->function : NULL);
	json_put_text(j, "module", *g->module ? g->module : NULL);
	json_put_real(j, "seconds", g->here_s);
	json_put_real(j, "usual_seconds", g->usual_s);
	json_object_end(j);
}

static void growths_json(struct json *j, const struct steps *x)
{
	json_key(j, "grew");
	json_array(j);
	for (uint32_t i = 0; i < x->ngrew; i++)
		growth_json(j, &x->grew[i]);
	json_array_end(j);
}

static void figures_json(struct json *j, const struct steps *x)
{
	json_put_real(j, "mean_seconds", x->mean_s);
	json_put_real(j, "mean_error_seconds", x->error_s);
	json_put_real(j, "median_seconds", x->median_s);
	json_put_real(j, "low_seconds", x->low_s);
	json_put_real(j, "high_seconds", x->high_s);
	json_put_real(j, "spread_ratio", x->spread_ratio);
	json_put_real(j, "before_seconds", x->before_s);
	json_put_real(j, "checkpoint_every", x->every);
	json_put_real(j, "checkpoint_seconds", x->checkpoint_s);
}

void steps_json(struct bytes *b, const struct steps *x, const struct run *r)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", "sonde/steps/1");
	json_put_text(&j, "recording", r->path);
	json_put_text(&j, "host", x->n && x->node ? r->nodes[x->node].host : NULL);
	json_put_text(&j, "found_in", x->n ? source_names[x->source] : NULL);
	json_put_text(&j, "name", *x->name ? x->name : NULL);
	json_put_text(&j, "metric", x->metric);
	json_put_real(&j, "interval_seconds", x->interval_s);
	json_key(&j, "counts");
	json_object(&j);
	for (int k = 0; k < STEP_KINDS; k++)
		json_put_int(&j, step_kind_names[k], x->count[k]);
	json_object_end(&j);
	figures_json(&j, x);
	growths_json(&j, x);
	json_key(&j, "steps");
	json_array(&j);
	for (uint32_t i = 0; i < x->n; i++) {
		json_object(&j);
		json_put_real(&j, "from_seconds", x->step[i].from_s);
		json_put_real(&j, "to_seconds", x->step[i].to_s);
		json_put_text(&j, "kind", step_kind_names[x->step[i].kind]);
		differences_json(&j, &x->step[i]);
		json_key(&j, "grew");
		if (x->step[i].grew.function)
			growth_json(&j, &x->step[i].grew);
		else
			json_null(&j);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	bytes_puts(b, "\n");
}
