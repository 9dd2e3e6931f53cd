/* SPDX-License-Identifier: Apache-2.0 */
#include "import/timeline_clock.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Sums of times of hostile files. False: it is beyond what there is. */
static bool sum(int64_t a, int64_t b, int64_t *out)
{
	return !__builtin_add_overflow(a, b, out);
}

/* Whether a clock with that 0 has something in common with the node's recording. */
static bool overlaps(const struct timeline_times *t, const struct import_place *p, int64_t zero)
{
	int64_t first, last;

	return sum(t->first_ns, zero, &first) && sum(t->last_ns, zero, &last) &&
	       first <= p->last_utc && last >= p->first_utc;
}

static bool is_usable(const struct timeline_times *t, int64_t zero)
{
	int64_t first, last;

	return sum(t->first_ns, zero, &first) && sum(t->last_ns, zero, &last) && first >= 0 &&
	       last < INT64_MAX / 2;
}

static int by_mark(const struct timeline_times *t, const struct import *x, int64_t *zero,
		   struct err *e)
{
	const struct import_place *p = &x->place;

	if (!t->align_found)
		return err_set(e, -ENOENT,
			       "%.200s has no event named %.100s; choose another one for --align",
			       x->path, p->align);
	if (__builtin_sub_overflow(p->align_utc, t->align_ns, zero) || !is_usable(t, *zero))
		return err_set(e, -ERANGE, "%.200s: the times are out of range", x->path);
	store_note(
		x->store,
		"%.200s: aligned by %.100s; how exactly is not known: both are taken to be at the "
		"same instant",
		x->path, p->align);
	return 0;
}

static int not_of_it(const struct timeline_times *t, const struct import *x, struct err *e)
{
	char of[40], there[40];

	clock_iso(t->first_ns + t->zero_utc, of, sizeof of);
	clock_iso(x->place.first_utc, there, sizeof there);
	return err_set(e, -ERANGE,
		       "%.200s is of another time than the recording: it begins at %s, the "
		       "recording at %s; import it without --into, or align it with --align",
		       x->path, of, there);
}

static int unknown(const struct timeline_times *t, const struct import *x, int64_t *zero,
		   struct err *e)
{
	int64_t at = x->place.into ? x->place.first_utc : t->changed_utc;
	int64_t same = x->place.into ? t->first_ns : t->last_ns;

	if (__builtin_sub_overflow(at, same, zero) || !is_usable(t, *zero))
		*zero = -t->first_ns;
	store_note(x->store,
		   x->place.into ? "%.200s does not say when it was: it is not aligned, and begins "
				   "with the recording; --align aligns it by a mark"
				 : "%.200s does not say when it was: it is taken to end when the "
				   "file was last changed",
		   x->path);
	return is_usable(t, *zero)
		       ? 0
		       : err_set(e, -ERANGE, "%.200s: the times are out of range", x->path);
}

int timeline_clock(const struct timeline_times *t, const struct import *x, int64_t *zero_utc,
		   struct err *e)
{
	const struct import_place *p = &x->place;

	if (p->align)
		return by_mark(t, x, zero_utc, e);
	if (t->stated && is_usable(t, t->zero_utc)) {
		*zero_utc = t->zero_utc;
		if (p->into && !overlaps(t, p, *zero_utc))
			return not_of_it(t, x, e);
		store_note(
			x->store,
			"%.200s: its times are UTC by %s; how far the clock was off is not known",
			x->path, t->statement);
		return 0;
	}
	if (p->into && overlaps(t, p, p->utc_of_mono)) {
		*zero_utc = p->utc_of_mono;
		store_note(x->store,
			   "%.200s: its times are taken to count from the machine's boot, like the "
			   "recording's",
			   x->path);
		return 0;
	}
	return unknown(t, x, zero_utc, e);
}
