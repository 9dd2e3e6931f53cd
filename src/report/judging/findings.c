/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judging/findings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "source.";

/* source.NAME, but not source.NAME.fix_user. */
static bool is_source(const struct run_meta *m)
{
	return m->type == META_TEXT && m->text && !strncmp(m->key, prefix, sizeof prefix - 1) &&
	       !strchr(m->key + sizeof prefix - 1, '.');
}

static const char *fix(const struct metadata *m, const struct run_finding *f, const char *who)
{
	char key[160];

	snprintf(key, sizeof key, "%s.%s.fix_%s", f->is_source ? "source" : "metric", f->name, who);
	return metadata_text(m, f->node, key);
}

static void add(struct findings *to, const struct metadata *m, const struct run_finding *given)
{
	struct run_finding *f = &to->row[to->n++];

	*f = *given;
	f->fix_user = fix(m, f, "user");
	f->fix_admin = fix(m, f, "admin");
}

/* "forbidden: /proc/x: Permission denied" */
static void add_source(struct findings *to, const struct metadata *m, const struct run_meta *said)
{
	struct run_finding f = { .node = said->node,
				 .is_source = true,
				 .name = said->key + sizeof prefix - 1 };
	const char *colon = strstr(said->text, ": ");
	int n = (int)(colon ? colon - said->text : (ptrdiff_t)strlen(said->text));

	snprintf(f.state, sizeof f.state, "%.*s", n, said->text);
	f.reason = colon ? colon + 2 : NULL;
	add(to, m, &f);
}

static int compare_refusals(const struct run *r, uint32_t x, uint32_t y)
{
	const struct run_series *a = &r->series[x], *b = &r->series[y];
	const char *why = run_refusal_of(r, a).reason, *other = run_refusal_of(r, b).reason;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	if (a->state != b->state)
		return a->state < b->state ? -1 : 1;
	return strcmp(why ? why : "", other ? other : "");
}

static int by_refusal(const void *a, const void *b, void *run)
{
	return compare_refusals(run, *(const uint32_t *)a, *(const uint32_t *)b);
}

static bool is_refused(const struct run *r, const struct run_series *s)
{
	return s->state >= STATE_UNSUPPORTED && s->metric < r->nmetrics;
}

static void add_metric(struct findings *to, const struct metadata *m, const struct run_series *s)
{
	struct run_finding f = { .node = s->node,
				 .name = m->run->metrics[s->metric].row.name,
				 .reason = run_refusal_of(m->run, s).reason };

	snprintf(f.state, sizeof f.state, "%s", state_name(s->state));
	add(to, m, &f);
}

/* A refusal of a thousand processes is one finding. */
static uint32_t different_refusals(const struct run *r, uint32_t *id)
{
	uint32_t n = 0, different = 0;

	for (uint32_t i = 1; i < r->nseries; i++)
		if (is_refused(r, &r->series[i]))
			id[n++] = i;
	qsort_r(id, n, sizeof *id, by_refusal, (void *)(uintptr_t)r);
	for (uint32_t i = 0; i < n; i++)
		if (!different || compare_refusals(r, id[different - 1], id[i]) != 0)
			id[different++] = id[i];
	return different;
}

int findings_make(struct findings *f, const struct run *r, const struct metadata *m)
{
	uint32_t *id = calloc(r->nseries + 1, sizeof *id);
	uint32_t nmetrics = id ? different_refusals(r, id) : 0;

	*f = (struct findings){ .row = id ? calloc(m->n + nmetrics + 1, sizeof *f->row) : NULL };
	for (uint32_t i = 0; f->row && i < m->n; i++)
		if (is_source(&r->metas[m->id[i]]))
			add_source(f, m, &r->metas[m->id[i]]);
	for (uint32_t i = 0; f->row && i < nmetrics; i++)
		add_metric(f, m, &r->series[id[i]]);
	free(id);
	return f->row ? 0 : -ENOMEM;
}

void findings_free(struct findings *f)
{
	free(f->row);
	*f = (struct findings){ 0 };
}

void findings_say_fixes(const char *fix_user, const char *fix_admin, struct bytes *out)
{
	if (fix_user)
		bytes_printf(out, "You can: %s. ", fix_user);
	if (fix_admin)
		bytes_printf(out, "An administrator can: %s.", fix_admin);
}

void findings_json(struct json *j, const struct findings *f, const struct run *r)
{
	json_array(j);
	for (uint32_t i = 0; i < f->n; i++) {
		const struct run_finding *row = &f->row[i];

		json_object(j);
		json_put_text(j, "host", row->node < r->nnodes ? r->nodes[row->node].host : NULL);
		json_put_text(j, "kind", row->is_source ? "source" : "metric");
		json_put_text(j, "name", row->name);
		json_put_text(j, "state", row->state);
		json_put_text(j, "reason", row->reason);
		json_put_text(j, "fix_user", row->fix_user);
		json_put_text(j, "fix_admin", row->fix_admin);
		json_object_end(j);
	}
	json_array_end(j);
}
