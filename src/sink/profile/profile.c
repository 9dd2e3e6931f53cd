/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/profile/profile.h"

#include "core/stacks/waitkind.h"

#include <errno.h>
#include <string.h>

#define PROFILE(x) extern const struct profile profile_##x;
#include "profiles.def"
#undef PROFILE

#define PROFILE(x) &profile_##x,
const struct profile *const profiles[] = {
#include "profiles.def"
};
#undef PROFILE

const size_t nprofiles = sizeof profiles / sizeof profiles[0];

int profile_data_make(struct profile_data *d, struct stacks *s, struct err *e)
{
	struct stacks_axis axis = { .buckets = 1,
				    .group = STACKS_PER_COMMAND,
				    .most_groups = UINT32_MAX,
				    .most = UINT32_MAX };
	int rc;

	*d = (struct profile_data){ .stacks = s };
	rc = stacks_fold_make(&d->tree, s, UINT32_MAX);
	if (rc)
		return err_set(e, rc, "out of memory");
	rc = stacks_cells_make(&d->nodes, s, &d->tree, &axis, e);
	axis.by_stack = true;
	return rc ? rc : stacks_cells_make(&d->places, s, NULL, &axis, e);
}

void profile_data_free(struct profile_data *d)
{
	stacks_fold_free(&d->tree);
	stacks_cells_free(&d->nodes);
	stacks_cells_free(&d->places);
}

uint32_t profile_path(const struct profile_data *d, uint32_t node, uint32_t path[PROFILE_DEEP])
{
	const struct stacks_node *nodes = d->tree.nodes;
	uint32_t depth = 0, n, at;

	for (at = node; at; at = nodes[at].parent)
		depth++;
	n = depth;
	for (at = node; at; at = nodes[at].parent)
		if (--depth < PROFILE_DEEP)
			path[depth] = nodes[at].function;
	if (n > PROFILE_DEEP) {
		n = PROFILE_DEEP;
		path[n - 1] = PROFILE_CUT;
	}
	return n;
}

const char *profile_name(const struct stacks_function *f)
{
	static const char *const states[][2] = {
		{ WAIT_ON_CPU, "on a CPU" },
		{ WAIT_WAS_READY, "ready, but without a core" },
		{ WAIT_UNSEEN, "waited, before a look found where" },
		{ WAIT_REFUSED, "waited, and no look is permitted" },
	};
	enum wait_kind kind;

	if (!*f->name)
		return f->shown;
	if (strcmp(f->module, WAIT_MODULE) != 0)
		return f->name;
	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
		if (!strcmp(f->name, states[i][0]))
			return states[i][1];
	return wait_kind_find(f->name, &kind) ? wait_kind_words(kind) : f->name;
}
