/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/opened.h"

#include "base/text/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

const char *opened_how(const struct root *proc, pid_t pid, uint64_t fd)
{
	char path[48], text[512];
	const char *at;
	unsigned long flags;
	ssize_t n;

	snprintf(path, sizeof path, "%d/fdinfo/%llu", (int)pid, (unsigned long long)fd);
	n = root_read(proc, path, text, sizeof text);
	at = n > 0 || n == -EFBIG ? number_find_line(text, "flags:") : NULL;
	if (!at)
		return NULL;
	flags = strtoul(at, NULL, 8);
	return flags & O_DIRECT ? "O_DIRECT" : flags & O_DSYNC ? "O_SYNC" : NULL;
}
