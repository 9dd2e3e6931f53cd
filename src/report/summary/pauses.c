/* SPDX-License-Identifier: Apache-2.0 */
/* pauses.c - when the job got nowhere: hangs that a watch saw, and what it waited for while it did
 * little. */
#include "core/stacks/rollcall.h"
#include "core/stacks/waitkind.h"
#include "report/summary/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hangs: a watch marks sonde.hang when one begins, sonde.progress when it is over ---- */

/* A sentence has no room for all: "a (pid 1) sleeps; b (pid 2) sle" ends with the last whole one.
 */
static void cut_at_process(char *evidence)
{
	char *last = strrchr(evidence, ';');

	if (last)
		*last = '\0';
}

/* A stack of which more is known ends with "...", which needs no full stop; a text for which there
 * was no room, with ";". */
static const char *full_stop(const char *where)
{
	char last = where[strlen(where) - 1];

	return last == '.' ? "" : last == ';' ? " and more." : ".";
}

/* In which functions they were, and who waits for whom, before what to do; nobody needs a debugger
 * for what is known. */
static void advise(char out[STORY_WHERE], const char *evidence, const char *where)
{
	const char *advice = stall_advice(evidence ? evidence : "");

	if (!*advice)
		advice = "Record it with --waits to see which code waited.";
	if (!where || !*where)
		snprintf(out, STORY_WHERE, "%s", advice);
	else if (strstr(advice, "gdb -p") || strstr(advice, "--waits"))
		snprintf(out, STORY_WHERE, "%.*s%s", STORY_WHERE - 16, where, full_stop(where));
	else
		snprintf(out, STORY_WHERE, "%.*s%s %s", STORY_WHERE / 8 * 7, where,
			 full_stop(where), advice);
}

/* The roll call of all nodes' ranks in place of one node's sentence; a deadlock says more. NULL, or
 * `where`: there is none. */
static const char *call_roll(const struct run *r, const char *key, const char *where,
			     struct bytes *room)
{
	struct rollcall all = { 0 };
	uint32_t nodes = 0;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		const char *text = run_find_text(r, i, key);

		nodes += text && rollcall_take(&all, text);
	}
	if (nodes && !(where && !strncmp(where, "Deadlock", 8)) && rollcall_fold(&all)) {
		rollcall_say(room, &all);
		bytes_u8(room, 0);
		where = room->failed || room->len < 2 ? where : (const char *)room->data;
	}
	rollcall_free(&all);
	return where;
}

struct hanging {
	double from_s;
	const char *evidence, *where;
};

static void tell(struct story *y, const struct run *r, const struct hanging *h, double to_s)
{
	struct bytes room = { 0 };
	double from_s = h->from_s;
	const char *evidence = h->evidence;

	if (to_s - from_s <= y->hang_s)
		return;
	y->hang_s = to_s - from_s;
	y->hang_from_s = from_s;
	y->hang_to_s = to_s;
	snprintf(y->hang_evidence, sizeof y->hang_evidence, "%s", evidence ? evidence : "");
	if (evidence && strlen(evidence) >= sizeof y->hang_evidence)
		cut_at_process(y->hang_evidence);
	advise(y->hang_advice, evidence, call_roll(r, "job.hang_ranks", h->where, &room));
	bytes_free(&room);
}

/* Marks are in the order of time within a node. A hang is marked when it has lasted so long. */
static void tell_node(struct story *y, const struct run *r, uint32_t node, double patience_s)
{
	struct hanging h = { .from_s = NAN };

	for (uint32_t i = 1; i < r->nmarks; i++) {
		const struct run_mark *m = &r->marks[i];
		double at = run_seconds(r, m->node, m->at_ns);

		if (m->node != node || !m->name)
			continue;
		if (strcmp(m->name, "sonde.hang") == 0) {
			h = (struct hanging){ fmax(0, at - patience_s), m->message, NULL };
			y->hangs++;
		} else if (strcmp(m->name, "sonde.hang.where") == 0) {
			h.where = m->message;
		} else if (strcmp(m->name, "sonde.progress") == 0 && !isnan(h.from_s)) {
			tell(y, r, &h, at);
			h = (struct hanging){ .from_s = NAN };
		}
	}
	if (!isnan(h.from_s))
		tell(y, r, &h, run_seconds(r, node, r->nodes[node].last_ns));
}

/* The job was silent at its end when all of its nodes were; the one that was for longest says what
 * it waited for. */
