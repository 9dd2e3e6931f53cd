/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/diagnosis.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/root.h"
#include "core/expr/expr.h"
#include "job/identity.h"
#include "job/scheduler/scheduler.h"
#include "sampler/crash_log.h"
#include "sampler/fixes.h"
#include "sampler/tree/dump.h"
#include "sampler/tree/exits.h"
#include "sampler/tree/reading.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * The ways the process tree is followed, each tried on this machine.
 */

enum { MECHANISMS_MAX = 9 };

static int try_clock(const struct reading *r, struct err *e)
{
	int64_t ns;

	if (!r->clocks)
		return err_set(e, -EOPNOTSUPP, SOURCE_NOT_THIS_KERNEL);
	if (process_clock(getppid(), &ns) && process_clock(getpid(), &ns))
		return err_set(e, -EPERM, "the CPU clock of another process cannot be read");
	return 0;
}

static int try_exits(const struct reading *r, struct err *e)
{
	pid_t self = getpid();
	struct exits *x;
	int bad;

	if (!r->clocks)
		return err_set(e, -EOPNOTSUPP, SOURCE_NOT_THIS_KERNEL);
	bad = exits_open(&x, &self, 1, EXITS_CPUS_MAX, e);
	if (!bad)
		exits_close(x);
	return bad;
}

static int try_connector(const struct reading *r, struct err *e)
{
	struct connector c;
	int bad;

	if (!r->clocks)
		return err_set(e, -EOPNOTSUPP, SOURCE_NOT_THIS_KERNEL);
	bad = connector_open(&c, e);
	if (!bad)
		connector_close(&c);
	return bad;
}

static int try_new_pids(const struct reading *r, struct err *e)
{
	char buf[128];
	ssize_t n = root_read(r->proc, "loadavg", buf, sizeof buf);
	pid_t last;

	if (n <= 0 || proc_last_pid_parse(buf, &last))
		return err_set(e, n < 0 ? (int)n : -ENODATA,
			       "loadavg does not report the last pid; all of /proc is looked "
			       "through, which costs more");
	return 0;
}

static int try_reaper(const struct reading *r, struct err *e)
{
	int was = 0;

	(void)r;
	if (prctl(PR_GET_CHILD_SUBREAPER, &was))
		return err_set(e, -errno, "the kernel has no child sub-reapers");
	return 0;
}

static int try_iterator(const struct reading *r, struct err *e)
{
	enum { PATIENCE_MS = 10000 };
	struct iterator it;
	int got;

	if (!r->clocks)
		return err_set(e, -EOPNOTSUPP, SOURCE_NOT_THIS_KERNEL);
	got = iterator_start(&it, e);
	if (got)
		return got;
	got = iterator_wait(&it, PATIENCE_MS, e);
	iterator_close(&it);
	return got < 0 ? got : 0;
}

static int try_size(const struct reading *r, struct err *e)
{
	if (!r->files_by_size)
		return err_set(
			e, -EOPNOTSUPP,
			"this kernel is older than 6.2; open files are counted one by one, which "
			"costs a little more");
	return 0;
}

static int try_walk(const struct reading *r, struct err *e)
{
	char buf[256];
	ssize_t n = root_read(r->proc, "self/smaps_rollup", buf, sizeof buf);

	if (n == -EFBIG || n > 0)
		return 0;
	return err_set(e, n ? (int)n : -ENODATA, "/proc/self/smaps_rollup: %s",
		       strerror(n ? (int)-n : ENODATA));
}

static int try_kernel_log(const struct reading *r, struct err *e)
{
	int fd, bad;

	if (!r->clocks)
		return err_set(e, -EOPNOTSUPP, SOURCE_NOT_THIS_KERNEL);
	bad = crash_log_open(&fd, e);
	file_close(&fd);
	return bad;
}

struct mechanism {
	const char *name, *what, *fix_user, *fix_admin;
	int (*try)(const struct reading *r, struct err *e);
};

