/* SPDX-License-Identifier: Apache-2.0 */
#include "source/perf/perf_plan.h"

#include "base/bytes.h"
#include "source/perf/perf.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sets ---- */

enum { DEVICE_COUNTERS = 4, KERNEL_COUNTERS = PERF_GROUP_EVENTS_MAX };

enum perf_place perf_event_place(const struct perf_event *ev)
{
	if (!strcmp(ev->pmu, "cpu") || !strcmp(ev->pmu, "hardware"))
		return PERF_CORE;
	if (!strcmp(ev->pmu, "software") || !strcmp(ev->pmu, "breakpoint"))
		return PERF_KERNEL;
	return PERF_DEVICE;
}

bool perf_groups_next(const char **groups, char name[PERF_NAME_MAX])
{
	const char *p = *groups;
	size_t n = strcspn(p, ",");

	if (!*p)
		return false;
	*groups = p + n + (p[n] == ',');
	n = n < PERF_NAME_MAX ? n : PERF_NAME_MAX - 1;
	for (size_t i = 0; i < n; i++)
		name[i] = p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] - 'A' + 'a') : p[i];
	name[n] = '\0';
	return true;
}

bool perf_groups_known(const struct perf_table *t, const char *name)
{
	return !strcmp(name, "auto") || !strcmp(name, "all") || perf_table_group(t, name);
}

enum wanted { NOT_WANTED, WANTED_AUTOMATIC, WANTED_ALL };

static enum wanted find_word(const char *groups, const char *group)
{
	enum wanted found = NOT_WANTED;
	char name[PERF_NAME_MAX];

	while (perf_groups_next(&groups, name)) {
		if (!strcmp(name, "all") || !strcmp(name, group))
			return WANTED_ALL;
		if (!strcmp(name, "auto"))
			found = WANTED_AUTOMATIC;
	}
	return found;
}

static bool is_cycles(const struct perf_event *ev)
{
	return !strcmp(ev->id, "cycles");
}

static bool has_fixed_cycles(const struct perf_table *t)
{
	const struct perf_group *g = perf_table_group(t, "hardware");

	for (uint32_t i = 0; g && i < g->nevents; i++)
		if (is_cycles(&g->event[i]))
			return !g->event[i].counters;
	return false;
}

static bool same_place(const struct perf_event *a, const struct perf_event *b)
{
	enum perf_place place = perf_event_place(a);

	return place == perf_event_place(b) && (place == PERF_CORE || !strcmp(a->pmu, b->pmu));
}

struct planner {
	struct perf_plan *plan;
	uint32_t core;    /* counters of a set on the core */
	bool cycles_cost; /* the watchdog has the cycles counter */
};

static uint32_t room(const struct planner *p, const struct perf_event *ev)
{
	enum perf_place place = perf_event_place(ev);

	if (place == PERF_CORE)
		return p->core;
	return place == PERF_KERNEL && strcmp(ev->pmu, "breakpoint") != 0 ? KERNEL_COUNTERS
									  : DEVICE_COUNTERS;
}

/* Into the first set of its group that has room, else into a new one. */
static int place_event(struct planner *p, const struct perf_group *g, uint32_t first, uint32_t i)
{
	struct perf_plan *plan = p->plan;
	const struct perf_event *ev = &g->event[i];
	uint32_t cost = p->cycles_cost && is_cycles(ev) ? 1 : ev->counters, k = first;

	while (k < plan->n && (!same_place(perf_set_event(&plan->set[k], 0), ev) ||
			       plan->set[k].counters + cost > room(p, ev)))
		k++;
	if (k == PERF_SETS_MAX)
		return -E2BIG;
	if (k == plan->n) {
		plan->set[k] = (struct perf_set){ .group = g, .nth = k - first + 1 };
		plan->n++;
	}
	plan->set[k].event[plan->set[k].n++] = (uint8_t)i;
	plan->set[k].counters += cost;
	return 0;
}

