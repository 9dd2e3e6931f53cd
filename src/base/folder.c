/* SPDX-License-Identifier: Apache-2.0 */
#include "base/folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int folder_make(const char *path, struct err *e)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return err_set(e, -errno, "cannot make the directory %.300s: %s", path,
			       strerror(errno));
	return 0;
}
