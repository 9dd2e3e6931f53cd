/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/sampler.h"

#include "base/clock.h"
#include "base/reserve.h"
#include "base/text/number.h"
#include "job/secret/secret.h"
#include "sampler/fixes.h"
#include "source/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

static const int64_t least_suspend_ns = NS_PER_S / 10; /* a shorter one is no gap between samples */

/* In each sample: a suspend since the last one becomes a mark, and metadata. */
static void suspend_step(struct suspend *x, struct sample *s)
{
	/* Whoever reads two clocks may have to wait in between: these are both bounds. */
	int64_t before = clock_mono_ns(), boot = clock_boot_ns(), after = clock_mono_ns();
	int64_t least = boot - after, most = boot - before, stood = least - x->ahead_ns;
	char text[80];

	if (!boot)
		return;
	if (!x->seen || most < x->ahead_ns)
		x->ahead_ns = most;
	if (x->seen && stood >= least_suspend_ns) {
		x->ahead_ns = most;
		x->total_ns += stood;
		snprintf(text, sizeof text, "the machine was suspended for %.1f s",
			 (double)stood / NS_PER_S);
		sample_mark(s, 0, s->mono_ns, "sonde.suspended", text);
		sample_meta_int(s, "monitor.suspended_seconds",
				(x->total_ns + NS_PER_S - 1) / NS_PER_S);
	}
	x->seen = true;
}

enum { SLOTS = 32768, EVENTS = 65536, CLOCK_PAIR_S = 60, LATE_SHARE = 8 };

/* Zeroed. Of a large one, which has room for the largest machines, only what is used is there. */
enum { LARGE_STATE = 8192 };

static void *state_new(const struct source *k)
{
	return k->size > LARGE_STATE ? reserve(k->size) : calloc(1, k->size ? k->size : 1);
}

static void state_free(const struct source *k, void *state)
{
	if (k->size > LARGE_STATE)
		reserve_free(state, k->size);
	else
		free(state);
}

/* Of what it reads nothing need be known from before the job's begin. */
static bool can_wait(const struct sampler *s, size_t i)
{
	return sources[i]->can_wait && sources[i]->can_wait(&s->env);
}

static void open_source(struct sampler *s, size_t i)
{
	const struct source *k = sources[i];
	struct err e = { "" };
	char key[64], why[sizeof e.text + 16];
	int bad;

	if (k->wanted && !k->wanted(&s->env))
		return;
	if (!k->declares_itself && !k->filled_by)
		sample_catalogue(&s->sample, k->metrics, (uint32_t)k->nmetrics);
	if (!k->open)
		return;
	s->state[i] = state_new(k);
	bad = s->state[i] ? k->open(s->state[i], &s->env, &s->sample, &e) : -ENOMEM;
	if (!bad)
		return;
	state_free(k, s->state[i]);
	s->state[i] = NULL;
	sample_catalogue_drop(&s->sample, k->metrics);
	snprintf(key, sizeof key, "source.%s", k->name);
	snprintf(why, sizeof why, "%s: %s", state_name(state_of(bad)), e.text);
	sample_meta_text(&s->sample, key, why);
	fixes_say_source(&s->sample, k, state_of(bad), e.text);
}

static size_t job_pids(const void *tree, pid_t *out, size_t cap)
{
	return tree_pids(tree, out, cap);
}

static size_t job_busy(const void *tree, int64_t cpu_ns, pid_t *out, size_t cap)
{
	return tree_busy(tree, cpu_ns, out, cap);
}

static int64_t job_cpu_ns(const void *tree)
{
	return tree_cpu_ns(tree);
}

static bool job_has(const void *tree, pid_t pid)
{
	return tree_has(tree, pid);
}

static uint32_t job_instance(const void *tree, pid_t pid)
{
	return tree_instance(tree, pid);
}

static bool job_switches_often(const void *tree)
{
	return tree_switches_often(tree);
}

static void set_pace(struct sampler *s)
{
	s->cadence = budget_cadence(&s->budget);
	tree_pace(s->tree, &s->cadence, budget_for_walks(&s->budget));
}

