/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/names.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "unwind/profile.h"
#include "unwind/symbols.h"
#include "unwind/work.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	QUESTIONS_MAX = 2 * FRAMES_MAX, /* each frame twice */
	EARNED_SHARE = 500,             /* of the job's CPU time is for lines that cost much */
	WEIGHED_EACH = 8,               /* answers: how much memory are the files by now? */
	STACK = 8 << 20,                /* libdw's calls are deep */
};

struct question {
	uint64_t address;
	uint32_t frame;
	uint16_t module;
	bool waits; /* it was answered without lines, which cost much */
};
_Static_assert(MODULES_MAX <= UINT16_MAX, "a module is a number of 16 bits");

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
	uint64_t used[MODULES_MAX], turn;
	uint32_t waiting[MODULES_MAX]; /* frames that wait for lines */
	int64_t lines_bytes;           /* of all symbols */
	bool open;                     /* lines that cost much are */
	bool let_go;                   /* pages of files are to be given back */
};

/* The lines of the file that was used the longest ago, of those that have any. */
static void forget_oldest(struct names *n)
{
	uint32_t oldest = MODULES_MAX;

	for (uint32_t i = 0; i < MODULES_MAX; i++)
		if (n->symbols[i] && symbols_lines_bytes(n->symbols[i]) &&
		    (oldest == MODULES_MAX || n->used[i] < n->used[oldest]))
			oldest = i;
	if (oldest == MODULES_MAX) {
		n->lines_bytes = 0;
		return;
	}
	n->lines_bytes -= symbols_lines_bytes(n->symbols[oldest]);
	symbols_forget_lines(n->symbols[oldest]);
}

static void name(struct names *n, const struct question *q, struct named *x)
{
	struct symbols *s = n->symbols[q->module];
	int64_t had = symbols_lines_bytes(s);
	bool forgot = false;

	symbols_name(s, q->address, x);
	n->used[q->module] = ++n->turn;
	n->lines_bytes += symbols_lines_bytes(s) - had;
	forgot = symbols_lines_bytes(s) < had;
	while (n->lines_bytes > SYMBOLS_LINES_MAX) {
		forget_oldest(n);
		forgot = true;
	}
	if (forgot)
		malloc_trim(0);
}

static struct named *look_up(struct names *n, const struct question *q)
{
	struct named *x = calloc(1, sizeof *x);
	struct module *m = &n->modules->row[q->module];
	struct symbols **s = &n->symbols[q->module];

	if (!x)
		return NULL;
	x->frame = q->frame;
	work_on(m);
	if (!*s) {
		*s = symbols_open(m, m->names_elf);
		if (*s) {
			symbols_let_go(*s); /* all symbols were read */
			m->lineless = !symbols_have_lines(*s);
		}
	}
	if (*s)
		name(n, q, x);
	work_on(NULL);
	return x;
}

/* What the next lines cost with all that was spent before. */
static int64_t next_cost_ns(const struct names *n)
{
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; i < MODULES_MAX; i++) {
		int64_t cost = n->waiting[i] ? symbols_lines_cost_ns(n->symbols[i]) : 0;

		if (cost && n->spent_ns + cost < least)
			least = n->spent_ns + cost;
	}
	return least;
}

static void ask_again(struct names *n, uint32_t module)
{
	uint32_t had = n->nquestions;

	for (uint32_t i = 0; i < had && n->nquestions < QUESTIONS_MAX; i++) {
		struct question *q = &n->question[i];

		if (q->module != module || !q->waits)
			continue;
		q->waits = false;
		n->question[n->nquestions++] = *q;
	}
	n->waiting[module] = 0;
}

static void let_go_of_files(const struct names *n)
{
	for (uint32_t i = 0; i < MODULES_MAX; i++)
		if (n->symbols[i])
			symbols_let_go(n->symbols[i]);
}

/* The cheapest of those that are left. With the lock, which is let go meanwhile. */
static void open_lines(struct names *n)
{
	for (uint32_t i = 0; i < MODULES_MAX; i++) {
		int64_t cost = n->waiting[i] ? symbols_lines_cost_ns(n->symbols[i]) : 0;

		if (!cost || n->spent_ns + cost > n->dearer_ns)
			continue;
		pthread_mutex_unlock(&n->lock);
		let_go_of_files(n); /* room for them */
		malloc_trim(0);
		work_on(&n->modules->row[i]);
		symbols_open_lines(n->symbols[i]);
		work_on(NULL);
		pthread_mutex_lock(&n->lock);
		n->spent_ns += cost;
		n->open = true;
		ask_again(n, i);
		break;
	}
	n->dearer_ns = next_cost_ns(n);
}

