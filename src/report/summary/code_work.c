/* SPDX-License-Identifier: Apache-2.0 */
/* code_work.c - what did most of the work: a command, one process of it or many, and in which
 * function. And how much of it is in parallel regions of OpenMP. */
#include "core/stacks/stacks.h"
#include "core/stacks/symbol.h"
#include "report/summary/code.h"
#include "report/summary/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As compilers name the bodies of regions: gcc; clang and its relatives. */
static const char regions[] = "*._omp_fn.*,*.omp_outlined*,*_omp_outlined*";
/* What lets in one thread at a time: critical sections, atomic blocks and locks. */
static const char one_by_one[] = "GOMP_critical_*,GOMP_atomic_*,omp_set_*lock,omp_unset_*lock,"
				 "gomp_mutex_lock*,__kmpc_*critical*,__kmp_*_lock*";

/* Of all CPU time: who has so much alone did it; a function that is worth its name. */
static const double alone = 0.8, worth = 0.25;
enum { MANY = 4, DEEP = 32 /* calls of a function within itself */ };

static const struct summary_process *alone_of(const struct summary *s, const char *command)
{
	for (uint32_t i = 0; i < s->nby_cpu; i++)
		if (s->by_cpu[i].cpu_s >= alone * s->cpu_s && s->by_cpu[i].name &&
		    !strcmp(s->by_cpu[i].name, command))
			return &s->by_cpu[i];
	return NULL;
}

/* The one that used most CPU time. */
static const struct summary_command *command_of(const struct summary *s, const char *comm)
{
	for (uint32_t i = 0; i < s->ncommands; i++)
		if (code_is_of(comm, s->commands[i].name))
			return &s->commands[i];
	return NULL;
}

/* Does one of the sampled have its name? Threads may have names of their own. */
static bool is_sampled(const struct stacks_rows *rows, const char *command)
{
	for (uint32_t i = 0; i < rows->n; i++)
		if (code_is_of(rows->row[i].command, command))
			return true;
	return false;
}

/* Threads may have names of their own: then the CPU time alone says which it is. */
const struct summary_command *code_command(const struct summary *s)
{
	static const double half = 0.5, nearly_all = 0.9;
	const struct stacks *st = s->code->stacks;
	const struct stacks_rows *rows = &st->rows[STACKS_BY_COMMAND];
	const struct summary_command *top = s->ncommands ? s->commands : NULL;

	if (top && top->cpu_s >= (rows->n ? nearly_all : half) * s->cpu_s)
		return top;
	return rows->n && rows->row[0].self >= half * st->total
		       ? command_of(s, rows->row[0].command)
		       : NULL;
}

double code_sampled_s(const struct summary *s)
{
	const struct stacks_rows *rows = &s->code->stacks->rows[STACKS_BY_COMMAND];
	double sum = 0;

	for (uint32_t i = 0; i < rows->n; i++)
		if (!command_of(s, rows->row[i].command))
			return INFINITY;
	for (uint32_t i = 0; i < s->ncommands; i++)
		if (is_sampled(rows, s->commands[i].name))
			sum += s->commands[i].cpu_s;
	return rows->n && !isnan(sum) ? sum : INFINITY;
}

/* With the arguments of the one that used most. */
static int say_many(const struct summary *s, const struct summary_command *c, char *out,
		    size_t size)
{
	enum { ARGUMENTS = 120 };

	for (uint32_t i = 0; i < s->nby_cpu; i++) {
		const char *line = s->by_cpu[i].command_line;

		if (s->by_cpu[i].name && !strcmp(s->by_cpu[i].name, c->name) && line)
			return snprintf(out, size, "%.0f processes like `%.*s%s`", c->processes,
					ARGUMENTS, line, strlen(line) > ARGUMENTS ? "..." : "");
	}
	return snprintf(out, size, "%.0f processes of %.80s", c->processes, c->name);
}

