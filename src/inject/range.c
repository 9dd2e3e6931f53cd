/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/range.h"

#include "lib/span.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEPTH = 64,       /* as many as a thread's ring has */
	CACHED = 128,     /* names that a thread knows; a power of two */
	CACHED_TEXT = 44, /* so that one is a line of the cache */
	OPEN = 4096,      /* ranges with a key at a time; a power of two */
	NAME_BYTES = 512,
	LOADED = 8, /* bytes that are hashed at once */
};

struct cached {
	const char *domain;
	uint32_t name; /* 0: nothing is here */
	uint32_t length;
	char text[CACHED_TEXT];
};

struct thread {
	uint32_t depth;
	struct {
		const void *domain;
		uint64_t span;
	} stack[DEPTH];
	struct cached cached[CACHED];
};

static __thread struct thread *mine FAST_TLS;

static struct {
	pthread_mutex_t lock;
	uint32_t n;
	struct {
		struct range_key key;
		uint64_t span; /* 0: nothing is here */
	} at[OPEN];
} open = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool keyed;

/* A child that came while another thread has the lock would wait for it for ever. */
static void before_fork(void)
{
	pthread_mutex_lock(&open.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&open.lock);
}

/* What the thread does after this begins anew. */
static void thread_free(void *x)
{
	free(x);
	mine = NULL;
}

static void begin_once(void)
{
	keyed = !pthread_key_create(&key, thread_free);
	pthread_atfork(before_fork, after_fork, after_fork);
}

/* NULL: out of memory. */
static struct thread *thread_mine(void)
{
	if (mine)
		return mine;
	pthread_once(&once, begin_once);
	mine = calloc(1, sizeof *mine);
	if (mine && keyed)
		pthread_setspecific(key, mine);
	return mine;
}

/* ---- names ---- */

/* Of texts that differ in the middle only it may be the same: they take turns. */
static uint32_t place_of(const char *domain, const char *text, size_t n)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t first = 0, last = 0;

	if (n >= LOADED) {
		memcpy(&first, text, LOADED);
		memcpy(&last, text + n - LOADED, LOADED);
	} else {
		for (size_t i = 0; i < n; i++)
			first = first << 8 | (unsigned char)text[i];
	}
	first = (first ^ (uintptr_t)domain) * odd;
	first = (first ^ first >> 32 ^ last ^ n) * odd;
	return (uint32_t)(first >> 57) % CACHED;
}

static uint32_t name_make(const char *domain, const char *text)
{
	char name[NAME_BYTES];

	if (!domain || !*domain)
		return sonde_name(text);
	snprintf(name, sizeof name, "%s: %s", domain, text);
	return sonde_name(name);
}

/* A text that was seen in this thread is found without making its name again. */
uint32_t range_name(const char *domain, const char *text)
{
	struct thread *x = thread_mine();
	size_t n = text ? strlen(text) : 0;
	struct cached *c =
		x && n && n <= CACHED_TEXT ? &x->cached[place_of(domain, text, n)] : NULL;
	uint32_t name;

	if (c && c->name && c->domain == domain && c->length == n && !memcmp(c->text, text, n))
		return c->name;
	name = name_make(domain, n ? text : "(no message)");
	/* names that share a number are counted */
	if (c && name != RING_NAMES_MAX) {
		*c = (struct cached){ .domain = domain, .name = name, .length = (uint32_t)n };
		memcpy(c->text, text, n);
	}
	return name;
}

/* ---- in the order of a stack ---- */

int range_push(const void *domain, uint32_t name)
{
	struct thread *x = thread_mine();
	uint32_t at;

	if (!x)
		return -1;
	at = x->depth++;
	if (at < DEPTH) {
		x->stack[at].span = sonde_begin(name);
		x->stack[at].domain = domain;
	}
	return (int)at;
}

static int pop(const void *domain, int64_t to_ns)
{
	struct thread *x = mine;
	uint32_t at = x ? x->depth : 0;

	if (at > DEPTH)
		return (int)--x->depth;
	while (at && x->stack[at - 1].domain != domain)
		at--;
	if (!at)
		return -1;
	if (to_ns)
		span_end_at(x->stack[at - 1].span, to_ns);
	else
		sonde_span_end(x->stack[at - 1].span);
	memmove(&x->stack[at - 1], &x->stack[at], (x->depth - at) * sizeof x->stack[0]);
	return (int)--x->depth;
}

int range_pop(const void *domain)
{
	return pop(domain, 0);
}

int range_pop_at(const void *domain, int64_t to_ns)
{
	return pop(domain, to_ns);
}

/* ---- by a key ---- */

static uint32_t hash_of(const struct range_key *k)
{
	uint64_t h = (uintptr_t)k->domain;

	for (size_t i = 0; i < sizeof k->id / sizeof k->id[0]; i++)
		h = (h ^ k->id[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32) % OPEN;
}

static bool is_key(const struct range_key *a, const struct range_key *b)
{
	return a->domain == b->domain && !memcmp(a->id, b->id, sizeof a->id);
}

/* Its place, or the free one where it would be. There is always one. */
static uint32_t find(const struct range_key *k)
{
	uint32_t i = hash_of(k);

	while (open.at[i].span && !is_key(&open.at[i].key, k))
		i = (i + 1) % OPEN;
	return i;
}

/* Those behind it that it stood in the way of move up. */
static void take_away(uint32_t hole)
{
	open.at[hole].span = 0;
	open.n--;
	for (uint32_t i = (hole + 1) % OPEN; open.at[i].span; i = (i + 1) % OPEN) {
		uint32_t home = hash_of(&open.at[i].key);

		if ((i - home) % OPEN < (i - hole) % OPEN)
			continue;
		open.at[hole] = open.at[i];
		open.at[i].span = 0;
		hole = i;
	}
}

static uint64_t look(const struct range_key *k)
{
	uint64_t span;

	pthread_mutex_lock(&open.lock);
	span = open.at[find(k)].span;
	pthread_mutex_unlock(&open.lock);
	return span;
}

/* The span that is no longer known: the one with this key before, or this one where there is no
 * room; 0: none. */
static uint64_t put(const struct range_key *k, uint64_t span)
{
	uint64_t before;
	uint32_t i;

	pthread_mutex_lock(&open.lock);
	i = find(k);
	before = open.at[i].span;
	if (!before && open.n == OPEN - 1) {
		before = span;
	} else {
		open.n += !before;
		open.at[i].key = *k;
		open.at[i].span = span;
	}
	pthread_mutex_unlock(&open.lock);
	return before;
}

void range_begin(const struct range_key *k, uint32_t name, const struct range_key *parent)
{
	uint64_t span;

	pthread_once(&once, begin_once);
	span = sonde_span_begin(name, parent ? look(parent) : 0);
	if (span)
		sonde_span_end(put(k, span));
}

void range_end(const struct range_key *k)
{
	uint64_t span;
	uint32_t i;

	pthread_mutex_lock(&open.lock);
	i = find(k);
	span = open.at[i].span;
	if (span)
		take_away(i);
	pthread_mutex_unlock(&open.lock);
	sonde_span_end(span);
}