/* All who waited for them have them; what was inflated is several times the files. Likewise. */
static void close_lines(struct names *n)
{
	pthread_mutex_unlock(&n->lock);
	for (uint32_t i = 0; i < MODULES_MAX; i++)
		if (n->symbols[i])
			(void)symbols_close_lines(n->symbols[i]);
	malloc_trim(0);
	pthread_mutex_lock(&n->lock);
	n->open = false;
	n->dearer_ns = next_cost_ns(n);
}

/* A program's first samples have names by the hundred, from all over its debug information. */
static void weigh(struct names *n)
{
	int64_t all, files;

	if (n->answered % WEIGHED_EACH == 0 && modules_resident(&all, &files) &&
	    files > MODULES_RESIDENT_MAX)
		let_go_of_files(n);
}

/* With the lock. */
static void let_go(struct names *n)
{
	let_go_of_files(n);
	n->let_go = false;
	malloc_trim(0); /* what reading lines has left */
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
			if (n->open) {
				close_lines(n);
				continue;
			}
			if (n->earned_ns >= n->dearer_ns) {
				open_lines(n);
				continue;
			}
			if (n->let_go)
				let_go(n);
			pthread_cond_broadcast(&n->found);
			pthread_cond_wait(&n->asked, &n->lock);
		}
		q = n->question[n->answered];
		pthread_mutex_unlock(&n->lock);
		x = look_up(n, &q);
		weigh(n);
		pthread_mutex_lock(&n->lock);
		if (x && !x->is_final && n->symbols[q.module]) {
			n->question[n->answered].waits = true;
			n->waiting[q.module]++;
		}
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
	if (!work_start(STACK, answer_all, n)) {
		free(n);
		return NULL;
	}
	return n;
}

