/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/verdicts_json.h"

/* "" becomes null: there is none. */
static void put_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text && *text ? text : NULL);
}

static void put_numbers(struct json *j, const struct summary_verdict *v)
{
	json_key(j, "numbers");
	json_array(j);
	for (uint32_t i = 0; i < v->nnumbers; i++) {
		json_object(j);
		put_text(j, "name", v->number[i].name);
		json_key(j, "unit");
		json_text(j, unit_name(v->number[i].unit));
		json_put_real(j, "value", v->number[i].value);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_request(struct json *j, const struct summary_verdict *v)
{
	json_key(j, "request");
	if (!v->resource) {
		json_text(j, NULL);
		return;
	}
	json_object(j);
	put_text(j, "resource", resource_name(v->resource));
	json_put_real(j, "amount", v->amount);
	json_put_real(j, "margin", v->margin);
	put_text(j, "line", v->next);
	json_object_end(j);
}

void verdicts_json(struct json *j, const struct summary *s, const struct run *r)
{
	json_array(j);
	for (uint32_t i = 0; i < s->nverdicts; i++) {
		const struct summary_verdict *v = &s->verdicts[i];

		json_object(j);
		put_text(j, "rule", v->rule);
		put_text(j, "severity", severity_name(v->severity));
		put_text(j, "confidence", confidence_name(v->confidence));
		put_text(j, "sentence", v->sentence);
		put_text(j, "metric", v->metric);
		put_text(j, "host", v->node && v->node < r->nnodes ? r->nodes[v->node].host : NULL);
		put_text(j, "instance", v->instance);
		json_put_real(j, "from_seconds", v->from_s);
		json_put_real(j, "to_seconds", v->to_s);
		json_put_real(j, "threshold", v->threshold);
		json_put_real(j, "cost_seconds", v->cost_s);
		json_put_real(j, "cost_ratio", v->cost_s / s->wall_s);
		put_numbers(j, v);
		put_request(j, v);
		json_object_end(j);
	}
	json_array_end(j);
}
