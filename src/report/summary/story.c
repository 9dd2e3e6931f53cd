/* SPDX-License-Identifier: Apache-2.0 */
/* story.c - findings over time: one core at work, holes, growth of memory. */
#include "core/statistics/trend.h"
#include "report/phases/phases.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Work for as many cores is one core's; the rest is what a second thread does now and then. */
static const double serial_least = 0.5, serial_most = 1.3;
/* Of all GPUs together: one of eight that works now and then shows as much. */
static const double idle_gpus = 0.01;
/* Threads that wait less than this for a core, in seconds per second, are hardly slower for it. */
static const double waited_least = 0.25;

/* ---- stretches of windows ---- */

struct stretch {
	double all_s, longest_s, from_s, to_s;
	uint32_t begin, n; /* of the one that is open */
};

static void stretch_end(struct stretch *x, const struct timeline *t)
{
	double s = x->n * t->width_s;

	x->all_s += s;
	if (s > x->longest_s) {
		x->longest_s = s;
		x->from_s = t->from_s + x->begin * t->width_s;
		x->to_s = x->from_s + s;
	}
	x->n = 0;
}

static void stretch_add(struct stretch *x, const struct timeline *t, uint32_t window, bool is_in)
{
	if (!is_in && x->n)
		stretch_end(x, t);
	if (is_in && !x->n++)
		x->begin = window;
}

/* ---- cores ---- */

static uint32_t first_work(const double *cores, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && !(cores[i] > summary_idle_cores))
		i++;
	return i;
}

static uint32_t last_work(const double *cores, uint32_t n)
{
	while (n && !(cores[n - 1] > summary_idle_cores))
		n--;
	return n;
}

/* The idle head and tail are told by themselves; they are of half a second and more, in which a
 * shorter window that was busy is no work. */
static bool is_between(const struct summary *s, uint32_t window)
{
	const struct timeline *t = &s->timeline;
	double begin = window * t->width_s, end = t->nwindows * t->width_s - begin;

	return !(begin < s->idle_head_s) && !(end <= s->idle_tail_s);
}

/* The mean over a second before a window to a second after it; 0: none is known. */
static double around(const struct timeline *t, const double *value, uint32_t window)
{
	uint32_t near = (uint32_t)(1 / t->width_s), n = 0;
	double sum = 0;

	for (uint32_t i = window > near ? window - near : 0; i <= window + near && i < t->nwindows;
	     i++)
		if (!isnan(value[i])) {
			sum += value[i];
			n++;
		}
	return n ? sum / n : 0;
}

/* Cores that a hypervisor ran something else on while they had work: the job's part of them is as
 * large as of the cores that did run. */
static double stolen_at(const struct timeline *t, const double *cores, uint32_t window)
{
	const struct timeline_row *steal = timeline_find(t, summary_steal_metric);
	const struct timeline_row *node = timeline_find(t, summary_node_cores_metric);
	double had = around(t, cores, window), ran = node ? around(t, node->value, window) : 0;

	if (!steal || isnan(steal->value[window]))
		return 0;
	return steal->value[window] * (ran > had ? had / ran : 1);
}

/* A thread that waits for a core has work to do as well. How long threads waited is known of two
 * seconds together at best, so that the cores they got meanwhile are taken over as long a time. */
static void add_work(struct summary *s, const double *cores, double *waited)
{
	const struct timeline *t = &s->timeline;

	s->story.stolen_s = 0;
	for (uint32_t i = 0; i < t->nwindows; i++) {
		double stolen = stolen_at(t, cores, i);

		waited[i] = waited[i] >= waited_least ? around(t, cores, i) + waited[i] : cores[i];
		waited[i] += stolen;
		s->story.stolen_s += stolen * t->width_s;
	}
}

/* Who waits for a core at the start or the end is not idle. How long threads waited is told of two
 * seconds together: it is taken to have been at their end, or at their begin, where less is idle.
 */
static void shorten_idle(struct summary *s, const double *waited)
{
	const struct timeline *t = &s->timeline;
	double end = t->from_s + t->nwindows * t->width_s;

	if (isnan(s->idle_head_s)) /* what the cores did is not known */
		return;
	for (uint32_t i = 0, from; i < t->nwindows; i++) {
		double all = 0, begin;

		for (from = i; i < t->nwindows && waited[i] >= waited_least; i++)
			all += waited[i] * t->width_s;
		if (i == from)
			continue;
		begin = t->from_s + from * t->width_s;
		all = fmin(all, (i - from) * t->width_s);
		s->idle_head_s = fmin(s->idle_head_s, t->from_s + i * t->width_s - all);
		s->idle_tail_s = fmin(s->idle_tail_s, fmax(0, end - begin - all));
	}
}

