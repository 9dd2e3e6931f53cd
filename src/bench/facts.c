/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/facts.h"

#include "base/array.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_MAX = 5000, DEPTH_MAX = 8 };

void bench_facts_free(struct bench_facts *f)
{
	free(f->fact);
	pool_free(&f->pool);
	*f = (struct bench_facts){ 0 };
}

void bench_facts_put(struct bench_facts *f, const char *name, const char *text)
{
	void *grown = array_room(f->fact, f->n, &f->cap, sizeof *f->fact);
	struct bench_fact new = { pool_text(&f->pool, name, strlen(name)),
				  pool_text(&f->pool, text, strlen(text)) };

	if (grown)
		f->fact = grown;
	if (!grown || !new.name || !new.text)
		f->failed = true;
	else
		f->fact[f->n++] = new;
}

static bool is_of(const char *text, const char *more)
{
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr(more, *p))
			return false;
	return *text;
}

/* A name that begins with '-' would be an option of pip. */
bool bench_requirement(struct bytes *out, const char *name, const char *text, const char *indent)
{
	static const char package[] = "package.";

	if (strncmp(name, package, sizeof package - 1) != 0)
		return false;
	name += sizeof package - 1;
	if (!isalnum((unsigned char)*name) || !is_of(name, "._-") || !is_of(text, "._+!-"))
		return false;
	bytes_printf(out, "%s%s==%s\n", indent, name, text);
	return true;
}

/* A clock frequency of that moment makes no other machine. */
void bench_facts_add(struct bench_facts *f, const char *name, const char *text)
{
	if (strstr(name, "hz_actual"))
		return;
	if (f->n == FACTS_MAX)
		f->left_out++;
	else
		bench_facts_put(f, name, text);
}

/* One value: a text as it is, null is none, all else as JSON. */
static void bench_facts_add_value(struct bench_facts *f, const char *name, const struct jsontree *v)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b };

	if (v->type == JSONDOC_STRING) {
		bench_facts_add(f, name, v->text);
		return;
	}
	jsontree_write(&j, v);
	bytes_u8(&b, 0);
	if (b.failed)
		f->failed = true;
	else if (v->type != JSONDOC_NULL)
		bench_facts_add(f, name, (const char *)b.data);
	bytes_free(&b);
}

static void flatten(struct bench_facts *f, const char *prefix, const struct jsontree *v,
		    unsigned depth)
{
	char name[BENCH_FACT_NAME];

	if (v->type != JSONDOC_OBJECT || depth == DEPTH_MAX) {
		bench_facts_add_value(f, prefix, v);
		return;
	}
	for (v = v->first; v; v = v->next) {
		snprintf(name, sizeof name, "%.250s.%.250s", prefix, v->key);
		flatten(f, name, v, depth + 1);
	}
}

void bench_facts_flatten(struct bench_facts *f, const char *prefix, const struct jsontree *v)
{
	if (v)
		flatten(f, prefix, v, 0);
}