static const struct mechanism ways[] = {
	{ "process.cpu_clock", "shows which processes ran since the last sample", NULL, NULL,
	  try_clock },
	{ "process.exit_records",
	  "perf events report every fork and exit, with the CPU time of each process",
	  "run works without: totals stay exact, short processes have no CPU time of their own",
	  "sysctl kernel.perf_event_paranoid=2 (or lower); in a container, allow perf_event_open",
	  try_exits },
	{ "process.connector",
	  "the proc connector reports every fork and exit; used when perf events are refused or "
	  "cost too much",
	  "run works without: totals stay exact, the number of short processes is a bound",
	  "Linux 6.6 or later, or CAP_NET_ADMIN; in a container, the host's pid and user "
	  "namespaces",
	  try_connector },
	{ "process.new_pids",
	  "new pids are checked in each sample; used when neither is available, and misses the "
	  "short ones",
	  NULL, NULL, try_new_pids },
	{ "process.sub_reaper", "orphans of the job stay with the job", NULL, NULL, try_reaper },
	{ "process.task_iterator",
	  "a BPF task iterator reads thousands of active processes at a tenth of the cost",
	  "run works without: /proc has the same figures",
	  "CAP_BPF and CAP_PERFMON, Linux 5.10 with CONFIG_DEBUG_INFO_BTF, and the helper "
	  "sonde-iterator",
	  try_iterator },
	{ "process.files_by_size", "the number of open files in one call", NULL, NULL, try_size },
	{ "process.pss", "memory that counts shared pages once", NULL,
	  "a kernel of 4.14 or later with CONFIG_PROC_PAGE_MONITOR", try_walk },
	{ "process.kernel_log",
	  "the kernel's log says where in its code a process crashed, and how",
	  "run works without: the signal that ended a process is known all the same",
	  "sysctl kernel.dmesg_restrict=0; in a container, /dev/kmsg and the host's pid namespace",
	  try_kernel_log },
};
_Static_assert(sizeof ways / sizeof ways[0] <= MECHANISMS_MAX, "room for every row");

static void take_fix(struct finding *f, struct fix fix)
{
	f->fix_user = fix.user;
	f->fix_admin = fix.admin;
}

/* Try each; returns how many findings were written (at most MECHANISMS_MAX). */
static size_t mechanism_check(const struct root *proc, struct finding out[MECHANISMS_MAX])
{
	size_t n = sizeof ways / sizeof ways[0];
	struct reading r;

	reading_init(&r, proc);
	for (size_t i = 0; i < n; i++) {
		const struct mechanism *m = &ways[i];
		struct err e = { "" };
		int bad = m->try(&r, &e);

		out[i] = (struct finding){ .name = m->name,
					   .what = m->what,
					   .state = STATE_PRESENT };
		if (!bad)
			continue;
		out[i].state = state_of(bad);
		snprintf(out[i].reason, sizeof out[i].reason, "%.255s", e.text);
		take_fix(&out[i], fixes_of_mechanism(m->fix_user, m->fix_admin, out[i].state,
						     out[i].reason));
	}
	return n;
}

enum { SLOTS = 1 << 18, EVENTS = 1 << 17, PATIENCE_S = 10 };

/* NULL when there is no room, which the tables do not need. */
static struct finding *add(struct diagnosis_list *l, const char *name, const char *what)
{
	struct finding *f = l->n < DIAGNOSIS_ROWS ? &l->row[l->n++] : NULL;

	if (f)
		*f = (struct finding){ .name = name, .what = what, .state = STATE_PRESENT };
	return f;
}

/* What a source that works says for people: metadata NAME.note. */
static void take_note(const struct sample *s, const char *name, struct finding *f)
{
	char key[64];

	snprintf(key, sizeof key, "%s.note", name);
	for (uint32_t i = 0; i < s->nevents; i++)
		if (s->event[i].kind == EVENT_META && strcmp(s->event[i].name, key) == 0)
			snprintf(f->note, sizeof f->note, "%.255s", s->event[i].text);
}

