/* SPDX-License-Identifier: Apache-2.0 */
#include "source/perf/perf_table.h"

#include "base/bytes.h"
#include "base/text/textfile.h"
#include "source/perf/perf_parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20 };

/* events/ in one piece, as the Makefile puts it together; no NUL ends it. */
extern const char asset_events[], asset_events_end[];

void perf_table_init(struct perf_table *t, const struct perf_cpu *cpu, const char *name)
{
	memset(t, 0, sizeof *t);
	t->cpu = cpu;
	t->name = name;
}

void perf_table_free(struct perf_table *t)
{
	pool_free(&t->pool);
}

static int as_group(const struct perf_table *t, const char *name)
{
	for (uint32_t i = 0; i < t->ngroups; i++)
		if (!strcmp(t->group[i].name, name))
			return (int)i;
	return -1;
}

const struct perf_group *perf_table_group(const struct perf_table *t, const char *name)
{
	int i = as_group(t, name);

	return i < 0 ? NULL : &t->group[i];
}

uint64_t perf_code(const struct perf_event *ev, const char *kind)
{
	for (size_t i = 0; kind && i < PERF_KIND_CODES_MAX && ev->of_kind[i].pmu; i++)
		if (!strcmp(ev->of_kind[i].pmu, kind))
			return ev->of_kind[i].config;
	return ev->config[0];
}

static const char *keep(struct perf_table *t, const char *text)
{
	return text ? pool_text(&t->pool, text, strlen(text)) : NULL;
}

static bool keep_events(struct perf_table *t, const struct perf_group *g, struct perf_group *kept)
{
	kept->event = &t->event[t->nevents];
	for (uint32_t i = 0; i < g->nevents; i++) {
		struct perf_event *to = &kept->event[i];

		*to = g->event[i];
		to->id = keep(t, to->id);
		to->name = keep(t, to->name);
		to->pmu = keep(t, to->pmu);
		if (!to->id || !to->name || !to->pmu)
			return false;
		for (size_t k = 0; k < PERF_KIND_CODES_MAX && to->of_kind[k].pmu; k++) {
			to->of_kind[k].pmu = keep(t, to->of_kind[k].pmu);
			if (!to->of_kind[k].pmu)
				return false;
		}
	}
	t->nevents += g->nevents;
	return true;
}

static bool keep_formulas(struct perf_table *t, const struct perf_group *g, struct perf_group *kept)
{
	kept->formula = &t->formula[t->nformulas];
	for (uint32_t i = 0; i < g->nformulas; i++) {
		struct perf_formula *to = &kept->formula[i];

		*to = (struct perf_formula){ keep(t, g->formula[i].name),
					     keep(t, g->formula[i].text) };
		if (!to->name || !to->text)
			return false;
	}
	t->nformulas += g->nformulas;
	return true;
}

int perf_table_add(struct perf_table *t, const struct perf_group *g)
{
	int at = as_group(t, g->name);
	struct perf_group kept = *g;

	if (at >= 0 && ((g->any && !t->group[at].any) || (!t->cpu && !t->name)))
		return 0;
	if ((at < 0 && t->ngroups == PERF_GROUPS_MAX) ||
	    g->nevents > PERF_EVENTS_MAX - t->nevents ||
	    g->nformulas > PERF_FORMULAS_MAX - t->nformulas)
		return -E2BIG;
	kept.name = keep(t, g->name);
	kept.about = keep(t, g->about);
	if (!kept.name || (g->about && !kept.about) || !keep_events(t, g, &kept) ||
	    !keep_formulas(t, g, &kept))
		return -ENOMEM;
	t->group[at < 0 ? t->ngroups++ : (uint32_t)at] = kept;
	return 0;
}

int perf_table_builtin(struct perf_table *t, struct err *e)
{
	return perf_table_parse(t, "events", asset_events,
				(size_t)(asset_events_end - asset_events), e);
}

int perf_table_file(struct perf_table *t, const char *path, struct err *e)
{
	struct bytes text = { 0 };
	int bad = textfile_read(path, "events file", FILE_BYTES_MAX, &text, e);

	if (!bad)
		bad = perf_table_parse(t, path, (const char *)text.data, text.len, e);
	bytes_free(&text);
	return bad;
}