/* What is known before anything is open. */
static void fill_env(struct source_env *env, const struct sampler_options *o)
{
	env->output_path = o->output;
	env->interval_ns = o->interval_ns;
	env->roots = o->tree.launcher ? &o->tree.launcher : o->tree.roots;
	env->nroots = o->tree.launcher ? 1 : o->tree.nroots;
	env->launched = o->tree.launcher != 0;
	env->rest_follows = true;
	env->shared = o->tree.shared;
	env->followed = o->tree.follow;
	env->stacks_hz = o->stacks_hz;
	env->stacks_after_ns = o->stacks_after_ns;
	env->max_overhead = o->max_overhead;
	env->no_paths = o->no_paths;
	env->memory_hz = o->memory_hz;
	env->files = o->files;
	env->peers = o->peers;
	env->waits_hz = o->waits_hz;
	env->mask = (struct source_mask){ secret_text, o->tree.secrets };
}

int sampler_open(struct sampler *s, const struct sampler_options *o, struct err *e)
{
	const char *procfs = o->procfs ? o->procfs : "/proc", *sysfs = o->sysfs ? o->sysfs : "/sys";
	struct tree_options tree = o->tree;
	uint32_t parts = reserve_parts();
	int bad;

	s->page_bytes = sysconf(_SC_PAGESIZE);
	s->hang.patience_ns = o->watch_hang_ns;
	s->hang.look.secrets = s->rank_watch.look.secrets = s->pauses.secrets = o->tree.secrets;
	s->marks = marks_open(o->tree.secrets);
	s->spans = span_files_open();
	fill_env(&s->env, o);
	s->perf = o->perf;
	s->env.perf = &s->perf;
	budget_init(&s->budget, o->max_overhead, o->interval_ns);
	if (o->quickly)
		budget_begin_quickly(&s->budget);
	bad = root_open(&s->env.proc, procfs);
	if (bad)
		return err_set(e, bad, "cannot read %s: %s", procfs, strerror(-bad));
	bad = root_open_if_there(&s->env.sys, sysfs);
	if (bad) {
		sampler_close(s);
		return err_set(e, bad, "cannot read %s: %s", sysfs, strerror(-bad));
	}
	s->state = calloc(nsources + 1, sizeof *s->state);
	s->failed = calloc(nsources + 1, sizeof *s->failed);
	s->later = calloc(nsources + 1, sizeof *s->later);
	bad = s->state && s->failed && s->later
		      ? sample_init(&s->sample, SLOTS / parts, EVENTS / parts)
		      : -ENOMEM;
	if (bad) {
		sampler_close(s);
		return err_set(e, bad, "out of memory");
	}
	sample_begin(&s->sample, clock_utc_ns(), clock_mono_ns());
	for (size_t i = 0; i < nsources; i++)
		if (!(s->later[i] = can_wait(s, i)))
			open_source(s, i);
	s->monitor_slot = sample_series(&s->sample, monitor_metrics, MONITOR_NUMBER_OF, 0);
	s->statm = open("/proc/self/statm",
			O_RDONLY | O_CLOEXEC); /* its own, whatever the roots are */
	tree.proc = &s->env.proc;
	bad = tree_open(&s->tree, &tree, &s->sample, e);
	if (bad) {
		sampler_close(s);
		return bad;
	}
	s->env.job = (struct source_job){ .tree = s->tree,
					  .pids = job_pids,
					  .busy = job_busy,
					  .cpu_ns = job_cpu_ns,
					  .has = job_has,
					  .instance = job_instance,
					  .switches_often = job_switches_often };
	set_pace(s);
	if (s->env.followed)
		sampler_adopted(s, o->tree.roots, o->tree.nroots);
	return 0;
}

void sampler_joined(struct sampler *s, pid_t launcher, bool runs)
{
	for (size_t i = 0; i < nsources; i++)
		if (s->state[i] && sources[i]->joined)
			sources[i]->joined(s->state[i], launcher, runs, &s->sample);
}

