/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/say.h"

#include "core/stacks/symbol.h"
#include "waits/wait.h"

#include <stdlib.h>
#include <string.h>

enum {
	NUMBERS_SHOWN = 8,
	HOLDERS_SHOWN = 4,
	GROUPS_SHORTLY = 4,
	FRAMES_SHORTLY = 6,
	STEPS_MAX = 64
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Names and paths may have line breaks in them, which would pass for lines of this report. */
static void end_line(struct bytes *out, size_t from)
{
	for (size_t i = from; !out->failed && i < out->len; i++)
		if (out->data[i] == '\n' || out->data[i] == '\r')
			out->data[i] = '?';
	bytes_puts(out, "\n");
}

static void put_holder(struct bytes *out, const struct wait_thread *t, const struct wait_holder *h)
{
	if (h->tid == t->tid && h->pid == t->pid)
		bytes_puts(out, "itself");
	else if (h->tid && h->pid == t->pid)
		bytes_printf(out, "thread %d", (int)h->tid);
	else if (h->tid && h->tid != h->pid)
		bytes_printf(out, "%s (pid %d, thread %d)", h->process, (int)h->pid, (int)h->tid);
	else if (h->pid == t->pid)
		bytes_puts(out, "nobody but this process");
	else
		bytes_printf(out, "%s (pid %d)", h->process, (int)h->pid);
}

/* "waits for a mutex at 0x1234, held by app (thread 12)" */
static void say_wait(struct bytes *out, const struct wait_thread *t)
{
	if (t->state == WAIT_RUNS || t->state == WAIT_READY || t->state == WAIT_STOPPED) {
		bytes_puts(out, t->state == WAIT_RUNS    ? "runs"
				: t->state == WAIT_READY ? "is ready, but others have the cores"
							 : "is stopped");
		return;
	}
	if (t->state == WAIT_SILENT) {
		bytes_puts(out, "is not known");
		return;
	}
	bytes_puts(out, wait_kind_words(t->kind));
	if (t->object[0])
		bytes_printf(out, "%s %s", begins(t->object, "at ") ? "" : ":", t->object);
	if (!t->object[0] && t->kind == WAIT_UNKNOWN && t->function[0])
		bytes_printf(out, " in %s", t->function);
	for (uint32_t i = 0; i < t->nholders && i < HOLDERS_SHOWN; i++) {
		bytes_puts(out, i ? " or " : wait_by(t->kind));
		put_holder(out, t, &t->holder[i]);
	}
	if (t->nholders > HOLDERS_SHOWN)
		bytes_printf(out, " or %u more", t->nholders - HOLDERS_SHOWN);
}

/* ---- stacks ---- */

static bool is_of_libc(const struct wait_frame *f)
{
	const char *name = f->module ? symbol_base(f->module) : "";

	return begins(name, "libc.so") || begins(name, "libpthread") || begins(name, "libc-2") ||
	       begins(name, "ld-linux") || !strcmp(name, "[vdso]");
}

static bool is_of_system(const struct wait_frame *f)
{
	return f->module && (begins(f->module, "/lib") || begins(f->module, "/usr/lib"));
}

/* Of the C library, or inlined from headers as those of the C++ library. */
static bool is_of_library(const struct wait_frame *f)
{
	return is_of_libc(f) || (f->file && begins(f->file, "/usr/include/"));
}

/* Of the interpreter itself, between Python's own frames. */
static bool is_interpreter(const struct wait_frame *f)
{
	const char *name = f->module ? symbol_base(f->module) : "";

	return begins(name, "python") || begins(name, "libpython");
}

static bool has_python(const struct wait_thread *t)
{
	for (uint32_t i = 0; i < t->nframes; i++)
		if (wait_is_python(&t->frame[i]))
			return true;
	return false;
}

/* What comes before a program's own code. */
static bool is_beginning(const struct wait_frame *f)
{
	return f->function ? symbol_is_beginning(f->function) : is_of_libc(f);
}

/* Between a function of the C library and its system call; in the program where that is linked
 * statically. */
static bool is_cancellation(const struct wait_frame *f)
{
	return f->function && symbol_is_cancellation(f->function);
}

/* "__GI___libc_read" is read. */
static const char *plain(const struct wait_frame *f)
{
	const char *name = f->function;

	if (begins(name, "PMPI_"))
		return name + 1;
	if (!is_of_libc(f))
		return name;
	if (begins(name, "__GI_"))
		name += 5;
	name += strspn(name, "_");
	return begins(name, "libc_") && name[5] ? name + 5 : name;
}

/* PMPI_Send and MPI_Send are one function; in Fortran mpi_send_. */
static bool is_mpi(const struct wait_frame *f)
{
	const char *name = f->function ? f->function : "";

	name += *name == 'P' || *name == 'p';
	return begins(name, "MPI_") || begins(name, "mpi_");
}

static void put_frame(struct bytes *out, const struct wait_frame *f, bool lines)
{
	if (f->function)
		bytes_puts(out, plain(f));
	else
		bytes_printf(out, "%s (no symbols)",
			     f->module ? symbol_base(f->module) : "unknown");
	if (lines && f->file && f->line && !is_of_system(f) && !is_of_library(f))
		bytes_printf(out, " (%s:%u)", symbol_base(f->file), f->line);
}

/* Several functions of one file without symbols are said once. */
static bool is_nameless_too(const struct wait_frame *f, const struct wait_frame *before)
{
	return !f->function && !before->function && f->module && before->module &&
	       !strcmp(f->module, before->module);
}

static bool is_same_module(const struct wait_frame *a, const struct wait_frame *b)
{
	return a->module && b->module && !strcmp(a->module, b->module);
}

/* The function of MPI that the program called, of those up to `to`; to: it is in none, or in one
 * that called the program back. */
static uint32_t call_of_mpi(const struct wait_thread *t, uint32_t to)
{
	uint32_t at = 0;

	while (at < to && !is_mpi(&t->frame[at]))
		at++;
	while (at + 1 < to && is_mpi(&t->frame[at + 1]))
		at++;
	for (uint32_t i = 0; at + 1 < to && i < at; i++)
		if (is_same_module(&t->frame[i], &t->frame[at + 1]))
			return to;
	return at;
}

/* Where the program's own code ends. */
static uint32_t outermost(const struct wait_thread *t)
{
	uint32_t to = t->nframes;

	while (to > 0 &&
	       (is_beginning(&t->frame[to - 1]) ||
		(to > 1 && !t->frame[to - 1].function && is_beginning(&t->frame[to - 2]))))
		to--;
	return to ? to : t->nframes;
}

static void put_stack(struct bytes *out, const struct wait_thread *t, uint32_t most, bool lines)
{
	uint32_t to = outermost(t), from = call_of_mpi(t, to);
	bool python = has_python(t);
	size_t before = out->len;

	if (from == to)
		from = 0;
	while (from + 1 < to &&
	       (is_cancellation(&t->frame[from]) || is_of_library(&t->frame[from + 1])))
		from++;
	for (uint32_t i = from, shown = 0; i < to; i++) {
		if ((i > from && is_nameless_too(&t->frame[i], &t->frame[i - 1])) ||
		    (python && is_interpreter(&t->frame[i])) ||
		    (most && wait_is_within_python(t, i, to)))
			continue;
		if (most && shown++ == most) {
			bytes_puts(out, " < ...");
			return;
		}
		bytes_puts(out, out->len > before ? " < " : "");
		put_frame(out, &t->frame[i], lines);
	}
	if (to && t->stack == WAIT_STACK_CUT)
		bytes_puts(out, " < ?");
}

void say_stack(struct bytes *out, const struct wait_thread *t, uint32_t most)
{
	put_stack(out, t, most, true);
}

/* ---- groups ---- */

struct group {
	char *key; /* what it is called, what it does, and its stack */
	uint32_t first, n;
};

struct keyed {
	char *key;
	uint32_t thread;
};

static char *key_of(const struct wait_thread *t)
{
	struct bytes b = { 0 };

	bytes_printf(&b, "%s\n", t->process);
	say_stack(&b, t, 0);
	bytes_puts(&b, "\n");
	say_wait(&b, t);
	bytes_printf(&b, "\n%s", t->refused);
	bytes_u8(&b, 0);
	if (!b.failed)
		return (char *)b.data;
	bytes_free(&b);
	return NULL;
}

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int by_size(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static uint32_t threads_of(const struct waits *w, const char *process)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++)
		n += !strcmp(w->thread[i].process, process);
	return n;
}

