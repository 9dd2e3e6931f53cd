/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/pauses.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/text/number.h"
#include "sampler/inspection.h"

#include <stdio.h>
#include <string.h>

enum {
	SOONEST_NS = 400 * 1000 * 1000,
	RAREST_S = 60,
	LOOKS = 64,   /* as many, about, however long the job is: each time doubles in so many */
	RARER = 2000, /* than what a look costs, */
	SEARCH_RARER = 1000, /* and a search for other ends; after a few in vain each is */
	VAIN_FEW = 2,        /* twice as rare */
	VAIN_MOST = 7,
	FAILED_S = 2,     /* from one count of failed attempts to connect to the next, */
	FAILED_PART = 32, /* and such a part of the time so far */
	LITTLE = 10,      /* one tenth of a core */
	LEAST_MS = 500,   /* that is worth a word */
	LEAST_LOOKS = 4
};

/* What was seen in one look: of each kind one process. */
struct seen {
	uint32_t kind[STALL_NUMBER_OF]; /* how many */
	pid_t sleeper;                  /* that of STALL_TIMER */
	struct waiting turns;           /* of which most threads wait for one mutex */
	struct waiting of[STALL_NUMBER_OF];
};

/* NULL: it has run, or what it waits for can be named only now, or passes. */
static const struct looked *looked_before(const struct pauses *p, pid_t pid, int64_t ran_ns)
{
	for (size_t i = 0; i < p->nlooked; i++) {
		const struct looked *l = &p->looked[i];

		if (l->pid == pid && l->ran_ns == ran_ns && ran_ns >= 0 && !l->is.passes &&
		    (l->searched || l->is.is_named || !p->known.connections.may_search))
			return l;
	}
	return NULL;
}

/* False: it is gone. */
static bool look_at(struct pauses *p, const struct tree *t, const struct root *proc, pid_t pid,
		    struct looked *out)
{
	int64_t ran_ns = tree_ran_ns(t, pid);
	const struct looked *before = looked_before(p, pid, ran_ns);

	if (before) {
		*out = *before;
		return true;
	}
	*out = (struct looked){ pid, ran_ns, p->known.connections.may_search, { 0 } };
	return !waiting_look(proc, &p->known, pid, tree_stat(t, pid), &out->is);
}

static void look(struct pauses *p, const struct tree *t, const struct root *proc, struct seen *seen)
{
	struct looked now[PAUSES_PROCESSES];
	pid_t pid[256];
	size_t n = tree_pids(t, pid, sizeof pid / sizeof pid[0]), looked = 0;

	while (n-- && looked < PAUSES_PROCESSES) {
		const struct waiting *w = &now[looked].is;

		if (!look_at(p, t, proc, pid[n], &now[looked]))
			continue;
		looked++;
		if (w->takers > seen->turns.takers)
			seen->turns = *w;
		if (seen->kind[w->kind]++ && (!w->is_named || seen->of[w->kind].is_named))
			continue;
		seen->of[w->kind] = *w;
		if (w->kind == STALL_TIMER)
			seen->sleeper = pid[n];
	}
	memcpy(p->looked, now, looked * sizeof *now);
	p->nlooked = looked;
	filelocks_forget(&p->known.locks);
}

/* Who waits for what another process writes waits for one that sleeps, if one does. */
static bool waits_for_sleeper(const struct seen *seen, enum stall kind)
{
	return seen->kind[STALL_TIMER] && (kind == STALL_PIPE_WRITER || kind == STALL_PIPE_READER ||
					   kind == STALL_LOCAL_SOCKET);
}

static void add(struct pauses *p, const struct seen *seen, enum stall kind, int64_t ns)
{
	struct pause *k = &p->kind[kind];

	if (!seen->kind[kind])
		return;
	if (!k->ns || (waits_for_sleeper(seen, kind) && !k->beside_sleeper) ||
	    (seen->of[kind].is_named && !k->is_named)) {
		k->is_named = seen->of[kind].is_named;
		k->beside_sleeper = waits_for_sleeper(seen, kind);
		snprintf(k->text, sizeof k->text, "%s%s%s", seen->of[kind].text,
			 k->beside_sleeper ? ", while " : "",
			 k->beside_sleeper ? seen->of[STALL_TIMER].text : "");
	}
	k->ns += ns;
	if (seen->kind[kind] > k->most)
		k->most = seen->kind[kind];
}