static int place_group(struct planner *p, const struct perf_group *g, enum wanted wanted)
{
	uint32_t first = p->plan->n;
	int bad = 0;

	for (uint32_t i = 0; i < g->nevents && !bad; i++)
		if (wanted == WANTED_ALL || g->event[i].automatic)
			bad = place_event(p, g, first, i);
	return bad;
}

int perf_plan_make(struct perf_plan *plan, const struct perf_table *t, const char *groups,
		   const struct perf_budget *budget)
{
	bool fixed = has_fixed_cycles(t);
	struct planner p = {
		.plan = plan,
		.core = budget->counters - (budget->watchdog && !fixed && budget->counters > 1),
		.cycles_cost = budget->watchdog && fixed,
	};
	int bad = 0;

	plan->n = 0;
	for (uint32_t i = 0; i < t->ngroups && !bad; i++) {
		enum wanted wanted = find_word(groups, t->group[i].name);

		if (wanted != NOT_WANTED)
			bad = place_group(&p, &t->group[i], wanted);
	}
	return bad;
}

/* ---- Rows ---- */

enum { NAME_SIZE = 2 * PERF_NAME_MAX + 32, TEXT_SIZE = 512 };

static char *keep(struct perf_rows *r, const char *text)
{
	return pool_text(&r->pool, text, strlen(text));
}

static struct metric *add(struct perf_rows *r)
{
	if (r->n == r->cap) {
		uint32_t cap = r->cap ? 2 * r->cap : 64;
		struct metric *grown = reallocarray(r->row, cap, sizeof *grown);

		if (!grown)
			return NULL;
		r->row = grown;
		r->cap = cap;
	}
	r->row[r->n] = (struct metric){ .kind = KIND_GAUGE };
	return &r->row[r->n++];
}

/* "perf.l2.enabled_seconds"; of a further set of the group "perf.l2.set2_enabled_seconds". */
static void set_name(const struct perf_set *s, const char *what, char *out, size_t size)
{
	if (s->nth == 1)
		snprintf(out, size, "perf.%s.%s", s->group->name, what);
	else
		snprintf(out, size, "perf.%s.set%u_%s", s->group->name, s->nth, what);
}

/* The rest of a row whose name is set: as in the catalogue, or as given here. */
static int complete(struct perf_rows *r, struct metric *m, const char *label, const char *help,
		    const char *more)
{
	const struct metric *known = perf_metric(m->name);
	char text[TEXT_SIZE];

	snprintf(text, sizeof text, "%s%s%s", known ? known->help : help, more ? " " : "",
		 more ? more : "");
	m->label = known ? known->label : keep(r, label);
	m->help = keep(r, text);
	return m->label && m->help ? 0 : -ENOMEM;
}

static int add_time(struct perf_rows *r, const struct perf_set *s, const char *what,
		    const char *label)
{
	char name[NAME_SIZE], title[NAME_SIZE];
	struct metric *m = add(r);

	if (!m)
		return -ENOMEM;
	set_name(s, what, name, sizeof name);
	snprintf(title, sizeof title, "%s %u: %s", s->group->name, s->nth, label);
	m->name = keep(r, name);
	m->unit = UNIT_SECONDS;
	m->div = 1000000000;
	m->kind = KIND_COUNTER;
	m->over_nodes = COMBINE_SUM;
	if (!m->name)
		return -ENOMEM;
	return complete(r, m, title, "CPU time of this set of events.", NULL);
}

static int add_event(struct perf_rows *r, const struct perf_set *s, const struct perf_event *ev,
		     const char *whose)
{
	char name[NAME_SIZE], help[TEXT_SIZE];
	struct metric *m = add(r);
	int n;

	if (!m)
		return -ENOMEM;
	snprintf(name, sizeof name, "perf.%s.%s", s->group->name, ev->id);
	n = snprintf(help, sizeof help, "%s (%s, code %#" PRIx64, ev->name, ev->pmu, ev->config[0]);
	for (size_t i = 0; i < PERF_KIND_CODES_MAX && ev->of_kind[i].pmu && n < TEXT_SIZE; i++)
		n += snprintf(help + n, sizeof help - (size_t)n, ", on %s %#" PRIx64,
			      ev->of_kind[i].pmu, ev->of_kind[i].config);
	if (n < TEXT_SIZE)
		snprintf(help + n, sizeof help - (size_t)n,
			 "), not scaled to the time in which it was not counted.");
	m->name = keep(r, name);
	m->unit = ev->nanoseconds ? UNIT_SECONDS : UNIT_COUNT;
	m->div = ev->nanoseconds ? 1000000000 : 0;
	m->kind = KIND_COUNTER;
	m->over_nodes = COMBINE_SUM;
	return m->name ? complete(r, m, ev->name, help, whose) : -ENOMEM;
}