/* Cores may be idle while GPUs work: that is no idle time of the job. */
static bool gpus_work(const struct timeline_row *gpus, uint32_t window)
{
	return gpus && gpus->value[window] > idle_gpus;
}

static void shorten_idle_by_gpus(struct summary *s, const struct timeline_row *gpus)
{
	const struct timeline *t = &s->timeline;

	for (uint32_t i = 0; i < t->nwindows; i++) {
		if (isnan(s->idle_head_s) || !gpus_work(gpus, i))
			continue;
		s->idle_head_s = fmin(s->idle_head_s, t->from_s + i * t->width_s);
		s->idle_tail_s = fmin(s->idle_tail_s, (t->nwindows - i - 1) * t->width_s);
	}
}

/* Cores that the job may use by its affinity and by the limits of its control groups. */
static double cores_permitted(const struct summary *s)
{
	return fmin(isnan(s->cores_allowed) ? s->cores_present : s->cores_allowed, s->cores_limit);
}

/* Of the cores that the job may use, those that nobody had, if all others ran on these. */
static double idle_at(const struct summary *s, const double *cores, uint32_t window)
{
	const struct timeline *t = &s->timeline;
	const struct timeline_row *node = timeline_find(t, summary_node_cores_metric);
	const struct timeline_row *steal = timeline_find(t, summary_steal_metric);
	double ran = node ? around(t, node->value, window) : 0;
	double stolen = steal ? around(t, steal->value, window) : 0;

	if (!cores || !node)
		return 0;
	return fmax(0, cores_permitted(s) - fmax(ran, around(t, cores, window)) - stolen);
}

/* Threads that wait for more cores than the job may use wait for each other; for less than that,
 * for others, as far as others ran meanwhile. */
static void tell_waits(struct summary *s, const double *cores, const double *waited)
{
	const struct timeline *t = &s->timeline;
	const struct timeline_row *node = timeline_find(t, summary_node_cores_metric);
	struct story *y = &s->story;
	double may = cores_permitted(s), ran = 0, others = 0;
	uint32_t n = 0, known = 0;

	y->waited_s = y->taken_s = y->taken_wall_s = y->waited_idle_s = 0;
	for (uint32_t i = 0; i < t->nwindows; i++) {
		double had = cores && !isnan(cores[i]) ? cores[i] : 0;
		double theirs = node ? fmax(0, node->value[i] - had) : 0;
		double taken = fmin(fmin(waited[i], theirs), fmax(0, may - had));

		y->waited_s += waited[i] * t->width_s;
		y->waited_idle_s += fmin(waited[i], idle_at(s, cores, i)) * t->width_s;
		y->taken_s += taken * t->width_s;
		/* Who wants less than a core rests between: no more is lost than the wait. */
		y->taken_wall_s += t->width_s * taken / fmax(1, had + taken);
		if (node && !isnan(node->value[i])) {
			others += theirs;
			known++;
		}
		if (had + waited[i] > may) {
			ran += had;
			n++;
		}
	}
	if (n)
		y->crowded_cores = ran / n;
	if (known)
		y->others_cores = others / known;
	if (!cores || !known || isnan(may))
		y->taken_s = y->taken_wall_s = y->waited_idle_s = NAN;
}

/* Windows that nobody measured were like the others. */
static double working_s(const struct timeline *t, const double *work)
{
	double sum = 0;
	uint32_t known = 0;

	for (uint32_t i = 0; i < t->nwindows; i++)
		if (!isnan(work[i])) {
			sum += fmin(1, work[i]);
			known++;
		}
	return known ? sum / known * t->nwindows * t->width_s : NAN;
}

