/* SPDX-License-Identifier: Apache-2.0 */
/* gpfs.c - IBM Storage Scale (GPFS): it tells users nothing, so this only says so where it is
 * mounted. The figures come from mmpmon, which root alone may run. */
#include "source/kept.h"
#include "source/source.h"

#include <errno.h>
#include <string.h>

static int gpfs_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct kept mountinfo;
	bool mounted;
	int r = kept_open(&mountinfo, &env->proc, "self/mountinfo", 0, e);

	(void)state, (void)s;
	if (r < 0)
		return r;
	mounted = strstr(mountinfo.text, " - gpfs ");
	kept_close(&mountinfo);
	if (mounted)
		return err_set(
			e, -EACCES,
			"GPFS is mounted, but only root may ask for its statistics (mmpmon)");
	return err_set(e, -ENODEV, "%s/self/mountinfo: no GPFS is mounted", env->proc.path);
}

const struct source source_gpfs = {
	.name = "gpfs",
	.what = "GPFS file systems: users may not read their figures",
	.fixes = source_not_mounted,
	.fix_admin = "run mmpmon for users, with its counters of the node",
	.can_wait = source_can_wait,
	.open = gpfs_open,
};
