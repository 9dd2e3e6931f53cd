/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/rankwatch.h"

#include "base/clock.h"
#include "core/stacks/rollcall.h"
#include "sampler/ranks.h"
#include "waits/look.h"
#include "waits/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PIDS_MAX = 4096,
	FIRST_S = 5,       /* since a look costs up to a tenth of a second of CPU time */
	LOOKS_SHARE = 400, /* of the time so far: those after the first take less of a core */
	LOOKS_LEAST = 3,   /* that tell anything */
	REST_MOST_S = 300, /* of a job without ranks, which may start some */
};

/* Texts of an answer. */
enum { ANSWER, ROLL };
static const char same[] = "same", other[] = "other", none[] = "none";

/* ---- the process that looks ---- */

/* Those of them that are ranks; how many there are. */
static uint32_t ranks_of(const pid_t *pids, size_t n, const struct root *proc, pid_t *out)
{
	struct waits all = { 0 };
	uint32_t found = 0, ranks;

	for (size_t i = 0; i < n; i++) {
		struct wait_thread *t = waits_add(&all);

		if (t)
			t->pid = pids[i];
	}
	ranks_find(&all, proc);
	for (uint32_t i = 0; i < all.n; i++)
		if (all.thread[i].rank >= 0)
			out[found++] = all.thread[i].pid;
	ranks = all.ranks > 1 || found > 1 ? found : 0;
	waits_free(&all);
	return ranks;
}

/* The functions of a rank with lines: "" when it is not in MPI; NULL: it has no stack, or is not
 * there. */
static const char *call_of(const struct rollcall *r, uint32_t rank)
{
	const struct rollcall_group *g = rollcall_find(r, rank);

	if (!g || !g->text[ROLLCALL_IN][0])
		return NULL;
	return rollcall_is_mpi(g) ? g->text[ROLLCALL_IN] : "";
}

/* Does who was in MPI stay there, and nobody come? One that had no core has no stack: nothing
 * speaks against it. */
static bool is_same(const struct rollcall *before, const struct rollcall *now)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < now->n; i++)
		for (uint32_t k = 0; k < now->group[i].n; k++) {
			const char *was = call_of(before, now->group[i].rank[k]);
			const char *is = call_of(now, now->group[i].rank[k]);

			if (was && is && strcmp(was, is) != 0)
				return false;
			known += was && is;
		}
	return known > 0;
}

/* Who had no core is where he was seen last. False: no memory. */
static bool merge(struct rollcall *out, const struct rollcall *before, const struct rollcall *now)
{
	bool ok = true;

	out->ranks = now->ranks;
	for (uint32_t i = 0; i < now->n; i++)
		for (uint32_t k = 0; ok && k < now->group[i].n; k++) {
			uint32_t rank = now->group[i].rank[k];
			const struct rollcall_group *g = &now->group[i];

			if (!call_of(now, rank) && call_of(before, rank))
				g = rollcall_find(before, rank);
			ok = rollcall_add(out, rank, g->text);
		}
	return ok && rollcall_fold(out);
}

static void send_roll(const struct rollcall *now, const struct inspection *last)
{
	struct bytes text = { 0 }, answer = { 0 };
	struct json j = { .out = &text };
	struct rollcall before = { 0 }, merged = { 0 };
	const char *was = inspection_text(last, ROLL);
	bool stays = *was && rollcall_take(&before, was) && is_same(&before, now) &&
		     merge(&merged, &before, now);

	rollcall_put(&j, stays ? &merged : now);
	if (text.failed || text.len >= HANG_RANKS)
		bytes_reset(&text);
	bytes_puts(&answer, stays ? same : other);
	inspection_send(&answer, HANG_WHERE, '\0');
	inspection_send(&text, HANG_RANKS, '}');
	rollcall_free(&before);
	rollcall_free(&merged);
}

static void look_at_ranks(const pid_t *pids, uint32_t n, const struct root *proc,
			  const struct inspection *last)
{
	struct rollcall roll = { 0 };
	struct look_state l;
	struct waits w;
	struct err e;
	int rc = look_begin(&l, &w, pids, n, &e);

	while (!rc)
		rc = look_go_on(&l, NS_PER_S, &e);
	look_end(&l);
	inspection_mask(last, &w);
	ranks_find(&w, proc);
	if (say_ranks(&roll, &w) && roll.n)
		send_roll(&roll, last);
}

static void look(const pid_t *pids, size_t n, const struct inspection *last)
{
	struct bytes answer = { 0 };
	pid_t rank[PIDS_MAX];
	struct root proc;
	uint32_t found;

	if (root_open(&proc, "/proc"))
		return;
	found = ranks_of(pids, n, &proc, rank);
	if (found) {
		look_at_ranks(rank, found, &proc, last);
		return;
	}
	bytes_puts(&answer, none);
	inspection_send(&answer, HANG_WHERE, '\0');
}

/* ---- the recorder ---- */

/* Of few looks only how many: then nothing can be said of the job. */
static void keep(const struct rank_watch *w, struct sample *s)
{
	sample_meta_int(s, "job.ranks_stay_looks", w->looks);
	if (w->looks < LOOKS_LEAST)
		return;
	sample_meta_int(s, "job.ranks_stay_ns", w->seen_ns - w->since_ns);
	sample_meta_text(s, "job.ranks_stay", inspection_text(&w->look, ROLL));
}

/* When half as much time again has gone; in a long job as often as may be. Where there are no
 * ranks, rarely: some may start. */
static void plan(struct rank_watch *w, int64_t now_ns)
{
	int64_t rest_ns = (now_ns - w->began_ns) / 2, most_ns;

	most_ns = w->look.cpu_ns / w->look.looks * LOOKS_SHARE;
	if (most_ns < FIRST_S * NS_PER_S)
		most_ns = FIRST_S * NS_PER_S;
	if (!w->looks) {
		rest_ns *= 4;
		most_ns = REST_MOST_S * NS_PER_S;
	}
	w->due_ns = now_ns + (rest_ns < most_ns ? rest_ns : most_ns);
}

static void take(struct rank_watch *w, struct sample *s)
{
	const bool had = w->looks > 0;
	bool stays;

	if (!inspection_take(&w->look, s->mono_ns))
		return;
	stays = had && !strcmp(inspection_text(&w->look, ANSWER), same);
	w->looks = *inspection_text(&w->look, ROLL) ? (stays ? w->looks + 1 : 1) : 0;
	w->seen_ns = w->look.begun_ns;
	if (w->looks <= 1)
		w->since_ns = w->seen_ns;
	if (had || w->looks)
		keep(w, s);
	plan(w, s->mono_ns);
}

void rank_watch_step(struct rank_watch *w, const struct tree *t, struct sample *s)
{
	pid_t pid[PIDS_MAX];
	int64_t now_ns = s->mono_ns;

	if (!w->began_ns) {
		w->began_ns = now_ns;
		w->due_ns = now_ns + FIRST_S * NS_PER_S;
	}
	take(w, s);
	if (w->look.pid || now_ns < w->due_ns)
		return;
	inspection_begin(&w->look, look, pid, tree_pids(t, pid, PIDS_MAX), now_ns);
	w->due_ns = 2 * now_ns - w->began_ns; /* unless it answers */
}

void rank_watch_end(struct rank_watch *w, struct sample *s)
{
	take(w, s);
	inspection_stop(&w->look);
	if (w->look.looks)
		sample_meta_int(s, "monitor.rank_looks_cpu_ns", w->look.cpu_ns);
}