static void tell_silence(struct story *y, const struct run *r, double wall_s)
{
	const char *where = NULL;
	struct bytes room = { 0 };
	double least = INFINITY, most = 0;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		const struct run_meta *silent = run_find_meta(r, i, "job.silent_ns");
		const char *in = run_find_text(r, i, "job.silent_in");
		double seconds =
			silent && silent->type == META_INT ? (double)silent->value * 1e-9 : 0;

		least = fmin(least, seconds);
		if (!in || seconds <= most)
			continue;
		most = seconds;
		snprintf(y->silent_in, sizeof y->silent_in, "%s", in);
		if (strlen(in) >= sizeof y->silent_in)
			cut_at_process(y->silent_in);
		where = run_find_text(r, i, "job.silent_where");
	}
	if (most > 0)
		advise(y->silent_advice, y->silent_in,
		       call_roll(r, "job.silent_ranks", where, &room));
	bytes_free(&room);
	if (most > 0 && least > 0)
		y->silent_s = fmin(least, wall_s);
	y->silent_by_sleep = stall_is_sleep(y->silent_in);
}

/* ---- ranks that stay in a call of MPI ---- */

static double meta_of(const struct run *r, uint32_t node, const char *key)
{
	const struct run_meta *m = run_find_meta(r, node, key);

	return m && m->type == META_INT ? (double)m->value : 0;
}

static void count_staying(struct story *y, const struct rollcall *all)
{
	uint32_t n = 0, places = 0;

	for (uint32_t i = 0; i < all->n; i++)
		if (rollcall_is_mpi(&all->group[i])) {
			n += all->group[i].n;
			places++;
		}
	y->stay_places = places;
	y->stay_ratio = (double)n / fmax(1, rollcall_ranks(all));
}

/* Each node tells of its own ranks; all had to stay as they were. */
static void find_staying(struct story *y, const struct run *r)
{
	struct rollcall all = { 0 };
	struct bytes text = { 0 };
	double looks = INFINITY, seconds = INFINITY;
	uint32_t nodes = 0;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		const char *roll = run_find_text(r, i, "job.ranks_stay");

		if (!run_find_meta(r, i, "job.ranks_stay_looks"))
			continue;
		nodes += roll && rollcall_take(&all, roll);
		looks = fmin(looks, meta_of(r, i, "job.ranks_stay_looks"));
		seconds = fmin(seconds, meta_of(r, i, "job.ranks_stay_ns") * 1e-9);
	}
	if (nodes && looks >= 1 && rollcall_fold(&all)) {
		rollcall_say(&text, &all);
		bytes_u8(&text, 0);
		count_staying(y, &all);
		y->stay_s = seconds;
		y->stay_looks = looks;
		snprintf(y->stay_in, sizeof y->stay_in, "%s",
			 text.failed ? "" : (const char *)text.data);
		if (text.len > sizeof y->stay_in)
			cut_at_process(y->stay_in);
	}
	bytes_free(&text);
	rollcall_free(&all);
}

/* Without a watch nothing is known; with one, no mark is no hang. */
static void find_hangs(struct summary *s, const struct run *r)
{
	const struct run_meta *watch = run_find_meta(r, 0, "run.watch_hang_ns");
	struct story *y = &s->story;

	tell_silence(y, r, s->wall_s);
	find_staying(y, r);
	if (!watch || watch->type != META_INT)
		return;
	y->hang_s = y->hangs = 0;
	for (uint32_t i = 1; i < r->nnodes; i++)
		tell_node(y, r, i, (double)watch->value * 1e-9);
}

/* ---- pauses, how often it woke meanwhile, and what a script starts between ---- */

/* A job that uses less in a window rests in it, where it did not wait for others' cores. */
static const double resting_cores = 0.25, waiting_cores = 0.5;

static double meta_seconds(const struct run *r, uint32_t node, const char *key)
{
	const struct run_meta *m = run_find_meta(r, node, key);

	return m && m->type == META_INT && m->value > 0 ? (double)m->value * 1e-9 : 0;
}

/* By Wilson's interval, at 95 %. */
static void take_looks(struct story_wait *w, double seen, double looks)
{
	static const double z = 1.96, least = 8;
	double p = seen / looks;

	if (!(looks >= least))
		return;
	w->ratio = p;
	w->ratio_least = (p + z * z / (2 * looks) -
			  z * sqrt(p * (1 - p) / looks + z * z / (4 * looks * looks))) /
			 (1 + z * z / looks);
}

