/* SPDX-License-Identifier: Apache-2.0 */
/* What a GPU's driver tells of a client of process 7, twice. */
#include "tree_fuzz.h"

extern const struct source source_drm;

static const char *const paths[] = { "proc/7/fdinfo/3",
				     "proc/7/fdinfo/4",
				     "proc/7/comm",
				     "sys/class/drm/renderD128/device/uevent",
				     "sys/class/drm/renderD128/device/drm/card1/dev",
				     NULL };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tree_fuzz_make_directories("proc/7/fd/x");
	unlink("proc/7/fd/3");
	unlink("proc/7/fd/4");
	if (symlink("/dev/dri/renderD128", "proc/7/fd/3") < 0 ||
	    symlink("/dev/dri/card1", "proc/7/fd/4") < 0)
		abort();
	return tree_fuzz(&source_drm, paths, data, size);
}
