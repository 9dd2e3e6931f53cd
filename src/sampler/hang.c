/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/hang.h"

#include "base/clock.h"
#include "base/hash.h"
#include "core/stacks/rollcall.h"
#include "sampler/inspection.h"
#include "source/program/waiting.h"
#include "waits/look.h"
#include "waits/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All of it or nothing: "" when there are no ranks. */
static void put_ranks(struct bytes *out, const struct waits *w)
{
	struct rollcall r = { 0 };
	struct json j = { .out = out };

	if (say_ranks(&r, w) && rollcall_answered(&r))
		rollcall_put(&j, &r);
	rollcall_free(&r);
	if (out->len >= HANG_RANKS)
		bytes_reset(out);
}

static void say_all(struct waits *w, struct bytes *where, struct bytes *stacks, struct bytes *ranks)
{
	struct root proc;

	if (!root_open(&proc, "/proc")) {
		ranks_find(w, &proc);
		root_close(&proc);
	}
	say_where(where, w);
	say_waits(stacks, w);
	put_ranks(ranks, w);
}

/* Of some of the job's processes: no roll call, in which the others would be missing. */
static void say_some(const struct waits *w, size_t n, size_t of, struct bytes *where,
		     struct bytes *stacks)
{
	say_where(where, w);
	if (where->len)
		bytes_printf(where, " (%zu of %zu processes were read)", n, of);
	bytes_printf(stacks, "%zu of %zu processes were read\n", n, of);
	say_waits(stacks, w);
}

static void look(const pid_t *pids, size_t n, const struct inspection *last)
{
	struct bytes where = { 0 }, stacks = { 0 }, ranks = { 0 };
	struct look_state l;
	struct waits w;
	struct err e;
	int rc = look_begin(&l, &w, pids, (uint32_t)n, &e);

	while (!rc)
		rc = look_go_on(&l, NS_PER_S, &e);
	look_end(&l);
	inspection_mask(last, &w);
	if (w.n && n < last->of)
		say_some(&w, n, last->of, &where, &stacks);
	else if (w.n)
		say_all(&w, &where, &stacks, &ranks);
	inspection_send(&where, HANG_WHERE, ';');
	inspection_send(&stacks, HANG_STACKS, '\n');
	inspection_send(&ranks, HANG_RANKS, '}');
}

/* Of the last answer: "Deadlock: ..." or who is where, all threads line by line, and the roll call
 * of ranks; "": not known. */
enum hang_text { HANG_IN_SHORT, HANG_ALL, HANG_ROLL };

enum {
	PROCESSES_LOOKED_AT = 16,
	PROCESSES_SHOWN = 3,
	SILENT_S = 1,              /* after which the last silence is looked at */
	AGAIN_S = 60,              /* and again when it has doubled, or after this */
	STIR_NS = 5 * 1000 * 1000, /* so little CPU is no progress, however short the time */
	PIDS_MAX = 4096,
	LOOK_FIRST_S = 5,   /* since it costs about a tenth of a second of CPU time */
	LOOKS_SHARE = 400,  /* of the time so far: the others only while all take less of a core, */
	AGAIN_SHARE = 4000, /* and those at a silence that was looked at: it is seldom another, */
	SAME_SHARE = 40000, /* most seldom where the evidence is the same */
	LOOKED_AT_FEW = 128,  /* processes, which take less than the helper itself */
	LOOK_NS = 200 * 1000, /* about what each of more takes */
};

/* Puts it where it belongs among those that say most; n are there. */
static void place(struct waiting *best, size_t *n, const struct waiting *w)
{
	size_t at = *n;

	while (at && best[at - 1].kind > w->kind)
		at--;
	if (at == PROCESSES_SHOWN)
		return;
	if (*n < PROCESSES_SHOWN)
		++*n;
	memmove(&best[at + 1], &best[at], (*n - at - 1) * sizeof *best);
	best[at] = *w;
}

/* Who only waits for another process is left out when there is one that does not. */
static void write_down(const struct waiting *best, size_t n, char *out, size_t size)
{
	size_t len = 0;

	*out = '\0';
	for (size_t i = 0; i < n && (!i || best[i].kind < STALL_SIGNAL); i++)
		if (len + strlen(best[i].text) + 3 <= size)
			len += (size_t)snprintf(out + len, size - len, "%s%s", len ? "; " : "",
						best[i].text);
}

/* Of the last ones that were started: what they wait for is what the others wait for. False: one of
 * them wants a core, or a thread that was looked at did: others hold the job up, it does not hang.
 */
