/* SPDX-License-Identifier: Apache-2.0 */
/* standouts.c - processes that stand out: the one at work most, one with a limit of its heap, and
 * the commands that did most of what the kernel counts. */
#include "base/text/decimal.h"
#include "report/summary/code.h"
#include "report/summary/parts.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the one at work most: does it bound the others, and with which priority ---- */

static const double long_ratio = 0.8; /* of the run: who lived so long was there all the time */

/* Of a counter; 0: not known. */
static double last_of(const struct run *r, const struct series_index *x, uint32_t i,
		      const char *metric)
{
	double v;

	if (!run_final_value(r, i, metric, &v))
		v = series_index_last(x, i, run_find_metric(r, metric));
	return isnan(v) ? 0 : v;
}

static const char waited_metric[] = "process.run_queue_seconds";

static double waited_of(const struct run *r, const struct series_index *x, uint32_t i)
{
	return last_of(r, x, i, waited_metric);
}

/* Seconds at work and in run queues. */
static double wanted_of(const struct run *r, const struct series_index *x, uint32_t i)
{
	return last_of(r, x, i, "process.cpu_seconds") + waited_of(r, x, i);
}

static double lived_of(const struct run *r, const struct summary *s, uint32_t i)
{
	const struct run_instance *in = &r->instances[i];
	double begin = fmax(0, run_seconds(r, in->node, in->birth_ns));

	return (in->end_ns == INT64_MAX ? s->wall_s : run_seconds(r, in->node, in->end_ns)) - begin;
}

static double nice_of(const struct run *r, uint32_t i)
{
	const char *nice = run_label(r, i, "nice");

	return nice && *nice ? decimal_parse(nice, NULL) : 0;
}

static void name_it(char name[STORY_TEXT], const struct run *r, uint32_t i)
{
	const char *pid = run_label(r, i, "pid");

	snprintf(name, STORY_TEXT, "%s (pid %s)", r->instances[i].name ? r->instances[i].name : "",
		 pid ? pid : "?");
}

/* What does not live to the end is not what the job waits for. */
static void look_at_priority(struct summary *s, const struct run *r, const struct series_index *x,
			     uint32_t i)
{
	static const double last_ratio = 0.95; /* of the run */
	const struct run_instance *in = &r->instances[i];
	double nice = nice_of(r, i), waited = waited_of(r, x, i);
	struct story *y = &s->story;

	if (!(nice >= 1) || !(waited >= lived_of(r, s, i) / 2) || waited <= y->starved_s)
		return;
	if (in->end_ns != INT64_MAX &&
	    run_seconds(r, in->node, in->end_ns) < last_ratio * s->wall_s)
		return;
	y->starved_nice = nice;
	y->starved_s = waited;
	name_it(y->starved_process, r, i);
}

static void find_busiest(struct summary *s, const struct run *r, const struct series_index *x)
{
	struct story *y = &s->story;
	double all = 0, most = 0, lived = 0;
	uint32_t companions = 0;

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		double wanted;

		if (!in->domain || strcmp(in->domain, "process") != 0)
			continue;
		look_at_priority(s, r, x, i);
		wanted = wanted_of(r, x, i);
		all += wanted;
		companions += wanted > 0 && lived_of(r, s, i) >= long_ratio * s->wall_s;
		if (!(wanted > most))
			continue;
		most = wanted;
		lived = lived_of(r, s, i);
		y->busiest_nice = nice_of(r, i);
		name_it(y->busiest_process, r, i);
	}
	if (!(most > 0) || !(s->wall_s > 0))
		return;
	y->busiest_share = lived >= long_ratio * s->wall_s ? most / lived : NAN;
	y->busiest_work_ratio = most / all;
	y->busiest_others_share = (all - most) / s->wall_s;
	y->busiest_companions = companions ? companions - 1 : 0;
}

/* ---- workers alike, of which one has far more to do: it works alone in the end ---- */

