/* SPDX-License-Identifier: Apache-2.0 */
#include "files/positions.h"

#include "base/text/number.h"
#include "files/names.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 64 };

void positions_add(struct positions *s, pid_t pid, bool launcher)
{
	if (s->nroots == ROOTS_MOST)
		return;
	s->launcher[s->nroots] = launcher;
	s->root[s->nroots++] = pid;
}

static void look_at_fd(struct book *b, struct book_process *p, int fd, int64_t now_ns)
{
	int64_t at = -1;
	unsigned long flags = 0;
	char path[64], line[256], name[NAME_MOST];
	struct book_fd *f = book_fd(p, fd);
	struct book_row *r;
	uint32_t row;
	FILE *in;

	if (!f || name_of_fd(p->pid, fd, name) <= 0)
		return;
	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)p->pid, fd);
	in = fopen(path, "re");
	while (in && fgets(line, sizeof line, in)) {
		const char *number = line + sizeof "pos:" - 1;

		if (!strncmp(line, "pos:", 4))
			at = number_i64(&number, &at) ? at : -1;
		else if (!strncmp(line, "flags:", 6))
			flags = strtoul(line + 6, NULL, 8);
	}
	if (in)
		fclose(in);
	row = book_row_of(b, p, name, now_ns);
	if (at < 0 || !row)
		return;
	r = book_row(b, row);
	if (f->row != row) {
		*f = (struct book_fd){ .row = row };
		r->value[FILE_OPENS]++;
		r->dirty = true;
	}
	if (at > f->at) {
		r->value[(flags & O_ACCMODE) == O_RDONLY ? FILE_READ_BYTES : FILE_WRITTEN_BYTES] +=
			at - f->at;
		r->value[FILE_SEQUENTIAL_BYTES] += at - f->at;
		r->last_ns = now_ns;
		r->dirty = true;
	}
	f->at = at;
}

static void look_at_process(struct book *b, pid_t pid, int64_t now_ns)
{
	struct book_process *p;
	struct dirent *entry;
	char path[40];
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	p = dir ? book_process(b, pid) : NULL;
	while (p && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			look_at_fd(b, p, (int)strtol(entry->d_name, NULL, 10), now_ns);
	if (dir)
		closedir(dir);
}

/* Not deeper than that: the kernel's lists may change meanwhile. */
static void look_below(struct book *b, pid_t pid, int depth, int64_t now_ns)
{
	struct dirent *entry;
	char path[512];
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = depth < DEPTH_MOST ? opendir(path) : NULL;
	while (dir && (entry = readdir(dir))) {
		char text[4096];
		const char *p = text;
		int64_t child;
		FILE *in;

		snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, entry->d_name);
		in = isdigit((unsigned char)entry->d_name[0]) ? fopen(path, "re") : NULL;
		text[in ? fread(text, 1, sizeof text - 1, in) : 0] = '\0';
		while (number_i64(&p, &child) && child > 0 && child <= INT32_MAX) {
			look_at_process(b, (pid_t)child, now_ns);
			look_below(b, (pid_t)child, depth + 1, now_ns);
		}
		if (in)
			fclose(in);
	}
	if (dir)
		closedir(dir);
}

void positions_look(struct positions *s, struct book *b, int64_t now_ns)
{
	struct book_process *p;
	uint32_t at = 0;

	for (uint32_t i = 0; i < s->nroots; i++) {
		if (!s->launcher[i])
			look_at_process(b, s->root[i], now_ns);
		look_below(b, s->root[i], 0, now_ns);
	}
	while ((p = book_next(b, &at)))
		if (kill(p->pid, 0) && errno == ESRCH) {
			book_end(b, p);
			at = 0;
		}
}