static void tell_cores(struct summary *s, const double *work, const struct timeline_row *gpus)
{
	const struct timeline *t = &s->timeline;
	uint32_t begin = first_work(work, t->nwindows), end = last_work(work, t->nwindows);
	struct story *y = &s->story;
	struct stretch serial = { 0 }, hole = { 0 };
	double parallel = 0;
	uint32_t nparallel = 0;

	for (uint32_t i = begin; i < end; i++) {
		y->work_peak_cores = fmax(y->work_peak_cores, around(t, work, i));
		stretch_add(&serial, t, i,
			    work[i] >= serial_least && work[i] <= serial_most &&
				    !summary_waits_unseen(s, i));
		stretch_add(&hole, t, i,
			    work[i] <= summary_idle_cores && is_between(s, i) &&
				    !gpus_work(gpus, i));
		if (work[i] > serial_most) {
			parallel += work[i];
			nparallel++;
		}
	}
	stretch_add(&serial, t, end, false);
	stretch_add(&hole, t, end, false);
	y->working_s = working_s(t, work);
	y->serial_s = serial.all_s;
	y->serial_from_s = serial.from_s;
	y->serial_to_s = serial.to_s;
	y->parallel_s = nparallel * t->width_s;
	y->parallel_cores = nparallel ? parallel / nparallel : NAN;
	y->holes_s = hole.all_s;
	y->hole_s = hole.longest_s;
	y->hole_from_s = hole.from_s;
	y->hole_to_s = hole.to_s;
}

/* The process that used most CPU time in the longest serial stretch, of those that lived through
 * most of it. A process used its time evenly, as far as is known. */
static void tell_serial_process(struct summary *s)
{
	struct story *y = &s->story;
	double most = 0, length = y->serial_to_s - y->serial_from_s;
	char source[64] = "";

	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const struct summary_process *p = &s->processes[i];
		double end = isnan(p->end_s) ? s->wall_s : p->end_s;
		double both = fmin(end, y->serial_to_s) - fmax(p->start_s, y->serial_from_s);
		double used = p->cpu_s * both / (end - p->start_s);

		if (!p->name || !(both > length / 2) || !(used > most))
			continue;
		most = used;
		y->serial_instance = p->instance;
		if (summary_is_compiler(p->name))
			summary_source_of(p->command_line, source, sizeof source);
		else
			*source = '\0';
		snprintf(y->serial_process, sizeof y->serial_process, "%s%s", p->name, source);
	}
}

/* ---- memory ---- */

/* Of the thirds, the one that grows least. */
static double least_slope(const struct timeline *t, const double *v, uint32_t begin, uint32_t end)
{
	uint32_t third = (end - begin) / 3;
	double least = INFINITY;

	for (uint32_t i = 0; i < 3; i++)
		least = fmin(
			least,
			trend_of(v, begin + i * third, begin + (i + 1) * third, t->width_s).slope);
	return least;
}

/* Where memory begins to fall until the end: a job that frees all before it exits. What falls for
 * more than a fifth of the time until whole is no exit. */
static uint32_t before_release(const double *bytes, uint32_t end, uint32_t whole)
{
	uint32_t top = end;

	while (top > 1 && bytes[top - 1] < bytes[top - 2])
		top--;
	return whole - top <= whole / 5 ? top : end;
}

/* How fast pages of mapped files grew, which the kernel takes back when it needs room; those of
 * files in memory, and of what processes share there, it cannot. 0: not known. */
static double files_slope(const struct timeline *t, uint32_t begin, uint32_t end)
{
	const struct timeline_row *shared = timeline_find(t, summary_shared_metric);
	const struct timeline_row *held = timeline_find(t, summary_memory_files_metric);
	double all, kept;

	if (!shared)
		return 0;
	all = trend_of(shared->value, begin, end, t->width_s).slope;
	kept = held ? trend_of(held->value, begin, end, t->width_s).slope : NAN;
	return fmax(0, all) - fmax(0, kept);
}

/* A job takes its memory when it begins and gives it back when it ends: neither is growth. What
 * worked for half of the run and then slept is judged by the time of its work. */
static void tell_memory(struct story *y, const struct timeline *t, const double *bytes,
			uint32_t worked)
{
	static const double mostly = 0.5;
	enum { LEAST_WINDOWS = 16 };
	uint32_t whole = worked >= t->nwindows / 2 ? worked : t->nwindows;
	uint32_t end = whole, begin = end / 5;
	double most = 0;
	struct trend l;

	for (uint32_t i = 0; i < t->nwindows; i++)
		most = fmax(most, bytes[i]);
	while (end > begin && !(bytes[end - 1] >= most / 2))
		end--;
	end = before_release(bytes, end, whole);
	if (end < begin + LEAST_WINDOWS)
		return;
	l = trend_of(bytes, begin, end, t->width_s);
	if (l.slope > 0 && files_slope(t, begin, end) >= mostly * l.slope)
		return;
	y->leak_bytes_per_s = l.slope;
	y->leak_error_bytes_per_s = l.error;
	y->leak_steadiness = l.slope > 0 ? least_slope(t, bytes, begin, end) / l.slope : NAN;
	y->leak_from_s = t->from_s + begin * t->width_s;
	y->leak_to_s = t->from_s + end * t->width_s;
	y->leak_from_bytes = fmax(l.from, 0); /* the line may begin below what there can be */
	y->leak_to_bytes = l.to;
}