/* The node that waited longest speaks; of the share of its time, a job's only one. */
static void take_kind(struct story *y, const struct run *r, enum stall kind)
{
	struct story_wait *w = &y->wait[kind];
	char key[64];

	snprintf(key, sizeof key, "job.waited.%s_looks", stall_name(kind));
	w->ratio = w->ratio_least = NAN;
	if (r->nnodes == 2)
		take_looks(w, meta_of(r, 1, key), meta_of(r, 1, "job.waited.looks"));

	for (uint32_t i = 1; i < r->nnodes; i++) {
		const char *in;
		double seconds;

		snprintf(key, sizeof key, "job.waited.%s_ns", stall_name(kind));
		seconds = meta_seconds(r, i, key);
		snprintf(key, sizeof key, "job.waited.%s_in", stall_name(kind));
		in = run_find_text(r, i, key);
		if (!in || !(seconds > w->seconds || (!*w->in && w->ratio > 0)))
			continue;
		w->seconds = seconds;
		snprintf(key, sizeof key, "job.waited.%s_most", stall_name(kind));
		w->most = meta_of(r, i, key);
		snprintf(w->in, sizeof w->in, "%s", in);
	}
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* How often it woke in a second, in each window in which it rested. Returns how many. */
static uint32_t rest(const struct summary *s, double rate[TIMELINE_WINDOWS])
{
	const struct timeline *t = &s->timeline;
	const struct timeline_row *cores = timeline_find(t, summary_cores_metric);
	const struct timeline_row *switches = timeline_find(t, "job.voluntary_switches_per_second");
	const struct timeline_row *waited = timeline_find(t, summary_waited_metric);
	uint32_t n = 0;

	for (uint32_t i = 0; cores && switches && i < t->nwindows && n < TIMELINE_WINDOWS; i++)
		if (cores->value[i] < resting_cores && !isnan(switches->value[i]) &&
		    !(waited && waited->value[i] >= waiting_cores))
			rate[n++] = switches->value[i];
	return n;
}

/* In a second, the median; and how often in all. */
static double wakes(const struct summary *s, double *woken)
{
	double rate[TIMELINE_WINDOWS];
	uint32_t n = rest(s, rate);

	*woken = 0;
	for (uint32_t i = 0; i < n; i++)
		*woken += rate[i] * s->timeline.width_s;
	if (!n)
		return NAN;
	qsort(rate, n, sizeof *rate, by_number);
	return rate[n / 2];
}

/* What a process says that was named first: for clients a server waits, and what looks or measures
 * again and again sleeps between. Both run until they are ended. */
static bool may_serve(const struct story *y)
{
	static const double often = 0.4; /* a second */
	char first[STORY_WHERE];

	snprintf(first, sizeof first, "%.*s", (int)strcspn(y->silent_in, ";"), y->silent_in);
	return strstr(first, stall_words(STALL_CONNECTION)) ||
	       (y->wakes_per_s >= often && (strstr(first, stall_words(STALL_TIMER)) ||
					    strstr(first, stall_words(STALL_EVENTS))));
}

enum { ANCESTORS_MAX = 64, LOOKED_MOST = 20 * 1000 * 1000 /* processes, for all sleeps */ };
static const double late_least = 0.2; /* of a sleep: as much as it went on too long */

/* "sleep 4" */
static bool is_sleep(const char *name)
{
	return !strncmp(name, "sleep", 5) && (!name[5] || name[5] == ' ');
}

static const struct summary_command *command_named(const struct summary *s, const char *name)
{
	for (uint32_t i = 0; i < s->ncommands; i++)
		if (!strcmp(s->commands[i].name, name))
			return &s->commands[i];
	return NULL;
}

/* The command that is started about as often as sleep: what is asked before each sleep. */
static const struct summary_command *asked_between(const struct summary *s, double sleeps)
{
	const struct summary_command *best = NULL;

	for (uint32_t i = 0; i < s->ncommands; i++) {
		const struct summary_command *c = &s->commands[i];

		if (!strcmp(c->name, "sleep") || c->processes < sleeps - 2 ||
		    c->processes > 2 * sleeps + 2)
			continue;
		if (!best || c->cpu_s > best->cpu_s)
			best = c;
	}
	return best;
}

/* "; a script starts sleep 12 times, and curl 12 times" */
static void tell_loop(struct summary *s)
{
	enum { LEAST = 4 };
	const struct summary_command *sleep = command_named(s, "sleep"), *asked;
	struct story *y = &s->story;
	char with[96] = "";

	if (!sleep || !(sleep->processes >= LEAST))
		return;
	y->sleeps = sleep->processes;
	asked = asked_between(s, sleep->processes);
	if (asked)
		snprintf(with, sizeof with, ", %.60s %.0f times", asked->name, asked->processes);
	snprintf(y->polled_with, sizeof y->polled_with, "; a script started sleep %.0f times%s.",
		 sleep->processes, with);
}

static bool is_process(const struct run_instance *in)
{
	return in->domain && !strcmp(in->domain, "process");
}

static bool is_above(const struct run *r, uint32_t i, uint32_t below)
{
	uint32_t above = r->instances[below].parent;

	for (unsigned k = 0; above && above != i && k < ANCESTORS_MAX; k++)
		above = r->instances[above].parent;
	return above == i;
}

/* When the last of what ran beside a sleep ended; NAN: nothing did, or something went on. What
 * started it waits for it. */
static double beside_until(const struct run *r, uint32_t sleep)
{
	const struct run_instance *it = &r->instances[sleep];
	double until = NAN;

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];

		if (in->node != it->node || in->end_ns <= it->birth_ns ||
		    in->birth_ns >= it->end_ns || !is_process(in) ||
		    (in->name && is_sleep(in->name)) || is_above(r, i, sleep))
			continue;
		if (in->end_ns >= it->end_ns)
			return NAN;
		until = fmax(until, run_seconds(r, in->node, in->end_ns));
	}
	return until;
}