static bool collect(const struct hang *h, const struct tree *t, const struct root *proc, char *out,
		    size_t size)
{
	struct waiting_known known = { .connections.may_search = true };
	struct waiting best[PROCESSES_SHOWN + 1];
	pid_t pid[256];
	size_t n = tree_pids(t, pid, sizeof pid / sizeof pid[0]), looked = 0, shown = 0;
	bool runs = tree_threads_running(t) > 0;

	while (!runs && n-- && looked < PROCESSES_LOOKED_AT) {
		struct waiting w;

		if (waiting_look(proc, &known, pid[n], tree_stat(t, pid[n]), &w))
			continue;
		runs = w.kind == STALL_NONE;
		looked++;
		inspection_mask_text(h->look.secrets, w.text, sizeof w.text);
		place(best, &shown, &w);
	}
	filelocks_forget(&known.locks);
	if (!runs)
		write_down(best, shown, out, size);
	return !runs;
}

/* Has there been none of it? Else the silence begins anew. */
static bool is_quiet(struct quiet *q, int64_t cpu_ns, int64_t least_ns, int64_t now_ns)
{
	if (q->since_ns && cpu_ns - q->cpu_ns <= least_ns)
		return true;
	*q = (struct quiet){ .since_ns = now_ns, .cpu_ns = cpu_ns };
	return false;
}

/* Is it of this silence? */
static bool is_looked_at(const struct hang *h)
{
	return h->looked_ns && h->looked_ns == h->last_one.since_ns;
}

static uint32_t evidence_sum(const struct hang *h)
{
	return crc32c(0, h->evidence, strlen(h->evidence));
}

/* Functions and who waits for whom, by the helper, of at most so many processes: some of those that
 * were started first, and of those in between, and of the last. */
static bool look_closely(struct hang *h, const struct tree *t, size_t most, int64_t now_ns)
{
	pid_t pid[PIDS_MAX];
	size_t all = tree_pids(t, pid, PIDS_MAX), n = all < most ? all : most;

	for (size_t i = 0; i < n; i++)
		pid[i] = pid[i * all / n];
	h->look.of = all;
	if (!inspection_begin(&h->look, look, pid, n, now_ns))
		return false;
	h->asked_ns = h->last_one.since_ns;
	h->asked_all = n == all;
	h->asked_evidence = evidence_sum(h);
	return true;
}

/* At how many processes; 0: not now. */
static size_t may_look_at(const struct hang *h, int64_t now_ns)
{
	int64_t since_ns = now_ns - h->began_ns;
	int64_t share = !is_looked_at(h)                       ? LOOKS_SHARE
			: evidence_sum(h) == h->asked_evidence ? SAME_SHARE
							       : AGAIN_SHARE;
	int64_t left_ns = since_ns / share - h->look.cpu_ns;

	if (h->look.pid || since_ns < LOOK_FIRST_S * NS_PER_S || left_ns < 0)
		return 0;
	return left_ns / LOOK_NS > LOOKED_AT_FEW ? (size_t)(left_ns / LOOK_NS) : LOOKED_AT_FEW;
}

/* Once, when the silence has doubled, and from time to time. */
static bool is_due(const struct hang *h, int64_t quiet_ns, int64_t now_ns)
{
	return !h->seen_ns || quiet_ns >= 2 * (h->seen_ns - h->last_one.since_ns) ||
	       now_ns - h->seen_ns >= AGAIN_S * NS_PER_S;
}

/* What the job waits for now, in case that it is ended before it goes on. */
static void look_at_last(struct hang *h, const struct tree *t, const struct root *proc,
			 int64_t cpu_ns, int64_t now_ns)
{
	int64_t quiet_ns = now_ns - h->last_one.since_ns, least_ns = quiet_ns / 100;
	size_t most;

	if (!is_quiet(&h->last_one, cpu_ns, least_ns > STIR_NS ? least_ns : STIR_NS, now_ns)) {
		h->seen_ns = 0;
		return;
	}
	if (quiet_ns < SILENT_S * NS_PER_S)
		return;
	if (is_due(h, quiet_ns, now_ns) && collect(h, t, proc, h->evidence, sizeof h->evidence))
		h->seen_ns = now_ns;
	most = may_look_at(h, now_ns);
	if ((h->seen_ns == now_ns || h->asked_ns != h->last_one.since_ns) && h->seen_ns && most)
		look_closely(h, t, most, now_ns);
}

/* The mark waits for a look at every process in this silence, so that both are of one time; not
 * when there is none. */
static bool is_ready(struct hang *h, const struct tree *t, int64_t now_ns)
{
	if (is_looked_at(h) && h->looked_all)
		return true;
	if (h->look.pid)
		return false;
	return (h->asked_ns == h->last_one.since_ns && h->asked_all) ||
	       !look_closely(h, t, PIDS_MAX, now_ns);
}

static void take_look(struct hang *h, int64_t now_ns)
{
	if (!inspection_take(&h->look, now_ns))
		return;
	h->looked_ns = h->asked_ns;
	h->looked_all = h->asked_all;
}

