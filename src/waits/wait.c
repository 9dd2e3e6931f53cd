/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/wait.h"

#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 100000 };

static const char *const states[] = {
	[WAIT_RUNS] = "runs",       [WAIT_READY] = "ready",   [WAIT_WAITS] = "waits",
	[WAIT_STOPPED] = "stopped", [WAIT_SILENT] = "silent",
};
_Static_assert(sizeof states / sizeof states[0] == WAIT_STATES, "a word for every state");

static const char *const stacks[] = {
	[WAIT_STACK_NONE] = "none",
	[WAIT_STACK_WHOLE] = "whole",
	[WAIT_STACK_CUT] = "cut",
	[WAIT_STACK_MOVED] = "moved",
};
_Static_assert(sizeof stacks / sizeof stacks[0] == WAIT_STACK_KINDS, "a word for every stack");

void waits_drop(struct waits *w)
{
	struct wait_thread *t = &w->thread[--w->n];

	for (uint32_t k = 0; k < t->nframes; k++) {
		free(t->frame[k].function);
		free(t->frame[k].file);
		free(t->frame[k].module);
	}
	free(t->frame);
}

void waits_free(struct waits *w)
{
	while (w->n)
		waits_drop(w);
	free(w->thread);
	*w = (struct waits){ 0 };
}

struct wait_thread *waits_add(struct waits *w)
{
	struct wait_thread *grown =
		w->n < THREADS_MAX ? array_room(w->thread, w->n, &w->cap, sizeof *grown) : NULL;

