/* SPDX-License-Identifier: Apache-2.0 */
#include "source/gpu/nvidia_driver.h"

#include "source/procfile.h"
#include "source/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In some containers only its device file is seen, in WSL neither. */
int nvidia_driver_find(const struct source_env *env, struct err *e)
{
	bool here = strcmp(env->proc.path, "/proc") == 0;

	if (getenv("SONDE_NVML"))
		return 0;
	if (here && (access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0))
		return 0;
	if (!sysfs_exists(&env->proc, "driver/nvidia/version"))
		return err_set(e, -ENODEV, "no NVIDIA driver is loaded");
	if (!here)
		return err_set(e, -ENODEV,
			       "NVIDIA's driver is asked for this machine's /proc only");
	return 0;
}

bool nvidia_driver_shares_pids(const struct source_env *env)
{
	char target[64];
	ssize_t n = readlink("/proc/self/ns/pid", target, sizeof target - 1);

	if (strcmp(env->proc.path, "/proc") != 0)
		return true; /* a fixture's pids are what they are */
	target[n > 0 ? n : 0] = '\0';
	return strcmp(target, PID_NAMESPACE_INITIAL) == 0;
}

uint32_t nvidia_driver_boards(const struct root *proc)
{
	_Alignas(struct dirent64) char buf[4096];
	int dir = root_file(proc, "driver/nvidia/gpus");
	uint32_t boards = 0;
	ssize_t n;

	if (dir < 0)
		return 0;
	while ((n = getdents64(dir, buf, sizeof buf)) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *entry =
				(const struct dirent64 *)(const void *)(buf + at);

			boards += entry->d_name[0] != '.';
			at += entry->d_reclen;
		}
	file_close(&dir);
	return boards;
}
