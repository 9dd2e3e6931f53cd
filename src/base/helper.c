/* SPDX-License-Identifier: Apache-2.0 */
#include "base/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static bool try_below(const char *dir, const char *name, char *path, size_t size)
{
	int n = snprintf(path, size, "%s/sonde-%s", dir, name);

	return n > 0 && (size_t)n < size && is_program(path);
}

/* Where this program lies, with `below` behind it; false when that is not known. */
static bool beside_program(const char *below, char *dir, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", dir, size);
	char *slash;

	if (n <= 0 || (size_t)n >= size)
		return false;
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (!slash || (size_t)(slash - dir) + strlen(below) + 1 > size)
		return false;
	memcpy(slash, below, strlen(below) + 1);
	return true;
}

static int find(const char *name, char *path, size_t size)
{
	const char *set = getenv("SONDE_LIBEXEC");
	char dir[PATH_MAX];

	if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")])
		return -ENOENT;
	if (set && *set)
		return try_below(set, name, path, size) ? 0 : -ENOENT;
	if (beside_program("/../libexec/sonde", dir, sizeof dir) &&
	    try_below(dir, name, path, size))
		return 0;
	if (beside_program("/libexec/sonde", dir, sizeof dir) && try_below(dir, name, path, size))
		return 0;
	return try_below(SONDE_LIBEXEC, name, path, size) ? 0 : -ENOENT;
}

/* What the file `version` beside a helper says; "" when there is none. */
static void version_beside(const char *path, char *version, size_t size)
{
	char file[PATH_MAX];
	int dir = (int)(strrchr(path, '/') - path), fd;
	ssize_t n = 0;

	snprintf(file, sizeof file, "%.*s/version", dir, path);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0) {
		n = read(fd, version, size - 1);
		close(fd);
	}
	version[n > 0 ? n : 0] = '\0';
	version[strspn(version, "0123456789.abcdefghijklmnopqrstuvwxyz+~-")] = '\0';
}

int helper_find(const char *name, const char *packages, char *path, size_t size, struct err *e)
{
	char version[32];

	if (find(name, path, size))
		return err_set(e, -ENOENT, "the helper sonde-%s is not installed%s%s", name,
			       packages ? "; Sonde makes it when it is built with Debian's " : "",
			       packages ? packages : "");
	version_beside(path, version, sizeof version);
	if (!*version || !strcmp(version, SONDE_VERSION))
		return 0;
	return err_set(e, -ESTALE,
		       "the helper %s is of Sonde %s, and this is Sonde " SONDE_VERSION
		       "; install both from one release",
		       path, version);
}

int helper_exec(const char *name, char **argv, struct err *e)
{
	char path[PATH_MAX];
	int rc = helper_find(name, NULL, path, sizeof path, e);

	if (rc == -ENOENT)
		*e->text = '\0';
	if (rc)
		return rc;
	argv[0] = path;
	execv(path, argv);
	return err_set(e, -errno, "cannot start %s: %s", path, strerror(errno));
}

bool program_exists(const char *word)
{
	const char *dir = getenv("PATH");
	char path[PATH_MAX];

	if (!*word)
		return false;
	if (strchr(word, '/'))
		return is_program(word);
	while (dir && *dir) {
		size_t len = strcspn(dir, ":");
		int n = snprintf(path, sizeof path, "%.*s/%s", (int)(len ? len : 1),
				 len ? dir : ".", word);

		if (n > 0 && (size_t)n < sizeof path && is_program(path))
			return true;
		dir += len + (dir[len] == ':');
	}
	return false;
}
