/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/events_json.h"

#include <math.h>

static void put_seconds(struct json *j, const char *key, const struct run *r, uint32_t node,
			int64_t at_ns)
{
	json_key(j, key);
	json_real(j, at_ns == INT64_MAX ? NAN : run_seconds(r, node, at_ns));
}

static const char *name_of(const struct run *r, uint32_t instance)
{
	return instance ? r->instances[instance].name : NULL;
}

static void marks(struct json *j, const struct run *r)
{
	json_key(j, "marks");
	json_array(j);
	for (uint32_t i = 1; i < r->nmarks; i++) {
		const struct run_mark *m = &r->marks[i];

		json_object(j);
		json_put_text(j, "host", r->nodes[m->node].host);
		json_put_text(j, "track", name_of(r, m->instance));
		json_put_text(j, "name", m->name);
		json_put_text(j, "text", m->message);
		put_seconds(j, "at_seconds", r, m->node, m->at_ns);
		json_object_end(j);
	}
	json_array_end(j);
}

static void spans(struct json *j, const struct run *r)
{
	json_key(j, "spans");
	json_array(j);
	for (uint32_t i = 1; i < r->nspans; i++) {
		const struct run_span *s = &r->spans[i];

		json_object(j);
		json_put_text(j, "host", r->nodes[s->node].host);
		json_put_text(j, "track", name_of(r, s->track));
		json_put_text(j, "name", s->name);
		json_put_text(j, "text", s->detail);
		put_seconds(j, "begin_seconds", r, s->node, s->begin_ns);
		put_seconds(j, "end_seconds", r, s->node, s->end_ns);
		json_object_end(j);
	}
	json_array_end(j);
	json_key(j, "spans_in_bulk");
	json_int(j, (int64_t)r->npacked);
}

void events_json(struct json *j, const struct run *r)
{
	marks(j, r);
	spans(j, r);
}
