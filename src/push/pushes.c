/* SPDX-License-Identifier: Apache-2.0 */
#include "push/push.h"

#include "base/clock.h"

#include <string.h>

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

bool push_is_running(const struct run *r, int64_t now_utc_ns)
{
	const struct run_meta *m = run_find_meta(r, 0, "run.interval_ns");
	int64_t patience_ns = 3 * NS_PER_S;

	if (m && m->type == META_INT && m->value > 0 && m->value < 86400 * NS_PER_S)
		patience_ns += 3 * m->value;
	for (uint32_t i = 1; i < r->nnodes; i++)
		if (!r->nodes[i].complete && r->nodes[i].rows &&
		    now_utc_ns - run_utc_ns(r, i, r->nodes[i].last_ns) < patience_ns)
			return true;
	return false;
}
