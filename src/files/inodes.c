/* SPDX-License-Identifier: Apache-2.0 */
#include "files/inodes.h"

#include "base/clock.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	SEATS = 1 << 16,
	NEAR = 8,
	DIRECTORIES = 1024,
	BELOW = 2,            /* directories in one that was seen are read, too: Python's caches */
	LOOKS_NS = 200000000, /* that looking may take, and a tenth of the time */
	TICK_NS = 20000000,
	DEEP = 4,
	ENTRIES_MOST = 20000,
	PATH_BYTES = 4096
};

struct seat {
	uint64_t device, inode;
	char *path; /* NULL: free */
};

struct directory {
	char *path;          /* "/a/b/"; NULL: free */
	int64_t modified_ns; /* when it was read; 0: never */
	int below;           /* one that the job was seen to use */
};

struct inodes {
	struct seat seat[SEATS];
	struct directory directory[DIRECTORIES]; /* those that were seen last */
	uint32_t ndirectories, turn;
	int64_t since_ns, looks_ns; /* how long it has looked through them */
};

struct inodes *inodes_new(void)
{
	struct inodes *s = calloc(1, sizeof *s);

	if (s)
		s->since_ns = clock_mono_ns();
	return s;
}

void inodes_free(struct inodes *s)
{
	for (uint32_t i = 0; s && i < SEATS; i++)
		free(s->seat[i].path);
	for (uint32_t i = 0; s && i < DIRECTORIES; i++)
		free(s->directory[i].path);
	free(s);
}

bool inode_is(const char *path, uint64_t device, uint64_t inode)
{
	struct stat st;

	return *path == '/' && !stat(path, &st) && st.st_ino == inode && st.st_dev == device;
}

static size_t seats_of(uint64_t device, uint64_t inode)
{
	uint64_t h = (inode * 0x9e3779b97f4a7c15u ^ device * 0xc2b2ae3d27d4eb4fu) >> 40;

	return h % (SEATS / NEAR) * NEAR;
}

/* What is below one of the system's large directories is not looked through. */
static bool is_deep(const char *path)
{
	int slashes = 0;

	for (const char *c = path; *c; c++)
		slashes += *c == '/';
	return slashes >= DEEP;
}

static bool is_of_kernel(const char *path)
{
	return !strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5) ||
	       !strncmp(path, "/dev/", 5);
}

static void remember_directory(struct inodes *s, const char *path, int below)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) + 1 : 0;
	struct directory *d = &s->directory[s->ndirectories % DIRECTORIES];

	for (uint32_t i = 0; i < DIRECTORIES && s->directory[i].path; i++)
		if (!strncmp(s->directory[i].path, path, n) && !s->directory[i].path[n])
			return;
	if (!n || is_of_kernel(path) || (below && d->path)) /* those do not drive out others */
		return;
	free(d->path);
	*d = (struct directory){ strndup(path, n), 0, below };
	s->ndirectories += d->path != NULL;
}

static void learn(struct inodes *s, uint64_t device, uint64_t inode, const char *path)
{
	struct seat *set = &s->seat[seats_of(device, inode)], *to = NULL;
	char *copy;

	for (int i = 0; i < NEAR && !to; i++) {
		if (set[i].path && set[i].inode == inode && set[i].device == device)
			to = &set[i];
	}
	if (to && !strcmp(to->path, path))
		return;
	for (int i = 0; i < NEAR && !to; i++)
		to = set[i].path ? NULL : &set[i];
	to = to ? to : &set[s->turn++ % NEAR];
	copy = strdup(path);
	if (!copy)
		return;
	free(to->path);
	*to = (struct seat){ device, inode, copy };
}

/* And the one above. */
static void remember_directories(struct inodes *s, const char *path)
{
	char above[PATH_BYTES];
	int n = snprintf(above, sizeof above, "%s", path);

	remember_directory(s, path, 0);
	while (n > 0 && n < PATH_BYTES && above[n] != '/')
		n--;
	above[n < PATH_BYTES ? n : 0] = '\0';
	if (is_deep(above))
		remember_directory(s, above, 0);
}

void inodes_learn(struct inodes *s, uint64_t device, uint64_t inode, const char *path)
{
	if (*path != '/' || !inode)
		return;
	remember_directories(s, path);
	learn(s, device, inode, path);
}

void inodes_near(struct inodes *s, const char *path)
{
	if (*path == '/')
		remember_directories(s, path);
}

bool inode_beside(const char *path, uint64_t device, uint64_t inode, char *out, size_t size)
{
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) + 1 : 0, left = ENTRIES_MOST;
	char directory[PATH_BYTES];
	struct dirent *entry = NULL;
	bool is = false;
	DIR *dir;

	snprintf(directory, sizeof directory, "%.*s", n, path);
	dir = n ? opendir(directory) : NULL;
	while (dir && left-- && (entry = readdir(dir)) && entry->d_ino != inode)
		;
	if (left > 0 && entry && (size_t)n + strlen(entry->d_name) < size) {
		snprintf(out, size, "%.*s%s", n, path, entry->d_name);
		is = inode_is(out, device, inode);
	}
	if (dir)
		closedir(dir);
	return is;
}

bool inodes_known(const struct inodes *s, uint64_t device, uint64_t inode, char *out, size_t size)
{
	const struct seat *set = &s->seat[seats_of(device, inode)];

	for (int i = 0; i < NEAR; i++)
		if (set[i].path && set[i].inode == inode && set[i].device == device &&
		    strlen(set[i].path) < size && inode_is(set[i].path, device, inode)) {
			snprintf(out, size, "%s", set[i].path);
			return true;
		}
	return false;
}

/* What is in a directory, unless it is as it was. */
static void read_directory(struct inodes *s, uint32_t i)
{
	struct directory *d = &s->directory[i];
	char path[PATH_BYTES];
	struct dirent *entry;
	struct stat st;
	int left = ENTRIES_MOST;
	int64_t modified_ns;
	DIR *dir;

	if (stat(d->path, &st))
		return;
	modified_ns = st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
	if (d->modified_ns == modified_ns)
		return;
	/* One that was changed just now may change once more at the same time. */
	d->modified_ns = clock_utc_ns() - modified_ns < TICK_NS ? 1 : modified_ns;
	dir = opendir(d->path);
	while (dir && left-- && (entry = readdir(dir))) {
		int n = snprintf(path, sizeof path, "%s%s", d->path, entry->d_name);

		if (entry->d_name[0] != '.' && n + 2 < PATH_BYTES)
			learn(s, st.st_dev, entry->d_ino, path);
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' || n + 2 > PATH_BYTES ||
		    d->below == BELOW || !is_deep(d->path))
			continue;
		path[n] = '/';
		path[n + 1] = '\0';
		remember_directory(s, path, d->below + 1);
	}
	if (dir)
		closedir(dir);
}

bool inodes_path(struct inodes *s, uint64_t device, uint64_t inode, char *out, size_t size)
{
	int64_t now_ns = clock_mono_ns();
	bool again;

	if (inodes_known(s, device, inode, out, size))
		return true;
	again = s->looks_ns < LOOKS_NS + (now_ns - s->since_ns) / 10;
	for (uint32_t i = 0; i < DIRECTORIES && s->directory[i].path; i++)
		if (again || !s->directory[i].modified_ns)
			read_directory(s, i);
	s->looks_ns += clock_mono_ns() - now_ns;
	return inodes_known(s, device, inode, out, size);
}