static int add_set(struct perf_rows *r, const struct perf_set *s, const char *whose)
{
	int bad = add_time(r, s, "enabled_seconds", "wanted");

	if (!bad)
		bad = add_time(r, s, "running_seconds", "counted");
	for (uint32_t i = 0; i < s->n && !bad; i++)
		bad = add_event(r, s, perf_set_event(s, i), whose);
	return bad;
}

/* 1 when nothing ran: then nothing was missed. */
static int add_share(struct perf_rows *r, const struct perf_set *s)
{
	char name[NAME_SIZE], enabled[NAME_SIZE], running[NAME_SIZE], text[4 * NAME_SIZE];
	struct metric *m = add(r);

	if (!m)
		return -ENOMEM;
	set_name(s, "share_ratio", name, sizeof name);
	set_name(s, "enabled_cores", enabled, sizeof enabled);
	set_name(s, "running_cores", running, sizeof running);
	snprintf(text, sizeof text, "if(%s > 0, %s / %s, 1)", enabled, running, enabled);
	m->name = keep(r, name);
	m->formula = keep(r, text);
	m->unit = UNIT_RATIO;
	m->over_nodes = COMBINE_MEAN;
	if (!m->name || !m->formula)
		return -ENOMEM;
	return complete(r, m, "Share counted", "Part of the CPU time in which it was counted.",
			NULL);
}

/* What a word of a formula stands for; false when it is not counted. */
struct translation {
	const struct perf_rows *rows;
	const struct perf_plan *plan;
	const struct perf_group *group;
};