/* "app (pid 12: 13, 14; pid 20)" */
static void put_members(struct bytes *out, const struct waits *w, const struct keyed *k, uint32_t n)
{
	const struct wait_thread *last = NULL;

	bytes_printf(out, "%s (", w->thread[k[0].thread].process);
	for (uint32_t i = 0; i < n && i < NUMBERS_SHOWN; i++) {
		const struct wait_thread *t = &w->thread[k[i].thread];
		bool first = !last || t->pid != last->pid || strcmp(t->node, last->node) != 0;

		if (first)
			bytes_printf(out, "%s%s%spid %d", i ? "; " : "", t->node,
				     t->node[0] ? " " : "", (int)t->pid);
		if (t->tid != t->pid || (i + 1 < n && w->thread[k[i + 1].thread].pid == t->pid))
			bytes_printf(out, "%s%d", first ? ": " : ", ", (int)t->tid);
		last = t;
	}
	if (n > NUMBERS_SHOWN)
		bytes_printf(out, " and %u more", n - NUMBERS_SHOWN);
	bytes_puts(out, ") ");
}

static void put_group(struct bytes *out, const struct waits *w, const struct keyed *k, uint32_t n)
{
	const struct wait_thread *t = &w->thread[k[0].thread];
	struct bytes stack = { 0 };
	size_t line = out->len;

	say_stack(&stack, t, 0);
	bytes_printf(out, "%u of %u threads of %s", n, threads_of(w, t->process), t->process);
	if (stack.len) {
		bytes_puts(out, " in ");
		bytes_put(out, stack.data, stack.len);
	}
	end_line(out, line);
	line = out->len;
	bytes_puts(out, "    ");
	put_members(out, w, k, n);
	say_wait(out, t);
	if (t->refused[0])
		bytes_printf(out, "; no more is known: %s", t->refused);
	end_line(out, line);
	bytes_free(&stack);
}

