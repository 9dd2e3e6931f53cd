/* SPDX-License-Identifier: Apache-2.0 */
#include "files/book.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BUCKETS = 1 << 14,
	PROCESSES = 1 << 14,
	SENT_LEFT = 2048,
	LARGE = 1 << 20,
	LARGE_MOST = 4096,
	OF_INODE = '\1', /* begins what is no path */
};

struct book {
	struct book_row row[BOOK_ROWS + 1]; /* from 1 */
	uint32_t bucket[BUCKETS], free_row, nrows, numbers, leaving;
	struct book_process *process[PROCESSES];
	uint32_t nprocesses;
};

struct book *book_new(void)
{
	return calloc(1, sizeof(struct book));
}

/* ---- processes ---- */

static struct book_process **seat_of(struct book *b, pid_t pid)
{
	uint32_t at = (uint32_t)pid * 2654435761u % PROCESSES;

	while (b->process[at] && b->process[at]->pid != pid)
		at = (at + 1) % PROCESSES;
	return &b->process[at];
}

struct book_process *book_find(struct book *b, pid_t pid)
{
	return *seat_of(b, pid);
}

static void read_comm(struct book_process *p)
{
	char path[40];
	FILE *in;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)p->pid);
	in = fopen(path, "re");
	if (in && fgets(p->comm, sizeof p->comm, in))
		p->comm[strcspn(p->comm, "\n")] = '\0';
	if (in)
		fclose(in);
}

struct book_process *book_process(struct book *b, pid_t pid)
{
	struct book_process **seat = seat_of(b, pid), *p = *seat;

	if (p || b->nprocesses >= PROCESSES / 2)
		return p;
	p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->pid = pid;
	p->threads = 1;
	read_comm(p);
	b->nprocesses++;
	*seat = p;
	return p;
}

struct book_process *book_next(struct book *b, uint32_t *at)
{
	while (*at < PROCESSES)
		if (b->process[(*at)++])
			return b->process[*at - 1];
	return NULL;
}

struct book_fd *book_fd(struct book_process *p, int fd)
{
	uint32_t n = (uint32_t)fd, cap = p->nfds ? p->nfds : 64;
	struct book_fd *more;

	if (fd < 0 || fd >= FD_MOST)
		return NULL;
	if (n < p->nfds)
		return &p->fd[n];
	while (cap <= n)
		cap *= 2;
	more = realloc(p->fd, cap * sizeof *more);
	if (!more)
		return NULL;
	memset(more + p->nfds, 0, (cap - p->nfds) * sizeof *more);
	p->fd = more;
	p->nfds = cap;
	return &p->fd[n];
}

void book_fd_settle(struct book_fd *f)
{
	free(f->early);
	f->early = NULL;
	f->guessed = false;
}

void book_fd_set(struct book_fd *f, struct book_fd to)
{
	free(f->early);
	*f = to;
}

void book_path_of_inode(uint64_t device, uint64_t inode, char out[4096])
{
	snprintf(out, 4096, "%c%llx:%llx", OF_INODE, (unsigned long long)device,
		 (unsigned long long)inode);
}

bool book_inode_of_path(const char *path, uint64_t *device, uint64_t *inode)
{
	char *end;

	if (*path != OF_INODE)
		return false;
	*device = strtoull(path + 1, &end, 16);
	*inode = *end ? strtoull(end + 1, NULL, 16) : 0;
	return true;
}

void book_fork(struct book *b, pid_t parent, pid_t child)
{
	struct book_process *from = book_find(b, parent), *p;

	if (book_find(b, child))
		book_end(b, book_find(b, child));
	p = book_process(b, child);
	if (!p || !from)
		return;
	memcpy(p->comm, from->comm, sizeof p->comm);
	memcpy(p->cwd, from->cwd, sizeof p->cwd);
	if (!from->nfds || !book_fd(p, (int)from->nfds - 1))
		return;
	memcpy(p->fd, from->fd, from->nfds * sizeof *p->fd);
	for (uint32_t i = 0; i < from->nfds; i++) {
		p->fd[i].early = NULL;
		p->fd[i].opened = false;
	}
}

/* Those behind it move up. */
static void leave_seat(struct book *b, uint32_t at)
{
	uint32_t next = (at + 1) % PROCESSES;

	b->process[at] = NULL;
	for (; b->process[next]; next = (next + 1) % PROCESSES) {
		struct book_process *p = b->process[next];

		b->process[next] = NULL;
		*seat_of(b, p->pid) = p;
	}
}

