/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- directories ---- */

int folder_make(const char *path, struct err *e)
{
	/* Whatever the umask is: its owner writes into it. */
	if (mkdir(path, 0700) ? errno != EEXIST : chmod(path, 0700))
		return err_set(e, -errno, "cannot make the directory %.300s: %s", path,
			       strerror(errno));
	return 0;
}

int folder_make_own(const char *path, struct err *e)
{
	int rc = folder_make(path, e), fd;

	if (rc)
		return rc;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno,
			       "%.300s is not a directory but a link or a file; remove it: %s",
			       path, strerror(errno));
	close(fd);
	return 0;
}

/* ---- files without a name ---- */

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
