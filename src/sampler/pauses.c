/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/pauses.h"

#include "base/clock.h"
#include "sampler/inspection.h"

#include <stdio.h>

enum {
	PROCESSES_LOOKED_AT = 16,
	SOONEST_NS = 400 * 1000 * 1000,
	RAREST_S = 60,
	LOOKS = 64,    /* as many, about, however long the job is: each time doubles in so many */
	RARER = 1000,  /* than what a look costs */
	LITTLE = 10,   /* one tenth of a core */
	LEAST_MS = 500 /* that is worth a word */
};

/* What was seen in one look: of each kind one process. */
struct seen {
	bool kind[STALL_NUMBER_OF];
	struct waiting of[STALL_NUMBER_OF];
};

static void look(struct pauses *p, const struct tree *t, const struct root *proc, struct seen *seen)
{
	pid_t pid[256];
	size_t n = tree_pids(t, pid, sizeof pid / sizeof pid[0]), looked = 0;

	while (n-- && looked < PROCESSES_LOOKED_AT) {
		struct waiting w;

		if (waiting_look(proc, &p->connections, pid[n], &w))
			continue;
		looked++;
		if (seen->kind[w.kind])
			continue;
		inspection_mask_text(p->secrets, w.text, sizeof w.text);
		seen->kind[w.kind] = true;
		seen->of[w.kind] = w;
	}
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
}

/* The wait that says most; of a job that runs after all, none. */
static enum stall most_telling(const struct seen *seen)
{
	for (int kind = STALL_NONE; kind < STALL_NUMBER_OF; kind++)
		if (seen->kind[kind])
			return (enum stall)kind;
	return STALL_NONE;
}

static void count(struct pauses *p, const struct seen *seen, bool idle, int64_t ns)
{
	enum stall kind = most_telling(seen);

	if (idle && kind != STALL_NONE) {
		add(p, seen, kind, ns);
		return;
	}
	add(p, seen, STALL_STOPPED, ns);
	add(p, seen, STALL_FILE_LOCK, ns);
	add(p, seen, STALL_STORAGE, ns);
}

static int64_t pause_after(const struct pauses *p, int64_t now_ns, int64_t cost_ns)
{
	int64_t wait = (now_ns - p->since_ns) / LOOKS;

	if (wait < SOONEST_NS)
		wait = SOONEST_NS;
	if (wait > RAREST_S * NS_PER_S)
		wait = RAREST_S * NS_PER_S;
	return wait > cost_ns * RARER ? wait : cost_ns * RARER;
}

static void spent(struct pauses *p, int64_t now_ns, int64_t cost_ns)
{
	if (p->connections.searched)
		p->search_ns = now_ns + cost_ns * RARER;
	else
		p->cost_ns = cost_ns;
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
		p->connections.may_search = now_ns >= p->search_ns;
		p->connections.searched = false;
		look(p, t, proc, &seen);
		count(p, &seen, ran_ns < ns / LITTLE && tree_threads_running(t) <= 0, ns);
		spent(p, now_ns, clock_cpu_ns() - began);
	}
	p->cpu_ns = cpu_ns;
	p->looked_ns = now_ns;
}

void pauses_say_end(const struct pauses *p, struct sample *s)
{
	char key[64];

	for (int kind = STALL_NONE + 1; kind < STALL_NUMBER_OF; kind++) {
		if (p->kind[kind].ns < LEAST_MS * NS_PER_MS)
			continue;
		snprintf(key, sizeof key, "job.waited.%s_ns", stall_name((enum stall)kind));
		sample_meta_int(s, key, p->kind[kind].ns);
		snprintf(key, sizeof key, "job.waited.%s_in", stall_name((enum stall)kind));
		sample_meta_text(s, key, p->kind[kind].text);
	}
}
