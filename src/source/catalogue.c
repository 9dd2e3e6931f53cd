/* SPDX-License-Identifier: Apache-2.0 */
#include "source/catalogue.h"

#include "base/text/json.h"
#include "source/source.h"

#include <stdio.h>
#include <string.h>

enum { NAME_COLUMN = 36, RATE_NAME_MAX = 128 };

static const char *unit_word(enum unit u)
{
	return *unit_name(u) ? unit_name(u) : "number";
}

static const char *origin(const struct metric *m)
{
	return m->formula ? "derived" : kind_name(m->kind);
}

static const char *combine_word(enum combine c)
{
	return c == COMBINE_NONE ? "-" : combine_name(c);
}

static void text_source(struct bytes *b, const struct source *s)
{
	bytes_printf(b, "%s: %s\n", s->name, s->what);
	for (size_t i = 0; i < s->nmetrics; i++) {
		const struct metric *m = &s->metrics[i];

		bytes_printf(b, "  %-*s  %-8s %-8s %s\n", NAME_COLUMN, m->name, unit_word(m->unit),
			     origin(m), m->help);
	}
}

void catalogue_text(struct bytes *b)
{
	for (size_t i = 0; i < nsources; i++) {
		if (i)
			bytes_u8(b, '\n');
		text_source(b, sources[i]);
	}
}

/* Text inside a table's cell: a bar would end it, < would begin a tag. */
static void markdown_cell(struct bytes *b, const char *text)
{
	for (; *text; text++) {
		if (strchr("|<\\*_`", *text))
			bytes_u8(b, '\\');
		bytes_u8(b, (uint8_t)*text);
	}
}

static void markdown_row(struct bytes *b, const struct metric *m)
{
	char rate[RATE_NAME_MAX];

	bytes_printf(b, "| `%s` | %s | %s | %s | ", m->name, unit_word(m->unit), origin(m),
		     m->domain ? m->domain : "node");
	bytes_printf(b, "%s | %s | ", combine_word(m->over_instances), combine_word(m->over_nodes));
	markdown_cell(b, m->help);
	if (m->formula)
		bytes_printf(b, " Computed: `%s`.", m->formula);
	if (m->kind == KIND_COUNTER) {
		metric_rate_name(m, rate, sizeof rate);
		bytes_printf(b, " Rate: `%s`.", rate);
	}
	bytes_puts(b, " |\n");
}

static const char markdown_head[] =
	"# What Sonde measures\n\n"
	"Made by `sonde docs metrics` from the tables in `src/source/`; change it there.\n\n"
	"Counters are stored as they are read; tables and plots show their rates, by the rate's "
	"name.\n"
	"A metric that this machine does not have, or that may not be read, is absent: never 0.\n"
	"\"Instances\" and \"nodes\" say how the values of all of them become one.\n";

void catalogue_markdown(struct bytes *b)
{
	bytes_puts(b, markdown_head);
	for (size_t i = 0; i < nsources; i++) {
		const struct source *s = sources[i];

		bytes_printf(b, "\n## %s: %s\n", s->name, s->what);
		if (!s->nmetrics)
			continue;
		bytes_puts(b,
			   "\n| metric | unit | kind | of each | instances | nodes | what it is |\n"
			   "|---|---|---|---|---|---|---|\n");
		for (size_t k = 0; k < s->nmetrics; k++)
			markdown_row(b, &s->metrics[k]);
	}
}

static void json_pair(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text);
}

static void json_metric(struct json *j, const struct source *s, const struct metric *m)
{
	char rate[RATE_NAME_MAX];

	json_object(j);
	json_pair(j, "name", m->name);
	json_pair(j, "source", s->name);
	json_pair(j, "instance_domain", m->domain);
	json_pair(j, "label", m->label);
	json_pair(j, "help", m->help);
	json_pair(j, "unit", unit_name(m->unit));
	json_pair(j, "kind", kind_name(m->kind));
	json_pair(j, "formula", m->formula);
	json_pair(j, "over_instances", combine_name(m->over_instances));
	json_pair(j, "over_nodes", combine_name(m->over_nodes));
	if (m->kind == KIND_COUNTER) {
		metric_rate_name(m, rate, sizeof rate);
		json_pair(j, "rate_name", rate);
		json_pair(j, "rate_unit", unit_name(unit_rate(m->unit)));
	}
	json_object_end(j);
}

void catalogue_json(struct bytes *b)
{
	struct json j = { .out = b, .indent = true };

	json_object(&j);
	json_pair(&j, "schema", "sonde/metrics/1");
	json_key(&j, "metrics");
	json_array(&j);
	for (size_t i = 0; i < nsources; i++)
		for (size_t k = 0; k < sources[i]->nmetrics; k++)
			json_metric(&j, sources[i], &sources[i]->metrics[k]);
	json_array_end(&j);
	json_object_end(&j);
	bytes_u8(b, '\n');
}

static bool is_called(const struct metric *m, const char *name, struct metric *out)
{
	char rate[RATE_NAME_MAX];

	*out = *m;
	if (!strcmp(m->name, name)) {
		out->kind = m->formula ? KIND_GAUGE : m->kind;
		return true;
	}
	if (m->kind != KIND_COUNTER || m->formula)
		return false;
	metric_rate_name(m, rate, sizeof(rate));
	out->kind = KIND_GAUGE;
	out->unit = unit_rate(m->unit);
	return !strcmp(rate, name);
}

bool catalogue_find(const char *name, struct metric *out)
{
	for (size_t i = 0; i < nsources; i++)
		for (size_t k = 0; k < sources[i]->nmetrics; k++)
			if (is_called(&sources[i]->metrics[k], name, out))
				return true;
	return false;
}

#define SOURCE(x) extern const struct source source_##x;
#include "sources.def"
#undef SOURCE

#define SOURCE(x) &source_##x,
const struct source *const sources[] = {
#include "sources.def"
};

const struct source_fix source_not_mounted[] = { { ": no ", NULL, NULL }, { .words = NULL } };

bool source_can_wait(const struct source_env *env)
{
	(void)env;
	return true;
}

const size_t nsources = sizeof sources / sizeof sources[0];
