/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/pids.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

static uint32_t *chain_of(struct pids *p, pid_t pid)
{
	return &p->first[(uint32_t)pid % HASH];
}

uint32_t pids_get(struct pids *p, pid_t pid, bool *fresh)
{
	uint32_t *chain = chain_of(p, pid), i = *chain;

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
	uint32_t *link = chain_of(p, p->row[row].pid);

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
