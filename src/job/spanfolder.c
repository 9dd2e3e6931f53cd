/* SPDX-License-Identifier: Apache-2.0 */
#include "job/spanfolder.h"

#include "base/root.h"
#include "core/ring.h"
#include "job/leftover.h"

#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool make_in(struct span_folder *f, const char *where)
{
	f->fd = leftover_folder(where, "sonde-spans", f->path, sizeof f->path);
	return f->fd >= 0;
}

static bool is_in_memory(const char *where)
{
	struct statfs fs;

	return !statfs(where, &fs) && fs.f_type == TMPFS_MAGIC;
}

/* The job's own place first: whoever cleans up behind jobs knows it. */
void span_folder_make(struct span_folder *f)
{
	const char *told = getenv("TMPDIR"), *where = told && told[0] == '/' ? told : "/tmp";

	if ((is_in_memory(where) && make_in(f, where)) || make_in(f, "/dev/shm") ||
	    make_in(f, where)) {
		span_folder_export(f);
		return;
	}
	f->path[0] = '\0';
	f->fd = -1;
	span_folder_export(f);
}

void span_folder_export(const struct span_folder *f)
{
	if (f->path[0])
		setenv(RING_FOLDER_VARIABLE, f->path, 1);
	else
		unsetenv(RING_FOLDER_VARIABLE);
}

void span_folder_close(struct span_folder *f)
{
	file_close(&f->fd);
	f->path[0] = '\0';
	span_folder_export(f);
}

void span_folder_remove(struct span_folder *f)
{
	if (f->path[0])
		leftover_remove(f->path);
	span_folder_close(f);
}
