/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/pipeline.h"

#include "report/assets.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 16 };
#define NONE UINT32_MAX

/* The processes as a tree, and what each is to a tool. */
struct forest {
	const struct summary *s;
	const struct run *r;
	uint32_t *parent; /* NONE: it has none that is known */
	uint32_t *order;  /* parents before their children */
	uint32_t *owner;  /* the first process of the task that it is part of, or NONE */
	uint8_t *role;
	uint32_t *child; /* the first that it started; next: by the same parent */
	uint32_t *next;
};

enum { ROLE_TASK = 1, ROLE_WITHIN = 2, ROLE_DRIVER = 4 };

/* A peak of memory that begins or ends. */
struct edge {
	uint32_t owner;
	double at_s, bytes;
};

static double sum(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static const struct summary_process *ordered;

static int by_start(const void *a, const void *b)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	double x = ordered[i].start_s, y = ordered[k].start_s;

	return x == y ? (i > k) - (i < k) : x > y ? 1 : -1;
}

static void forest_free(struct forest *f)
{
	free(f->parent);
	free(f->order);
	free(f->owner);
	free(f->role);
	free(f->child);
	free(f->next);
}

/* Nobody starts before its parent: there is no circle. */
static void find_parents(struct forest *f, uint32_t *of)
{
	uint32_t n = f->s->nprocesses;

	for (uint32_t i = 0; i < n; i++)
		of[f->s->processes[i].instance] = i;
	for (uint32_t k = n; k; k--) {
		uint32_t i = f->order[k - 1];
		uint32_t p = of[f->r->instances[f->s->processes[i].instance].parent];

		if (p == NONE || by_start(&p, &i) >= 0)
			continue;
		f->parent[i] = p;
		f->next[i] = f->child[p];
		f->child[p] = i;
	}
}

static int forest_make(struct forest *f, const struct summary *s, const struct run *r)
{
	size_t n = s->nprocesses + 1u;
	uint32_t *of = malloc((r->ninstances + 1u) * sizeof *of);

	*f = (struct forest){ .s = s,
			      .r = r,
			      .parent = malloc(n * sizeof *f->parent),
			      .order = malloc(n * sizeof *f->order),
			      .owner = malloc(n * sizeof *f->owner),
			      .role = malloc(n),
			      .child = malloc(n * sizeof *f->child),
			      .next = malloc(n * sizeof *f->next) };
	if (!of || !f->parent || !f->order || !f->owner || !f->role || !f->child || !f->next) {
		free(of);
		return -ENOMEM;
	}
	memset(of, 0xff, (r->ninstances + 1u) * sizeof *of);
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		f->order[i] = i;
		f->parent[i] = f->child[i] = f->next[i] = NONE;
	}
	ordered = s->processes;
	qsort(f->order, s->nprocesses, sizeof *f->order, by_start);
	find_parents(f, of);
	free(of);
	return 0;
}

static bool is_one(const struct pipeline_words *w, const char *text)
{
	return w->n && text && pipeline_match(w, text, NULL);
}

/* A driver that another one started makes what is between them a part of the driver: make calls
 * the shell that calls make. */
static void find_drivers(struct forest *f, const struct pipeline_tool *t)
{
	const struct pipeline_words *tasks = &t->list[PIPELINE_TASK];

	memset(f->role, 0, f->s->nprocesses);
	for (uint32_t k = 0; k < f->s->nprocesses; k++) {
		uint32_t i = f->order[k], up = f->parent[i];
		const struct summary_process *x = &f->s->processes[i];

		if (up != NONE && f->role[up] & (ROLE_TASK | ROLE_WITHIN))
			f->role[i] = ROLE_WITHIN;
		else if (is_one(tasks, x->command_line))
			f->role[i] = ROLE_TASK;
		else if (is_one(&t->list[PIPELINE_DRIVER], x->name))
			f->role[i] = ROLE_DRIVER;
	}
	for (uint32_t k = f->s->nprocesses; k; k--) {
		uint32_t i = f->order[k - 1], up = f->parent[i];

		if (f->role[i] != ROLE_DRIVER)
			continue;
		for (int depth = 0; up != NONE && !f->role[up] && depth < DEPTH; depth++)
			up = f->parent[up];
		if (up == NONE || f->role[up] != ROLE_DRIVER)
			continue;
		for (up = f->parent[i]; f->role[up] != ROLE_DRIVER; up = f->parent[up])
			f->role[up] = ROLE_DRIVER;
	}
}

