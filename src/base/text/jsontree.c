/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/jsontree.h"

#include "base/helper.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
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

enum { ANSWER_MOST = 64 << 20 };

struct taking {
	struct pool *pool;
	struct scan at;
	const char *key;
	uint32_t values;
};

static const char *take_text(struct taking *t)
{
	size_t n = 0;
	const char *text = scan_text(&t->at, &n);
	char *kept = text && !memchr(text, 0, n) ? pool_text(t->pool, text, n) : NULL;

	t->at.bad |= !kept;
	return kept;
}

static void take_number(struct jsontree *v)
{
	char *end;

	errno = 0;
	v->integer = strtoll(v->text, &end, 10);
	v->whole = !errno && !*end;
	v->number = strtod(v->text, &end);
	if (*end || !isfinite(v->number))
		v->type = JSONDOC_STRING;
}

static struct jsontree *take_value(struct taking *t, uint8_t type)
{
	struct jsontree *v = t->values++ < YAMLTREE_VALUES ? pool_take(t->pool, sizeof *v) : NULL;

	t->at.bad |= !v || type < JSONDOC_OBJECT || type > JSONDOC_NULL || type == JSONDOC_KEY ||
		     type == JSONDOC_OBJECT_END || type == JSONDOC_ARRAY_END;
	if (t->at.bad)
		return NULL;
	*v = (struct jsontree){ .type = type, .key = t->key };
	t->key = NULL;
	v->line = scan_varint(&t->at);
	v->column = (uint32_t)scan_varint(&t->at);
	if (type == JSONDOC_STRING || type == JSONDOC_NUMBER)
		v->text = take_text(t);
	if (type == JSONDOC_NUMBER && !t->at.bad)
		take_number(v);
	return t->at.bad ? NULL : v;
}

static bool is_begin(const struct jsontree *v)
{
	return v->type == JSONDOC_OBJECT || v->type == JSONDOC_ARRAY;
}

/* The values that are open, and where the next one of each goes. */
static struct jsontree *take_values(struct taking *t)
{
	struct jsontree *top = NULL, **end[YAMLTREE_DEPTH + 1] = { &top };
	enum jsondoc_token closes[YAMLTREE_DEPTH + 1] = { JSONDOC_END };
	unsigned depth = 0;

	while (!t->at.bad && t->at.at < t->at.end) {
		uint8_t type = scan_u8(&t->at);
		bool in_object = closes[depth] == JSONDOC_OBJECT_END;
		struct jsontree *v;

		if (depth && type == closes[depth] && !t->key) {
			depth--;
			continue;
		}
		if (type == JSONDOC_KEY && in_object && !t->key) {
			t->key = take_text(t);
			continue;
		}
		v = in_object == !!t->key && (depth || !top) ? take_value(t, type) : NULL;
		t->at.bad |= !v || (is_begin(v) && depth == YAMLTREE_DEPTH);
		if (t->at.bad)
			break;
		*end[depth] = v;
		end[depth] = &v->next;
		if (is_begin(v)) {
			end[++depth] = &v->first;
			closes[depth] =
				v->type == JSONDOC_OBJECT ? JSONDOC_OBJECT_END : JSONDOC_ARRAY_END;
		}
	}
	t->at.bad |= depth > 0;
	return t->at.bad ? NULL : top;
}

struct jsontree *yamltree_take(struct pool *pool, const char *name, const void *answer, size_t n,
			       struct err *e)
{
	struct taking t = { .pool = pool,
			    .at = { .at = answer, .end = (const uint8_t *)answer + n } };
	uint8_t failed = scan_u8(&t.at);
	struct jsontree *top;

	if (!t.at.bad && failed) {
		uint64_t line = scan_varint(&t.at), column = scan_varint(&t.at);
		const char *text = take_text(&t);

		err_set(e, -EBADMSG, "%.200s:%" PRIu64 ":%" PRIu64 ": %.200s", name, line, column,
			text ? text : "it is no YAML");
		return NULL;
	}
	top = take_values(&t);
	if (!top)
		err_set(e, -EPROTO, "%.200s: %s", name,
			t.at.bad ? "sonde-yaml gave no answer that makes sense" : "it is empty");
	return top;
}

static bool ask(int socket, const void *text, size_t n, uint8_t **answer, uint32_t *length)
{
	uint32_t size = (uint32_t)n;

	*answer = NULL;
	if (!talk_write(socket, &size, sizeof size) || !talk_write(socket, text, n) ||
	    !talk_read(socket, length, sizeof *length) || *length > ANSWER_MOST)
		return false;
	*answer = malloc(*length ? *length : 1);
	return *answer && talk_read(socket, *answer, *length);
}

struct jsontree *yamltree_read(struct pool *pool, const char *name, const void *text, size_t n,
			       struct err *e)
{
	struct jsontree *top = NULL;
	uint8_t *answer = NULL;
	uint32_t length = 0;
	struct talk helper;

	if (n > YAMLTREE_BYTES) {
		err_set(e, -EFBIG, "%.200s: it has more than %d bytes", name, YAMLTREE_BYTES);
		return NULL;
	}
	if (talk_open(&helper, "yaml", "libyaml-dev", e))
		return NULL;
	if (ask(helper.socket, text, n, &answer, &length))
		top = yamltree_take(pool, name, answer, length, e);
	else
		err_set(e, -EPIPE,
			"the helper sonde-yaml did not answer; is its library installed? "
			"(Debian: libyaml-0-2)");
	free(answer);
	talk_close(&helper);
	return top;
}