static bool is_alike(const struct run *r, uint32_t a, uint32_t b)
{
	const struct run_instance *x = &r->instances[a], *y = &r->instances[b];

	return x->parent && x->node == y->node && x->parent == y->parent && y->domain &&
	       strcmp(y->domain, "process") == 0 && x->name && y->name &&
	       strcmp(x->name, y->name) == 0;
}

/* Those of the process that were sampled, where it has no others like it; the first has most. */
static void find_worker_threads(struct summary *s, uint32_t it)
{
	static const double busy_least = 0.01; /* of what was sampled */
	const struct stacks *st = s->code ? s->code->stacks : NULL;
	struct story *y = &s->story;
	double most = 0, others = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; st && i < st->rows[STACKS_BY_THREAD].n; i++) {
		const struct stacks_row *t = &st->rows[STACKS_BY_THREAD].row[i];

		if (t->instance != it || !(t->self >= busy_least * st->total))
			continue;
		others += fmin(most, t->self);
		most = fmax(most, t->self);
		n++;
	}
	if (n < 2)
		return;
	y->workers = n;
	y->worker_most_s = most;
	y->worker_others_s = others;
	y->worker_is = "threads";
	snprintf(y->worker, sizeof y->worker, "one of %.100s", s->story.serial_process);
}

static bool is_fed(const struct summary *s, const struct run *r, uint32_t instance)
{
	for (uint32_t i = 0; i < s->nprocesses; i++)
		if (s->processes[i].instance == instance)
			return summary_is_fed(s, r, &s->processes[i]);
	return false;
}

/* Those that came before it was alone; parts of a pipe are no workers. */
static void find_workers(struct summary *s, const struct run *r, const struct series_index *x)
{
	struct story *y = &s->story;
	uint32_t it = y->serial_instance;
	bool fed = is_fed(s, r, it);

	if (!it)
		return;
	y->workers = 1;
	y->worker_most_s = wanted_of(r, x, it);
	y->worker_others_s = 0;
	for (uint32_t i = 1; i < r->ninstances && !fed; i++) {
		const struct run_instance *in = &r->instances[i];

		if (i == it || !is_alike(r, it, i) ||
		    !(run_seconds(r, in->node, in->birth_ns) < y->serial_from_s))
			continue;
		y->workers++;
		y->worker_others_s += wanted_of(r, x, i);
	}
	name_it(y->worker, r, it);
	y->worker_is = "processes alike";
	if (y->workers < 2)
		find_worker_threads(s, it);
}

/* ---- limits of heaps, by the command line or the environment ---- */

enum { END_S = 1 }; /* who ended so shortly before the job, or lived on, may have ended it */

/* What sets it; unit: of a number without a suffix. */
static const struct option {
	const char *words;
	double unit;
} options[] = {
	{ "-Xmx", 1 },
	{ "--max-old-space-size=", 1048576 },
	{ "--max-old-space-size ", 1048576 },
	{ "--max_old_space_size=", 1048576 },
};

/* Where the programs look for options besides their command lines. */
static const struct {
	const char *command, *key;
} variables[] = {
	{ "java", "job.environment.JAVA_TOOL_OPTIONS" },
	{ "java", "job.environment.JDK_JAVA_OPTIONS" },
	{ "java", "job.environment._JAVA_OPTIONS" },
	{ "node", "job.environment.NODE_OPTIONS" },
};

static double with_suffix(const char *text, double unit)
{
	static const char suffixes[] = "kmgt";
	char *end;
	double v = decimal_parse(text, &end);
	const char *found = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;

	if (end == text || !(v > 0))
		return NAN;
	return found ? ldexp(v, 10 * (int)(found - suffixes + 1)) : v * unit;
}

/* The last one counts. */
static double heap_in(const char *text, const struct option **which)
{
	double heap = NAN;

	for (size_t i = 0; text && i < sizeof options / sizeof options[0]; i++)
		for (const char *at = text; (at = strstr(at, options[i].words)); at++) {
			bool begins = at == text || strchr(" '\"", at[-1]);
			double v = with_suffix(at + strlen(options[i].words), options[i].unit);

			if (!begins || isnan(v))
				continue;
			heap = v;
			*which = &options[i];
		}
	return heap;
}

