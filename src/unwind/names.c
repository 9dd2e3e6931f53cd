/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/names.h"

#include "base/clock.h"
#include "source/program/stacks_page.h"
#include "unwind/symbols.h"
#include "unwind/work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef UNWIND_DEMANGLE
/* Of the C++ library. */
extern char *__cxa_demangle(const char *name, char *out, size_t *size, int *status)
	__attribute__((visibility("default")));
#else
static char *__cxa_demangle(const char *name, char *out, size_t *size, int *status)
{
	(void)name;
	(void)out;
	(void)size;
	*status = -1;
	return NULL;
}
#endif

enum {
	QUESTIONS_MAX = 2 * FRAMES_MAX, /* each frame twice */
	EARNED_SHARE = 500,             /* of the job's CPU time is for lines that cost much */
};

struct question {
	uint64_t address;
	uint32_t frame, module;
};

struct names {
	struct modules *modules;
	struct symbols *symbols[MODULES_MAX];
	pthread_mutex_t lock;
	pthread_cond_t asked, found;
	struct question question[QUESTIONS_MAX];
	uint32_t nquestions, answered;
	struct named *first, *last;
	int64_t earned_ns, spent_ns; /* for lines that cost much; */
	int64_t dearer_ns;           /* with so much, the next can be opened */
};

/* Rust's older names end in a hash, and have words in the place of signs. */
static void tidy_rust(char *text)
{
	static const struct {
		const char *word, *sign;
	} words[] = { { "$LT$", "<" },  { "$GT$", ">" },  { "$RF$", "&" },  { "$BP$", "*" },
		      { "$LP$", "(" },  { "$RP$", ")" },  { "$C$", "," },   { "$u20$", " " },
		      { "$u7b$", "{" }, { "$u7d$", "}" }, { "$u5b$", "[" }, { "$u5d$", "]" },
		      { "$u27$", "'" }, { "$u3d$", "=" }, { "$u3b$", ";" }, { "..", "::" } };
	size_t n = strlen(text);
	char *to = text;

	if (n < 19 || strncmp(text + n - 19, "::h", 3) != 0 ||
	    strspn(text + n - 16, "0123456789abcdef") != 16)
		return;
	text[n - 19] = '\0';
	for (const char *at = text; *at;) {
		size_t i = 0, len = 0;

		for (; i < sizeof words / sizeof words[0]; i++) {
			len = strlen(words[i].word);
			if (!strncmp(at, words[i].word, len))
				break;
		}
		if (i == sizeof words / sizeof words[0]) {
			*to++ = *at++;
			continue;
		}
		for (const char *c = words[i].sign; *c; c++)
			*to++ = *c;
		at += len;
	}
	*to = '\0';
}

char *name_demangle(const char *symbol)
{
	size_t n = strnlen(symbol, STACKS_TEXT_MAX - 1);
	char *text = strndup(symbol, n), *plain;
	int status;

	if (!text || strncmp(text, "_Z", 2) != 0)
		return text;
	plain = __cxa_demangle(text, NULL, NULL, &status);
	if (!plain)
		return text;
	free(text);
	tidy_rust(plain);
	if (strlen(plain) >= STACKS_TEXT_MAX)
		plain[STACKS_TEXT_MAX - 1] = '\0';
	return plain;
}

static struct named *look_up(struct names *n, const struct question *q)
{
	struct named *x = calloc(1, sizeof *x);
	const struct module *m = &n->modules->row[q->module];
	struct symbols **s = &n->symbols[q->module];

	if (!x)
		return NULL;
	x->frame = q->frame;
	work_on(m);
	if (!*s)
		*s = symbols_open(m, m->names_elf);
	if (*s)
		symbols_name(*s, q->address, x);
	work_on(NULL);
	return x;
}

/* What the next lines cost with all that was spent before. */
static int64_t next_cost_ns(const struct names *n)
{
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; i < MODULES_MAX; i++) {
		int64_t cost = n->symbols[i] ? symbols_lines_cost_ns(n->symbols[i]) : 0;

		if (cost && n->spent_ns + cost < least)
			least = n->spent_ns + cost;
	}
	return least;
}

