/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/space.h"

#include "unwind/names.h"
#include "unwind/python.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HASH = 1 << 14 };

int pids_make(struct pids *p, uint32_t most)
{
	*p = (struct pids){ .row = calloc(most + 1u, sizeof *p->row),
			    .first = calloc(HASH, sizeof *p->first),
			    .most = most };
	if (p->row && p->first)
		return 0;
	pids_free(p);
	return -ENOMEM;
}

void pids_free(struct pids *p)
{
	free(p->row);
	free(p->first);
	*p = (struct pids){ 0 };
}

static uint32_t *pids_chain(struct pids *p, pid_t pid)
{
	return &p->first[(uint32_t)pid % HASH];
}

uint32_t pids_get(struct pids *p, pid_t pid, bool *fresh)
{
	uint32_t *chain = pids_chain(p, pid), i = *chain;

	while (i && p->row[i].pid != pid)
		i = p->row[i].next;
	*fresh = !i;
	if (i)
		return i;
	i = p->spare;
	if (i)
		p->spare = p->row[i].next;
	else if (p->n < p->most)
		i = ++p->n;
	else
		return 0;
	p->row[i] = (struct pid_row){ pid, *chain };
	*chain = i;
	return i;
}

void pids_drop(struct pids *p, uint32_t row)
{
	uint32_t *link = pids_chain(p, p->row[row].pid);

	while (*link != row)
		link = &p->row[*link].next;
	*link = p->row[row].next;
	p->row[row] = (struct pid_row){ 0, p->spare };
	p->spare = row;
}

bool pids_threads(const struct root *proc, pid_t pid, bool (*take)(void *of, pid_t tid), void *of)
{
	char path[32];
	struct dirent *entry;
	bool more = true;
	DIR *dir;
	int fd;

	snprintf(path, sizeof path, "%d/task", (int)pid);
	fd = root_file(proc, path);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir && fd >= 0)
		close(fd);
	while (more && dir && (entry = readdir(dir))) {
		long tid = strtol(entry->d_name, NULL, 10);

		if (tid > 0 && tid < INT32_MAX)
			more = take(of, (pid_t)tid);
	}
	if (dir)
		closedir(dir);
	return more;
}

enum { NEAR = 32 };

static uint32_t *chain_of(struct spaces *s, pid_t pid)
{
	return &s->first[(uint32_t)pid % SPACES_MAX];
}

static struct space *find(struct spaces *s, pid_t pid)
{
	for (uint32_t i = *chain_of(s, pid); i; i = s->row[i].next)
		if (s->row[i].pid == pid)
			return &s->row[i];
	return NULL;
}

static void forget_mappings(struct space *x)
{
	free(x->map);
	jit_free(x->jit);
	python_free(x->python);
	x->map = NULL;
	x->jit = NULL;
	x->python = NULL;
	x->searched = 0;
	x->n = x->cap = 0;
	x->known = x->makes_code = false;
}

static void leave(struct spaces *s, struct space *x)
{
	uint32_t *at = chain_of(s, x->pid), me = (uint32_t)(x - s->row);

	while (*at && *at != me)
		at = &s->row[*at].next;
	if (*at)
		*at = x->next;
	forget_mappings(x);
	memset(x, 0, sizeof *x);
}

/* Of so many rows from the hand on: a free one; else one that has ended, else any: that which was
 * used the longest ago. */
static struct space *oldest_of(struct spaces *s, uint32_t rows)
{
	struct space *oldest = NULL;

	for (uint32_t i = 0; i < rows; i++) {
		struct space *x = &s->row[1 + (s->hand + i) % SPACES_MAX];

		if (!x->pid)
			return x;
		if (!oldest || (x->ended && !oldest->ended) ||
		    (x->ended == oldest->ended && x->used < oldest->used))
			oldest = x;
	}
	return oldest;
}

/* Near the hand, mostly: of many short processes each would go through all rows. */
static struct space *make_room(struct spaces *s)
{
	struct space *x = oldest_of(s, NEAR);

	if (x->pid && !x->ended)
		x = oldest_of(s, SPACES_MAX);
	if (x->pid)
		leave(s, x);
	s->hand = (uint32_t)(x - s->row) % SPACES_MAX;
	return x;
}

struct space *spaces_get(struct spaces *s, pid_t pid)
{
	struct space *x = find(s, pid);

	if (!x) {
		x = make_room(s);
		x->pid = pid;
		x->next = *chain_of(s, pid);
		*chain_of(s, pid) = (uint32_t)(x - s->row);
	}
	x->used = ++s->turn;
	return x;
}

void spaces_fork(struct spaces *s, pid_t pid, pid_t parent)
{
	struct space *from = find(s, parent), *x = spaces_get(s, pid);

	forget_mappings(x);
	x->ended = false;
	x->group = 0;
	memset(x->command, 0, sizeof x->command);
	if (!from || from == x)
		return;
	memcpy(x->command, from->command, sizeof x->command);
	if (!from->known || !from->n)
		return;
	x->map = malloc(from->n * sizeof *x->map);
	if (!x->map)
		return;
	memcpy(x->map, from->map, from->n * sizeof *x->map);
	x->n = x->cap = from->n;
	x->known = true;
	x->makes_code = from->makes_code;
}

