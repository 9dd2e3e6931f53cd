/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - for tests: a made-up /proc or /sys below a directory of the test's own folder.
 */
#ifndef SONDE_TESTS_UNIT_TREE_H
#define SONDE_TESTS_UNIT_TREE_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Write a file in place, so that who has it open reads what is new; its directories are made. */
__attribute__((format(printf, 3, 4))) static inline void tree_put(const char *dir, const char *path,
								  const char *format, ...)
{
	char full[512], text[1 << 18];
	va_list args;
	int fd, n;

	snprintf(full, sizeof full, "%s/%s", dir, path);
	for (char *slash = strchr(full, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	va_start(args, format);
	n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || n < 0 || (size_t)n >= sizeof text || write(fd, text, (size_t)n) != n)
		abort();
	close(fd);
}

#endif
