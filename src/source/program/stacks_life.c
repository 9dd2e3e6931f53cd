/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_life.c - one helper sonde-unwind after another, for every source that has them. */
#include "source/program/stacks_helper.h"

#include "base/helper.h"
#include "base/text/number.h"
#include "core/metric.h"
#include "source/perf/perf_count.h"
#include "source/perf/perf_where.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_ANSWER_MS = 2000 };

static int64_t figure(const struct stacks_helper *h, uint32_t i)
{
	int64_t own[STACKS_FIGURES_MAX] = { 0 }, sum = h->before[i];

	if (h->page)
		h->use->figures(h->page, own);
	number_add(&sum, own[i] > 0 ? own[i] : 0);
	return sum;
}

void stacks_helper_put(const struct stacks_helper *h, uint32_t slot, uint32_t without,
		       struct sample *s)
{
	for (uint32_t i = 0; i < h->use->nfigures; i++)
		if (!(without >> i & 1))
			sample_put(s, slot ? slot + i : 0, figure(h, i));
	if (h->page && slot && h->page->resident_bytes > 0)
		sample_put(s, slot + h->use->nfigures, h->page->resident_bytes);
}

/* Those of a CPU that the job did not use again, no record tells of. */
static void count_lost(struct stacks_helper *h)
{
	int64_t lost = h->rings ? stacks_rings_lost(h->rings) : 0;
	int64_t told = figure(h, h->use->lost);

	if (lost > told)
		number_add(&h->before[h->use->lost], lost - told);
}

static void end(struct stacks_helper *h, struct sample *s)
{
	int64_t cpu_ns = h->page && h->page->cpu_ns > 0 ? h->page->cpu_ns : 0;
	int64_t figures[STACKS_FIGURES_MAX];

	for (uint32_t i = 0; i < h->use->nfigures; i++)
		figures[i] = figure(h, i);
	memcpy(h->before, figures, h->use->nfigures * sizeof *figures);
	if (stacks_helper_stop(h))
		number_add(&s->told_cpu_ns, cpu_ns);
}

static void close_all(struct stacks_helper *h, struct sample *s)
{
	end(h, s);
	count_lost(h);
	if (h->rings)
		stacks_rings_close(h->rings);
}

void stacks_helper_give_up(struct stacks_helper *h, struct sample *s, const char *why)
{
	char text[200];

	close_all(h, s);
	snprintf(text, sizeof text, "%s until %.180s", h->use->verb, why);
	sample_meta_text(s, h->use->key.note, text);
}

void stacks_helper_leave_out(struct stacks_helper *h, pid_t pid)
{
	struct stacks_page *p = h->page;

	if (h->nleft_out == STACKS_LEFT_OUT_MAX)
		return;
	h->left_out[h->nleft_out++] = pid;
	if (!p)
		return;
	p->left_out[h->nleft_out - 1] = pid;
	atomic_store_explicit(&p->nleft_out, h->nleft_out, memory_order_release);
}

/* ---- another one ---- */

/* The names of the files, as many as there is room for. */
static void say_refused(const struct stacks_helper *h, struct sample *s)
{
	char text[400] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < h->nrefused; i++) {
		const char *slash = strrchr(h->refused[i].path, '/');
		const char *name = slash ? slash + 1 : h->refused[i].path;

		if (n + strlen(name) + 3 > sizeof text)
			break;
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? ", " : "", name);
	}
	sample_meta_int(s, h->use->key.files_left_out, h->nrefused);
	sample_meta_text(s, h->use->key.left_out, text);
}

/* The file of which it died is not read again. False: it did not say of which, or there are too
 * many. */
static bool refuse(struct stacks_helper *h, struct sample *s)
{
	struct stacks_file *f = &h->refused[h->nrefused];

	if (!h->page || !atomic_load(&h->page->died) || h->nrefused == STACKS_REFUSED_MAX)
		return false;
	*f = h->page->died_of;
	f->path[sizeof f->path - 1] = '\0';
	h->nrefused++;
	say_refused(h, s);
	return true;
}

