/* SPDX-License-Identifier: Apache-2.0 */
/* summary_mechanisms.c - what each recorder said of the ways to follow processes: metadata
 * mechanism.NAME, "used" or "forbidden: why". */
#include "report/summary/summary_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OF_A_NODE_MAX = 64 }; /* recorders have a handful; a stranger's file may have any number */

static const char prefix[] = "mechanism.";

static bool is_mechanism(const struct run_meta *m)
{
	return m->type == META_TEXT && m->text && !strncmp(m->key, prefix, sizeof prefix - 1);
}

/* Where it goes: over what was said of it before, or behind the others; NULL when there are too
 * many. */
static struct summary_mechanism *place(struct summary *s, uint32_t node, const char *name)
{
	uint32_t i = s->nmechanisms, seen = 0;

	for (; i-- > 0 && s->mechanism[i].node == node; seen++)
		if (!strcmp(s->mechanism[i].name, name))
			return &s->mechanism[i];
	return seen < OF_A_NODE_MAX ? &s->mechanism[s->nmechanisms++] : NULL;
}

static void take(struct summary *s, const struct run_meta *m)
{
	const char *name = m->key + sizeof prefix - 1, *colon = strstr(m->text, ": ");
	struct summary_mechanism *to = place(s, m->node, name);
	int length = (int)(colon ? colon - m->text : (ptrdiff_t)strlen(m->text));

	if (!to)
		return;
	*to = (struct summary_mechanism){ .node = m->node, .name = name };
	snprintf(to->state, sizeof to->state, "%.*s", length, m->text);
	to->reason = colon ? colon + 2 : NULL;
}

int summary_mechanisms_make(struct summary *s, const struct run *r, struct err *e)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < r->nmetas; i++)
		n += is_mechanism(&r->metas[i]);
	s->nmechanisms = 0;
	s->mechanism = calloc(n + 1, sizeof *s->mechanism);
	if (!s->mechanism)
		return err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	for (uint32_t i = 1; i < r->nmetas; i++)
		if (is_mechanism(&r->metas[i]) && r->metas[i].node < r->nnodes)
			take(s, &r->metas[i]);
	return 0;
}