/* One whose command line is still its driver's was sampled before it executed its own program. */
static bool is_skipped(const struct pipeline_tool *t, const struct summary_process *driver,
		       const struct summary_process *x)
{
	bool is_seen = x->command_line && (!driver->command_line ||
					   strcmp(x->command_line, driver->command_line) != 0);

	return is_one(&t->list[PIPELINE_SKIP], x->name) ||
	       (!is_seen && is_one(&t->list[PIPELINE_SKIP_SHORT], x->name));
}

/* Returns how many tasks there are. */
static uint32_t find_owners(struct forest *f, const struct pipeline_tool *t)
{
	uint32_t tasks = 0;

	find_drivers(f, t);
	for (uint32_t k = 0; k < f->s->nprocesses; k++) {
		uint32_t i = f->order[k], up = f->parent[i];
		const struct summary_process *x = &f->s->processes[i];

		f->owner[i] = up == NONE ? NONE : f->owner[up];
		if (f->owner[i] != NONE || x->counted_already)
			continue;
		if (f->role[i] == ROLE_TASK ||
		    (!f->role[i] && up != NONE && f->role[up] == ROLE_DRIVER &&
		     !is_skipped(t, &f->s->processes[up], x)))
			f->owner[i] = i;
		tasks += f->owner[i] == i;
	}
	return tasks;
}

/* ---- names ---- */

/* What a task runs: of a shell, what its text says, else the first that it started. */
static const char *program_of(const struct forest *f, uint32_t at, char *out, size_t size)
{
	for (int depth = 0; depth < DEPTH; depth++) {
		const struct summary_process *x = &f->s->processes[at];
		const char *text = pipeline_names_text(x->command_line);
		uint32_t child = f->child[at];

		if (!pipeline_names_shell(x->name))
			return x->name;
		if (text && pipeline_names_program(text, out, size))
			return out;
		for (; child != NONE; child = f->next[child]) {
			const char *name = f->s->processes[child].name;

			if (!pipeline_names_setup(name, strlen(name)))
				break;
		}
		if (child == NONE)
			return f->child[at] == NONE ? x->name : f->s->processes[f->child[at]].name;
		at = child;
	}
	return f->s->processes[at].name;
}

static double utc_of(const struct forest *f, double s)
{
	return (double)f->r->t0_utc_ns / 1e9 + s;
}

/* What the first of its processes says whose command line says it. */
static bool said_by(bool (*says)(const struct pipeline_tool *t, const char *line, char *rule),
		    const struct forest *f, const struct pipeline_tool *t, uint32_t task,
		    char *rule)
{
	uint32_t at = task, seen = 0;

	while (seen++ < 64) {
		const char *line = f->s->processes[at].command_line;

		if (line && says(t, line, rule))
			return true;
		if (f->child[at] != NONE) {
			at = f->child[at];
			continue;
		}
		while (at != task && f->next[at] == NONE)
			at = f->parent[at];
		if (at == task)
			break;
		at = f->next[at];
	}
	return false;
}

static bool find_rule(const struct forest *f, const struct pipeline_tool *t,
		      struct pipeline_names *names, uint32_t task, char *rule)
{
	const struct summary_process *x = &f->s->processes[task];

	if (x->command_line && pipeline_match(&t->list[PIPELINE_TASK], x->command_line, rule) &&
	    *rule)
		return true;
	if (t->file && said_by(pipeline_names_file, f, t, task, rule))
		return true;
	if (t->snakemake && pipeline_names_snakemake(names, utc_of(f, x->start_s),
						     utc_of(f, x->end_s), x->command_line, rule))
		return true;
	return x->command_line && pipeline_match(&t->list[PIPELINE_RULE], x->command_line, rule) &&
	       *rule;
}

