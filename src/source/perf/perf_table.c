/* SPDX-License-Identifier: Apache-2.0 */
#include "source/perf/perf_table.h"

#include "base/bytes.h"
#include "base/packed.h"
#include "base/text/number.h"
#include "base/text/textfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- CPU ---- */

/* What follows "key<blanks>: " on its line; NULL when there is none. */
static const char *field(const char *text, const char *key)
{
	const char *p = number_find_line(text, key);

	for (; p; p = number_find_line(number_next_line(p), key)) {
		const char *colon = number_skip_blanks(p);

		if (*colon == ':') /* else the key of another line begins alike: "model name" */
			return number_skip_blanks(colon + 1);
	}
	return NULL;
}

static bool hex(const char **p, uint64_t *out)
{
	uint64_t v = 0;
	const char *at = *p;

	for (;; at++) {
		unsigned digit;

		if (*at >= '0' && *at <= '9')
			digit = (unsigned)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			digit = (unsigned)(*at - 'a') + 10;
		else if (*at >= 'A' && *at <= 'F')
			digit = (unsigned)(*at - 'A') + 10;
		else
			break;
		if (v >> 60)
			return false;
		v = v << 4 | digit;
	}
	if (at == *p)
		return false;
	*p = at;
	*out = v;
	return true;
}

bool perf_number(const char **p, uint64_t *out)
{
	const char *at = *p;

	if (at[0] == '0' && at[1] == 'x') {
		at += 2;
		if (!hex(&at, out))
			return false;
		*p = at;
		return true;
	}
	return *at >= '0' && *at <= '9' && number_u64(p, out);
}

static bool number_field(const char *text, const char *key, uint64_t *out)
{
	const char *p = field(text, key);

	return p && perf_number(&p, out);
}

static bool parse_x86(const char *text, struct perf_cpu *out)
{
	const char *p = field(text, "vendor_id");
	size_t n = p ? strcspn(p, " \t\n") : 0;

	if (!n || n >= sizeof out->vendor || !number_field(text, "cpu family", &out->family) ||
	    !number_field(text, "model", &out->model) ||
	    !number_field(text, "stepping", &out->stepping))
		return false;
	memcpy(out->vendor, p, n);
	out->vendor[n] = '\0';
	return true;
}

static bool parse_arm(const char *text, struct perf_cpu *out)
{
	if (!number_field(text, "CPU implementer", &out->family) ||
	    !number_field(text, "CPU part", &out->model))
		return false;
	number_field(text, "CPU revision", &out->stepping);
	snprintf(out->vendor, sizeof out->vendor, "arm");
	return true;
}

/* "revision : 2.2 (pvr 004e 1202)" */
static bool parse_power(const char *text, struct perf_cpu *out)
{
	const char *p = field(text, "revision"), *end = p ? number_next_line(p) : NULL;

	p = p ? strstr(p, "(pvr ") : NULL;
	if (!p || p >= end)
		return false;
	p += strlen("(pvr ");
	if (!hex(&p, &out->family))
		return false;
	snprintf(out->vendor, sizeof out->vendor, "power");
	return true;
}

/* "isa : rv64imafdc"; mvendorid is there since Linux 6.1. */
static bool parse_riscv(const char *text, struct perf_cpu *out)
{
	const char *p = field(text, "isa");

	if (!p || strncmp(p, "rv", 2) != 0)
		return false;
	p += 2;
	if (!number_u64(&p, &out->family))
		return false;
	number_field(text, "mvendorid", &out->model);
	snprintf(out->vendor, sizeof out->vendor, "riscv");
	return true;
}

bool perf_cpu_parse(const char *cpuinfo, struct perf_cpu *out)
{
	*out = (struct perf_cpu){ 0 };
	if (parse_x86(cpuinfo, out) || parse_arm(cpuinfo, out) || parse_power(cpuinfo, out) ||
	    parse_riscv(cpuinfo, out))
		return true;
	*out = (struct perf_cpu){ 0 };
	return false;
}

/* One "7" or "5-9" of a list; *p is then at what follows it. */
static bool range(const char **p, uint64_t *from, uint64_t *to)
{
	if (!perf_number(p, from))
		return false;
	*to = *from;
	if (**p != '-')
		return true;
	++*p;
	return perf_number(p, to) && *to >= *from;
}

static bool list_walk(const char *list, uint64_t v, bool *has)
{
	*has = false;
	for (;;) {
		uint64_t from, to;

		if (!range(&list, &from, &to))
			return false;
		*has |= v >= from && v <= to;
		if (!*list)
			return true;
		if (*list++ != ',')
			return false;
	}
}

bool perf_list_has(const char *list, uint64_t v)
{
	bool has;

	return list_walk(list, v, &has) && has;
}

bool perf_list_is_sound(const char *list)
{
	bool has;

	return list_walk(list, 0, &has);
}

/* ---- Table ---- */

enum { FILE_BYTES_MAX = 1 << 20 };

/* events/ in one piece, as the Makefile packs it together. */
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
	struct bytes text = { 0 };
	int bad = packed_text(&text, asset_events, asset_events_end, "events", e);

	if (!bad)
		bad = perf_table_parse(t, "events", (const char *)text.data, text.len, e);
	bytes_free(&text);
	return bad;
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