static void check_source(const struct source *k, const struct source_env *env, struct sample *s,
			 struct diagnosis_list *out)
{
	struct finding *f = add(out, k->name, k->what);
	void *state = calloc(1, k->size ? k->size : 1);
	struct err e = { "there is no memory" };
	int r = -ENOMEM;

	if (state && f) {
		r = k->open(state, env, s, &e);
		sample_begin(s, 0, 0);
		if (r == 0) {
			r = k->read(state, s);
			if (k->close)
				k->close(state);
			err_set(&e, r, "its files cannot be read, or are not as expected: %s",
				strerror(-r));
		}
	}
	free(state);
	if (f && r == 0)
		take_note(s, k->name, f);
	if (!f || r == 0)
		return;
	f->state = state_of(r);
	snprintf(f->reason, sizeof f->reason, "%.255s", e.text);
	take_fix(f, fixes_of_source(k, f->state, f->reason));
}

/* What the sample declares: the series in the order of their ids, and which rows they have. */
struct declared {
	const struct event **series, **refused, **rows; /* rows: one event of each array of rows */
	uint32_t nseries, nrefused, nrows;
};

static void add_rows(struct declared *t, const struct event *e)
{
	for (uint32_t i = t->nrows; i-- > 0;)
		if (t->rows[i]->metric == e->metric && t->rows[i]->count == e->count)
			return;
	t->rows[t->nrows++] = e;
}

static int declared_make(struct declared *t, const struct sample *s)
{
	*t = (struct declared){ .series = calloc(3 * (size_t)s->nevents + 1, sizeof(void *)) };
	if (!t->series)
		return -ENOMEM;
	t->refused = t->series + s->nevents;
	t->rows = t->refused + s->nevents;
	for (uint32_t i = 0; i < s->nevents; i++) {
		const struct event *e = &s->event[i];

		if (e->kind == EVENT_SERIES) {
			t->series[t->nseries++] = e;
			add_rows(t, e);
		} else if (e->kind == EVENT_STATE && e->state > STATE_PRESENT) {
			t->refused[t->nrefused++] = e;
		}
	}
	return 0;
}

static const struct metric *metric_of(const struct declared *t, uint32_t series)
{
	uint32_t low = 0, high = t->nseries;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (t->series[mid]->id <= series)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || series - t->series[low - 1]->id >= t->series[low - 1]->count)
		return NULL;
	return &t->series[low - 1]->metric[series - t->series[low - 1]->id];
}

static bool has_series(const struct declared *t, const struct metric *m)
{
	for (uint32_t i = 0; i < t->nrows; i++)
		for (uint32_t k = 0; k < t->rows[i]->count; k++)
			if (strcmp(t->rows[i]->metric[k].name, m->name) == 0)
				return true;
	return false;
}

static bool is_said(const struct diagnosis_list *l, const char *name, const char *reason)
{
	for (size_t i = l->n; i-- > 0;)
		if (strcmp(l->row[i].name, name) == 0 &&
		    (!reason || strcmp(l->row[i].reason, reason) == 0))
			return true;
	return false;
}

/* Some disks, interfaces and the like have it: there are more series of it than refusals. */
static bool has_instances(const struct declared *t, const struct metric *m)
{
	uint32_t series = 0, refused = 0;

	for (uint32_t i = 0; i < t->nseries; i++)
		series += (uintptr_t)m - (uintptr_t)t->series[i]->metric <
			  t->series[i]->count * sizeof *m;
	for (uint32_t i = 0; i < t->nrefused; i++)
		refused += metric_of(t, t->refused[i]->id) == m;
	return series > refused;
}

/* Each refusal of a metric once, however many instances it was refused for. What only some of them
 * do not have is available. */