void sampler_adopted(struct sampler *s, const pid_t *pids, size_t n)
{
	for (size_t i = 0; i < nsources; i++)
		if (s->state[i] && sources[i]->adopted)
			sources[i]->adopted(s->state[i], pids, n, &s->sample);
}

void sampler_close(struct sampler *s)
{
	for (size_t i = 0; s->state && i < nsources; i++) {
		if (s->state[i] && sources[i]->close)
			sources[i]->close(s->state[i]);
		state_free(sources[i], s->state[i]);
	}
	free(s->state);
	free(s->failed);
	free(s->later);
	tree_close(s->tree);
	marks_close(s->marks);
	span_files_close(s->spans);
	sample_free(&s->sample);
	file_close(&s->statm);
	root_close(&s->env.proc);
	root_close(&s->env.sys);
	s->state = NULL;
	s->failed = NULL;
	s->later = NULL;
	s->tree = NULL;
	s->marks = NULL;
	s->spans = NULL;
}

static void read_source(struct sampler *s, size_t i)
{
	char key[64], why[128];
	int bad = s->state[i] ? sources[i]->read(s->state[i], &s->sample) : 0;

	if (!bad || s->failed[i])
		return;
	s->failed[i] = 1; /* said once; its values are absent as long as it fails */
	snprintf(key, sizeof key, "source.%s", sources[i]->name);
	snprintf(why, sizeof why, "failed: %s", strerror(-bad));
	sample_meta_text(&s->sample, key, why);
}

static void read_sources(struct sampler *s)
{
	for (size_t i = 0; i < nsources; i++)
		read_source(s, i);
}

void sampler_open_rest(struct sampler *s)
{
	for (size_t i = 0; i < nsources; i++) {
		if (s->later[i]) {
			open_source(s, i);
			read_source(s, i);
		} else if (s->state[i] && sources[i]->rest) {
			sources[i]->rest(s->state[i], &s->sample);
		}
	}
}

/* Of itself what changes rarely: its helpers' CPU, as they end, and its memory. */
static void read_self_rarely(struct sampler *s)
{
	char buf[128];
	const char *p = buf;
	int64_t pages;

	s->children_ns = clock_children_ns();
	s->children_ns -=
		s->children_ns < s->sample.told_cpu_ns ? s->children_ns : s->sample.told_cpu_ns;
	if (s->statm <= 0 || file_reread(s->statm, buf, sizeof buf) <= 0 ||
	    !number_i64(&p, &pages) || !number_i64(&p, &pages))
		return;
	s->resident_bytes = pages * s->page_bytes;
	sample_put(&s->sample, s->monitor_slot + MONITOR_RESIDENT, s->resident_bytes);
	if (s->resident_bytes > s->peak_resident_bytes)
		s->peak_resident_bytes = s->resident_bytes;
}

static void read_self(struct sampler *s, const struct sampler_figures *f)
{
	s->cpu_ns = clock_cpu_ns() + s->children_ns;
	sample_put(&s->sample, s->monitor_slot + MONITOR_CPU, s->cpu_ns);
	sample_put(&s->sample, s->monitor_slot + MONITOR_WRITTEN, f->written_bytes);
	sample_put(&s->sample, s->monitor_slot + MONITOR_LATE, f->late);
	sample_put(&s->sample, s->monitor_slot + MONITOR_SKIPPED, f->skipped);
	sample_put(&s->sample, s->monitor_slot + MONITOR_WALKS, tree_walks_ns(s->tree));
	sample_put(&s->sample, s->monitor_slot + MONITOR_INTERVAL, s->cadence.interval_ns);
}

/* Both clocks, and how far the kernel trusts its own: what joining nodes needs. */
static void read_clocks(struct sampler *s, bool last)
{
	struct timex t = { 0 };
	int state;

	if (s->clock_ns && !last && s->sample.mono_ns - s->clock_ns < CLOCK_PAIR_S * NS_PER_S)
		return;
	s->clock_ns = s->sample.mono_ns;
	state = adjtimex(&t);
	sample_clock(&s->sample, s->sample.mono_ns, s->sample.utc_ns,
		     state < 0 ? -1 : (int64_t)t.maxerror * 1000,
		     state >= 0 && state != TIME_ERROR && !(t.status & STA_UNSYNC));
}

