/* SPDX-License-Identifier: Apache-2.0 */
#include "push/mlflow_batch.h"

static void begin(struct mlflow_batch *b)
{
	uint32_t left = b->ntags - b->tags_given, n = left < BATCH_TAGS ? left : BATCH_TAGS;

	if (b->body.len)
		return;
	b->json = (struct json){ .out = &b->body };
	json_object(&b->json);
	json_key(&b->json, "run_id");
	json_text(&b->json, b->run_id);
	if (n) {
		json_key(&b->json, "tags");
		json_array(&b->json);
		for (uint32_t i = 0; i < n; i++) {
			json_object(&b->json);
			json_key(&b->json, "key");
			json_text(&b->json, b->tags[b->tags_given].key);
			json_key(&b->json, "value");
			json_text(&b->json, b->tags[b->tags_given++].value);
			json_object_end(&b->json);
		}
		json_array_end(&b->json);
	}
	b->items = n;
	json_key(&b->json, "metrics");
	json_array(&b->json);
}

bool mlflow_batch_full(const struct mlflow_batch *b)
{
	return b->items >= BATCH_ITEMS || b->body.len >= BATCH_BYTES;
}

void mlflow_batch_point(struct mlflow_batch *b, const struct point *p)
{
	begin(b);
	json_object(&b->json);
	json_key(&b->json, "key");
	json_text(&b->json, p->key);
	json_key(&b->json, "value");
	json_real(&b->json, p->value);
	json_key(&b->json, "timestamp");
	json_int(&b->json, p->time_ms);
	json_key(&b->json, "step");
	json_int(&b->json, p->step);
	json_object_end(&b->json);
	b->items++;
	b->metrics++;
}

bool mlflow_batch_close(struct mlflow_batch *b)
{
	if (!b->body.len && b->tags_given >= b->ntags)
		return false;
	begin(b);
	json_array_end(&b->json);
	json_object_end(&b->json);
	return true;
}

void mlflow_batch_reset(struct mlflow_batch *b)
{
	bytes_reset(&b->body);
	b->items = b->metrics = 0;
}