/* A script that looks now and then whether something has ended, and sleeps between. */
static void tell_late_sleeps(struct summary *s, const struct run *r)
{
	struct story *y = &s->story;
	uint64_t looked = 0;

	y->late_sleeps = y->late_s = 0;
	for (uint32_t i = 1; i < r->ninstances && looked < LOOKED_MOST; i++) {
		const struct run_instance *in = &r->instances[i];
		double begin, end, until;

		if (!is_process(in) || !in->name || !is_sleep(in->name) || in->end_ns == INT64_MAX)
			continue;
		looked += r->ninstances;
		begin = run_seconds(r, in->node, in->birth_ns);
		end = run_seconds(r, in->node, in->end_ns);
		until = beside_until(r, i);
		if (!(end - until >= late_least * (end - begin)))
			continue;
		y->late_sleeps++;
		y->late_s += end - until;
	}
}

static void add_words(char *text, size_t size, const char *words)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s", words);
}

/* About as many as it slept, of those that slept in short timers; what others of the node do now
 * and then is no cause. */
static void tell_failed_connects(struct story *y, const struct run *r, double woken)
{
	enum { LEAST = 3, RARE_S = 60 };
	static const double polls = 0.4, most = 0.3; /* wakes a second; of them */
	enum {
		EACH_TIME = 4
	}; /* it may try several hosts whenever it wakes; who never wakes tries none */
	struct story_wait *w = &y->wait[STALL_TIMER];
	char words[160];
	double failed = 0;

	for (uint32_t i = 1; i < r->nnodes; i++)
		failed += fmax(0, meta_of(r, i, "job.waited.connects_failed"));
	if (failed < LEAST || failed * RARE_S < w->seconds || failed > EACH_TIME * woken ||
	    (y->wakes_per_s >= polls && failed < most * y->wakes_per_s * w->seconds))
		return;
	snprintf(words, sizeof words,
		 "; meanwhile %.0f attempts to connect failed on its node (refused, or no answer): "
		 "check that the server runs",
		 failed);
	add_words(w->in, sizeof w->in, words);
	if (strstr(y->silent_in, stall_words(STALL_TIMER)))
		add_words(y->silent_in, sizeof y->silent_in, words);
}

/* Is the holder that is named one of the job's processes? */
static void find_lock_holder(struct story *y, const struct run *r)
{
	static const char named[] = ", held by ";
	const char *by = strstr(y->wait[STALL_FILE_LOCK].in, named), *pid;

	pid = by ? strstr(by, "(pid ") : NULL;
	y->lock_held_outside = pid ? 1 : NAN;
	for (uint32_t i = 1; pid && i < r->ninstances; i++) {
		const char *label = is_process(&r->instances[i]) ? run_label(r, i, "pid") : NULL;

		if (label && strtol(label, NULL, 10) == strtol(pid + 5, NULL, 10))
			y->lock_held_outside = 0;
	}
}

/* Of all kinds; without a watch nothing is known. What an event loop waits for the look at the end
 * may know. */