void names_ask(struct names *n, uint32_t frame, uint32_t module, uint64_t address)
{
	pthread_mutex_lock(&n->lock);
	if (n->nquestions < QUESTIONS_MAX)
		n->question[n->nquestions++] =
			(struct question){ address, frame, (uint16_t)module, false };
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

void names_let_go(struct names *n)
{
	pthread_mutex_lock(&n->lock);
	n->let_go = true;
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

const struct named *lookup_name(struct lookup *l, const struct place *p)
{
	uint64_t hash = (p->address ^ (uint64_t)p->module << 48) * UINT64_C(0x9e3779b97f4a7c15);
	struct lookup_row *c = &l->row[(hash >> 40) % LOOKUP_NAMED];
	const struct module *m = &l->modules->row[p->module];
	struct symbols **s = &l->symbols[p->module];

	if (c->named && c->module == p->module && c->address == p->address)
		return c->named;
	if (c->named)
		named_free(c->named);
	*c = (struct lookup_row){ p->address, p->module, calloc(1, sizeof *c->named) };
	if (!*s)
		*s = symbols_open(m, m->elf);
	if (*s && c->named)
		symbols_name(*s, p->address, c->named);
	return c->named;
}

enum { FUNCTIONS_MAX = 100000, TEXT_MAX = 8 << 20, READ_AT_ONCE = 1 << 20, AGAIN_MS = 100 };

struct function {
	uint64_t start, size;
	uint32_t name; /* in text */
};

struct jit {
	pid_t pid;
	int64_t looked_ns;
	off_t at; /* how much of the file was taken */
	struct function *function;
	uint32_t n, cap;
	bool sorted;
	char *text;
	size_t text_len, text_cap;
};

struct jit *jit_open(pid_t pid)
{
	struct jit *j = calloc(1, sizeof *j);

	if (j)
		j->pid = pid;
	return j;
}

void jit_free(struct jit *j)
{
	if (!j)
		return;
	free(j->function);
	free(j->text);
	free(j);
}

static bool add(struct jit *j, uint64_t start, uint64_t size, const char *name, size_t n)
{
	if (n > STACKS_TEXT_MAX - 1)
		n = STACKS_TEXT_MAX - 1;
	if (j->n == FUNCTIONS_MAX || j->text_len + n + 1 > TEXT_MAX)
		return false;
	if (j->n == j->cap) {
		uint32_t cap = j->cap ? 2 * j->cap : 256;
		struct function *f = reallocarray(j->function, cap, sizeof *f);

		if (!f)
			return false;
		j->function = f;
		j->cap = cap;
	}
	if (j->text_len + n + 1 > j->text_cap) {
		size_t cap = 2 * (j->text_len + n + 1);
		char *text = realloc(j->text, cap);

		if (!text)
			return false;
		j->text = text;
		j->text_cap = cap;
	}
	j->function[j->n++] = (struct function){ start, size, (uint32_t)j->text_len };
	memcpy(j->text + j->text_len, name, n);
	j->text[j->text_len + n] = '\0';
	j->text_len += n + 1;
	j->sorted = false;
	return true;
}

/* "START SIZE name", numbers in hexadecimal. NULL: there is none. */
static const char *hex(const char *at, const char *end, uint64_t *value)
{
	const char *start = at;

	*value = 0;
	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at = start = at + 2;
	for (; at < end && *value >> 60 == 0; at++) {
		int digit = *at >= '0' && *at <= '9'   ? *at - '0'
			    : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
			    : *at >= 'A' && *at <= 'F' ? *at - 'A' + 10
						       : -1;

		if (digit < 0)
			break;
		*value = *value << 4 | (uint64_t)digit;
	}
	return at > start && at < end && *at == ' ' ? at + 1 : NULL;
}

size_t jit_take(struct jit *j, const char *text, size_t n)
{
	size_t done = 0;

	while (done < n) {
		const char *line = text + done, *end = memchr(line, '\n', n - done), *at;
		uint64_t start, size;

		if (!end)
			break;
		done = (size_t)(end - text) + 1;
		at = hex(line, end, &start);
		at = at ? hex(at, end, &size) : NULL;
		if (at && at < end && size && start + size > start)
			add(j, start, size, at, (size_t)(end - at));
	}
	return done;
}

/* As the process names itself, which may be in a pid namespace. */
static pid_t own_pid(pid_t pid)
{
	char path[64], line[256];
	int64_t inner = pid, found;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "NSpid:", 6)) {
			const char *last = strrchr(line, '\t');

			last += last != NULL;
			if (last && number_i64(&last, &found) && found > 0 && found <= INT32_MAX)
				inner = found;
		}
	if (f)
		fclose(f);
	return (pid_t)inner;
}

static int map_file(const struct jit *j, struct stat *st)
{
	char path[128];
	struct stat owner;
	int fd;

	snprintf(path, sizeof path, "/proc/%d", (int)j->pid);
	if (stat(path, &owner))
		return -1;
	snprintf(path, sizeof path, "/proc/%d/root%s%d.map", (int)j->pid, "/tmp/perf-",
		 (int)own_pid(j->pid));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && st->st_uid == owner.st_uid)
		return fd;
	close(fd);
	return -1;
}

static void read_more(struct jit *j)
{
	struct stat st;
	int fd = map_file(j, &st);
	char *text = NULL;
	ssize_t n;

	if (fd >= 0 && st.st_size > j->at)
		text = malloc(READ_AT_ONCE);
	n = text ? pread(fd, text, READ_AT_ONCE, j->at) : 0;
	if (n > 0) {
		size_t took = jit_take(j, text, (size_t)n);

		/* A line that fills all of it is none. */
		j->at += took || n < READ_AT_ONCE ? (off_t)took : n;
	}
	free(text);
	if (fd >= 0)
		close(fd);
}

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

void jit_look(struct jit *j, int64_t now_ns)
{
	if (now_ns - j->looked_ns < AGAIN_MS * NS_PER_MS)
		return;
	j->looked_ns = now_ns;
	read_more(j);
	if (!j->sorted && j->n)
		qsort(j->function, j->n, sizeof *j->function, by_start);
	j->sorted = true;
}

const char *jit_name(const struct jit *j, uint64_t address, uint64_t *start)
{
	uint32_t low = 0, high = j->n;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (j->function[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || address - j->function[low - 1].start >= j->function[low - 1].size)
		return NULL;
	*start = j->function[low - 1].start;
	return j->text + j->function[low - 1].name;
}