void book_end(struct book *b, struct book_process *p)
{
	for (uint32_t i = 1; i <= BOOK_ROWS; i++)
		if (b->row[i].path && b->row[i].pid == p->pid)
			b->row[i].over = b->row[i].dirty = true;
	leave_seat(b, (uint32_t)(seat_of(b, p->pid) - b->process));
	b->nprocesses--;
	for (uint32_t i = 0; i < p->nfds; i++)
		free(p->fd[i].early);
	free(p->fd);
	free(p);
}

void book_free(struct book *b)
{
	for (uint32_t at = 0; b && at < PROCESSES; at++)
		while (b->process[at])
			book_end(b, b->process[at]);
	for (uint32_t i = 1; b && i <= BOOK_ROWS; i++)
		free(b->row[i].path);
	free(b);
}

/* ---- rows ---- */

struct book_row *book_row(struct book *b, uint32_t row)
{
	return &b->row[row];
}

static uint32_t bucket_of(pid_t pid, const char *path)
{
	return (uint32_t)(hash_text((uint64_t)pid, path) % BUCKETS);
}

static void unlink_row(struct book *b, uint32_t i)
{
	uint32_t *at = &b->bucket[bucket_of(b->row[i].pid, b->row[i].path)];

	while (*at && *at != i)
		at = &b->row[*at].next;
	if (*at)
		*at = b->row[i].next;
	free(b->row[i].path);
	b->row[i] = (struct book_row){ .next = b->free_row };
	b->free_row = i;
	b->nrows--;
}

static uint32_t find_row(struct book *b, pid_t pid, const char *path)
{
	uint32_t i = b->bucket[bucket_of(pid, path)];

	while (i && (b->row[i].pid != pid || b->row[i].over || strcmp(b->row[i].path, path) != 0))
		i = b->row[i].next;
	return i;
}

static uint32_t make_row(struct book *b, const struct book_process *p, const char *path,
			 int64_t now_ns)
{
	uint32_t i = b->free_row, *bucket = &b->bucket[bucket_of(p ? p->pid : 0, path)];
	char *copy = strdup(path);

	if (!i && b->nrows < BOOK_ROWS)
		i = b->nrows + 1;
	else if (i)
		b->free_row = b->row[i].next;
	if (!i || !copy) {
		free(copy);
		return 0;
	}
	b->nrows++;
	b->row[i] = (struct book_row){ .path = copy,
				       .pid = p ? p->pid : 0,
				       .first_ns = now_ns,
				       .last_ns = now_ns,
				       .next = *bucket };
	if (p)
		memcpy(b->row[i].comm, p->comm, sizeof p->comm);
	*bucket = i;
	return i;
}

/* ---- folding ---- */

static void others_of(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) : 0;

	snprintf(out, size, "%.*s/*", n > 4000 ? 4000 : n, path);
}

static bool is_others(const char *path)
{
	size_t n = strlen(path);

	return n >= 2 && !strcmp(path + n - 2, "/*");
}

