/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/series.h"

#include "base/clock.h"
#include "chart/charts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what differs ---- */

static void say(struct comparison *x, const char *key, const char *text, enum comparison_group g)
{
	if (text)
		comparison_say_text(x, key, text, g);
}

/* All that is known of what a trial ran on. */
static void say_trial(struct comparison *x, const struct campaign *c, uint32_t trial,
		      enum comparison_group g)
{
	const struct bench_environment *v = campaign_environment(c, trial);
	char key[96];

	for (uint32_t i = 0; v && i < v->n; i++)
		say(x, v->fact[i].name, v->fact[i].text, g);
	for (uint32_t i = 0; i < c->g.nparameters; i++) {
		snprintf(key, sizeof key, "parameter.%s", c->g.parameter[i].name);
		say(x, key, c->g.parameter[i].text[trial], g);
	}
	say(x, "script", c->g.row[trial].version, g);
	say(x, "component", c->g.row[trial].component, g);
	say(x, "node.host", c->g.row[trial].host, g);
}

uint32_t series_before(const struct series *s, const struct change *x)
{
	return s->trial[x->low - 1];
}

uint32_t series_after(const struct series *s, const struct change *x)
{
	return s->trial[x->high];
}

static int find_differences(struct series *s, const struct campaign *c)
{
	s->difference = calloc(s->changes.n + 1u, sizeof *s->difference);
	if (!s->difference)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->changes.n; i++) {
		struct comparison *x = &s->difference[i];

		comparison_init(x);
		say_trial(x, c, series_before(s, &s->changes.change[i]), GROUP_A);
		say_trial(x, c, series_after(s, &s->changes.change[i]), GROUP_B);
		if (comparison_facts(x))
			return -ENOMEM;
	}
	return 0;
}

/* ---- the series ---- */

static void take_values(struct series *s, const struct campaign *c, const struct bench_figure *f)
{
	for (uint32_t i = 0; i < s->group->n; i++) {
		uint32_t trial = s->group->trial[i];

		if (c->g.row[trial].reason) {
			s->nfailed++;
		} else if (!isfinite(f->value[trial])) {
			s->nwithout++;
		} else {
			s->value[s->n] = f->value[trial];
			s->trial[s->n++] = trial;
		}
	}
	if (s->n > CHANGE_MOST) {
		s->nskipped = s->n - CHANGE_MOST;
		s->n = CHANGE_MOST;
		memmove(s->value, s->value + s->nskipped, s->n * sizeof *s->value);
		memmove(s->trial, s->trial + s->nskipped, s->n * sizeof *s->trial);
	}
}

int series_make(struct series *s, const struct campaign *c, const struct campaign_group *group,
		const struct bench_figure *f, struct err *e)
{
	int rc = -ENOMEM;

	*s = (struct series){ .group = group };
	s->value = calloc(group->n + 1u, sizeof *s->value);
	s->trial = calloc(group->n + 1u, sizeof *s->trial);
	if (s->value && s->trial) {
		take_values(s, c, f);
		rc = changes_find(&s->changes, s->value, s->n);
	}
	if (!rc)
		rc = find_differences(s, c);
	return rc ? err_set(e, rc, "out of memory for a series of trials") : 0;
}

void series_free(struct series *s)
{
	for (uint32_t i = 0; s->difference && i < s->changes.n; i++)
		comparison_free(&s->difference[i]);
	free(s->difference);
	changes_free(&s->changes);
	free(s->value);
	free(s->trial);
	*s = (struct series){ 0 };
}

const char *series_word(const struct bench_figure *f, const struct change *x)
{
	bool more = x->difference > 0;

	if (f->sense == BENCH_NEITHER)
		return more ? "more" : "less";
	return more == (f->sense == BENCH_MORE_IS_BETTER) ? "better" : "worse";
}

/* ---- drawing ---- */

static void put_levels(struct level *level, const struct series *s)
{
	const struct changes *c = &s->changes;

	for (uint32_t i = 0; i <= c->n; i++)
		level[i] = (struct level){
			.from = i ? c->change[i - 1].at : 0,
			.to = i < c->n ? c->change[i].at : s->n,
			.value = i ? c->change[i - 1].after : c->change[0].before,
			.low = i ? c->change[i - 1].low : 0,
			.high = i ? c->change[i - 1].high : 0,
		};
}

int series_draw(const struct series *s, const struct campaign *c, const struct bench_figure *f,
		struct bytes *drawing, const struct box *at)
{
	struct level *level = calloc(s->changes.n + 1u, sizeof *level);
	char title[300], from[40] = "?", to[40] = "?", x_title[120];

	if (!level)
		return -ENOMEM;
	if (s->changes.n)
		put_levels(level, s);
	if (s->n) {
		clock_iso(c->g.row[s->trial[0]].start_ns / NS_PER_S * NS_PER_S, from, sizeof from);
		clock_iso(c->g.row[s->trial[s->n - 1]].start_ns / NS_PER_S * NS_PER_S, to,
			  sizeof to);
	}
	snprintf(title, sizeof title, "%s: %s%s%s%s", c->g.indicator, f->name, f->unit ? " [" : "",
		 f->unit ? f->unit : "", f->unit ? "]" : "");
	snprintf(x_title, sizeof x_title, "trials in the order of their start, %s to %s", from, to);
	level_chart_draw(drawing, at,
			 &(struct level_chart){ .title = title,
						.note = s->group->label,
						.x_title = x_title,
						.unit = bench_unit(f),
						.value = s->value,
						.n = s->n,
						.level = level,
						.nlevels = s->changes.n ? s->changes.n + 1 : 0 });
	free(level);
	return 0;
}