/* The window's figures are those up to this sample; what changes is said in the recording. */
static void keep_budget(struct sampler *s)
{
	struct budget *b = &s->budget;
	char does[128], text[240];
	int was = b->step, worst = b->worst;
	int64_t now = s->sample.mono_ns, walks = tree_walks_ns(s->tree);
	bool settled = budget_settle(b, now, s->cpu_ns - walks, tree_files_ns(s->tree));

	if (budget_step(b, now, s->cpu_ns, walks) || settled) {
		budget_describe(b, b->step, does, sizeof does);
		snprintf(text, sizeof text,
			 "Sonde took %.2f %% of a core, the limit is %.2f %%: %s", b->share * 100,
			 b->limit * 100, does);
		sample_mark(&s->sample, 0, s->sample.mono_ns,
			    b->step > was ? "sonde.reduced" : "sonde.restored", text);
		if (b->worst > worst)
			sample_meta_text(&s->sample, "monitor.reduced", does);
	}
	if (budget_slow_down(b, now, s->cpu_ns) || !b->samples || settled)
		set_pace(s); /* or a window is over */
}

/* Samples are not quite on time: what is due within half an interval is due now. */
static bool is_due(const struct sampler *s, int64_t *last_ns, int64_t every_ns, bool last)
{
	if (!last && s->sample.mono_ns + s->cadence.interval_ns / 2 - *last_ns < every_ns)
		return false;
	*last_ns = s->sample.mono_ns;
	return true;
}

/* Who gets hardly any CPU comes to the node long after the sample began. What the node counted
 * until then, over the time from sample to sample, may be more than it has: such a reading is left
 * out, until the time since the last one is long enough that it matters little. */
static bool is_node_due(struct sampler *s, bool last)
{
	int64_t before_ns = s->node_ns, late_ns = clock_mono_ns() - s->sample.mono_ns;

	if (!is_due(s, &s->node_ns, s->cadence.node_ns, last))
		return false;
	if (!last && llabs(late_ns - s->node_late_ns) > (s->node_ns - before_ns) / LATE_SHARE) {
		s->node_ns = before_ns;
		return false;
	}
	s->node_late_ns = late_ns;
	return true;
}

/* At its end every job rests. */
static void watch_waits(struct sampler *s, bool last)
{
	if (!s->hang.patience_ns)
		return;
	if (last) {
		hang_say_end(&s->hang, &s->sample);
		rank_watch_end(&s->rank_watch, &s->sample);
		pauses_say_end(&s->pauses, &s->sample);
		rereads_say_end(&s->rereads, &s->env, &s->sample);
		reopens_say_end(&s->reopens, &s->env, &s->sample);
		return;
	}
	hang_step(&s->hang, s->tree, &s->env.proc, &s->sample);
	rank_watch_step(&s->rank_watch, s->tree, &s->sample);
	pauses_step(&s->pauses, s->tree, &s->env.proc, &s->sample);
	rereads_step(&s->rereads, s->tree, &s->env.proc, &s->sample);
	reopens_step(&s->reopens, s->tree, &s->env.proc, &s->sample);
}

void sampler_take(struct sampler *s, const struct sampler_figures *f, bool last)
{
	sample_begin(&s->sample, clock_utc_ns(), clock_mono_ns());
	s->sample.last = last;
	read_clocks(s, last);
	suspend_step(&s->suspend, &s->sample);
	tree_sample(s->tree, &s->sample, last);
	marks_take(s->marks, &s->sample, last);
	span_files_take(s->spans, s->tree, &s->sample, last);
	watch_waits(s, last);
	if (is_node_due(s, last))
		read_sources(s);
	if (is_due(s, &s->self_ns, NS_PER_S, last))
		read_self_rarely(s);
	read_self(s, f);
	keep_budget(s);
}
