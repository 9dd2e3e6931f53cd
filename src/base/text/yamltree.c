/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/yamltree.h"

#include "base/talk.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
