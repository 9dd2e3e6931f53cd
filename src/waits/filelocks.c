/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/filelocks.h"

#include "base/text/number.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct lock {
	uint64_t number, inode;
	int64_t pid;
	bool waits;
};

static const char *skip_word(const char *p)
{
	p = number_skip_blanks(p);
	p += strcspn(p, " \t\n");
	return number_skip_blanks(p);
}

/* "08:01:345": two numbers in base 16 and one in base 10. */
static bool inode_of(const char *p, uint64_t *out)
{
	const char *end = p + strcspn(p, " \t\n"), *last = end;

	while (last > p && last[-1] != ':')
		last--;
	return last > p && number_u64(&last, out) && last == end;
}

static bool parse(const char *line, struct lock *l)
{
	const char *p = line;

	if (!number_u64(&p, &l->number) || *p != ':')
		return false;
	p = number_skip_blanks(p + 1);
	l->waits = !strncmp(p, "->", 2);
	if (l->waits)
		p = number_skip_blanks(p + 2);
	p = skip_word(skip_word(skip_word(p))); /* FLOCK ADVISORY WRITE */
	if (!number_i64(&p, &l->pid))
		return false;
	return inode_of(number_skip_blanks(p), &l->inode);
}

size_t filelocks_holders(const char *locks, pid_t waiter, uint64_t inode, pid_t *pids, size_t most)
{
	struct lock l, held = { 0 };
	bool known = false;
	size_t n = 0;

	for (const char *p = locks; *p; p = number_next_line(p)) {
		if (!parse(p, &l))
			continue;
		if (!l.waits) {
			held = l;
			known = true;
			continue;
		}
		if (!known || l.number != held.number || (inode && l.inode != inode) ||
		    (l.pid != waiter && l.pid > 0) || (l.pid <= 0 && !inode))
			continue;
		for (size_t i = 0; i < n; i++)
			if (pids[i] == (pid_t)held.pid)
				l.waits = false;
		if (l.waits && n < most)
			pids[n++] = (pid_t)held.pid;
	}
	return n;
}
