/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/perfmon_parts.h"

#include "base/clock.h"
#include "core/frame/run_index.h"
#include "core/glob.h"
#include "sink/perfmon.h"
#include "sink/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_process(const struct run_instance *i)
{
	return i->domain && !strcmp(i->domain, "process");
}

static void put_parent(struct json *j, const struct run *r, uint32_t id)
{
	const struct run_instance *i = &r->instances[id];
	const char *pid = run_label(r, id, "pid");

	json_object(j);
	if (id) {
		json_key(j, "pid");
		json_text(j, pid);
		json_key(j, "name");
		json_text(j, i->name);
		json_key(j, "create_time");
		json_real(j, (double)run_utc_ns(r, i->node, i->birth_ns) / (double)NS_PER_S);
	}
	json_object_end(j);
}

static void put_child(struct json *j, const struct run *r, uint32_t id)
{
	const char *pid = run_label(r, id, "pid"), *name = r->instances[id].name;
	char text[256];

	snprintf(text, sizeof text, "%s %s", pid ? pid : "?", name ? name : "");
	json_text(j, text);
}

void perfmon_processes(struct json *j, const struct run *r, uint32_t node)
{
	uint32_t parent = 0, n = 0;

	for (uint32_t i = 1; i < r->ninstances; i++)
		if (r->instances[i].node == node && is_process(&r->instances[i]) &&
		    (!parent || r->instances[i].birth_ns < r->instances[parent].birth_ns))
			parent = i;
	json_key(j, "parent_proc_md");
	put_parent(j, r, parent);
	json_key(j, "child_proc_md");
	json_array(j);
	for (uint32_t i = 1; i < r->ninstances && n < PERFMON_PROCESSES; i++)
		if (i != parent && r->instances[i].node == node && is_process(&r->instances[i])) {
			put_child(j, r, i);
			n++;
		}
	json_array_end(j);
}

static void put_meta(struct json *j, const struct run_meta *m)
{
	json_key(j, m->key);
	switch (m->type) {
	case META_INT:
		json_int(j, m->value);
		break;
	case META_REAL:
		json_real(j, m->real);
		break;
	case META_BOOL:
		json_bool(j, m->value);
		break;
	default:
		json_text(j, m->text);
	}
}

/* What is told of hosts. */
struct told {
	const struct run *run;
	const char *keys; /* globs; NULL: none */
	struct run_index metas;
	uint32_t *rank;
};

/* The last that was said of a key counts. */
static void put_metas(struct json *j, const struct told *t, uint32_t node)
{
	const struct run *r = t->run;
	const struct run_index *x = &t->metas;

	for (uint32_t i = x->first[node]; i < x->first[node + 1]; i++) {
		const struct run_meta *m = &r->metas[x->id[i]];

		if (m->key && t->keys && glob_match(t->keys, m->key) &&
		    run_find_meta(r, node, m->key) == m)
			put_meta(j, m);
	}
}

static int put_hosts(struct bytes *text, const struct told *t, FILE *out, struct err *e)
{
	const struct run *r = t->run;
	struct json j = { .out = text };
	char host[256];
	int rc = 0;

	json_object(&j);
	json_key(&j, "host_names");
	json_array(&j);
	for (uint32_t n = 1; n < r->nnodes; n++) {
		run_host_name(r, n, t->rank[n], host, sizeof host);
		json_text(&j, host);
	}
	json_array_end(&j);
	for (uint32_t n = 1; n < r->nnodes && !rc; n++) {
		run_host_name(r, n, t->rank[n], host, sizeof host);
		json_key(&j, host);
		json_object(&j);
		put_metas(&j, t, n);
		json_object_end(&j);
		rc = text_flush(text, out, TEXT_BLOCK, e);
	}
	json_object_end(&j);
	bytes_u8(text, '\n');
	return rc ? rc : text_flush(text, out, 0, e);
}

int perfmon_meta_data(const struct run *r, const struct map *m, FILE *out, struct err *e)
{
	struct told t = { r, m->machine, { 0 }, calloc(r->nnodes + 1u, sizeof *t.rank) };
	struct bytes text = { 0 };
	int rc;

	if (!t.rank || run_host_ranks(r, t.rank) || run_index_metas(&t.metas, r))
		rc = err_set(e, -ENOMEM, "out of memory");
	else
		rc = put_hosts(&text, &t, out, e);
	if (!rc && fflush(out))
		rc = err_set(e, -errno, "%s", strerror(errno));
	run_index_free(&t.metas);
	bytes_free(&text);
	free(t.rank);
	return rc;
}