static bool put_word(const struct translation *x, const char *word, struct bytes *out)
{
	char name[NAME_SIZE];

	if (!strncmp(word, "perf.", 5)) {
		bytes_puts(out, word);
		return true;
	}
	for (uint32_t i = 0; i < x->plan->n; i++) {
		const struct perf_set *s = &x->plan->set[i];

		if (s->group != x->group)
			continue;
		if (!strcmp(word, "enabled")) {
			set_name(s, "enabled_cores", name, sizeof name);
			bytes_puts(out, name);
			return true;
		}
		for (uint32_t k = 0; k < s->n; k++) {
			if (strcmp(perf_set_event(s, k)->id, word) != 0)
				continue;
			metric_rate_name(&x->rows->row[x->rows->first[i] + PERF_SET_EVENTS + k],
					 name, sizeof name);
			bytes_printf(out, "(%s/", name);
			set_name(s, "share_ratio", name, sizeof name);
			bytes_printf(out, "%s)", name);
			return true;
		}
	}
	return !strcmp(word, "if") || !strcmp(word, "min") || !strcmp(word, "max") ||
			       !strcmp(word, "abs") || !strcmp(word, "known") ||
			       !strcmp(word, "and") || !strcmp(word, "or") || !strcmp(word, "not")
		       ? (bytes_puts(out, word), true)
		       : false;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Words that begin with a letter are names; numbers, their suffixes included, stay. */
static bool translate(const struct translation *x, const char *text, struct bytes *out)
{
	while (*text) {
		char word[NAME_SIZE];
		size_t n = 0;

		while (in_word(text[n]))
			n++;
		if (!n) {
			bytes_u8(out, (uint8_t)*text++);
			continue;
		}
		if (n >= sizeof word)
			return false;
		memcpy(word, text, n);
		word[n] = '\0';
		text += n;
		if (word[0] < 'a' || word[0] > 'z')
			bytes_puts(out, word);
		else if (!put_word(x, word, out))
			return false;
	}
	bytes_u8(out, '\0');
	return true;
}

static enum unit unit_of(const char *name)
{
	size_t length = strlen(name), best = 0;
	enum unit found = UNIT_ONE;

	for (unsigned u = 0; u < UNIT_NUMBER_OF; u++) {
		const char *word = unit_name((enum unit)u);
		size_t n = strlen(word);

		if (n > best && n < length && name[length - n - 1] == '_' &&
		    !strcmp(name + length - n, word)) {
			best = n;
			found = (enum unit)u;
		}
	}
	return found;
}

static int add_formula(struct perf_rows *r, const struct translation *x,
		       const struct perf_formula *f, const char *whose)
{
	char name[NAME_SIZE], more[TEXT_SIZE];
	struct bytes text = { 0 };
	struct metric *m;
	int bad = -ENOMEM;

	if (!translate(x, f->text, &text)) {
		bytes_free(&text);
		return 0;
	}
	snprintf(name, sizeof name, "perf.%s.%s", x->group->name, f->name);
	snprintf(more, sizeof more, "%s%s%s", x->group->about ? x->group->about : "",
		 x->group->about ? " " : "", whose);
	m = text.failed ? NULL : add(r);
	if (m) {
		m->name = keep(r, name);
		m->formula = keep(r, (const char *)text.data);
		m->unit = unit_of(f->name);
		m->over_nodes =
			m->unit == UNIT_ONE || m->unit == UNIT_RATIO || m->unit == UNIT_HERTZ
				? COMBINE_MEAN
				: COMBINE_SUM;
		if (m->name && m->formula)
			bad = complete(r, m, f->name, "A metric of an events file.", more);
	}
	bytes_free(&text);
	return bad;
}

static bool is_row(const struct perf_rows *r, const char *name, size_t n)
{
	for (uint32_t i = 0; i < r->n; i++) {
		char rate[NAME_SIZE];

		metric_rate_name(&r->row[i], rate, sizeof rate);
		if (!strncmp(rate, name, n) && !rate[n])
			return true;
	}
	return false;
}

static bool has_inputs(const struct perf_rows *r, const char *formula)
{
	for (const char *p = formula; (p = strstr(p, "perf."));) {
		size_t n = 0;

		while (in_word(p[n]))
			n++;
		if (!is_row(r, p, n))
			return false;
		p += n;
	}
	return true;
}

/* Formulas of other groups' metrics that are not counted; what stood on those goes as well. */
static void drop_the_baseless(struct perf_rows *r)
{
	for (uint32_t i = r->derived; i < r->n;) {
		if (has_inputs(r, r->row[i].formula)) {
			i++;
			continue;
		}
		memmove(&r->row[i], &r->row[i + 1], (r->n - i - 1) * sizeof *r->row);
		r->n--;
		i = r->derived;
	}
}

int perf_rows_make(struct perf_rows *r, const struct perf_plan *plan, const char *whose)
{
	int bad = 0;

	*r = (struct perf_rows){ 0 };
	for (uint32_t i = 0; i < plan->n && !bad; i++) {
		r->first[i] = r->n;
		bad = add_set(r, &plan->set[i], whose);
	}
	r->derived = r->n;
	for (uint32_t i = 0; i < plan->n && !bad; i++)
		bad = add_share(r, &plan->set[i]);
	for (uint32_t i = 0; i < plan->n && !bad; i++) {
		const struct perf_group *g = plan->set[i].group;
		const struct translation x = { r, plan, g };

		for (uint32_t k = 0; k < g->nformulas && plan->set[i].nth == 1 && !bad; k++)
			bad = add_formula(r, &x, &g->formula[k], whose);
	}
	if (!bad)
		drop_the_baseless(r);
	return bad;
}

void perf_rows_free(struct perf_rows *r)
{
	pool_free(&r->pool);
	free(r->row);
	*r = (struct perf_rows){ 0 };
}