void space_forget(struct space *x)
{
	forget_mappings(x);
	memset(x->command, 0, sizeof x->command);
}

void spaces_exec(struct spaces *s, pid_t pid)
{
	struct space *x = spaces_get(s, pid);

	forget_mappings(x);
	x->known = true; /* records of all that is mapped follow */
	x->ended = false;
}

void spaces_end(struct spaces *s, pid_t pid)
{
	uint32_t at = s->nended++ % SPACES_ENDED;
	struct space *x = find(s, s->ended[at].pid);

	if (x && x->ended && x->used == s->ended[at].used)
		forget_mappings(x);
	x = spaces_get(s, pid);
	x->ended = true;
	s->ended[at].pid = pid;
	s->ended[at].used = x->used;
}

static uint32_t first_after(const struct space *x, uint64_t at)
{
	uint32_t low = 0, high = x->n;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (x->map[mid].end > at)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Room for two more: a new one may lie in the middle of an old one. */
static bool grow(struct space *x)
{
	uint32_t cap = x->cap < 32 ? 32 : 2 * x->cap;
	struct mapping *map;

	if (x->n + 2 <= x->cap)
		return true;
	if (cap > MAPPINGS_MAX)
		return false;
	map = reallocarray(x->map, cap, sizeof *map);
	if (!map)
		return false;
	x->map = map;
	x->cap = cap;
	return true;
}

/* What it covers of others is theirs no longer. */
static void put(struct space *x, const struct mapping *m)
{
	uint32_t i = first_after(x, m->start), last;

	if (m->end <= m->start || !grow(x))
		return;
	if (i < x->n && x->map[i].start < m->start) {
		struct mapping rest = x->map[i];

		x->map[i].end = m->start;
		i++;
		if (rest.end > m->end) {
			rest.offset += m->end - rest.start;
			rest.start = m->end;
			memmove(x->map + i + 1, x->map + i, (x->n - i) * sizeof *x->map);
			x->map[i] = rest;
			x->n++;
		}
	}
	for (last = i; last < x->n && x->map[last].end <= m->end; last++)
		;
	if (last < x->n && x->map[last].start < m->end) {
		x->map[last].offset += m->end - x->map[last].start;
		x->map[last].start = m->end;
	}
	memmove(x->map + i + 1, x->map + last, (x->n - last) * sizeof *x->map);
	x->map[i] = *m;
	x->n = x->n - (last - i) + 1;
}

/* Memory that is shared without a file has a name all the same. */
static bool is_memory(const char *path)
{
	return !strncmp(path, "/dev/zero", 9) || !strncmp(path, "/memfd:", 7) ||
	       !strncmp(path, "/SYSV", 5) || path[0] != '/' || path[1] == '/';
}

/* Which module a mapping of this name is of. */
static uint32_t module_of(struct spaces *s, const struct module_seen *seen)
{
	uint32_t i;

	if (!strcmp(seen->path, "[vdso]"))
		return MODULE_VDSO;
	if (!is_memory(seen->path) && seen->inode) {
		i = modules_find(s->modules, seen);
		return s->modules->row[i].image && !s->modules->row[i].usable ? MODULE_JIT : i;
	}
	if (!strcmp(seen->path, "[vsyscall]") || !strcmp(seen->path, "[uprobes]"))
		return MODULE_NONE;
	return MODULE_JIT;
}

void spaces_map(struct spaces *s, struct space *x, const struct module_seen *seen)
{
	struct mapping m = { seen->start, seen->end, seen->offset, module_of(s, seen) };

	x->makes_code |= m.module == MODULE_JIT;
	put(x, &m);
}

/* One line of /proc/PID/maps, whose end is cut off. False: it is not of code. */
static bool line_parse(char *line, struct module_seen *seen)
{
	char rights[5], *stop = strchr(line, '\n');

	if (stop)
		*stop = '\0';
	stop = strstr(line, " (deleted)");
	if (stop && !stop[10])
		*stop = '\0';
	return module_seen_parse(seen, rights, line) && rights[2] == 'x';
}

void spaces_learn(struct spaces *s, struct space *x, int64_t now_ns)
{
	struct module_seen seen = { .pid = x->pid, .now_ns = now_ns };
	char path[64], line[PATH_MAX + 128];
	FILE *f;
	int fd;

	x->known = true;
	x->learnt_ns = now_ns;
	snprintf(path, sizeof path, "/proc/%d/maps", (int)x->pid);
	f = fopen(path, "re");
	while (f && x->n < MAPPINGS_MAX && fgets(line, sizeof line, f))
		if (line_parse(line, &seen))
			spaces_map(s, x, &seen);
	if (f)
		fclose(f);
	if (x->command[0])
		return;
	snprintf(path, sizeof path, "/proc/%d/comm", (int)x->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		ssize_t n = read(fd, x->command, sizeof x->command - 1);

		x->command[n > 0 ? n : 0] = '\0';
		x->command[strcspn(x->command, "\n")] = '\0';
		close(fd);
	}
}

const struct mapping *space_find(const struct space *x, uint64_t pc)
{
	uint32_t i = first_after(x, pc);

	return i < x->n && x->map[i].start <= pc ? &x->map[i] : NULL;
}