/* "lib/x.o: cc", or the program alone. */
static void name_without_rule(const struct forest *f, const struct pipeline_tool *t, uint32_t task,
			      char *rule)
{
	char program[PIPELINE_RULE_MAX];
	const char *name = program_of(f, task, program, sizeof program);
	size_t n;

	if (t->list[PIPELINE_OUTPUT].n && said_by(pipeline_names_output, f, t, task, rule)) {
		n = strlen(rule);
		snprintf(rule + n, PIPELINE_RULE_MAX - n, ": %.*s", (int)(PIPELINE_RULE_MAX - n),
			 name);
	} else {
		snprintf(rule, PIPELINE_RULE_MAX, "%s", name);
	}
}

static int name_tasks(struct pipelines *p, struct pipeline *of, const struct forest *f,
		      struct pipeline_names *names, struct pipeline_task *task)
{
	char rule[PIPELINE_RULE_MAX];

	for (uint32_t i = 0; i < of->ntasks; i++) {
		if (!find_rule(f, of->tool, names, task[i].process, rule)) {
			name_without_rule(f, of->tool, task[i].process, rule);
			of->nameless |= of->tool->snakemake || of->tool->file;
		}
		task[i].rule = pool_text(&p->pool, rule, strlen(rule));
		if (!task[i].rule)
			return -ENOMEM;
	}
	return of->tool->list[PIPELINE_OUTPUT].n ? pipeline_names_join(&p->pool, task, of->ntasks)
						 : 0;
}

/* ---- figures ---- */

static int by_owner_and_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	if (x->at_s != y->at_s)
		return x->at_s < y->at_s ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The peaks of processes that ran at the same time are summed up. */
static int add_peaks(const struct forest *f, const uint32_t *at, struct pipeline_task *task)
{
	struct edge *edge = malloc((2 * (size_t)f->s->nprocesses + 1) * sizeof *edge);
	uint32_t n = 0;
	double held = 0;

	if (!edge)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->s->nprocesses; i++) {
		const struct summary_process *x = &f->s->processes[i];

		if (f->owner[i] == NONE || x->counted_already || isnan(x->peak_rss_bytes))
			continue;
		edge[n++] = (struct edge){ at[f->owner[i]], x->start_s, x->peak_rss_bytes };
		edge[n++] = (struct edge){ at[f->owner[i]], isnan(x->end_s) ? INFINITY : x->end_s,
					   -x->peak_rss_bytes };
	}
	qsort(edge, n, sizeof *edge, by_owner_and_time);
	for (uint32_t i = 0; i < n; i++) {
		held = i && edge[i].owner == edge[i - 1].owner ? held + edge[i].bytes
							       : edge[i].bytes;
		task[edge[i].owner].peak_bytes = fmax(task[edge[i].owner].peak_bytes, held);
	}
	free(edge);
	return 0;
}

static void add_process(struct pipeline_task *t, const struct summary_process *x)
{
	t->cpu_s = sum(t->cpu_s, x->cpu_s);
	t->read_bytes = sum(t->read_bytes, x->read_bytes);
	t->written_bytes = sum(t->written_bytes, x->written_bytes);
	t->gpu_bytes = sum(t->gpu_bytes, x->gpu_bytes);
	t->gpus += x->gpus;
	if (isnan(x->peak_rss_bytes) && x->end_s > x->start_s)
		t->unsampled_s = fmax(t->unsampled_s, x->end_s - x->start_s);
}