static double heap_of(const struct run *r, uint32_t i, const struct option **which)
{
	const struct run_instance *in = &r->instances[i];
	double heap = heap_in(run_label(r, i, "command_line"), which);

	for (size_t k = 0; isnan(heap) && k < sizeof variables / sizeof variables[0]; k++)
		if (in->name && !strncmp(in->name, variables[k].command, 4))
			heap = heap_in(run_find_text(r, in->node, variables[k].key), which);
	return heap;
}

static void find_heap(struct summary *s, const struct run *r, const struct series_index *x)
{
	uint32_t rss = run_find_metric(r, "process.resident_bytes");
	struct story *y = &s->story;

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		const struct option *which = options;
		const char *pid = run_label(r, i, "pid");
		double heap, held;

		if (!in->domain || strcmp(in->domain, "process") != 0 ||
		    (in->end_ns != INT64_MAX &&
		     run_seconds(r, in->node, in->end_ns) < s->wall_s - END_S))
			continue;
		heap = heap_of(r, i, &which);
		if (!run_final_value(r, i, "process.peak_resident_bytes", &held))
			held = series_index_max(x, i, rss);
		if (s->nby_memory && s->by_memory[0].instance == i)
			held = fmax(held, summary_unseen_peak(s));
		if (isnan(heap) || isnan(held) || held / heap <= y->heap_held / y->heap_limit)
			continue;
		y->heap_limit = heap;
		y->heap_held = held;
		snprintf(y->heap_option, sizeof y->heap_option, "%.*s",
			 (int)strcspn(which->words, "= "), which->words);
		snprintf(y->heap_process, sizeof y->heap_process, "%s (pid %s)",
			 in->name ? in->name : "", pid ? pid : "?");
	}
}

/* ---- which command did most of what the kernel counts ---- */

static const struct doing {
	const char *process[2], *job[2]; /* counters: their sum */
} doings[DOERS] = {
	[DOER_KERNEL] = { { "process.cpu_system_seconds" }, { NULL } }, /* a figure of the job */
	[DOER_MOVED] = { { "process.read_bytes", "process.written_bytes" },
			 { "job.read_bytes", "job.written_bytes" } },
	[DOER_WRITTEN] = { { "process.written_bytes" }, { "job.written_bytes" } },
	[DOER_STORAGE] = { { "process.storage_read_bytes", "process.storage_written_bytes" },
			   { "job.storage_read_bytes", "job.storage_written_bytes" } },
	[DOER_FAULTS] = { { "process.minor_faults" }, { "job.minor_faults" } },
	[DOER_SWITCHES] = { { "process.voluntary_switches" }, { "job.voluntary_switches" } },
	[DOER_YIELDS] = { { "process.involuntary_switches" }, { "job.involuntary_switches" } },
};

void summary_standouts_ask(struct series_index *x)
{
	series_index_ask(x, "process.cpu_seconds", SERIES_LAST);
	series_index_ask(x, "process.resident_bytes", SERIES_MAX);
	series_index_ask(x, waited_metric, SERIES_LAST);
	for (int k = 0; k < DOERS; k++)
		for (int i = 0; i < 2 && doings[k].process[i]; i++)
			series_index_ask(x, doings[k].process[i], SERIES_LAST);
}

/* Of one process, then of all of its name. */
struct doer {
	const char *name;
	double did[DOERS];
};

static int compare_doers(const void *a, const void *b)
{
	return strcmp(((const struct doer *)a)->name, ((const struct doer *)b)->name);
}

static struct doer doer_of(const struct run *r, const struct series_index *x,
			   const struct summary_process *p)
{
	struct doer d = { .name = p->name };

	for (int k = 0; k < DOERS; k++)
		for (int i = 0; i < 2 && doings[k].process[i]; i++)
			d.did[k] += last_of(r, x, p->instance, doings[k].process[i]);
	return d;
}

