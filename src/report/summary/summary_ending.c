/* SPDX-License-Identifier: Apache-2.0 */
/* summary_ending.c - which process ended first by a signal, or failed, and how near the job came to
 * its own limits (ulimit). */
#include "base/text/decimal.h"
#include "report/summary/ending.h"
#include "report/summary/summary_part.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { CHAIN_S = 1 }; /* who failed so shortly before the job may be why it did */

/* Limits that a process has, what comes near them, and where the story keeps both. */
static const struct {
	const char *limit, *label, *metric;
	bool of_job; /* the metric is one of the job: of all processes together */
} limits[STORY_LIMITS] = {
	[LIMIT_ADDRESS_SPACE] = { "job.limit.address_space_bytes", "limit.address_space_bytes",
				  "process.virtual_bytes", false },
	[LIMIT_CPU] = { "job.limit.cpu_seconds", "limit.cpu_seconds", "process.cpu_seconds",
			false },
	[LIMIT_FILES] = { "job.limit.open_files_count", "limit.open_files_count",
			  "process.open_files_count", false },
	[LIMIT_PROCESSES] = { "job.limit.processes_count", "limit.processes_count",
			      "job.threads_count", true },
	[LIMIT_FILE_SIZE] = { "job.limit.file_bytes", "limit.file_bytes", "process.written_bytes",
			      false },
	[LIMIT_STACK] = { "job.limit.stack_bytes", "limit.stack_bytes", NULL, false },
};

static double label_number(const struct run *r, uint32_t instance, const char *key)
{
	const char *text = run_label(r, instance, key);

	return text && *text ? decimal_parse(text, NULL) : NAN;
}

static bool is_process(const struct run_instance *in)
{
	return in->domain && !strcmp(in->domain, "process");
}

/* That end by it is an accident, not somebody's wish. */
static bool is_crash(double signal)
{
	static const int crashes[] = { SIGSEGV, SIGABRT, SIGBUS,  SIGFPE,  SIGILL,
				       SIGSYS,  SIGXCPU, SIGXFSZ, SIGKILL, SIGTRAP };

	for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
		if (signal == crashes[i])
			return true;
	return false;
}

static void take_died(struct story *y, const struct run *r, uint32_t i, double end_s)
{
	const struct run_instance *in = &r->instances[i];

	y->died_s = end_s;
	y->died_pid = label_number(r, i, "pid");
	y->died_signal = label_number(r, i, "signal");
	y->died_code = label_number(r, i, "exit_code");
	y->died_core = label_number(r, i, "core_dumped");
	snprintf(y->died_process, sizeof y->died_process, "%s", in->name ? in->name : "");
}

/* It failed as the job did, a moment before it; or a moment before the job fell silent. */
static bool may_be_why(const struct summary *s, double code, double end_s)
{
	double silent_from_s = s->wall_s - s->story.silent_s;

	return (code == s->exit_code && end_s >= s->wall_s - CHAIN_S) ||
	       (end_s >= silent_from_s - 2 * CHAIN_S && end_s <= silent_from_s + CHAIN_S);
}

/* The first that crashed; else the first that failed and may be why. The command itself is not
 * named: how it ended is said anyway. */
static void find_first(struct summary *s, const struct run *r)
{
	struct story *y = &s->story;
	bool crashed = false;

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		double signal, code, end_s;
		bool crash;

		if (!is_process(in) || in->end_ns == INT64_MAX || !in->parent)
			continue;
		signal = label_number(r, i, "signal");
		code = label_number(r, i, "exit_code");
		end_s = run_seconds(r, in->node, in->end_ns);
		crash = is_crash(signal);
		if (!crash && (crashed || !(code > 0) || !may_be_why(s, code, end_s)))
			continue;
		if (crash == crashed && !isnan(y->died_s) && end_s >= y->died_s)
			continue;
		take_died(y, r, i, end_s);
		crashed |= crash;
	}
}

static double meta_number(const struct run *r, const char *key)
{
	const struct run_meta *m = run_find_meta(r, 0, key);

	return m && m->type == META_INT ? (double)m->value : NAN;
}