static void tell_kinds(struct story *y, const struct run *r, double woken)
{
	const struct run_meta *watch = run_find_meta(r, 0, "run.watch_hang_ns");
	int longest = STALL_NONE;

	if (!watch || watch->type != META_INT || !watch->value)
		return;
	for (int kind = STALL_NONE; kind < STALL_NUMBER_OF; kind++) {
		y->wait[kind].seconds = 0;
		take_kind(y, r, (enum stall)kind);
		if (y->wait[kind].seconds > y->wait[longest].seconds)
			longest = kind;
	}
	find_lock_holder(y, r);
	tell_failed_connects(y, r, woken);
	y->waited_longest_s = y->wait[longest].seconds;
	if (longest != STALL_NONE)
		snprintf(y->idle_in, sizeof y->idle_in, "; meanwhile %s.",
			 longest == STALL_EVENTS && y->silent_s >= y->wait[longest].seconds / 2
				 ? y->silent_in
				 : y->wait[longest].in);
}

/* Where a process was that slept at the end, too: most likely it did so before. Of "... in
 * clock_nanosleep < run_trial (sweep.py:7) < ..." what called the first function. */
static void tell_sleeper(struct story *y, const struct run *r)
{
	const char *in = y->wait[STALL_TIMER].in, *from, *end;
	const char *where = r->nnodes == 2 ? run_find_text(r, 1, "job.silent_where") : NULL;
	size_t n;

	from = *in && where && !strcmp(in, y->silent_in) ? strstr(where, " < ") : NULL;
	if (!from)
		return;
	from += strlen(" < ");
	end = strstr(from, " < ");
	end = end ? end : strstr(from, ": ");
	n = end ? (size_t)(end - from) : 0;
	if (n && n < sizeof y->slept_where - 32)
		snprintf(y->slept_where, sizeof y->slept_where, ", at the end in %.*s.", (int)n,
			 from);
}

/* Of a job's only node: who it is, without that it runs. */
static void tell_turns(struct story_wait *w, const struct run *r)
{
	static const char last[] = " threads)";
	const char *in = run_find_text(r, 1, "job.waited.turns_in");
	const char *end = in ? strstr(in, last) : NULL;

	w->ratio = w->ratio_least = NAN;
	if (r->nnodes != 2 || !in)
		return;
	take_looks(w, meta_of(r, 1, "job.waited.turns_looks"), meta_of(r, 1, "job.waited.looks"));
	w->most = meta_of(r, 1, "job.waited.turns_most");
	snprintf(w->in, sizeof w->in, "%.*s", end ? (int)(end + sizeof last - 1 - in) : STORY_TEXT,
		 in);
}

/* "fsync, seen on the database a.db" of "app (pid 12) waits for storage: /data/a.db-wal (fsync)".
 */
static void tell_flushed(struct story *y)
{
	enum { PATH_WHOLE = 99 }; /* a longer one may be cut */
	static const char waits[] = "waits for storage: /";
	static const struct {
		const char *seen, *is;
	} hows[] = { { " (fsync)", "fsync" },
		     { " (O_SYNC)", "O_SYNC" },
		     { " (O_DIRECT)", "fsync or O_SYNC" } };
	const char *path = strstr(y->wait[STALL_STORAGE].in, waits), *end, *name, *log = NULL;

	end = path ? strrchr(path, '(') : NULL;
	path = path ? path + sizeof waits - 2 : NULL;
	for (size_t i = 0; end > path && i < sizeof hows / sizeof hows[0]; i++) {
		if (strcmp(end - 1, hows[i].seen) != 0 || end - 1 - path > PATH_WHOLE)
			continue;
		for (name = end - 1; name[-1] != '/'; name--)
			;
		for (const char *at = name; at < end && !log; at++)
			if (!strncmp(at, "-journal (", 10) || !strncmp(at, "-wal (", 6))
				log = at;
		snprintf(y->flushed, sizeof y->flushed, "%s, seen on %s%.*s", hows[i].is,
			 log ? "the database " : "", (int)((log ? log : end - 1) - name), name);
	}
}

void summary_pauses_make(struct summary *s, const struct run *r)
{
	double woken;

	tell_turns(&s->story.turns, r);
	find_hangs(s, r);
	s->story.wakes_per_s = wakes(s, &woken);
	s->story.may_serve = may_serve(&s->story);
	tell_kinds(&s->story, r, woken);
	if (*s->story.wait[STALL_STORAGE].in)
		s->story.writes_direct =
			strstr(s->story.wait[STALL_STORAGE].in, " (O_DIRECT)") != NULL;
	tell_flushed(&s->story);
	tell_sleeper(&s->story, r);
	tell_loop(s);
	tell_late_sleeps(s, r);
}