/* The wait that says most; of a job that runs after all, none. A server has nothing to do while
 * those that might ask it sleep. */
static enum stall most_telling(const struct seen *seen)
{
	int kind = STALL_NONE;

	while (kind < STALL_NUMBER_OF && !seen->kind[kind])
		kind++;
	if (kind == STALL_CONNECTION && seen->kind[STALL_TIMER])
		return STALL_TIMER;
	return kind < STALL_NUMBER_OF ? (enum stall)kind : STALL_NONE;
}

/* Attempts to connect by TCP that failed, in the network namespace of a process. False: not told.
 * Of two lines "Tcp: ..." the first has the names of the columns. */
static bool read_failed(const struct root *proc, pid_t pid, int64_t *out)
{
	char path[32], text[4096];
	const char *names, *values, *end;
	size_t column = 0;

	snprintf(path, sizeof path, "%d/net/snmp", (int)pid);
	names = root_read(proc, path, text, sizeof text) > 0 ? strstr(text, "\nTcp:") : NULL;
	values = names ? strstr(names + 1, "\nTcp:") : NULL;
	end = names ? strstr(names, " AttemptFails") : NULL;
	if (!values || !end || end > values)
		return false;
	for (const char *p = names; p < end; p++)
		column += *p == ' ';
	for (values++; *values && *values != '\n'; values++)
		if (*values == ' ' && !column--) {
			values++;
			return number_i64(&values, out);
		}
	return false;
}

/* Those that failed from one look to the next while the job slept: it may try again and again. */
static void count_failed(struct pauses *p, const struct root *proc, const struct seen *seen,
			 bool sleeps, int64_t now_ns)
{
	int64_t failed, rest_ns = (now_ns - p->since_ns) / FAILED_PART;
	bool known;

	rest_ns = rest_ns < FAILED_S * NS_PER_S ? FAILED_S * NS_PER_S : rest_ns;
	if (sleeps && p->failed_known && now_ns - p->failed_ns < rest_ns)
		return;
	known = sleeps && read_failed(proc, seen->sleeper, &failed);
	p->failed_ns = now_ns;

	if (known && p->failed_known && failed > p->failed)
		p->connects_failed += failed - p->failed;
	p->failed_known = known;
	p->failed = known ? failed : 0;
}

static void count_turns(struct pause *k, const struct waiting *w)
{
	if (!w->takers)
		return;
	if (!k->looks++)
		snprintf(k->text, sizeof k->text, "%s", w->text);
	if (w->takers > k->most)
		k->most = w->takers;
}

/* Whatever it did since the last look: in how many of them all of it waited. */
static void count_look(struct pauses *p, const struct seen *seen, enum stall kind)
{
	p->looks++;
	count_turns(&p->turns, &seen->turns);
	if (kind == STALL_NONE)
		return;
	add(p, seen, kind, 0);
	p->kind[kind].looks++;
}

static void count(struct pauses *p, const struct root *proc, const struct seen *seen, bool idle,
		  int64_t now_ns)
{
	const int64_t ns = now_ns - p->looked_ns;
	enum stall kind = most_telling(seen);

	count_failed(p, proc, seen, idle && kind == STALL_TIMER, now_ns);
	count_look(p, seen, kind);
	if (idle && kind != STALL_NONE) {
		add(p, seen, kind, ns);
		return;
	}
	add(p, seen, STALL_STOPPED, ns);
	add(p, seen, STALL_FILE_LOCK, ns);
	add(p, seen, STALL_DATABASE, ns);
	add(p, seen, STALL_STORAGE, ns);
}

