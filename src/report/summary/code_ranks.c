/* SPDX-License-Identifier: Apache-2.0 */
/* code_ranks.c - processes that spend unequal shares of their CPU time in MPI: who has less work
 * spins there until the others come, and looks as busy as they are. */
#include "core/stacks/stacks.h"
#include "report/summary/code.h"
#include "report/summary/parts.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
	const struct stacks_row *in_mpi, *beside; /* with most and least of its time in MPI */
};

static void take(struct summary *s, const struct stacks_row *row, double mpi_s, struct work *w)
{
	double share = row->self > 0 ? fmin(1, mpi_s / row->self) : NAN;

	if (!(row->self >= part_least * s->code->stacks->total) || !(row->samples >= samples_least))
		return;
	s->mpi_code_processes++;
	if (!(s->mpi_code_most >= share)) {
		s->mpi_code_idle = idle_beside(s->code->stacks->run, row);
		w->in_mpi = row;
	}
	if (!(s->mpi_code_least <= share))
		w->beside = row;
	s->mpi_code_most = fmax(s->mpi_code_most, share);
	s->mpi_code_least = fmin(s->mpi_code_least, share);
	w->least = fmin(w->least, row->self - mpi_s);
	w->most = fmax(w->most, row->self - mpi_s);
}

/* The cells are sorted by group. */
static void compare(struct summary *s, const struct stacks_cells *c, uint32_t mpi, struct work *w)
{
	for (uint32_t g = 1, i = 0; g < c->ngroups; g++) {
		double sum = 0;

		for (; i < c->n && c->cell[i].group <= g; i++)
			if (c->cell[i].group == g && c->cell[i].place == mpi)
				sum += (double)c->cell[i].value;
		take(s, &c->groups[g], sum, w);
	}
	s->mpi_code_work = w->most > 0 ? fmax(0, w->least) / w->most : NAN;
}

/* ---- which, and where ---- */

/* "rank 1", where all that is said is of different ranks; "heat (pid 12)", "heat (pid 12 on n1)".
 */
static void put_process(char *out, size_t size, const struct run *r, const struct stacks_row *row,
			double rank)
{
	const char *pid = run_label(r, row->instance, "pid");
	const char *host = r->nnodes > 2 ? r->nodes[row->node].host : NULL;

	if (!isnan(rank))
		snprintf(out, size, "rank %.0f", rank);
	else if (pid && row->command)
		snprintf(out, size, "%.60s (pid %.12s%s%.60s)", row->command, pid,
			 host ? " on " : "", host ? host : "");
}

static void name_ranks(struct summary *s, const struct work *w)
{
	struct stacks *st = s->code->stacks;
	double waits = stacks_rank(st, w->in_mpi->instance);
	double works = stacks_rank(st, w->beside->instance);
	bool ranked = waits < works || waits > works;

	put_process(s->mpi_code_most_is, sizeof s->mpi_code_most_is, st->run, w->in_mpi,
		    ranked ? waits : NAN);
	put_process(s->mpi_code_least_is, sizeof s->mpi_code_least_is, st->run, w->beside,
		    ranked ? works : NAN);
}

/* What programs call: "Allreduce" of "PMPI_Allreduce"; NULL: it is not one of them. */
static const char *call_of(const char *name)
{
	name += *name == 'P' || *name == 'p';
	return !strncmp(name, "MPI_", 4) || !strncmp(name, "mpi_", 4) ? name + 4 : NULL;
}

/* Of each of run.stacks the function of MPI that the program called, 0: none; NULL: no memory. */
static uint32_t *calls_make(const struct stacks *st)
{
	const struct run *r = st->run;
	uint32_t *call = calloc(r->nstacks + 1u, sizeof *call);

	for (uint32_t i = 1; call && i < r->nstacks; i++) {
		const struct stacks_function *f = stacks_function_of(st, r->stacks[i].frame);

		call[i] = call[r->stacks[i].parent];
		if (!call[i] && call_of(f->name))
			call[i] = (uint32_t)(f - st->functions);
	}
	return call;
}

/* ", mostly in MPI_Allreduce;", as C has it, also of Fortran's mpi_allreduce_. */
static void put_call(char *out, size_t size, const char *name)
{
	const char *call = call_of(name);
	bool fortran = call[-2] == 'i';
	size_t n = strlen(call);

	while (fortran && n && call[n - 1] == '_')
		n--;
	if (n && n < size / 2)
		snprintf(out, size, ", mostly in MPI_%c%.*s;",
			 fortran ? toupper((unsigned char)*call) : *call, (int)n - 1, call + 1);
}

/* Where it spent most of its time in MPI, if that is one function. */
static int find_call(struct summary *s, const struct stacks_row *of, struct err *e)
{
	static const double most = 0.5;
	struct stacks *st = s->code->stacks;
	struct stacks_axis axis = { .to_s = s->wall_s,
				    .buckets = 1,
				    .group = STACKS_PER_PROCESS,
				    .most_groups = RANKS_MOST,
				    .most = CELLS_MOST };
	struct stacks_cells c = { 0 };
	uint32_t *call = calls_make(st);
	int rc;

	axis.places = call;
	rc = call ? stacks_cells_make(&c, st, NULL, &axis, e)
		  : err_set(e, -ENOMEM, "out of memory for the stacks of %.300s", st->run->path);
	for (uint32_t i = 0; i < c.n && !rc; i++)
		if (c.cell[i].place && c.groups[c.cell[i].group].instance == of->instance &&
		    (double)c.cell[i].value >= most * s->mpi_code_most * of->self)
			put_call(s->mpi_code_most_in, sizeof s->mpi_code_most_in,
				 st->functions[c.cell[i].place].name);
	stacks_cells_free(&c);
	free(call);
	return rc;
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
	struct work w = { .least = NAN, .most = NAN };
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
		compare(s, &cells, mpi, &w);
	if (!rc && w.in_mpi && w.beside && w.in_mpi != w.beside) {
		name_ranks(s, &w);
		rc = find_call(s, w.in_mpi, e);
	}
	stacks_cells_free(&cells);
	return rc;
}