/* What is told of the end, and of single processes. */
static void init_ending(struct story *y)
{
	y->died_s = y->died_pid = y->died_signal = y->died_code = y->died_core = NAN;
	y->crash_stack = NAN;
	y->busiest_share = y->busiest_work_ratio = y->busiest_others_share = y->busiest_companions =
		y->busiest_nice = NAN;
	y->starved_nice = y->starved_s = NAN;
	y->workers = y->worker_most_s = y->worker_others_s = y->late_sleeps = y->late_s = NAN;
	y->hidden_work_ratio = y->hidden_s = y->hidden_short = y->hidden_crashes = NAN;
	y->compilers = y->compilers_s = y->make_is_serial = y->make_is_parallel = NAN;
	y->make_recipes_ratio = y->may_serve = NAN;
	y->hidden_alike = y->hidden_each_time = y->killed = y->killed_s = y->killed_signal = NAN;
	y->heap_limit = y->heap_held = y->last_touched_bytes = y->alike = NAN;
	y->answered = 0;
	y->writes_direct = y->compilers_beside_ratio = NAN;
	y->reread_times = y->reread_size = y->reread_bytes = y->reread_within = NAN;
	y->back_size = y->back_bytes = y->back_looks = y->forks = y->forked_bytes = NAN;
	y->reopened_looks = y->reopened_closed = y->lock_held_outside = y->most_started_beside =
		NAN;
	y->disk_free_bytes = y->disk_bytes = y->disk_free_ratio = y->disk_no_inodes = NAN;
	y->disk_low_bytes = y->disk_room_bytes = y->disk_room_inodes = NAN;
	for (size_t i = 0; i < STORY_LIMITS; i++)
		y->limit[i].limit = y->limit[i].reached = NAN;
	for (size_t i = 0; i < STALL_NUMBER_OF; i++)
		y->wait[i].seconds = y->wait[i].ratio = y->wait[i].ratio_least = NAN;
	y->wakes_per_s = y->sleeps = y->starts = y->starts_cpu_s = NAN;
}

void story_init(struct story *y)
{
	*y = (struct story){
		.serial_s = NAN,
		.serial_from_s = NAN,
		.serial_to_s = NAN,
		.parallel_s = NAN,
		.parallel_cores = NAN,
		.working_s = NAN,
		.work_peak_cores = NAN,
		.waited_s = NAN,
		.waited_idle_s = NAN,
		.stolen_s = NAN,
		.taken_s = NAN,
		.taken_wall_s = NAN,
		.others_cores = NAN,
		.crowded_cores = NAN,
		.holes_s = NAN,
		.waited_longest_s = NAN,
		.hole_s = NAN,
		.hole_from_s = NAN,
		.hole_to_s = NAN,
		.leak_bytes_per_s = NAN,
		.leak_error_bytes_per_s = NAN,
		.leak_steadiness = NAN,
		.leak_from_s = NAN,
		.leak_to_s = NAN,
		.leak_from_bytes = NAN,
		.leak_to_bytes = NAN,
		.fabric = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, "", "", "", "", "" },
		.oom_s = NAN,
		.silent_s = NAN,
		.oom_from_s = NAN,
		.oom_from_bytes = NAN,
		.oom_bytes_per_s = NAN,
		.oom_pid = NAN,
		.oom_limit_bytes = NAN,
		.oom_held_bytes = NAN,
		.death_s = NAN,
		.death_rank = NAN,
		.death_signal = NAN,
		.death_exit_code = NAN,
		.failed = NAN,
		.could_fail = NAN,
		.unreported_s = NAN,
		.death_memory_bytes = NAN,
		.death_limit_bytes = NAN,
		.hosts_unequal_ratio = NAN,
		.hang_s = NAN,
		.hang_from_s = NAN,
		.hang_to_s = NAN,
		.hangs = NAN,
		.stay_s = NAN,
		.stay_looks = NAN,
		.stay_places = NAN,
		.stay_ratio = NAN,
	};
	init_ending(y);
}

/* ---- which of the job's own phases, or marks, the longest serial stretch lies in ---- */

