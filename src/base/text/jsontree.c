/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/jsontree.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* The values that are open, outermost first, and where the next one of each goes. */
struct building {
	struct jsondoc doc;
	struct pool *pool;
	struct jsontree **end[JSONDOC_DEPTH + 1];
	unsigned depth;
	const char *key;
	uint32_t values;
};

static const char *keep(struct building *b, const char *text)
{
	return pool_text(b->pool, text, strlen(text));
}

static int add(struct building *b, enum jsondoc_token token, struct err *e)
{
	struct jsontree *v = b->values++ < JSONTREE_VALUES ? pool_take(b->pool, sizeof *v) : NULL;

	if (b->values > JSONTREE_VALUES)
		return err_set(e, -EFBIG, "it holds more than %d values", JSONTREE_VALUES);
	if (!v)
		return err_set(e, -ENOMEM, "out of memory for a JSON document");
	*v = (struct jsontree){ .type = token,
				.key = b->key,
				.line = b->doc.line,
				.no_number = token == JSONDOC_NULL && b->doc.no_number };
	b->key = NULL;
	if (token == JSONDOC_NUMBER) {
		v->number = b->doc.number;
		v->integer = b->doc.integer;
		v->whole = b->doc.whole;
	} else if (token == JSONDOC_STRING) {
		v->text = keep(b, b->doc.text);
		if (!v->text)
			return err_set(e, -ENOMEM, "out of memory for a JSON document");
	}
	*b->end[b->depth] = v;
	b->end[b->depth] = &v->next;
	if (token == JSONDOC_OBJECT || token == JSONDOC_ARRAY)
		b->end[++b->depth] = &v->first;
	return 0;
}

static int take(struct building *b, enum jsondoc_token token, struct err *e)
{
	if (token == JSONDOC_BAD)
		return -EINVAL;
	if (token == JSONDOC_OBJECT_END || token == JSONDOC_ARRAY_END) {
		b->depth--;
		return 0;
	}
	if (token != JSONDOC_KEY)
		return add(b, token, e);
	b->key = keep(b, b->doc.text);
	return b->key ? 0 : err_set(e, -ENOMEM, "out of memory for a JSON document");
}

struct jsontree *jsontree_read(struct pool *pool, const void *text, size_t n, struct err *e)
{
	struct jsontree *top = NULL;
	struct building b = { .pool = pool, .end = { &top } };
	enum jsondoc_token token;
	int rc = 0;

	jsondoc_open_text(&b.doc, text, n);
	b.doc.text_most = JSONTREE_TEXT;
	while (!rc && (token = jsondoc_next(&b.doc, e)) != JSONDOC_END)
		rc = take(&b, token, e);
	jsondoc_close(&b.doc);
	return rc ? NULL : top;
}

const struct jsontree *jsontree_find(const struct jsontree *object, const char *key)
{
	if (!object || object->type != JSONDOC_OBJECT)
		return NULL;
	for (const struct jsontree *v = object->first; v; v = v->next)
		if (!strcmp(v->key, key))
			return v;
	return NULL;
}

const char *jsontree_text(const struct jsontree *object, const char *key)
{
	const struct jsontree *v = jsontree_find(object, key);

	return v && v->type == JSONDOC_STRING ? v->text : NULL;
}

double jsontree_number(const struct jsontree *object, const char *key)
{
	const struct jsontree *v = jsontree_find(object, key);

	return v && v->type == JSONDOC_NUMBER ? v->number : NAN;
}

/* What opens a value, or all of one that holds no others. */
static void write_begin(struct json *j, const struct jsontree *v)
{
	if (v->key)
		json_key(j, v->key);
	if (v->type == JSONDOC_OBJECT)
		json_object(j);
	else if (v->type == JSONDOC_ARRAY)
		json_array(j);
	else if (v->type == JSONDOC_STRING)
		json_text(j, v->text);
	else if (v->type == JSONDOC_NUMBER && v->whole)
		json_int(j, v->integer);
	else if (v->type == JSONDOC_NUMBER)
		json_real(j, v->number);
	else if (v->type == JSONDOC_NULL)
		json_null(j);
	else
		json_bool(j, v->type == JSONDOC_TRUE);
}

void jsontree_write(struct json *j, const struct jsontree *top)
{
	const struct jsontree *open[JSONDOC_DEPTH + 1], *v = top;
	struct jsontree alone = *top;
	unsigned depth = 0;

	alone.key = NULL;
	write_begin(j, &alone);
	open[0] = top;
	v = top->first;
	while (v || depth || open[0]->type == JSONDOC_OBJECT || open[0]->type == JSONDOC_ARRAY) {
		if (v) {
			write_begin(j, v);
			if (v->type == JSONDOC_OBJECT || v->type == JSONDOC_ARRAY) {
				open[++depth] = v;
				v = v->first;
			} else {
				v = v->next;
			}
			continue;
		}
		if (open[depth]->type == JSONDOC_OBJECT)
			json_object_end(j);
		else
			json_array_end(j);
		if (!depth)
			return;
		v = open[depth--]->next;
	}
}

const char *jsontree_kind(const struct jsontree *v)
{
	switch (v->type) {
	case JSONDOC_OBJECT:
		return "an object";
	case JSONDOC_ARRAY:
		return "a list";
	case JSONDOC_STRING:
		return "a text";
	case JSONDOC_NUMBER:
		return "a number";
	case JSONDOC_TRUE:
	case JSONDOC_FALSE:
		return "true or false";
	default:
		return v->no_number ? "no number (NaN, or infinite)" : "null";
	}
}