static void ask_again(struct names *n, uint32_t module)
{
	uint32_t had = n->nquestions;

	for (uint32_t i = 0; i < had && n->nquestions < QUESTIONS_MAX; i++)
		if (n->question[i].module == module)
			n->question[n->nquestions++] = n->question[i];
}

/* The cheapest of those that are left. With the lock, which is let go meanwhile. */
static void open_lines(struct names *n)
{
	for (uint32_t i = 0; i < MODULES_MAX; i++) {
		int64_t cost = n->symbols[i] ? symbols_lines_cost_ns(n->symbols[i]) : 0;

		if (!cost || n->spent_ns + cost > n->dearer_ns)
			continue;
		pthread_mutex_unlock(&n->lock);
		work_on(&n->modules->row[i]);
		symbols_open_lines(n->symbols[i]);
		work_on(NULL);
		pthread_mutex_lock(&n->lock);
		n->spent_ns += cost;
		ask_again(n, i);
		break;
	}
	n->dearer_ns = next_cost_ns(n);
}

static void *answer_all(void *context)
{
	struct names *n = context;

	work_thread();
	pthread_mutex_lock(&n->lock);
	for (;;) {
		struct question q;
		struct named *x;

		while (n->answered == n->nquestions) {
			if (n->earned_ns >= n->dearer_ns) {
				open_lines(n);
				continue;
			}
			pthread_cond_broadcast(&n->found);
			pthread_cond_wait(&n->asked, &n->lock);
		}
		q = n->question[n->answered];
		pthread_mutex_unlock(&n->lock);
		x = look_up(n, &q);
		pthread_mutex_lock(&n->lock);
		n->answered++;
		if (n->answered == n->nquestions)
			n->dearer_ns = next_cost_ns(n);
		if (!x)
			continue;
		if (n->last)
			n->last->next = x;
		else
			n->first = x;
		n->last = x;
	}
	return NULL;
}

struct names *names_make(struct modules *modules)
{
	struct names *n = calloc(1, sizeof *n);
	pthread_condattr_t monotonic;
	pthread_t thread;

	if (!n)
		return NULL;
	n->modules = modules;
	n->dearer_ns = INT64_MAX;
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&n->asked, &monotonic);
	pthread_cond_init(&n->found, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (pthread_create(&thread, NULL, answer_all, n)) {
		free(n);
		return NULL;
	}
	pthread_detach(thread);
	return n;
}

void names_ask(struct names *n, uint32_t frame, uint32_t module, uint64_t address)
{
	pthread_mutex_lock(&n->lock);
	if (n->nquestions < QUESTIONS_MAX)
		n->question[n->nquestions++] = (struct question){ address, frame, module };
	pthread_cond_signal(&n->asked);
	pthread_mutex_unlock(&n->lock);
}

void names_earn(struct names *n, int64_t cpu_ns)
{
	pthread_mutex_lock(&n->lock);
	n->earned_ns += cpu_ns / EARNED_SHARE;
	if (n->earned_ns >= n->dearer_ns)
		pthread_cond_signal(&n->asked);
	pthread_mutex_unlock(&n->lock);
}

struct named *names_take(struct names *n)
{
	struct named *x;

	pthread_mutex_lock(&n->lock);
	x = n->first;
	if (x)
		n->first = x->next;
	if (!n->first)
		n->last = NULL;
	pthread_mutex_unlock(&n->lock);
	return x;
}

void named_free(struct named *x)
{
	for (uint32_t i = 0; i < CHAIN_MAX; i++) {
		free(x->level[i].function);
		free(x->level[i].file);
	}
	free(x);
}

bool names_busy(struct names *n)
{
	bool busy;

	pthread_mutex_lock(&n->lock);
	busy = n->answered < n->nquestions;
	pthread_mutex_unlock(&n->lock);
	return busy;
}

void names_wait(struct names *n, int64_t patience_ns)
{
	int64_t end_ns = clock_mono_ns() + patience_ns;
	const struct timespec end = { end_ns / NS_PER_S, end_ns % NS_PER_S };

	pthread_mutex_lock(&n->lock);
	while (n->answered < n->nquestions)
		if (pthread_cond_timedwait(&n->found, &n->lock, &end))
			break;
	pthread_mutex_unlock(&n->lock);
}