/* What the whole job had at most, on one node. */
static double of_job(const struct run *r, const struct series_index *x, uint32_t metric)
{
	double most = NAN;

	for (uint32_t i = x->first[0]; i; i = x->next[i])
		if (metric && r->series[i].metric == metric)
			most = fmax(most, x->max[i]);
	return most;
}

static double of_process(const struct run *r, const struct series_index *x, uint32_t i,
			 const char *name, uint32_t metric)
{
	double final = NAN, most = series_index_max(x, r, i, metric);

	if (!name)
		return NAN;
	return run_final_value(r, i, name, &final) ? fmax(most, final) : most;
}

/* Its own, where that is not the job's; INFINITY: it has none. */
static double limit_of(const struct run *r, uint32_t i, size_t k, double of_job)
{
	const char *text = run_label(r, i, limits[k].label);

	if (!text || !*text)
		return of_job;
	return strcmp(text, "unlimited") == 0 ? INFINITY : decimal_parse(text, NULL);
}

/* A process may have set itself, and what it starts, a limit of its own. */
static void find_limit(struct story *y, const struct run *r, const struct series_index *x, size_t k)
{
	double limit = meta_number(r, limits[k].limit);
	uint32_t metric = limits[k].metric ? run_find_metric(r, limits[k].metric) : 0;
	struct story_limit *l = &y->limit[k];
	bool any = false;

	if (limits[k].of_job)
		l->reached = of_job(r, x, metric);
	for (uint32_t i = 1; i < r->ninstances; i++) {
		double had, most;

		if (!is_process(&r->instances[i]))
			continue;
		any = true;
		most = limit_of(r, i, k, limit);
		had = limits[k].of_job ? l->reached : of_process(r, x, i, limits[k].metric, metric);
		if (!isfinite(most) || (!limits[k].metric ? !(most < l->limit || isnan(l->limit))
							  : !(had / most > l->reached / l->limit ||
							      isnan(l->reached / l->limit))))
			continue;
		l->limit = most;
		l->reached = had;
		snprintf(l->process, sizeof l->process, "%s (pid %.0f)",
			 r->instances[i].name ? r->instances[i].name : "",
			 label_number(r, i, "pid"));
	}
	if (!any)
		l->limit = limit;
}

static double last_of(const struct run *r, const struct series_index *x, uint32_t i,
		      const char *metric)
{
	return series_index_last(x, r, i, run_find_metric(r, metric));
}

static void take_disk(struct story *y, const struct run *r, const struct series_index *x,
		      uint32_t i, const char *path)
{
	double left = last_of(r, x, i, "filesystem.available_bytes");
	double all = left + last_of(r, x, i, "filesystem.used_bytes");
	double inodes = last_of(r, x, i, "filesystem.inodes_count");
	double used = last_of(r, x, i, "filesystem.inodes_used_count");
	bool none = inodes > 0 && used >= inodes;
	double ratio = none ? 0 : left / all;
	uint32_t available = run_find_metric(r, "filesystem.available_bytes");
	double low = none ? 0 : fmin(left, series_index_min(x, r, i, available));

	if (!(all > 0) || low * low / all >= y->disk_low_bytes * y->disk_low_bytes / y->disk_bytes)
		return;
	y->disk_low_bytes = low;
	y->disk_free_bytes = left;
	y->disk_bytes = all;
	y->disk_free_ratio = ratio;
	y->disk_no_inodes = none ? inodes : NAN;
	snprintf(y->disk_path, sizeof y->disk_path, "%s", path);
}

/* The file system that was the fullest, by space and by its share, of those where the
 * job's own directories are and where it wrote. An image that is read only is full by nature. */
static void find_disk(struct story *y, const struct run *r, const struct series_index *x)
{
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		const char *path = run_label(r, i, "work");

		if (!path)
			path = run_label(r, i, "temporary");
		if (!path)
			path = run_label(r, i, "written");
		if (path && in->domain && !strcmp(in->domain, "filesystem") &&
		    !run_label(r, i, "read_only"))
			take_disk(y, r, x, i, path);
	}
}

void summary_ending_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	if (s->signal > 0 || s->exit_code > 0)
		find_first(s, r);
	s->core_dumped = run_find_meta(r, 0, "job.core_dumped") != NULL;
	for (size_t k = 0; k < STORY_LIMITS; k++)
		find_limit(&s->story, r, x, k);
	find_disk(&s->story, r, x);
}
