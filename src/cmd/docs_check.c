/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/docs_check.h"

#include "base/text/textfile.h"
#include "bench/model.h"
#include "core/phase/phase_rule.h"
#include "core/stacks/classes.h"
#include "core/table/map.h"
#include "report/judging/rules.h"
#include "source/perf/perf_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DATA_BYTES_MAX = 1 << 20 };

/* What the files of a kind add to. */
struct checked {
	struct rules *rules;
	struct phase_rules phases;
	struct models models;
	struct classes classes;
};

static int check_rules(struct checked *c, const char *path, const char *text, size_t len,
		       struct err *e)
{
	return c->rules ? rules_add(c->rules, path, text, len, e)
			: rules_parse(&c->rules, path, text, len, e);
}

static int check_phases(struct checked *c, const char *path, const char *text, size_t len,
			struct err *e)
{
	return phase_rules_add(&c->phases, path, text, len, e);
}

/* Each alone, for all CPUs: a group of one file may have the name of another's. */
static int check_events(struct checked *c, const char *path, const char *text, size_t len,
			struct err *e)
{
	struct perf_table *t = malloc(sizeof *t);
	int rc;

	(void)c;
	if (!t)
		return err_set(e, -ENOMEM, "out of memory");
	perf_table_init(t, NULL, NULL);
	rc = perf_table_parse(t, path, text, len, e);
	perf_table_free(t);
	free(t);
	return rc;
}

static int check_map(struct checked *c, const char *path, const char *text, size_t len,
		     struct err *e)
{
	struct map m;
	int rc = map_parse(&m, path, text, len, e);

	(void)c;
	map_free(&m);
	return rc;
}

static int check_models(struct checked *c, const char *path, const char *text, size_t len,
			struct err *e)
{
	return models_parse(&c->models, path, text, len, e);
}

static int check_classes(struct checked *c, const char *path, const char *text, size_t len,
			 struct err *e)
{
	return classes_add(&c->classes, path, text, len, e);
}

static const struct data_kind {
	const char *ending;
	int (*check)(struct checked *c, const char *path, const char *text, size_t len,
		     struct err *e);
} kinds[] = {
	{ ".rules", check_rules }, { ".phases", check_phases }, { ".events", check_events },
	{ ".map", check_map },     { ".model", check_models },  { ".classes", check_classes },
};

static int check_file(struct checked *c, const char *path, struct err *e)
{
	const char *ending = strrchr(path, '.');
	struct bytes text = { 0 };
	size_t k = 0;
	int rc;

	while (k < sizeof kinds / sizeof kinds[0] && (!ending || strcmp(ending, kinds[k].ending)))
		k++;
	if (k == sizeof kinds / sizeof kinds[0])
		return err_set(e, -EINVAL,
			       "%.200s: its name ends in none of .rules, .phases, .events, .map, "
			       ".model",
			       path);
	rc = textfile_read(path, "data file", DATA_BYTES_MAX, &text, e);
	if (!rc)
		rc = kinds[k].check(c, path, text.len ? (const char *)text.data : "", text.len, e);
	bytes_free(&text);
	return rc;
}

int docs_check(char *const *paths, int n, struct err *e)
{
	struct checked c = { 0 };
	int rc = 0;

	for (int i = 0; i < n && !rc; i++)
		rc = check_file(&c, paths[i], e);
	rules_free(c.rules);
	phase_rules_free(&c.phases);
	models_free(&c.models);
	classes_free(&c.classes);
	return rc;
}