static int say_who(const struct summary *s, char *out, size_t size)
{
	const struct summary_command *c = s->commands;
	const struct summary_process *p;

	if (!s->ncommands)
		return 0;
	if (!(c->cpu_s >= s->cpu_s / 2))
		return snprintf(out, size, "several commands");
	p = c->processes >= MANY ? alone_of(s, c->name) : NULL;
	if (p)
		return snprintf(out, size, "one of %.0f %.80s, with %.0f %% of the CPU time",
				c->processes, c->name, 100 * fmin(1, p->cpu_s / s->cpu_s));
	if (c->processes >= MANY && c->cpu_s >= alone * s->cpu_s)
		return say_many(s, c, out, size);
	return snprintf(out, size, "%.80s", c->name);
}

/* Of Python the script's own function, which stands for what it calls: where Python did the work.
 * Beside others the function may be theirs. */
static void say_where(const struct summary *s, char *out, size_t size)
{
	static const double nearly_all = 0.95;
	bool its = s->commands[0].cpu_s >= nearly_all * s->cpu_s;
	const struct stacks *python = s->code ? s->code->python : NULL;
	const struct stacks_row *top = python && python->rows[STACKS_BY_FUNCTION].n
					       ? python->rows[STACKS_BY_FUNCTION].row
					       : NULL;
	double share = top ? top->self / fmax(python->total, s->code->account.whole_s) : 0;

	if (top && share >= worth && top->file && top->line)
		snprintf(out, size, "%s %.0f %% of %s in %.80s (%.40s:%u)", its ? "," : ";",
			 100 * share, its ? "it" : "all CPU time", top->name,
			 symbol_base(top->file), top->line);
	else if (s->code_top_ratio >= worth)
		snprintf(out, size, "%s %.0f %% of %s in %s", its ? "," : ";",
			 100 * s->code_top_ratio, its ? "it" : "all CPU time", s->code_top);
}

/* How often a stack has the function that it ends with. */
static uint32_t recursion_of(const struct stacks *st, uint32_t node)
{
	uint32_t n = 0, function = st->nodes[node].function;

	for (uint32_t i = node; i; i = st->nodes[i].parent)
		n += st->nodes[i].function == function;
	return n;
}

/* A stack that calls something at its end has the recursion in its middle: parents come first, and
 * hand on what was found. */
static void find_recursion(struct summary *s, const struct stacks *st)
{
	uint32_t *found = calloc(st->nnodes + 1u, sizeof *found);
	double deep = 0;

	for (uint32_t i = 1; found && i < st->nnodes; i++) {
		const struct stacks_node *x = &st->nodes[i];
		uint32_t n = x->function ? recursion_of(st, i) : 0;

		found[i] = n > found[x->parent] ? n : found[x->parent];
		deep += found[i] >= DEEP ? x->self : 0;
		if (n < DEEP || n <= s->code_recursion_depth)
			continue;
		s->code_recursion_depth = n;
		s->code_recursion = st->functions[x->function].shown;
	}
	s->code_recursion_ratio = deep / s->code->account.whole_s;
	free(found);
}

/* Of all that was sampled: the process of the thread that used most. */
static double process_ratio(const struct stacks *st)
{
	const struct stacks_rows *rows = &st->rows[STACKS_BY_THREAD];
	double sum = 0;

	for (uint32_t i = 0; i < rows->n; i++)
		sum += rows->row[i].instance == rows->row[0].instance ? rows->row[i].self : 0;
	return stacks_share(st, sum);
}

static double share_of(const struct summary *s, const struct stacks *st, const char *globs)
{
	return st && s->code->account.whole_s > 0
		       ? stacks_matching(st, globs) / s->code->account.whole_s
		       : NAN;
}

void summary_work_make(struct summary *s)
{
	size_t size = sizeof s->main_work;
	int n = say_who(s, s->main_work, size);
	const struct stacks *st = s->code ? s->code->stacks : NULL;

	if (n > 0 && (size_t)n < size)
		say_where(s, s->main_work + n, size - (size_t)n);
	s->code_recursion_depth = s->code_recursion_ratio = NAN;
	s->code_process_ratio = st ? process_ratio(st) : NAN;
	if (st && s->code->account.whole_s > 0) {
		s->code_recursion_depth = 0;
		find_recursion(s, st);
	}
	s->code_openmp_ratio = share_of(s, st, regions);
	s->code_one_by_one_ratio = share_of(s, st, one_by_one);
}
