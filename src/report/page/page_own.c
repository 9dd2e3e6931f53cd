/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_own.h"

#include "base/text/escape.h"
#include "report/page/page_pack.h"

#include <stdlib.h>
#include <string.h>

enum { CHART_HEIGHT = 130, SHOWN_NAME = 4 * OWN_NAME };

static const char key_prefix[] = "own:";

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
	for (uint32_t i = 0, n = 0; i < own->nseries && n < OWN_CHARTS; i++)
		if (own_is_first(own, i)) {
			chart_json(j, &own->series[i], i);
			n++;
		}
}

static void values_json(struct json *j, const char *key, const double *v, uint32_t n)
{
	json_key(j, key);
	page_pack_numbers(j, v, n);
}

/* The series of this name of all nodes. */
static void all_json(struct json *j, const struct own *own, uint32_t first, struct own_values *v)
{
	uint32_t nodes = own_values_of(own, first, v);

	if (nodes == 1) {
		values_json(j, "mean", v->most, v->n);
		return;
	}
	json_key(j, "instances");
	json_int(j, nodes);
	values_json(j, "min", v->least, v->n);
	values_json(j, "max", v->most, v->n);
}

void page_own_series_json(struct json *j, const struct own *own, uint32_t node, const double *at_s,
			  uint32_t n)
{
	char key[SHOWN_NAME];
	struct own_values v;

	if (!own_values_reserve(&v, n)) {
		j->out->failed = true;
		return;
	}
	memcpy(v.at_s, at_s, n * sizeof *at_s);
	v.one_node = v.gaps = node > 0;
	for (uint32_t i = 0; i < own->nseries; i++) {
		const struct own_series *s = &own->series[i];

		if (node ? s->node != node : !own_is_first(own, i))
			continue;
		key_of(s, key);
		json_key(j, key);
		json_object(j);
		all_json(j, own, i, &v);
		json_object_end(j);
	}
	free(v.at_s);
}
