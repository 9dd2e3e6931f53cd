/* SPDX-License-Identifier: Apache-2.0 */
#include "push/push.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define RUNNING_NS (3 * NS_PER_S)
#define GROWS_NS   (300 * NS_PER_S)

#define PUSH(x, name) extern const struct push push_##x;
#include "pushes.def"
#undef PUSH

#define PUSH(x, name) &push_##x,
const struct push *const pushes[] = {
#include "pushes.def"
};
#undef PUSH

const size_t npushes = sizeof(pushes) / sizeof(pushes[0]);

const struct push *push_find(const char *name)
{
	for (size_t i = 0; i < npushes; i++)
		if (!strcmp(pushes[i]->name, name))
			return pushes[i];
	return NULL;
}

const char *push_node_key(const struct run *r, uint32_t node, const char *word, char key[PUSH_KEY])
{
	const char *file = r->nodes[node].file ? r->nodes[node].file : "",
		   *slash = strrchr(file, '/');
	size_t n;

	/* Nodes of one file are told apart by their number. */
	n = (size_t)snprintf(key, PUSH_KEY, "%s-%u-", word, node);
	for (const char *c = slash ? slash + 1 : file; *c && n + 1 < PUSH_KEY; c++)
		key[n++] = *c > ' ' && *c < 0x7f ? *c : '_';
	key[n] = '\0';
	return key;
}

/* A node's newest sample, that of its recorder's begin when there is none, is not so old. */
static bool is_fresh(const struct run *r, int64_t now_utc_ns, int64_t patience_ns)
{
	const struct run_meta *m = run_find_meta(r, 0, "run.interval_ns");

	if (m && m->type == META_INT && m->value > 0 && m->value < 86400 * NS_PER_S)
		patience_ns += 3 * m->value;
	for (uint32_t i = 1; i < r->nnodes; i++) {
		const struct run_node *n = &r->nodes[i];
		int64_t newest_ns = n->rows ? run_utc_ns(r, i, n->last_ns) : n->utc0_ns;

		if (!n->complete && now_utc_ns - newest_ns < patience_ns)
			return true;
	}
	return false;
}

bool push_is_running(const struct run *r, int64_t now_utc_ns)
{
	return is_fresh(r, now_utc_ns, RUNNING_NS);
}

bool push_may_grow(const struct run *r, int64_t now_utc_ns)
{
	return is_fresh(r, now_utc_ns, GROWS_NS);
}