static void keep(const struct hang *h, struct sample *s, const char *stacks, const char *ranks)
{
	const char *roll = inspection_text(&h->look, HANG_ROLL);

	sample_meta_text(s, stacks, inspection_text(&h->look, HANG_ALL));
	if (*roll)
		sample_meta_text(s, ranks, roll);
}

static void mark(struct hang *h, const char *evidence, struct sample *s)
{
	const char *where = inspection_text(&h->look, HANG_IN_SHORT);

	sample_mark(s, 0, s->mono_ns, "sonde.hang", *evidence ? evidence : "no process was left");
	if (is_looked_at(h) && *where) {
		sample_mark(s, 0, s->mono_ns, "sonde.hang.where", where);
		keep(h, s, "job.hang_stacks", "job.hang_ranks");
	}
	h->told = true;
}

void hang_step(struct hang *h, const struct tree *t, const struct root *proc, struct sample *s)
{
	int64_t cpu_ns, now_ns = s->mono_ns;
	char evidence[HANG_EVIDENCE];

	if (!h->patience_ns)
		return;
	h->began_ns = h->began_ns ? h->began_ns : now_ns;
	take_look(h, now_ns);
	cpu_ns = tree_cpu_ns(t);
	look_at_last(h, t, proc, cpu_ns, now_ns);
	if (!is_quiet(&h->long_one, cpu_ns, h->patience_ns / 100, now_ns)) {
		if (h->told)
			sample_mark(s, 0, now_ns, "sonde.progress", "the job went on");
		h->told = false;
		return;
	}
	if (now_ns - h->long_one.since_ns < h->patience_ns)
		return;
	if (h->told) { /* what little it uses does not add up to progress */
		h->long_one = (struct quiet){ .since_ns = now_ns, .cpu_ns = cpu_ns };
		return;
	}
	if (collect(h, t, proc, evidence, sizeof evidence) && is_ready(h, t, now_ns))
		mark(h, evidence, s);
}

void hang_say_end(struct hang *h, struct sample *s)
{
	const char *where;

	take_look(h, s->mono_ns);
	where = inspection_text(&h->look, HANG_IN_SHORT);
	inspection_stop(&h->look);
	if (h->look.looks)
		sample_meta_int(s, "monitor.hang_looks_cpu_ns", h->look.cpu_ns);
	if (!h->seen_ns || !h->evidence[0])
		return;
	sample_meta_int(s, "job.silent_ns", s->mono_ns - h->last_one.since_ns);
	sample_meta_text(s, "job.silent_in", h->evidence);
	if (!is_looked_at(h) || !*where)
		return;
	sample_meta_text(s, "job.silent_where", where);
	keep(h, s, "job.silent_stacks", "job.silent_ranks");
}

enum {
	FIRST_S = 5,       /* since a look costs up to a tenth of a second of CPU time */
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

static void look_for_ranks(const pid_t *pids, size_t n, const struct inspection *last)
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
static void keep_ranks(const struct rank_watch *w, struct sample *s)
{
	sample_meta_int(s, "job.ranks_stay_looks", w->looks);
	if (w->looks < LOOKS_LEAST)
		return;
	sample_meta_int(s, "job.ranks_stay_ns", w->seen_ns - w->since_ns);
	sample_meta_text(s, "job.ranks_stay", inspection_text(&w->look, ROLL));
}

/* When half as much time again has gone; in a long job as often as may be. Where there are no
 * ranks, rarely: some may start. */
static void plan_ranks(struct rank_watch *w, int64_t now_ns)
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

static void take_ranks(struct rank_watch *w, struct sample *s)
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
		keep_ranks(w, s);
	plan_ranks(w, s->mono_ns);
}

void rank_watch_step(struct rank_watch *w, struct tree *t, struct sample *s)
{
	pid_t pid[PIDS_MAX];
	int64_t now_ns = s->mono_ns;

	if (!w->began_ns) {
		w->began_ns = now_ns;
		w->due_ns = now_ns + FIRST_S * NS_PER_S;
	}
	take_ranks(w, s);
	if (w->look.pid || now_ns < w->due_ns)
		return;
	/* The answer was that there are none, and none came. */
	if (!tree_has_other_programs(t) && w->look.looks && !w->looks) {
		plan_ranks(w, now_ns);
		return;
	}
	inspection_begin(&w->look, look_for_ranks, pid, tree_pids(t, pid, PIDS_MAX), now_ns);
	w->due_ns = 2 * now_ns - w->began_ns; /* unless it answers */
}

void rank_watch_end(struct rank_watch *w, struct sample *s)
{
	take_ranks(w, s);
	inspection_stop(&w->look);
	if (w->look.looks)
		sample_meta_int(s, "monitor.rank_looks_cpu_ns", w->look.cpu_ns);
}