static void take(struct stacks_helper *h, const struct source_job *job, struct sample *s)
{
	if (h->page)
		stacks_take(&h->taken, h->page, job, s);
}

int stacks_helper_try(struct stacks_helper *h, struct err *e)
{
	int bad = stacks_helper_start(h, e);

	if (bad)
		return bad;
	stacks_helper_ask(h, false);
	for (int ms = 0; ms < FIRST_ANSWER_MS && !stacks_helper_answered(h); ms++) {
		if (stacks_helper_died(h))
			return h->not_started ? helper_cannot_start("unwind", "libdw1", e)
					      : helper_lost("unwind", "libdw1", e);
		(void)poll(NULL, 0, 1);
	}
	return 0;
}

/* Its program or a library is not there, or no longer. */
static void never_ran(struct stacks_helper *h, struct sample *s)
{
	struct err e = { "" };
	char text[160];

	(void)helper_cannot_start("unwind", "libdw1", &e);
	if (h->restarts) {
		stacks_helper_give_up(h, s, e.text);
		return;
	}
	close_all(h, s);
	snprintf(text, sizeof text, "%s: %.120s", state_name(STATE_UNSUPPORTED), e.text);
	sample_meta_text(s, h->use->key.refused, text);
}

/* It was killed, hangs, or has crashed: what it had counted and not told is lost. Its successor
 * goes on with what is in the rings. */
static bool replace(struct stacks_helper *h, const struct source_job *job, struct sample *s)
{
	struct err e = { "the helper sonde-unwind had crashed too often" };

	if (h->not_started) {
		never_ran(h, s);
		return false;
	}
	take(h, job, s);
	h->blameless += !refuse(h, s);
	end(h, s);
	if (h->blameless <= h->use->crashes_max) {
		sample_meta_int(s, h->use->key.restarts, ++h->restarts);
		if (!stacks_helper_start(h, &e))
			return true;
	}
	stacks_helper_give_up(h, s, e.text);
	return false;
}

static void finish(struct stacks_helper *h, const struct source_job *job, struct sample *s)
{
	char text[96];

	bool answered = stacks_take_last(&h->taken, h, job, s);

	count_lost(h);
	if (answered)
		return;
	snprintf(text, sizeof text,
		 "the last %s are missing: the helper sonde-unwind did not answer",
		 h->use->missing);
	sample_meta_text(s, h->use->key.note, text);
}

bool stacks_helper_serve(struct stacks_helper *h, bool dead, const struct source_job *job,
			 struct sample *s)
{
	if (dead && !replace(h, job, s))
		return false;
	if (s->last)
		finish(h, job, s);
	else
		take(h, job, s);
	return true;
}

int stacks_tasks_add(struct stacks_rings *r, const struct source_env *env, struct stacks_new these,
		     int64_t *missed, struct err *e)
{
	const struct perf_options of_job = { .groups = NULL };
	struct source_env of_these = *env;
	struct perf_places places;
	size_t added = 0;
	int bad, first = 0;

	of_these.perf = &of_job;
	of_these.roots = these.pids;
	of_these.nroots = these.n;
	of_these.launched = env->launched && !these.running;
	bad = perf_places_open(&places, &of_these, e);
	for (size_t i = 0; i < places.job.n && !bad; i++) {
		int refused = stacks_rings_add(r, places.job.seat[i].pid);

		added += !refused;
		number_add(missed, refused && refused != -ESRCH);
		first = first || refused == -ESRCH ? first : refused;
	}
	perf_places_close(&places);
	if (!bad && !added && first)
		bad = err_set(e, first, "perf events are not available: %s", strerror(-first));
	return bad;
}

int stacks_explain(const struct source_env *env, int bad, struct err *e)
{
	const struct perf_refusal r = { .proc = &env->proc,
					.sys = &env->sys,
					.itself_permitted = perf_may_count_itself() };

	return bad == -EACCES || bad == -EPERM || bad == -ENOSYS ? perf_explain(&r, bad, e) : bad;
}