/* All groups, the largest first; their number. NULL: no memory. */
static struct group *groups_of(const struct waits *w, const struct keyed *k, uint32_t *n)
{
	struct group *g = malloc((w->n + 1) * sizeof *g);

	*n = 0;
	for (uint32_t i = 0; g && i < w->n; i++) {
		if (!i || strcmp(k[i].key, k[i - 1].key) != 0)
			g[(*n)++] = (struct group){ k[i].key, i, 0 };
		g[*n - 1].n++;
	}
	if (g)
		qsort(g, *n, sizeof *g, by_size);
	return g;
}

static void put_groups(struct bytes *out, const struct waits *w, const struct keyed *k)
{
	uint32_t n;
	struct group *g = groups_of(w, k, &n);

	for (uint32_t i = 0; i < n; i++)
		put_group(out, w, k + g[i].first, g[i].n);
	out->failed |= !g;
	free(g);
}

/* Who waits for a child of the job says less than the child. */
static bool says_little(const struct waits *w, const struct wait_thread *t)
{
	return t->kind == WAIT_CHILD && t->nholders && w->n > 1;
}

/* A sleep ends by itself, and a server waits for whoever asks it: others come first. */
static bool comes_late(const struct wait_thread *t)
{
	return t->state == WAIT_WAITS && (t->kind == WAIT_TIMER || (t->kind == WAIT_CONNECTION &&
								    strstr(t->function, "acc")));
}