static void add_refusals(const struct declared *t, struct diagnosis_list *out)
{
	for (uint32_t i = 0; i < t->nrefused; i++) {
		const struct event *e = t->refused[i];
		const struct metric *m = metric_of(t, e->id);
		const struct source *k = m ? fixes_source(m) : NULL;
		bool partly = m && e->state == STATE_UNSUPPORTED && has_instances(t, m);
		struct finding *f = m && !is_said(out, m->name, partly ? NULL : e->text)
					    ? add(out, m->name, m->label)
					    : NULL;

		if (!f)
			continue;
		if (partly) {
			snprintf(f->note, sizeof f->note, "not of all of them: %.200s", e->text);
			continue;
		}
		f->state = e->state;
		snprintf(f->reason, sizeof f->reason, "%.255s", e->text);
		if (k)
			take_fix(f, fixes_of_metric(k, f->state, f->reason));
	}
}

/* The finding of a metric, or of the counter that it is the rate of. */
static const struct finding *finding_of(const struct diagnosis_list *l, const char *public_name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->row[i].name, public_name) == 0)
			return &l->row[i];
	for (size_t i = 0; i < nsources; i++)
		for (size_t k = 0; k < sources[i]->nmetrics; k++) {
			const struct metric *m = &sources[i]->metrics[k];
			char rate[128];

			metric_rate_name(m, rate, sizeof rate);
			if (strcmp(rate, public_name) == 0 && strcmp(rate, m->name) != 0)
				return finding_of(l, m->name);
		}
	return NULL;
}

struct needs {
	const struct diagnosis_list *known;
	const struct finding *missing;
};

static void visit_need(void *ctx, const char *function, const char *name)
{
	struct needs *n = ctx;
	const struct finding *f = finding_of(n->known, name);

	(void)function;
	if (!n->missing && f && f->state != STATE_PRESENT)
		n->missing = f;
}

/* A derived metric is there when what its formula names is. */
static void check_formula(const struct diagnosis_list *known, const struct metric *m,
			  struct finding *f)
{
	struct needs needs = { .known = known };
	struct expr *x;

	if (expr_parse(&x, m->formula, NULL))
		return;
	expr_names(x, visit_need, &needs);
	expr_free(x);
	if (!needs.missing)
		return;
	f->state = needs.missing->state;
	snprintf(f->reason, sizeof f->reason, "it is computed from %.100s", needs.missing->name);
}

/* What the sampler fills by a mechanism is there when that is. */
static const struct {
	const char *metric, *mechanism;
} filled_by[] = {
	{ "process.pss_bytes", "process.pss" },   { "process.uss_bytes", "process.pss" },
	{ "process.swap_bytes", "process.pss" },  { "job.pss_bytes", "process.pss" },
	{ "job.pss_age_seconds", "process.pss" }, { "job.swap_bytes", "process.pss" },
	{ "job.uss_bytes", "process.pss" },
};

/* The mechanism that it lacks, or NULL. */
static const struct finding *mechanism_of(const struct diagnosis *d, const struct metric *m)
{
	const struct diagnosis_list *mechanisms = &d->section[DIAGNOSIS_MECHANISMS];

	for (size_t i = 0; i < sizeof filled_by / sizeof filled_by[0]; i++)
		for (size_t k = 0; k < mechanisms->n; k++)
			if (strcmp(filled_by[i].metric, m->name) == 0 &&
			    strcmp(filled_by[i].mechanism, mechanisms->row[k].name) == 0 &&
			    mechanisms->row[k].state != STATE_PRESENT)
				return &mechanisms->row[k];
	return NULL;
}

/* Of rows that other sources fill: available when one of them is, else what each says. */
static void find_fillers(const struct diagnosis *d, const struct source *k, struct finding *out)
{
	const struct diagnosis_list *found = &d->section[DIAGNOSIS_SOURCES];

	*out = (struct finding){ .name = k->name, .what = k->what };
	for (const char *const *name = k->filled_by; *name; name++)
		for (const struct finding *f = found->row; f < found->row + found->n; f++) {
			size_t n = strlen(out->reason);

			if (strcmp(f->name, *name) != 0 || out->state == STATE_PRESENT)
				continue;
			snprintf(out->reason + n, sizeof out->reason - n, "%s%.120s", n ? "; " : "",
				 f->reason);
			if (f->state == STATE_PRESENT || f->state > out->state)
				out->state = f->state;
		}
}