/* What the kernel counts of reads and writes of a process has in it what its ended children did. */
static bool has_childrens(int k)
{
	return k == DOER_MOVED || k == DOER_WRITTEN || k == DOER_STORAGE;
}

/* Each process without its ended children; both are counted with all of theirs. theirs: of each
 * instance of the run. */
static void take_childrens(struct doer *d, const struct summary *s, const struct run *r,
			   double (*theirs)[DOERS])
{
	for (uint32_t i = 0, n = 0; i < s->nprocesses; i++) {
		const struct summary_process *p = &s->processes[i];
		uint32_t parent = p->counted_already ? 0 : r->instances[p->instance].parent;

		for (int k = 0; k < DOERS && parent && !isnan(p->end_s); k++)
			theirs[parent][k] += d[n].did[k];
		n += !p->counted_already;
	}
	for (uint32_t i = 0, n = 0; i < s->nprocesses; i++) {
		if (s->processes[i].counted_already)
			continue;
		for (int k = 0; k < DOERS; k++)
			if (has_childrens(k))
				d[n].did[k] =
					fmax(0, d[n].did[k] - theirs[s->processes[i].instance][k]);
		n++;
	}
}

static uint32_t merge_doers(struct doer *d, uint32_t n)
{
	uint32_t kept = 0;

	qsort(d, n, sizeof *d, compare_doers);
	for (uint32_t i = 0; i < n; i++) {
		if (!kept || strcmp(d[kept - 1].name, d[i].name) != 0) {
			d[kept++] = d[i];
			continue;
		}
		for (int k = 0; k < DOERS; k++)
			d[kept - 1].did[k] += d[i].did[k];
	}
	return kept;
}

/* A shell that starts a program again and again, too short to be seen, and uses less CPU time
 * itself, is not who does it. */
static const char *started_by(const struct summary *s, const char *name, int k)
{
	const struct summary_command *most = summary_most_started(s);

	if (!has_childrens(k) || !most || most->processes < 10 || !strcmp(most->name, name))
		return name;
	for (uint32_t i = 0; i < s->ncommands; i++)
		if (!strcmp(s->commands[i].name, name))
			return s->commands[i].cpu_s < most->cpu_s ? most->name : name;
	return name;
}

/* Named only if it did as much as all others, also those that were too short to be seen. */
static const char *doer_named(const struct summary *s, const struct doer *d, uint32_t n, int k)
{
	const struct doer *most = NULL;
	double all = k == DOER_KERNEL ? fmax(s->cpu_system_s, 0) : 0;

	for (int i = 0; i < 2 && doings[k].job[i]; i++)
		all += fmax(summary_grown(s, doings[k].job[i]), 0);
	for (uint32_t i = 0; i < n; i++)
		if (!most || d[i].did[k] > most->did[k])
			most = &d[i];
	return most && most->did[k] > 0 && most->did[k] >= all / 2 ? started_by(s, most->name, k)
								   : NULL;
}

static int find_doers(struct summary *s, const struct run *r, const struct series_index *x)
{
	struct doer *d = calloc((size_t)s->nprocesses + 1, sizeof *d);
	double(*theirs)[DOERS] = calloc((size_t)r->ninstances + 1, sizeof *theirs);
	uint32_t n = 0;

	if (!d || !theirs) {
		free(d);
		free(theirs);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->nprocesses; i++)
		if (!s->processes[i].counted_already)
			d[n++] = doer_of(r, x, &s->processes[i]);
	take_childrens(d, s, r, theirs);
	free(theirs);
	n = merge_doers(d, n);
	for (int k = 0; k < DOERS; k++)
		s->story.doer[k] = doer_named(s, d, n, k);
	if (s->story.doer[DOER_WRITTEN])
		snprintf(s->story.writer, sizeof s->story.writer, ", most of it by %.40s.",
			 s->story.doer[DOER_WRITTEN]);
	free(d);
	return 0;
}

int summary_standouts_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	find_busiest(s, r, x);
	find_workers(s, r, x);
	find_heap(s, r, x);
	return find_doers(s, r, x);
}