static void put_shortly(struct bytes *out, const struct waits *w, const struct keyed *k)
{
	uint32_t n, shown = 0;
	struct group *g = groups_of(w, k, &n);

	for (uint32_t i = 0; i < 2 * n && shown < GROUPS_SHORTLY; i++) {
		const struct group *x = &g[i % n];
		const struct wait_thread *t = &w->thread[k[x->first].thread];

		if (says_little(w, t) || comes_late(t) != (i >= n))
			continue;
		bytes_printf(out, "%s%u of %u threads of %s", shown++ ? "; " : "", x->n,
			     threads_of(w, t->process), t->process);
		if (t->nframes) {
			bytes_puts(out, " in ");
			say_stack(out, t, FRAMES_SHORTLY);
		}
		bytes_puts(out, ": ");
		say_wait(out, t);
	}
	out->failed |= !g;
	free(g);
}

/* ---- ranks ---- */

static const struct wait_thread *first_of(const struct waits *w, int32_t rank, pid_t pid, pid_t tid)
{
	for (uint32_t i = 0; i < w->n; i++) {
		const struct wait_thread *t = &w->thread[i];

		if (t->rank == rank && t->pid == pid && (!tid || t->tid == tid))
			return t;
	}
	return NULL;
}

/* The one of its own rank that it waits for, as main waits for a thread of a pool; NULL: none. */
static const struct wait_thread *next_of(const struct waits *w, const struct wait_thread *t)
{
	const struct wait_thread *x = t, *next = NULL;

	if (t->state == WAIT_WAITS && t->nholders == 1)
		next = first_of(w, t->rank, t->holder[0].pid, t->holder[0].tid);
	/* "timeout" waits for the signal that its child's end is. */
	while (!next && t->kind == WAIT_SIGNAL && ++x < w->thread + w->n)
		next = x->rank == t->rank && x->pid == x->tid ? x : NULL;
	return next;
}

static const struct wait_thread *who_speaks(const struct waits *w, const struct wait_thread *t)
{
	const struct wait_thread *next;

	for (int steps = 0; steps < STEPS_MAX && (next = next_of(w, t)); steps++)
		t = next;
	return t;
}

/* Whether it has a core at this moment is chance. */
static void put_kind(struct bytes *out, const struct wait_thread *t)
{
	if (t->state == WAIT_RUNS || t->state == WAIT_READY)
		bytes_puts(out, "runs or is ready to run");
	else if (t->state == WAIT_WAITS)
		bytes_puts(out, wait_kind_words(t->kind));
	else
		say_wait(out, t);
}

static bool add_to_roll(struct rollcall *r, const struct wait_thread *t)
{
	const char *text[ROLLCALL_TEXTS];
	size_t at[ROLLCALL_TEXTS];
	struct bytes b = { 0 };
	uint32_t to = outermost(t);
	bool mpi = call_of_mpi(t, to) < to, ok;

	for (int i = 0; i < ROLLCALL_TEXTS; i++) {
		at[i] = b.len;
		if (i == ROLLCALL_PROCESS)
			bytes_puts(&b, t->process);
		else if (i == ROLLCALL_IN || i == ROLLCALL_FUNCTIONS)
			put_stack(&b, t, FRAMES_SHORTLY, i == ROLLCALL_IN);
		else if (i == ROLLCALL_WAIT && !mpi)
			say_wait(&b, t);
		else if (i == ROLLCALL_KIND && !mpi)
			put_kind(&b, t);
		bytes_u8(&b, 0);
	}
	for (int i = 0; !b.failed && i < ROLLCALL_TEXTS; i++)
		text[i] = (const char *)b.data + at[i];
	ok = !b.failed && rollcall_add(r, (uint32_t)t->rank, text);
	bytes_free(&b);
	return ok;
}

