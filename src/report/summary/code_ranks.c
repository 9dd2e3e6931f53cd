/* SPDX-License-Identifier: Apache-2.0 */
/* code_ranks.c - processes that spend unequal shares of their CPU time in MPI: who has less work
 * spins there until the others come, and looks as busy as they are. */
#include "core/stacks/stacks.h"
#include "report/summary/code.h"
#include "report/summary/parts.h"

#include <math.h>
#include <string.h>

enum { RANKS_MOST = 1024, CELLS_MOST = 1 << 16 };

/* Of a process whose share is compared: a part of all, and enough samples. */
static const double part_least = 0.01, samples_least = 20;
/* Of its CPU time: who used less did nothing meanwhile. */
static const double idle_part = 0.1;

/* Processes of its name that were there as well and used hardly any CPU time. */
static double idle_beside(const struct run *r, const struct stacks_row *row)
{
	const struct run_instance *its = &r->instances[row->instance];
	double n = 0;

	for (uint32_t i = 1; its->name && i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		double cpu_s = NAN;

		if (i != row->instance && in->domain && !strcmp(in->domain, "process") &&
		    in->name && !strcmp(in->name, its->name) && in->birth_ns < its->end_ns &&
		    in->end_ns > its->birth_ns &&
		    run_final_value(r, i, "process.cpu_seconds", &cpu_s))
			n += cpu_s < idle_part * row->self;
	}
	return n;
}

/* Seconds of CPU time outside of MPI: of ranks with even work about the same, whoever got more of a
 * core, since they go on together. */
struct work {
	double least, most;
};

static void take(struct summary *s, const struct stacks_row *row, double mpi_s, struct work *w)
{
	double share = row->self > 0 ? fmin(1, mpi_s / row->self) : NAN;

	if (!(row->self >= part_least * s->code->stacks->total) || !(row->samples >= samples_least))
		return;
	s->mpi_code_processes++;
	if (!(s->mpi_code_most >= share))
		s->mpi_code_idle = idle_beside(s->code->stacks->run, row);
	s->mpi_code_most = fmax(s->mpi_code_most, share);
	s->mpi_code_least = fmin(s->mpi_code_least, share);
	w->least = fmin(w->least, row->self - mpi_s);
	w->most = fmax(w->most, row->self - mpi_s);
}

/* The cells are sorted by group. */
static void compare(struct summary *s, const struct stacks_cells *c, uint32_t mpi)
{
	struct work w = { NAN, NAN };

	for (uint32_t g = 1, i = 0; g < c->ngroups; g++) {
		double sum = 0;

		for (; i < c->n && c->cell[i].group <= g; i++)
			if (c->cell[i].group == g && c->cell[i].place == mpi)
				sum += (double)c->cell[i].value;
		take(s, &c->groups[g], sum, &w);
	}
	s->mpi_code_work = w.most > 0 ? fmax(0, w.least) / w.most : NAN;
}

void summary_code_ranks_init(struct summary *s)
{
	s->mpi_code_processes = s->mpi_code_most = s->mpi_code_least = s->mpi_code_idle =
		s->mpi_code_work = NAN;
}

int summary_code_ranks(struct summary *s, struct err *e)
{
	struct stacks *st = s->code->stacks;
	uint32_t mpi = classes_find(&s->code->classes, "mpi");
	struct stacks_cells cells = { 0 };
	bool any = false;
	int rc;

	s->mpi_code_processes = s->mpi_code_idle = 0;
	s->mpi_code_most = s->mpi_code_least = s->mpi_code_work = NAN;
	for (uint32_t i = 0; i < st->rows[STACKS_BY_CLASS].n; i++)
		any |= st->rows[STACKS_BY_CLASS].row[i].class == mpi;
	if (!mpi || !any)
		return 0;
	rc = stacks_cells_make(&cells, st, NULL,
			       &(struct stacks_axis){ .to_s = s->wall_s,
						      .buckets = 1,
						      .group = STACKS_PER_PROCESS,
						      .most_groups = RANKS_MOST,
						      .most = CELLS_MOST,
						      .by_class = true },
			       e);
	if (!rc)
		compare(s, &cells, mpi);
	stacks_cells_free(&cells);
	return rc;
}