	if (!grown)
		return NULL;
	w->thread = grown;
	grown[w->n] = (struct wait_thread){ .rank = -1 };
	return &grown[w->n++];
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

bool wait_add_frame(struct wait_thread *t, const struct wait_frame *f)
{
	struct wait_frame *grown =
		t->nframes < WAIT_FRAMES
			? reallocarray(t->frame, (size_t)t->nframes + 1, sizeof *grown)
			: NULL;

	if (!grown)
		return false;
	t->frame = grown;
	grown[t->nframes++] =
		(struct wait_frame){ copy(f->function), copy(f->file), copy(f->module), f->line };
	return true;
}

void wait_add_holder(struct wait_thread *t, const struct wait_holder *h)
{
	for (uint32_t i = 0; i < t->nholders; i++)
		if (t->holder[i].pid == h->pid && t->holder[i].tid == h->tid)
			return;
	if (t->nholders == WAIT_HOLDERS)
		t->closed = false;
	else
		t->holder[t->nholders++] = *h;
}

/* ---- as JSON ---- */

static void put_unless_empty(struct json *j, const char *key, const char *text)
{
	json_put_text(j, key, text && *text ? text : NULL);
}

void wait_put(struct json *j, const struct wait_thread *t)
{
	json_object(j);
	json_put_int(j, "pid", t->pid);
	json_put_int(j, "tid", t->tid);
	json_key(j, "rank");
	if (t->rank >= 0)
		json_int(j, t->rank);
	else
		json_null(j);
	put_unless_empty(j, "node", t->node);
	json_put_text(j, "process", t->process);
	json_put_text(j, "thread", t->name);
	json_put_text(j, "state", states[t->state]);
	json_put_text(j, "waits_for", t->state == WAIT_WAITS ? wait_kind_name(t->kind) : NULL);
	put_unless_empty(j, "object", t->object);
	put_unless_empty(j, "kernel_function", t->function);
	put_unless_empty(j, "refused", t->refused);
	json_key(j, "ended_by");
	json_array(j);
	for (uint32_t i = 0; i < t->nholders; i++) {
		json_object(j);
		json_put_int(j, "pid", t->holder[i].pid);
		json_key(j, "tid");
		if (t->holder[i].tid)
			json_int(j, t->holder[i].tid);
		else
			json_null(j);
		json_put_text(j, "process", t->holder[i].process);
		json_object_end(j);
	}
	json_array_end(j);
	json_put_bool(j, "ended_by_no_other", t->closed);
	json_put_bool(j, "moved", t->moved);
	json_put_text(j, "stack", stacks[t->stack]);
	json_key(j, "frames");
	json_array(j);
	for (uint32_t i = 0; i < t->nframes; i++) {
		const struct wait_frame *f = &t->frame[i];

		json_object(j);
		json_put_text(j, "function", f->function);
		json_put_text(j, "file", f->file);
		json_key(j, "line");
		if (f->line)
			json_int(j, f->line);
		else
			json_null(j);
		json_put_text(j, "module", f->module);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void take_text(char *out, size_t size, const struct jsontree *object, const char *key)
{
	const char *text = jsontree_text(object, key);

	snprintf(out, size, "%s", text ? text : "");
}

static bool take_word(int *out, const struct jsontree *object, const char *key,
		      const char *const *words, int n)
{
	const char *text = jsontree_text(object, key);

	for (int i = 0; text && i < n; i++)
		if (!strcmp(text, words[i])) {
			*out = i;
			return true;
		}
	return false;
}

static int64_t take_int(const struct jsontree *object, const char *key)
{
	const struct jsontree *v = jsontree_find(object, key);

	return v && v->type == JSONDOC_NUMBER && v->whole ? v->integer : 0;
}

static pid_t take_pid(const struct jsontree *object, const char *key)
{
	int64_t v = take_int(object, key);

	return v > 0 && v < INT32_MAX ? (pid_t)v : 0;
}

static bool take_bool(const struct jsontree *object, const char *key)
{
	const struct jsontree *v = jsontree_find(object, key);

	return v && v->type == JSONDOC_TRUE;
}

static bool take_kind(struct wait_thread *t, const struct jsontree *object)
{
	const char *text = jsontree_text(object, "waits_for");

	return !text || wait_kind_find(text, &t->kind);
}

static void take_holders(struct wait_thread *t, const struct jsontree *list)
{
	for (const struct jsontree *v = list ? list->first : NULL; v; v = v->next) {
		struct wait_holder h = { take_pid(v, "pid"), take_pid(v, "tid"), "" };

		take_text(h.process, sizeof h.process, v, "process");
		if (h.pid)
			wait_add_holder(t, &h);
		else
			t->closed = false;
	}
}

static bool take_frames(struct wait_thread *t, const struct jsontree *list)
{
	for (const struct jsontree *v = list ? list->first : NULL; v; v = v->next) {
		int64_t line = take_int(v, "line");
		const struct wait_frame f = {
			(char *)(uintptr_t)jsontree_text(v, "function"),
			(char *)(uintptr_t)jsontree_text(v, "file"),
			(char *)(uintptr_t)jsontree_text(v, "module"),
			line > 0 && line < INT32_MAX ? (uint32_t)line : 0,
		};

		if (!wait_add_frame(t, &f))
			return false;
	}
	return true;
}

bool wait_take(struct wait_thread *t, const struct jsontree *object)
{
	int state, stack;

	t->pid = take_pid(object, "pid");
	t->tid = take_pid(object, "tid");
	if (jsontree_number(object, "rank") >= 0)
		t->rank = (int32_t)take_int(object, "rank");
	take_text(t->node, sizeof t->node, object, "node");
	take_text(t->process, sizeof t->process, object, "process");
	take_text(t->name, sizeof t->name, object, "thread");
	take_text(t->object, sizeof t->object, object, "object");
	take_text(t->function, sizeof t->function, object, "kernel_function");
	take_text(t->refused, sizeof t->refused, object, "refused");
	if (!t->pid || !t->tid || !take_kind(t, object) ||
	    !take_word(&state, object, "state", states, WAIT_STATES) ||
	    !take_word(&stack, object, "stack", stacks, WAIT_STACK_KINDS))
		return false;
	t->state = (enum wait_state)state;
	t->stack = (enum wait_stack)stack;
	t->closed = take_bool(object, "ended_by_no_other");
	t->moved = take_bool(object, "moved");
	take_holders(t, jsontree_find(object, "ended_by"));
	return take_frames(t, jsontree_find(object, "frames"));
}

enum mark { FREE, STUCK, ON_PATH, DONE };

struct graph {
	const struct waits *w;
	uint32_t *by_pid; /* threads, sorted by node and process */
	uint8_t *mark;
};

/* Below 0, 0 or above, as this thread's process comes before that one of a node, or behind it. */
static int compare_process(const struct wait_thread *t, const char *node, pid_t pid)
{
	int order = strcmp(t->node, node);

	return order ? order : t->pid < pid ? -1 : t->pid > pid;
}

static int by_pid(const void *a, const void *b, void *arg)
{
	const struct waits *w = arg;
	const struct wait_thread *x = &w->thread[*(const uint32_t *)a],
				 *y = &w->thread[*(const uint32_t *)b];
	int order = compare_process(x, y->node, y->pid);

	if (order)
		return order;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static const struct wait_thread *thread_at(const struct graph *g, uint32_t at)
{
	return &g->w->thread[g->by_pid[at]];
}

/* The first thread of a process in g->by_pid; w->n: there is none. */
static uint32_t first_of(const struct graph *g, const char *node, pid_t pid)
{
	uint32_t low = 0, high = g->w->n;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (compare_process(thread_at(g, mid), node, pid) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < g->w->n && !compare_process(thread_at(g, low), node, pid) ? low : g->w->n;
}

/* The thread that this one waits for by h, if all that h may be are stuck; w->n: one is not. */
static uint32_t stuck_behind(const struct graph *g, const struct wait_thread *t,
			     const struct wait_holder *h)
{
	uint32_t at = first_of(g, t->node, h->pid), found = g->w->n;

	if (!h->tid && h->pid == t->pid) /* it might be a signal's handler */
		return g->w->n;
	for (; at < g->w->n && !compare_process(thread_at(g, at), t->node, h->pid); at++) {
		uint32_t i = g->by_pid[at];

		if (h->tid && g->w->thread[i].tid != h->tid)
			continue;
		if (g->mark[i] == FREE)
			return g->w->n;
		if (found == g->w->n)
			found = i;
	}
	return found;
}

static bool is_stuck(const struct graph *g, const struct wait_thread *t)
{
	if (t->state != WAIT_WAITS || !t->closed || t->moved || !t->nholders)
		return false;
	for (uint32_t i = 0; i < t->nholders; i++)
		if (stuck_behind(g, t, &t->holder[i]) == g->w->n)
			return false;
	return true;
}

/* Whoever waits for one that is free is free. */
static void free_all(struct graph *g)
{
	bool changed = true;

	for (uint32_t i = 0; i < g->w->n; i++)
		g->mark[i] = STUCK;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < g->w->n; i++)
			if (g->mark[i] == STUCK && !is_stuck(g, &g->w->thread[i])) {
				g->mark[i] = FREE;
				changed = true;
			}
	}
}

static uint32_t next_of(const struct graph *g, uint32_t i)
{
	const struct wait_thread *t = &g->w->thread[i];

	return stuck_behind(g, t, &t->holder[0]);
}

/* From here along whom each waits for: a path ends in a cycle, or in one that was found before. */
static bool follow(struct graph *g, uint32_t from, struct cycle *c)
{
	uint32_t i = from;
	bool found;

	for (; g->mark[i] == STUCK; i = next_of(g, i))
		g->mark[i] = ON_PATH;
	found = g->mark[i] == ON_PATH;
	c->n = 0;
	for (uint32_t k = i; found && c->n < CYCLE_MAX && (!c->n || k != i); k = next_of(g, k))
		c->thread[c->n++] = k;
	for (uint32_t k = from; g->mark[k] == ON_PATH; k = next_of(g, k))
		g->mark[k] = DONE;
	return found;
}

uint32_t cycles_find(const struct waits *w, struct cycle *out)
{
	struct graph g = { w, malloc((w->n + 1) * sizeof *g.by_pid), malloc(w->n + 1) };
	uint32_t n = 0;

	if (g.by_pid && g.mark) {
		for (uint32_t i = 0; i < w->n; i++)
			g.by_pid[i] = i;
		qsort_r(g.by_pid, w->n, sizeof *g.by_pid, by_pid, (void *)(uintptr_t)w);
		free_all(&g);
		for (uint32_t i = 0; i < w->n && n < CYCLES_MAX; i++)
			if (g.mark[i] == STUCK && follow(&g, i, &out[n]))
				n++;
	}
	free(g.by_pid);
	free(g.mark);
	return n;
}

/* ---- frames of Python ---- */

bool wait_is_python(const struct wait_frame *f)
{
	return f->module && !strcmp(f->module, WAIT_PYTHON);
}

static bool is_of_python(const struct wait_frame *f)
{
	const char *lib = wait_is_python(f) && f->file ? strstr(f->file, "/lib/python") : NULL;

	return lib && !strstr(lib, "-packages/");
}

bool wait_is_within_python(const struct wait_thread *t, uint32_t i, uint32_t to)
{
	bool within = is_of_python(&t->frame[i]);

	while (++i < to && !wait_is_python(&t->frame[i]))
		;
	return within && i < to && is_of_python(&t->frame[i]);
}