static const struct finding *found_of(const struct diagnosis *d, const struct source *k,
				      struct finding *filled)
{
	const struct diagnosis_list *found = &d->section[DIAGNOSIS_SOURCES];

	if (k->filled_by) {
		find_fillers(d, k, filled);
		return filled;
	}
	for (size_t i = 0; k->open && i < found->n; i++)
		if (strcmp(found->row[i].name, k->name) == 0)
			return &found->row[i];
	return NULL;
}

/* From what was found of its source, and whether a series of it was asked for. */
static void check_metric(const struct declared *t, const struct finding *source,
			 const struct metric *m, struct diagnosis_list *out)
{
	struct finding *f = is_said(out, m->name, NULL) ? NULL : add(out, m->name, m->label);

	if (!f)
		return;
	if (source && source->state != STATE_PRESENT) {
		*f = *source;
		f->name = m->name;
		f->what = m->label;
	} else if (m->formula) {
		check_formula(out, m, f);
	} else if (source && !has_series(t, m)) {
		f->state = STATE_ABSENT;
		snprintf(f->reason, sizeof f->reason, "there is no %s here now",
			 m->domain ? m->domain : "such reading");
	}
}

/* Those that are measured, then those that follow from them; refusals come first. */
static void check_metrics(const struct declared *t, struct diagnosis *d)
{
	struct diagnosis_list *out = &d->section[DIAGNOSIS_METRICS];

	add_refusals(t, out);
	for (int derived = 0; derived < 2; derived++)
		for (size_t i = 0; i < nsources; i++) {
			struct finding filled;
			const struct finding *source = found_of(d, sources[i], &filled);

			for (size_t k = 0; k < sources[i]->nmetrics; k++) {
				const struct metric *m = &sources[i]->metrics[k];

				if ((m->formula != NULL) == derived)
					check_metric(t, source ? source : mechanism_of(d, m), m,
						     out);
			}
		}
}

/* Which batch job this is, as recordings from here would say. */
static void check_batch(struct diagnosis_list *out)
{
	struct finding *f = add(out, "batch", "the batch job this is in");
	struct identity id;

	identity_find(&id, environ);
	if (!id.job.scheduler)
		f->state = STATE_ABSENT;
	batch_job_sentence(&id.job, id.job.scheduler ? f->note : f->reason, sizeof f->note);
	identity_free(&id);
}

static int examine(struct diagnosis *d, const struct source_env *env, struct err *e)
{
	struct diagnosis_list *mechanisms = &d->section[DIAGNOSIS_MECHANISMS];
	struct sample s;
	struct declared t;
	int r = sample_init(&s, SLOTS, EVENTS);

	if (r < 0)
		return err_set(e, r, "there is no memory for a sample");
	check_batch(&d->section[DIAGNOSIS_BATCH]);
	for (size_t i = 0; i < nsources; i++)
		if (sources[i]->open)
			check_source(sources[i], env, &s, &d->section[DIAGNOSIS_SOURCES]);
	mechanisms->n = mechanism_check(&env->proc, mechanisms->row);
	r = declared_make(&t, &s);
	if (r == 0)
		check_metrics(&t, d);
	else
		err_set(e, r, "there is no memory for the findings");
	free(t.series);
	sample_free(&s);
	return r;
}

int diagnosis_make(struct diagnosis *d, const char *procfs, const char *sysfs, struct err *e)
{
	struct source_env env = { .interval_ns = NS_PER_S,
				  .patience_ns = PATIENCE_S * NS_PER_S,
				  .files = FILES_BY_CALLS,
				  .peers = true };
	int r = root_open(&env.proc, procfs);

	if (r < 0)
		return err_set(e, r, "%s: %s; give a directory", procfs, strerror(-r));
	r = root_open_if_there(&env.sys, sysfs);
	if (r < 0)
		err_set(e, r, "%s: %s; give a directory", sysfs, strerror(-r));
	else
		r = examine(d, &env, e);
	root_close(&env.sys);
	root_close(&env.proc);
	return r;
}
