/* SPDX-License-Identifier: Apache-2.0 */
/* hotspot_in.c - where in the program it is that time of one kind goes to. */
#include "report/judging/hotspot_part.h"

#include "base/text/decimal.h"

/* Of what is said of one kind of code, the place where samples of that kind are, not where most of
 * the others are. What the kernel does may not be sampled everywhere: the calls of libraries around
 * it have some samples. A page fault has none then: it is known only where nearly all is one place.
 */
static const struct {
	const char *class[3];
	bool in_kernel;
} ins[HOT_INS] = {
	[HOT_IN_KERNEL] = { { "io", "locks", "clock" }, true },
	[HOT_IN_IO] = { { "io" }, true },
	[HOT_IN_COPIES] = { { "copies" }, false },
	[HOT_IN_ALLOCATION] = { { "allocation" }, false },
	[HOT_IN_COMPRESSION] = { { "compression" }, false },
	[HOT_IN_EXCEPTIONS] = { { "exceptions" }, false },
	[HOT_IN_PATTERNS] = { { "pattern-compilation" }, false },
	[HOT_IN_LOCKS] = { { "locks" }, false },
	[HOT_IN_MPI] = { { "mpi" }, false },
	[HOT_IN_OPENMP] = { { "openmp-wait" }, false },
	[HOT_IN_PARSING] = { { "parsing" }, false },
	[HOT_IN_FAULTS] = { { NULL }, true },
};
static const double most = 0.5;

static void put_in(char *out, size_t size, const struct hot *h)
{
	decimal_append(out, size, ", most likely in ");
	hotspot_put_place(out, size, &h->place);
	if (h->by.function) {
		decimal_append(out, size, ", called by ");
		hotspot_put_place(out, size, &h->by);
	}
	decimal_append(out, size, ".");
}

/* Where most samples of those classes are; n 0: no place has most. */
static int find_of(struct hot *h, const struct stacks *st, const uint32_t *class, size_t n)
{
	double all_s;
	int rc = hot_make_of(h, &all_s, st, class, n);

	if (!rc && !(h->own && h->place.seconds >= most * all_s &&
		     all_s / st->total * st->effective >= hotspot_least_samples))
		*h = (struct hot){ 0 };
	return rc;
}

/* ", 61 % of it in open64 (libc.so.6), 20 % in close (libc.so.6), called by demux (demux.c:12)." of
 * system calls; of page faults where they happened. */
static int put_calls(char *out, size_t size, const struct stacks *kernel,
		     const struct hot *nearly_all)
{
	enum { CALLS = 3 };
	static const double least = 0.1;
	const struct stacks_rows *rows = &kernel->rows[STACKS_BY_FUNCTION];
	struct hot h;
	bool named = false;
	int rc = hot_make(&h, kernel), n = 0;

	if (rc || kernel->effective < hotspot_least_samples)
		return rc;
	for (uint32_t i = 0; i < rows->n && rows->row[i].self >= least * kernel->total; i++) {
		const struct stacks_row *row = &rows->row[i];
		const struct stacks_function *function = &kernel->functions[row->function];

		if (!*function->name || n == CALLS)
			continue;
		decimal_append(out, size, ", %.0f %% %sin ", 100 * row->self / kernel->total,
			       n++ ? "" : "of it ");
		hotspot_put_place(out, size,
				  &(struct hot_place){ function, row->file, row->line, row->self });
		named |= function == h.place.function;
	}
	if (n && !named && h.own && h.place.seconds >= most * kernel->total) {
		decimal_append(out, size, ", called by ");
		hotspot_put_place(out, size, &h.place);
	} else if (n && !named && nearly_all) {
		decimal_append(out, size, ", most likely for ");
		hotspot_put_place(out, size, &nearly_all->place);
	}
	decimal_append(out, size, "%s", n ? "." : "");
	return 0;
}

int hotspot_say_in(struct summary_hot *out, const struct code *code, int which,
		   const struct hot *nearly_all)
{
	const struct stacks *kernel = ins[which].in_kernel ? code->kernel : NULL;
	char *in = out->in[which];
	uint32_t class[3];
	struct hot h = { 0 };
	size_t n = 0;
	int rc = 0;

	in[0] = '\0';
	for (size_t i = 0; i < 3 && ins[which].class[i]; i++)
		class[n++] = classes_find(&code->classes, ins[which].class[i]);
	if (kernel && kernel->total > 0 && which != HOT_IN_IO)
		rc = put_calls(in, sizeof out->in[which], kernel, nearly_all);
	else if (kernel && kernel->total > 0)
		rc = find_of(&h, kernel, class, n);
	if (!rc && !*in && !h.own && n && code->stacks && code->stacks->total > 0)
		rc = find_of(&h, code->stacks, class, n);
	if (!rc && !*in && (h.own || nearly_all))
		put_in(in, sizeof out->in[which], h.own ? &h : nearly_all);
	return rc;
}