/* Half of it to one and a half: regular looks would beat with a job of regular steps. */
static int64_t pause_after(const struct pauses *p, int64_t now_ns, int64_t cost_ns)
{
	int64_t wait = (now_ns - p->since_ns) / LOOKS;

	wait = wait < SOONEST_NS ? SOONEST_NS : wait;
	wait = wait > RAREST_S * NS_PER_S ? RAREST_S * NS_PER_S : wait;
	wait = wait > cost_ns * RARER ? wait : cost_ns * RARER;
	return (int64_t)((double)wait * (0.5 + random_unit(&(struct random){ (uint64_t)now_ns })));
}

static bool found_any(const struct seen *seen)
{
	bool found = false;

	for (int i = 0; i < STALL_NUMBER_OF; i++)
		found |= seen->kind[i] && seen->of[i].is_named;
	return found;
}

static void spent(struct pauses *p, int64_t now_ns, int64_t cost_ns, bool found)
{
	if (p->known.connections.searched) {
		p->vain = found ? 0 : p->vain < VAIN_MOST ? p->vain + 1 : VAIN_MOST;
		p->search_ns = now_ns + (cost_ns * SEARCH_RARER
					 << (p->vain > VAIN_FEW ? p->vain - VAIN_FEW : 0));
	} else {
		p->cost_ns = cost_ns;
	}
	p->next_ns = now_ns + pause_after(p, now_ns, p->cost_ns);
}

void pauses_step(struct pauses *p, const struct tree *t, const struct root *proc,
		 const struct sample *s)
{
	int64_t now_ns = s->mono_ns, cpu_ns, ran_ns, ns, began;
	struct seen seen = { 0 };

	if (now_ns < p->next_ns)
		return;
	cpu_ns = tree_cpu_ns(t);
	ran_ns = cpu_ns - p->cpu_ns;
	ns = now_ns - p->looked_ns;
	if (!p->since_ns)
		p->since_ns = p->looked_ns = now_ns;
	else {
		began = clock_cpu_ns();
		p->known.connections.may_search = now_ns >= p->search_ns;
		p->known.connections.searched = false;
		look(p, t, proc, &seen);
		count(p, proc, &seen, ran_ns < ns / LITTLE && tree_threads_running(t) <= 0, now_ns);
		spent(p, now_ns, clock_cpu_ns() - began, found_any(&seen));
	}
	p->cpu_ns = cpu_ns;
	p->looked_ns = now_ns;
}

static void say_text(const struct pauses *p, struct sample *s, const char *key,
		     const struct pause *k)
{
	char text[sizeof k->text];

	memcpy(text, k->text, sizeof text);
	inspection_mask_text(p->secrets, text, sizeof text);
	sample_meta_text(s, key, text);
}

void pauses_say_end(const struct pauses *p, struct sample *s)
{
	char key[64];

	if (p->connects_failed)
		sample_meta_int(s, "job.waited.connects_failed", p->connects_failed);
	if (p->looks)
		sample_meta_int(s, "job.waited.looks", p->looks);
	if (p->turns.looks >= LEAST_LOOKS) {
		sample_meta_int(s, "job.waited.turns_looks", p->turns.looks);
		say_text(p, s, "job.waited.turns_in", &p->turns);
		sample_meta_int(s, "job.waited.turns_most", p->turns.most);
	}
	for (int kind = STALL_NONE + 1; kind < STALL_NUMBER_OF; kind++) {
		bool long_one = p->kind[kind].ns >= LEAST_MS * NS_PER_MS;

		if (!long_one && p->kind[kind].looks < LEAST_LOOKS)
			continue;
		snprintf(key, sizeof key, "job.waited.%s_ns", stall_name((enum stall)kind));
		if (long_one)
			sample_meta_int(s, key, p->kind[kind].ns);
		snprintf(key, sizeof key, "job.waited.%s_looks", stall_name((enum stall)kind));
		sample_meta_int(s, key, p->kind[kind].looks);
		snprintf(key, sizeof key, "job.waited.%s_in", stall_name((enum stall)kind));
		say_text(p, s, key, &p->kind[kind]);
		snprintf(key, sizeof key, "job.waited.%s_most", stall_name((enum stall)kind));
		sample_meta_int(s, key, p->kind[kind].most);
	}
}