static int measure(const struct forest *f, struct pipeline_task *task)
{
	uint32_t *at = malloc((f->s->nprocesses + 1u) * sizeof *at), n = 0;
	int rc;

	if (!at)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->s->nprocesses; i++) {
		const struct summary_process *x = &f->s->processes[i];

		if (f->owner[i] != i)
			continue;
		task[n] = (struct pipeline_task){ .process = i,
						  .wall_s = x->end_s - x->start_s,
						  .cpu_s = NAN,
						  .peak_bytes = NAN,
						  .read_bytes = NAN,
						  .written_bytes = NAN,
						  .gpu_bytes = NAN };
		at[i] = n++;
	}
	for (uint32_t i = 0; i < f->s->nprocesses; i++)
		if (f->owner[i] != NONE && !f->s->processes[i].counted_already)
			add_process(&task[at[f->owner[i]]], &f->s->processes[i]);
	rc = add_peaks(f, at, task);
	free(at);
	return rc;
}

/* ---- by rule ---- */

static int by_rule_and_wall(const void *a, const void *b)
{
	const struct pipeline_task *x = a, *y = b;
	int names = strcmp(x->rule, y->rule);

	if (names)
		return names;
	if (isnan(x->wall_s) || isnan(y->wall_s)) /* those that did not end come last */
		return isnan(x->wall_s) - isnan(y->wall_s);
	return (x->wall_s > y->wall_s) - (x->wall_s < y->wall_s);
}

static int most_wall_first(const void *a, const void *b)
{
	const struct pipeline_rule *x = a, *y = b;

	return x->wall_s == y->wall_s ? strcmp(x->name, y->name) : x->wall_s < y->wall_s ? 1 : -1;
}

/* A peak without a process that ran for a tenth of the task is a lower bound. */
static void add_peak(struct pipeline_rule *r, const struct pipeline_task *t)
{
	const double most = 0.1;

	r->peaks += !isnan(t->peak_bytes) && !(t->unsampled_s > most * t->wall_s);
	if (isnan(t->peak_bytes) || t->peak_bytes <= r->peak_bytes)
		return;
	r->peak_bytes = t->peak_bytes;
	r->largest = t->process;
}

static void add_task(struct pipeline_rule *r, const struct pipeline_task *t)
{
	const double least_s = 0.1; /* shorter ones have no mean */

	r->cpu_s = sum(r->cpu_s, t->cpu_s);
	r->read_bytes = sum(r->read_bytes, t->read_bytes);
	r->written_bytes = sum(r->written_bytes, t->written_bytes);
	r->gpu_bytes = fmax(r->gpu_bytes, t->gpu_bytes);
	r->gpus = t->gpus > r->gpus ? t->gpus : r->gpus;
	r->tasks++;
	add_peak(r, t);
	if (isnan(t->wall_s)) {
		r->unfinished++;
		return;
	}
	r->wall_s += t->wall_s;
	if (!(t->wall_s <= r->wall_max_s)) {
		r->wall_max_s = t->wall_s;
		r->longest = t->process;
	}
	if (t->wall_s >= least_s)
		r->cores_max = fmax(r->cores_max, t->cpu_s / t->wall_s);
}

/* Tasks of a rule lie side by side, the shortest first. */
static struct pipeline_rule rule_of(const struct pipeline_task *task, uint32_t n)
{
	struct pipeline_rule r = { .name = task->rule,
				   .longest = NONE,
				   .largest = NONE,
				   .wall_median_s = NAN,
				   .wall_max_s = NAN,
				   .peak_bytes = NAN,
				   .cpu_s = NAN,
				   .cores_max = NAN,
				   .read_bytes = NAN,
				   .written_bytes = NAN,
				   .gpu_bytes = NAN };
	uint32_t ended;
	double cpu_s = NAN;

	for (uint32_t i = 0; i < n; i++) {
		add_task(&r, &task[i]);
		if (!isnan(task[i].wall_s))
			cpu_s = sum(cpu_s, task[i].cpu_s);
	}
	ended = n - r.unfinished;
	if (ended)
		r.wall_median_s = (task[(ended - 1) / 2].wall_s + task[ended / 2].wall_s) / 2;
	r.cores = r.wall_s > 0 ? cpu_s / r.wall_s : NAN;
	if (isnan(r.cores_max))
		r.cores_max = r.cores;
	return r;
}

