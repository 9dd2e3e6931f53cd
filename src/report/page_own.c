/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_own.h"

#include "base/escape.h"
#include "report/page_pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHARTS_MAX = 12, CHART_HEIGHT = 130, SHOWN_NAME = 4 * OWN_NAME };

static const char key_prefix[] = "own:";

/* Of the series of this name the first; only that has a chart. */
static bool is_first(const struct own *own, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (!strcmp(own->series[k].name, own->series[i].name))
			return false;
	return true;
}

static void key_of(const struct own_series *s, char out[SHOWN_NAME])
{
	char name[SHOWN_NAME - sizeof key_prefix];

	snprintf(out, SHOWN_NAME, "%s%s", key_prefix,
		 escape_terminal_into(name, sizeof name, s->name));
}

static void chart_json(struct json *j, const struct own_series *s, uint32_t i)
{
	char key[SHOWN_NAME], id[32];

	key_of(s, key);
	snprintf(id, sizeof id, "own-%u", i);
	json_object(j);
	json_put_text(j, "id", id);
	json_put_text(j, "title", key + sizeof key_prefix - 1);
	json_put_text(j, "note",
		      s->mark ? "numbers in the job's marks" : "a counter of the program");
	json_put_text(j, "unit", "own");
	json_key(j, "height");
	json_int(j, CHART_HEIGHT);
	json_key(j, "lines");
	json_array(j);
	json_object(j);
	json_put_text(j, "metric", key);
	json_put_text(j, "label", key + sizeof key_prefix - 1);
	json_put_text(j, "role", "line");
	json_put_text(j, "colour", "green");
	json_object_end(j);
	json_array_end(j);
	json_object_end(j);
}

void page_own_charts_json(struct json *j, const struct own *own)
{
	for (uint32_t i = 0, n = 0; i < own->nseries && n < CHARTS_MAX; i++)
		if (is_first(own, i)) {
			chart_json(j, &own->series[i], i);
			n++;
		}
}

/* Each value at the time that is nearest; of several their mean. */
static void put_at(const struct own_series *s, const double *at_s, uint32_t n, double *v)
{
	uint32_t k = 0, many = 0;

	for (uint32_t i = 0; i < n; i++)
		v[i] = NAN;
	for (uint32_t i = 0; i < s->npoints && n; i++) {
		while (k + 1 < n && fabs(at_s[k + 1] - s->at_s[i]) < fabs(at_s[k] - s->at_s[i])) {
			k++;
			many = 0;
		}
		v[k] = many ? (v[k] * many + s->value[i]) / (many + 1) : s->value[i];
		many++;
	}
}

/* From value to value. */
static void join(const double *at_s, uint32_t n, double *v)
{
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		for (uint32_t k = last + 1; last != UINT32_MAX && k < i; k++)
			v[k] = v[last] +
			       (v[i] - v[last]) * (at_s[k] - at_s[last]) / (at_s[i] - at_s[last]);
		last = i;
	}
}

struct grid {
	const double *at_s;
	uint32_t n;
	double *one, *least, *most; /* one allocation, at `one` */
};

static void values_json(struct json *j, const char *key, const double *v, uint32_t n)
{
	json_key(j, key);
	page_pack_numbers(j, v, n);
}

/* The series of this name of all nodes. */
static void all_json(struct json *j, const struct own *own, const char *name, struct grid *g)
{
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < own->nseries; i++) {
		if (strcmp(own->series[i].name, name) != 0)
			continue;
		put_at(&own->series[i], g->at_s, g->n, g->one);
		join(g->at_s, g->n, g->one);
		for (uint32_t k = 0; k < g->n; k++) {
			g->least[k] = nodes ? fmin(g->least[k], g->one[k]) : g->one[k];
			g->most[k] = nodes ? fmax(g->most[k], g->one[k]) : g->one[k];
		}
		nodes++;
	}
	if (nodes == 1) {
		values_json(j, "mean", g->most, g->n);
		return;
	}
	json_key(j, "instances");
	json_int(j, nodes);
	values_json(j, "min", g->least, g->n);
	values_json(j, "max", g->most, g->n);
}

void page_own_series_json(struct json *j, const struct own *own, uint32_t node, const double *at_s,
			  uint32_t n)
{
	struct grid g = { .at_s = at_s, .n = n, .one = malloc(3 * (n + 1u) * sizeof *g.one) };
	char key[SHOWN_NAME];

	if (!g.one) {
		j->out->failed = true;
		return;
	}
	g.least = g.one + n;
	g.most = g.least + n;
	for (uint32_t i = 0; i < own->nseries; i++) {
		const struct own_series *s = &own->series[i];

		if (node ? s->node != node : !is_first(own, i))
			continue;
		key_of(s, key);
		json_key(j, key);
		json_object(j);
		if (node) {
			put_at(s, at_s, n, g.one);
			values_json(j, "mean", g.one, n);
		} else {
			all_json(j, own, s->name, &g);
		}
		json_object_end(j);
	}
	free(g.one);
}
