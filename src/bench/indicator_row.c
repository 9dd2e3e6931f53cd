/* SPDX-License-Identifier: Apache-2.0 */
/* indicator_row.c - what a trial said, as a row of its indicator's table. */
#include "bench/indicator.h"

#include <errno.h>
#include <stdlib.h>

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for an indicator's row");
}

/* A text that outlives the statement; it is in *kept. */
static struct field as_text(const struct jsontree *v, enum model_type type, struct bytes *kept)
{
	struct json j = { .out = kept };

	if (v->type == JSONDOC_STRING && type != MODEL_JSON)
		return field_text(v->text);
	jsontree_write(&j, v);
	bytes_u8(kept, 0);
	return field_text(kept->failed ? NULL : (const char *)kept->data);
}

static struct field field_of(const struct jsontree *v, enum model_type type, struct bytes *kept)
{
	if (v->type == JSONDOC_NULL)
		return (struct field){ 0 };
	switch (type) {
	case MODEL_INT:
		return field_int(v->integer);
	case MODEL_REAL:
		return field_real(v->number);
	case MODEL_BOOL:
		return field_int(v->type == JSONDOC_TRUE);
	case MODEL_TEXT:
	case MODEL_ANY:
	case MODEL_JSON:
	case MODEL_TYPES:
		break;
	}
	return as_text(v, type, kept);
}

int indicator_put(struct database *s, const struct model *m, struct indicator_trial trial,
		  const struct contract *c, struct err *e)
{
	struct field *v = calloc(c->nvalues + 2u, sizeof *v);
	struct bytes *kept = calloc(c->nvalues + 2u, sizeof *kept), sql = { 0 };
	uint32_t n = 2;
	int rc;

	if (!v || !kept) {
		free(v);
		free(kept);
		return no_memory(e);
	}
	v[0] = field_int(trial.batch);
	v[1] = field_int(trial.number);
	bytes_printf(&sql, "INSERT INTO %s (trial_id", m->table);
	for (uint32_t i = 0; i < c->nvalues; i++) {
		const struct model_column *column = model_find(m, c->value[i].v->key);

		if (!column)
			continue; /* a null of which nothing else is known */
		bytes_puts(&sql, ", ");
		indicator_quote(&sql, column->name);
		v[n] = field_of(c->value[i].v, column->type, &kept[n]);
		n++;
	}
	/* One statement: the trial's id need not come here first. */
	bytes_puts(&sql, ") VALUES ((SELECT id FROM trials WHERE batch_id = $1 AND number = $2)");
	for (uint32_t i = 2; i < n; i++)
		bytes_printf(&sql, ", $%u", i + 1);
	bytes_puts(&sql, ")");
	bytes_u8(&sql, 0);
	rc = sql.failed ? no_memory(e) : database_exec_later(s, (const char *)sql.data, v, n, e);
	for (uint32_t i = 0; i < n; i++)
		bytes_free(&kept[i]);
	free(kept);
	free(v);
	bytes_free(&sql);
	return rc;
}