/* By rank; those of one in the order of the look, which has parents before children. */
static int by_rank(const void *a, const void *b)
{
	const struct wait_thread *x = *(const struct wait_thread *const *)a,
				 *y = *(const struct wait_thread *const *)b;

	return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x < y ? -1 : x > y;
}

bool say_ranks(struct rollcall *out, const struct waits *w)
{
	const struct wait_thread **main = malloc((w->n + 1) * sizeof(void *));
	bool ok = main != NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; ok && i < w->n; i++)
		if (w->thread[i].rank >= 0 && w->thread[i].pid == w->thread[i].tid)
			main[n++] = &w->thread[i];
	if (n)
		qsort(main, n, sizeof(void *), by_rank);
	for (uint32_t i = 0; ok && i < n; i++)
		if (!i || main[i]->rank != main[i - 1]->rank)
			ok = add_to_roll(out, who_speaks(w, main[i]));
	out->ranks = w->ranks;
	free(main);
	return ok && rollcall_fold(out);
}

static void put_roll(struct bytes *out, const struct waits *w,
		     void (*put)(struct bytes *, const struct rollcall *))
{
	struct rollcall r = { 0 };

	if (say_ranks(&r, w))
		put(out, &r);
	rollcall_free(&r);
}

/* ---- cycles ---- */

static void put_who(struct bytes *out, const struct wait_thread *t)
{
	bytes_printf(out, "%s (", t->process);
	if (t->node[0])
		bytes_printf(out, "%s ", t->node);
	bytes_printf(out, "pid %d", (int)t->pid);
	if (t->tid != t->pid)
		bytes_printf(out, ", thread %d", (int)t->tid);
	bytes_puts(out, ")");
}

static void put_cycle(struct bytes *out, const struct waits *w, const struct cycle *c)
{
	bytes_puts(out, "Deadlock: ");
	for (uint32_t i = 0; i < c->n; i++) {
		const struct wait_thread *t = &w->thread[c->thread[i]];

		bytes_puts(out, i ? "; " : "");
		put_who(out, t);
		bytes_puts(out, " ");
		say_wait(out, t);
		if (t->nframes) {
			bytes_puts(out, ", in ");
			say_stack(out, t, 3);
		}
	}
}

void say_cycle(struct bytes *out, const struct waits *w)
{
	struct cycle cycle[CYCLES_MAX];

	if (cycles_find(w, cycle))
		put_cycle(out, w, &cycle[0]);
}

static void keys_free(struct keyed *k, uint32_t n)
{
	for (uint32_t i = 0; k && i < n; i++)
		free(k[i].key);
	free(k);
}

/* NULL: no memory. */
static struct keyed *keys_of(const struct waits *w)
{
	struct keyed *k = calloc(w->n + 1, sizeof *k);
	bool ok = k != NULL;

	for (uint32_t i = 0; ok && i < w->n; i++) {
		k[i] = (struct keyed){ key_of(&w->thread[i]), i };
		ok = k[i].key != NULL;
	}
	if (ok)
		qsort(k, w->n, sizeof *k, by_key);
	else
		keys_free(k, w->n);
	return ok ? k : NULL;
}

void say_waits(struct bytes *out, const struct waits *w)
{
	struct keyed *k = keys_of(w);
	struct cycle cycle[CYCLES_MAX];
	uint32_t n = cycles_find(w, cycle);

	put_roll(out, w, rollcall_list);
	if (k)
		put_groups(out, w, k);
	out->failed |= !k;
	for (uint32_t i = 0; i < n; i++) {
		size_t line = out->len;

		put_cycle(out, w, &cycle[i]);
		end_line(out, line);
	}
	keys_free(k, w->n);
}

void say_where(struct bytes *out, const struct waits *w)
{
	size_t before = out->len;
	struct keyed *k;

	say_cycle(out, w);
	if (out->len == before)
		put_roll(out, w, rollcall_say);
	if (out->len > before)
		return;
	k = keys_of(w);
	if (k)
		put_shortly(out, w, k);
	out->failed |= !k;
	keys_free(k, w->n);
}