static int make_rules(struct pipeline *of, struct pipeline_task *task)
{
	of->rule = malloc((of->ntasks + 1u) * sizeof *of->rule);
	if (!of->rule)
		return -ENOMEM;
	qsort(task, of->ntasks, sizeof *task, by_rule_and_wall);
	for (uint32_t i = 0, n; i < of->ntasks; i += n) {
		for (n = 1; i + n < of->ntasks && !strcmp(task[i].rule, task[i + n].rule); n++)
			;
		of->rule[of->nrules++] = rule_of(&task[i], n);
	}
	qsort(of->rule, of->nrules, sizeof *of->rule, most_wall_first);
	return 0;
}

/* The least of what is known. */
static double least_of(double a, double b, double c)
{
	return fmin(a, fmin(b, c));
}

static int add_pipeline(struct pipelines *p, const struct pipeline_tool *t, uint32_t ntasks,
			const struct forest *f, struct pipeline_names *names)
{
	const struct summary *s = f->s;
	struct pipeline_task *task = calloc(ntasks, sizeof *task);
	struct pipeline *of = &p->of[p->n++];
	int rc = task ? measure(f, task) : -ENOMEM;

	*of = (struct pipeline){
		.tool = t,
		.ntasks = ntasks,
		.job_cores = least_of(s->cores_allowed, s->cores_limit, s->cores_present),
		.job_memory_bytes =
			least_of(s->memory_limit_bytes, s->memory_asked_bytes, s->memory_present)
	};
	if (!rc)
		rc = name_tasks(p, of, f, names, task);
	if (!rc)
		rc = make_rules(of, task);
	free(task);
	return rc;
}

static void count_strays(struct pipelines *p, const struct forest *f)
{
	for (uint32_t i = 0; p->n && i < f->s->nprocesses; i++) {
		const struct summary_process *x = &f->s->processes[i];

		if (f->parent[i] != NONE || f->child[i] != NONE || x->command_line ||
		    x->counted_already)
			continue;
		p->strays++;
		p->strays_cpu_s += fmax(0, x->cpu_s);
	}
}

static int make_all(struct pipelines *p, struct forest *f)
{
	struct pipeline_names *names = NULL;
	int rc = 0;

	for (uint32_t i = 0; i < p->tools.n && !rc; i++) {
		uint32_t tasks = find_owners(f, &p->tools.tool[i]);

		if (tasks && p->tools.tool[i].snakemake && !names)
			rc = pipeline_names_open(&names, f->r);
		if (tasks && !rc)
			rc = add_pipeline(p, &p->tools.tool[i], tasks, f, names);
	}
	pipeline_names_close(names);
	count_strays(p, f);
	return rc;
}

static int read_tools(struct pipelines *p, const char *site, struct err *e)
{
	int rc = pipeline_tools_add(&p->tools, "pipelines", asset_pipelines,
				    (size_t)(asset_pipelines_end - asset_pipelines), e);

	return !rc && site ? pipeline_tools_read(&p->tools, site, e) : rc;
}

int pipelines_make(struct pipelines *p, const struct summary *s, const struct run *r,
		   const char *site, struct err *e)
{
	struct forest f;
	int rc;

	*p = (struct pipelines){ 0 };
	rc = read_tools(p, site, e);
	if (rc)
		return rc;
	p->of = calloc(p->tools.n + 1u, sizeof *p->of);
	rc = forest_make(&f, s, r);
	if (!rc)
		rc = p->of ? make_all(p, &f) : -ENOMEM;
	forest_free(&f);
	return rc ? err_set(e, rc, "out of memory for the tasks of %u processes", s->nprocesses)
		  : 0;
}

void pipelines_free(struct pipelines *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		free(p->of[i].rule);
	free(p->of);
	pipeline_tools_free(&p->tools);
	pool_free(&p->pool);
	*p = (struct pipelines){ 0 };
}
