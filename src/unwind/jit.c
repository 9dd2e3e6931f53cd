/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/jit.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "source/program/stacks_page.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
