/* SPDX-License-Identifier: Apache-2.0 */
#include "base/unnamed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int unnamed_open(const char *directory)
{
	char path[PATH_MAX];
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && snprintf(path, sizeof path, "%s/.sonde-XXXXXX", directory) < PATH_MAX) {
		fd = mkostemp(path, O_CLOEXEC); /* network file systems know no O_TMPFILE */
		if (fd >= 0)
			unlink(path);
	}
	return fd < 0 ? -errno : fd;
}

int unnamed_memory(const char *name)
{
	static const char *const places[] = { "/dev/shm", "/tmp", "/var/tmp" };
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	fd = fd < 0 ? -errno : fd;
	for (size_t i = 0; fd == -ENOSYS && i < sizeof places / sizeof places[0]; i++) {
		int other = unnamed_open(places[i]);

		fd = other < 0 ? fd : other;
	}
	return fd;
}
