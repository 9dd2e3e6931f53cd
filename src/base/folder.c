/* SPDX-License-Identifier: Apache-2.0 */
#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int folder_make(const char *path, struct err *e)
{
	if (mkdir(path, 0700) && errno != EEXIST)
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
