/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/amun/amun_facts.h"

#include "base/text/textfile.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void amun_facts_free(struct amun_facts *f)
{
	bench_facts_free(&f->facts);
	*f = (struct amun_facts){ 0 };
}

/* Of the lock: {"default": {"numpy": {"version": "==1.2"}}}. */
static void packages(struct bench_facts *f, const struct jsontree *specification)
{
	const struct jsontree *python = jsontree_find(specification, "python");
	const struct jsontree *lock = jsontree_find(python, "requirements_locked");
	const struct jsontree *all = jsontree_find(lock, "default");
	char name[BENCH_FACT_NAME];

	for (const struct jsontree *v = all && all->type == JSONDOC_OBJECT ? all->first : NULL; v;
	     v = v->next) {
		const char *version = jsontree_text(v, "version");

		snprintf(name, sizeof name, "package.%.250s", v->key);
		if (version)
			bench_facts_add(f, name, version + strspn(version, "="));
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
		bench_facts_flatten(&f->facts, "hwinfo", hwinfo);
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
		bench_facts_flatten(&f->facts, "hwinfo", is_filled(hwinfo) ? hwinfo : s->hwinfo);
	else
		hwinfo_beside(f, s->folder, s->number);
	bench_facts_flatten(&f->facts, "os_release", jsontree_find(s->result, "os_release"));
	bench_facts_flatten(&f->facts, "runtime_environment",
			    jsontree_find(s->result, "runtime_environment"));
	packages(&f->facts, s->specification);
}