/* The shortest of those that have half of the stretch. */
static const struct phase *phase_of(const struct phases *p, double from_s, double to_s)
{
	const struct phase *found = NULL;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct phase *x = &p->phase[i];
		double both = fmin(to_s, x->end_s) - fmax(from_s, x->begin_s);

		if (isnan(x->end_s) || !(both >= (to_s - from_s) / 2))
			continue;
		if (!found || x->end_s - x->begin_s < found->end_s - found->begin_s)
			found = x;
	}
	return found;
}

/* The last one before the middle of the stretch that is the job's. */
static const char *mark_of(const struct run *r, double from_s, double to_s)
{
	const char *found = NULL;

	for (uint32_t i = 1; i < r->nmarks; i++) {
		const struct run_mark *m = &r->marks[i];

		if (m->name && strncmp(m->name, "sonde.", 6) != 0 &&
		    run_seconds(r, m->node, m->at_ns) <= (from_s + to_s) / 2)
			found = m->name;
	}
	return found;
}

static void add(struct story *y, const char *before, const char *name)
{
	size_t n = strlen(y->serial_process);

	snprintf(y->serial_process + n, sizeof y->serial_process - n, "%s%s%.60s", n ? ", " : "",
		 before, name);
}

static int find_phase(struct summary *s, const struct run *r)
{
	struct story *y = &s->story;
	struct phase_rules rules = { 0 };
	struct phases phases = { 0 };
	const struct phase *phase;
	const char *mark;
	struct err e;
	int rc = 0;

	if (!(y->serial_to_s > y->serial_from_s) || (r->nmarks < 2 && r->nspans < 2))
		return 0;
	rc = phase_rules_builtin(&rules, &e);
	if (!rc)
		rc = phases_make_some(&phases, r, &rules, &e);
	phase = rc ? NULL : phase_of(&phases, y->serial_from_s, y->serial_to_s);
	mark = mark_of(r, y->serial_from_s, y->serial_to_s);
	if (phase)
		add(y, "in phase ", phase->name);
	else if (mark)
		add(y, "after the mark ", mark);
	phases_free(&phases);
	phase_rules_free(&rules);
	return rc == -ENOMEM ? rc : 0;
}

/* ---- all of it ---- */

int summary_story_make(struct summary *s, const struct run *r)
{
	const struct timeline *t = &s->timeline;
	const struct timeline_row *cores = timeline_find(t, summary_cores_metric);
	const struct timeline_row *memory = timeline_find(t, summary_memory_metric);
	const struct timeline_row *gpus = timeline_find(t, summary_gpus_metric);
	double *work = summary_waits_make(s);
	uint32_t worked = t->nwindows;

	if (!work)
		return -ENOMEM;
	summary_waits_correct(s, work);
	tell_waits(s, cores ? cores->value : NULL, work);
	shorten_idle(s, work);
	shorten_idle_by_gpus(s, gpus);
	if (cores) {
		add_work(s, cores->value, work);
		tell_cores(s, work, gpus);
		tell_serial_process(s);
		worked = gpus ? t->nwindows : last_work(work, t->nwindows);
	}
	free(work);
	if (memory)
		tell_memory(&s->story, t, memory->value, worked);
	return find_phase(s, r);
}

double story_waited_s(const struct summary *s)
{
	return fmax(summary_grown(s, "job.run_queue_seconds"), s->story.waited_s);
}

double story_cores_wanted(const struct summary *s)
{
	double waited = story_waited_s(s);

	return s->cores_used_mean + (isnan(waited) ? 0 : waited / s->wall_s);
}

/* Where others took cores away, without what the run would have been shorter by; what was computed
 * stays. */
double story_working_s(const struct summary *s)
{
	double wanted = story_cores_wanted(s), taken = s->story.taken_wall_s;
	double its = isnan(s->story.working_s) ? s->wall_s * (wanted > 1 ? 1 : wanted)
					       : fmin(s->story.working_s, s->wall_s);
	double computed = fmin(its, s->cpu_s / fmax(1, s->cores_allowed));

	return taken > 0 && !isnan(computed) ? fmax(its - taken, computed) : its;
}

/* One thread that looks again and again may do so for another of the job whose core others took:
 * only while both had work, which is work for more than one core. */
double story_spun_for_own_s(const struct summary *s)
{
	double wanted = story_cores_wanted(s) * s->wall_s - s->story.working_s;
	double taken = s->story.taken_wall_s * (s->cores_allowed - 1);

	return isnan(wanted) ? taken : fmin(taken, fmax(0, wanted));
}
