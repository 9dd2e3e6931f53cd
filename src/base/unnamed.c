/* SPDX-License-Identifier: Apache-2.0 */
#include "base/unnamed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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
