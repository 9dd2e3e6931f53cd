/* SPDX-License-Identifier: Apache-2.0 */
#include "import/lanes.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct lane {
	uint32_t track, n;
	int64_t floor_ns; /* the last end of what was forgotten */
	struct {
		int64_t begin_ns, end_ns;
	} span[LANES_SPANS];
};

struct lanes_of {
	uint64_t key; /* 0: free */
	uint32_t n;
	struct lane *lane[LANES_OF_ONE];
};

static struct lanes_of *slot_of(struct lanes_of *at, uint32_t cap, uint64_t key)
{
	uint32_t i = (uint32_t)(key ^ key >> 32) & (cap - 1);

	while (at[i].key && at[i].key != key)
		i = (i + 1) & (cap - 1);
	return &at[i];
}

static bool grow(struct lanes *l)
{
	uint32_t cap = l->cap ? l->cap * 2 : 16;
	struct lanes_of *more = calloc(cap, sizeof *more);

	if (!more)
		return false;
	for (uint32_t i = 0; i < l->cap; i++)
		if (l->of[i].key)
			*slot_of(more, cap, l->of[i].key) = l->of[i];
	free(l->of);
	l->of = more;
	l->cap = cap;
	return true;
}

static uint64_t key_of(const struct lane_owner *o)
{
	const char *texts[] = { o->pid, o->tid, o->process, o->rank };
	uint64_t key = hash_text(0, o->name);

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		key = hash_text(hash_bytes(key, "", 1), texts[i]);
	return key + !key;
}

/* NULL: too many, or no memory. */
static struct lanes_of *owner_of(struct lanes *l, const struct lane_owner *o)
{
	uint64_t key = key_of(o);
	struct lanes_of *of;

	if (l->n >= l->cap / 2 && !grow(l))
		return NULL;
	of = slot_of(l->of, l->cap, key);
	if (of->key)
		return of;
	if (l->n == LANES_OWNERS_MAX)
		return NULL;
	l->n++;
	of->key = key;
	return of;
}

static bool nests(const struct lane *x, int64_t begin_ns, int64_t end_ns)
{
	if (begin_ns < x->floor_ns)
		return false;
	for (uint32_t i = x->n; i--;) {
		int64_t begin = x->span[i].begin_ns, end = x->span[i].end_ns;

		if ((begin_ns < begin && begin < end_ns && end_ns < end) ||
		    (begin < begin_ns && begin_ns < end && end < end_ns))
			return false;
	}
	return true;
}

static void remember(struct lane *x, int64_t begin_ns, int64_t end_ns)
{
	uint32_t at = x->n;

	if (x->n == LANES_SPANS) {
		at = 0;
		for (uint32_t i = 1; i < x->n; i++)
			if (x->span[i].end_ns < x->span[at].end_ns)
				at = i;
		if (end_ns <= x->span[at].end_ns) {
			x->floor_ns = x->floor_ns > end_ns ? x->floor_ns : end_ns;
			return;
		}
		if (x->floor_ns < x->span[at].end_ns)
			x->floor_ns = x->span[at].end_ns;
	} else {
		x->n++;
	}
	x->span[at].begin_ns = begin_ns;
	x->span[at].end_ns = end_ns;
}

static struct lane *lane_make(struct lanes_of *of, struct timeline *line,
			      const struct lane_owner *o)
{
	struct lane *x = calloc(1, sizeof *x);
	char name[TIMELINE_NAME_MAX];

	if (!x)
		return NULL;
	if (of->n) {
		snprintf(name, sizeof name, "%.900s, lane %u", o->name, of->n + 1);
		x->track = timeline_lane(line, name, o->pid, of->n + 1, o->process);
	} else {
		x->track = timeline_track(line, o->name, o->pid, o->tid, o->process);
	}
	timeline_label(line, x->track, "rank", line->rank ? NULL : o->rank);
	of->lane[of->n++] = x;
	return x;
}

uint32_t lanes_track(struct lanes *l, struct timeline *line, const struct lane_owner *owner,
		     int64_t begin_ns, int64_t end_ns)
{
	struct lanes_of *of = owner_of(l, owner);
	struct lane *x = NULL;

	for (uint32_t i = 0; of && i < of->n && !x; i++)
		if (nests(of->lane[i], begin_ns, end_ns))
			x = of->lane[i];
	if (!x && of && of->n < LANES_OF_ONE)
		x = lane_make(of, line, owner);
	if (!x && of && of->n) {
		x = of->lane[of->n - 1];
		l->crossing++;
	}
	if (!x)
		return 0;
	remember(x, begin_ns, end_ns);
	return x->track;
}

uint32_t lanes_home(struct lanes *l, struct timeline *line, const struct lane_owner *owner)
{
	struct lanes_of *of = owner_of(l, owner);

	if (of && !of->n)
		lane_make(of, line, owner);
	return of && of->n ? of->lane[0]->track : 0;
}

void lanes_free(struct lanes *l)
{
	for (uint32_t i = 0; i < l->cap; i++)
		for (uint32_t k = 0; k < l->of[i].n; k++)
			free(l->of[i].lane[k]);
	free(l->of);
	*l = (struct lanes){ 0 };
}
