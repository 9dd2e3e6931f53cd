/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/amun_facts.h"

#include "base/array.h"
#include "base/textfile.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_MAX = 5000, DEPTH_MAX = 8, NAME_BYTES = 512 };

void amun_facts_free(struct amun_facts *f)
{
	free(f->fact);
	pool_free(&f->pool);
	*f = (struct amun_facts){ 0 };
}

static void add(struct amun_facts *f, const char *name, const char *text)
{
	void *grown;
	struct bench_fact new;

	/* A clock frequency of that moment makes no other machine. */
	if (strstr(name, "hz_actual"))
		return;
	if (f->n == FACTS_MAX) {
		f->left_out++;
		return;
	}
	grown = array_room(f->fact, f->n, &f->cap, sizeof *f->fact);
	new = (struct bench_fact){ pool_text(&f->pool, name, strlen(name)),
				   pool_text(&f->pool, text, strlen(text)) };
	if (grown)
		f->fact = grown;
	if (!grown || !new.name || !new.text)
		f->failed = true;
	else
		f->fact[f->n++] = new;
}

static void add_value(struct amun_facts *f, const char *name, const struct jsontree *v)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b };

	if (v->type == JSONDOC_STRING) {
		add(f, name, v->text);
		return;
	}
	jsontree_write(&j, v);
	bytes_u8(&b, 0);
	if (b.failed)
		f->failed = true;
	else if (v->type != JSONDOC_NULL)
		add(f, name, (const char *)b.data);
	bytes_free(&b);
}

/* hwinfo.cpu_info.brand_raw, ...: objects are gone through, lists are one fact. */
static void flatten(struct amun_facts *f, const char *prefix, const struct jsontree *v,
		    unsigned depth)
{
	char name[NAME_BYTES];

	if (!v)
		return;
	if (v->type != JSONDOC_OBJECT || depth == DEPTH_MAX) {
		add_value(f, prefix, v);
		return;
	}
	for (v = v->first; v; v = v->next) {
		snprintf(name, sizeof name, "%.250s.%.250s", prefix, v->key);
		flatten(f, name, v, depth + 1);
	}
}

/* Of the lock: {"default": {"numpy": {"version": "==1.2"}}}. */
static void packages(struct amun_facts *f, const struct jsontree *specification)
{
	const struct jsontree *python = jsontree_find(specification, "python");
	const struct jsontree *lock = jsontree_find(python, "requirements_locked");
	const struct jsontree *all = jsontree_find(lock, "default");
	char name[NAME_BYTES];

	for (const struct jsontree *v = all && all->type == JSONDOC_OBJECT ? all->first : NULL; v;
	     v = v->next) {
		const char *version = jsontree_text(v, "version");

		snprintf(name, sizeof name, "package.%.250s", v->key);
		if (version)
			add(f, name, version + strspn(version, "="));
	}
}

static void hwinfo_beside(struct amun_facts *f, const char *folder, int64_t number)
{
	char path[PATH_MAX];
	const struct jsontree *hwinfo = NULL;
	struct pool pool = { 0 };
	struct bytes b = { 0 };
	struct err e = { "" };
	int rc;

	if (!*folder || (size_t)snprintf(path, sizeof path, "%s/results/%" PRId64 "/hwinfo", folder,
					 number) >= sizeof path)
		return;
	rc = textfile_read(path, "hwinfo", CONTRACT_DOCUMENT, &b, &e);
	if (!rc && b.len) {
		hwinfo = jsontree_read(&pool, b.data, b.len, &e);
		flatten(f, "hwinfo", hwinfo, 0);
	}
	if (rc && rc != -ENOENT)
		f->wrong = e;
	else if (!rc && b.len && !hwinfo)
		err_set(&f->wrong, -EBADMSG, "%.300s: %s", path, e.text);
	bytes_free(&b);
	pool_free(&pool);
}

static bool is_filled(const struct jsontree *v)
{
	return v && v->type == JSONDOC_OBJECT && v->first;
}

void amun_facts_of(struct amun_facts *f, const struct amun_facts_source *s)
{
	const struct jsontree *hwinfo = jsontree_find(s->result, "hwinfo");

	if (is_filled(hwinfo) || is_filled(s->hwinfo))
		flatten(f, "hwinfo", is_filled(hwinfo) ? hwinfo : s->hwinfo, 0);
	else
		hwinfo_beside(f, s->folder, s->number);
	flatten(f, "os_release", jsontree_find(s->result, "os_release"), 0);
	flatten(f, "runtime_environment", jsontree_find(s->result, "runtime_environment"), 0);
	packages(f, s->specification);
}