static void add_up(struct book_row *to, const struct book_row *from)
{
	for (int i = 0; i < FILE_SIZE; i++)
		to->value[i] += from->value[i];
	to->value[FILE_FOLDED] += from->value[FILE_FOLDED] ? 0 : 1;
	if (from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	to->dirty = true;
}

/* Of many directories all. */
static uint32_t row_of_others(struct book *b, const char *path, int64_t now_ns)
{
	char others[4200];
	uint32_t i;

	others_of(path, others, sizeof others);
	i = find_row(b, 0, others);
	if (!i && b->nrows < BOOK_ROWS - 1)
		i = make_row(b, NULL, others, now_ns);
	if (!i)
		i = find_row(b, 0, "/*");
	if (!i)
		i = make_row(b, NULL, "/*", now_ns);
	return i;
}

static double weight_of(const struct book_row *r)
{
	return (double)r->value[FILE_READ_BYTES] + (double)r->value[FILE_WRITTEN_BYTES] +
	       (double)r->value[FILE_MAPPED_BYTES] / 16 + /* some of it is used */
	       4096.0 * (double)(r->value[FILE_OPENS] + r->value[FILE_STATS] +
				 r->value[FILE_NOT_FOUND] + r->value[FILE_READS] +
				 r->value[FILE_WRITES]);
}

static int by_weight(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static bool may_fold(const struct book_row *r)
{
	return r->path && r->pid && !r->number && !is_others(r->path);
}

static void leave(struct book *b, uint32_t row, uint32_t heir)
{
	b->leaving++;
	b->row[row].leaves = true;
	b->row[row].heir = heir;
}

/* All rows that leave, at once: their descriptors are looked for among those of all processes. */
static void sweep(struct book *b)
{
	if (!b->leaving)
		return;
	b->leaving = 0;
	for (uint32_t at = 0; at < PROCESSES; at++)
		for (uint32_t i = 0; b->process[at] && i < b->process[at]->nfds; i++) {
			uint32_t *row = &b->process[at]->fd[i].row;

			if (*row != FD_UNKNOWN && *row != FD_NO_FILE && b->row[*row].leaves)
				*row = b->row[*row].heir;
		}
	for (uint32_t i = 1; i <= BOOK_ROWS; i++)
		if (b->row[i].leaves)
			unlink_row(b, i);
}

/* Half of what may be folded, that of least use. */
static void fold(struct book *b, int64_t now_ns)
{
	static double weight[BOOK_ROWS];
	double limit;
	size_t n = 0;

	for (uint32_t i = 1; i <= BOOK_ROWS; i++)
		if (may_fold(&b->row[i]))
			weight[n++] = weight_of(&b->row[i]);
	if (!n)
		return;
	qsort(weight, n, sizeof *weight, by_weight);
	limit = weight[n / 2];
	for (uint32_t i = 1; i <= BOOK_ROWS; i++) {
		uint32_t to;

		if (!may_fold(&b->row[i]) || weight_of(&b->row[i]) > limit)
			continue;
		to = row_of_others(b, b->row[i].path, now_ns);
		if (!to || to == i)
			continue;
		add_up(&b->row[to], &b->row[i]);
		leave(b, i, to);
	}
	sweep(b);
}

uint32_t book_row_of(struct book *b, const struct book_process *p, const char *path, int64_t now_ns)
{
	uint32_t i = find_row(b, p ? p->pid : 0, path);

	if (i)
		return i;
	if (b->nrows >= BOOK_ROWS - 512)
		fold(b, now_ns);
	if (b->nrows < BOOK_ROWS - 256)
		i = make_row(b, p, path, now_ns);
	return i ? i : row_of_others(b, path, now_ns);
}

uint32_t book_row_for(struct book *b, const struct book_process *p, uint32_t row, int64_t now_ns)
{
	const struct book_row *r = &b->row[row];
	char path[4200];

	if (!r->path || r->pid == p->pid || !r->pid)
		return row;
	snprintf(path, sizeof path, "%s", r->path);
	return book_row_of(b, p, path, now_ns);
}

/* ---- sending ---- */

/* Of the last numbers only what is of the node. */
static bool take_number(struct book *b, struct book_row *r)
{
	if (r->number)
		return true;
	if (b->numbers >= (uint32_t)FILES_ROWS - (r->pid ? SENT_LEFT : 1))
		return false;
	r->number = ++b->numbers;
	return true;
}

/* Large ones are sent again and again, so that a recorder that is killed has them. */
static bool is_due(const struct book *b, const struct book_row *r, enum book_rows which)
{
	if (!r->path || !r->dirty)
		return false;
	if (which == BOOK_LARGE && weight_of(r) >= LARGE && (r->number || b->numbers < LARGE_MOST))
		return true;
	return which == BOOK_ALL || r->over;
}

/* One for which there is no number is summed up with others of its directory. */
static void sum_up(struct book *b, uint32_t row)
{
	uint32_t other = row_of_others(b, b->row[row].path, b->row[row].first_ns);

	b->row[row].dirty = false;
	if (!other || other == row)
		return;
	add_up(&b->row[other], &b->row[row]);
	leave(b, row, other);
}

bool book_send(struct book *b, enum book_rows which,
	       bool (*send)(void *to, const struct book_row *r), void *to)
{
	bool all = true;

	/* Those that others are summed up in are of the node, and come last. */
	for (int of_node = 0; of_node < 2; of_node++)
		for (uint32_t i = 1; i <= BOOK_ROWS && all; i++) {
			struct book_row *r = &b->row[i];

			if (r->leaves || (r->pid == 0) != of_node || !is_due(b, r, which))
				continue;
			if (!take_number(b, r)) {
				sum_up(b, i);
				continue;
			}
			all = send(to, r);
			r->dirty = !all;
			if (all && r->over)
				leave(b, i, FD_UNKNOWN);
		}
	sweep(b);
	return all;
}
