/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/memory_files.h"

#include "base/text/number.h"
#include "source/kept.h"
#include "source/storage/mountinfo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

enum {
	ENTRIES = 4096, /* of a tmpfs and of the directories in it: 0.5 us each, once it changed */
	DEEPEST = 4,    /* of these */
	SEGMENTS_TEXT = 16384,
	BLOCK_BYTES = 512, /* of st_blocks */
};

/* ---- memfds, and removed files of a tmpfs ---- */

static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	return strncmp(path, top, n) == 0 && (path[n] == '/' || !path[n]);
}

/* A descriptor of a process that is a memfd, or a file of a tmpfs without a name: its file may be
 * touched, it can never hang. Both are shown as removed. */
static bool is_memory(const struct memory_files *m, const char *path, struct stat *st)
{
	static const char memfd[] = "/memfd:", removed[] = " (deleted)";
	const ssize_t suffix = sizeof removed - 1;
	char target[MEMORY_PATH_SIZE];
	ssize_t n = readlinkat(m->proc->fd, path, target, sizeof target - 1);

	if (n <= suffix || memcmp(target + n - suffix, removed, sizeof removed - 1) != 0)
		return false;
	target[n] = '\0';
	if (strncmp(target, memfd, sizeof memfd - 1) == 0)
		return fstatat(m->proc->fd, path, st, 0) == 0;
	for (uint32_t i = 0; i < m->nmounts; i++)
		if (is_below(target, m->mount[i].path + m->mount[i].point))
			return fstatat(m->proc->fd, path, st, 0) == 0 &&
			       st->st_dev == m->mount[i].device && st->st_nlink == 0;
	return false;
}

/* A file that was removed is in no directory any more, though its file system has as much as
 * before: what is in those is looked through again. */
static void note(struct memory_files *m, const struct stat *st, pid_t pid, int fd)
{
	uint32_t i = 0;

	while (i < m->nfiles && (m->file[i].inode != st->st_ino || m->file[i].device != st->st_dev))
		i++;
	if (i == MEMORY_FILES_MAX)
		return;
	for (uint32_t k = 0; k < m->nmounts && i == m->nfiles; k++)
		if (m->mount[k].device == st->st_dev)
			m->mount[k].blocks = UINT64_MAX;
	if (i == m->nfiles)
		m->file[m->nfiles++] =
			(struct memory_file){ .device = st->st_dev, .inode = st->st_ino };
	m->file[i].pid = pid;
	m->file[i].fd = fd;
}

bool memory_files_look(struct memory_files *m, pid_t pid)
{
	_Alignas(struct dirent64) char buf[4096];
	char path[64];
	ssize_t n;
	int dir;

	if (m->left <= 0)
		return false;
	snprintf(path, sizeof path, "%d/fd", (int)pid);
	dir = openat(m->proc->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	m->left -= 8; /* to open it costs so much */
	while (dir >= 0 && m->left > 0 && (n = getdents64(dir, buf, sizeof buf)) > 0)
		for (ssize_t at = 0; at < n; m->left--) {
			const struct dirent64 *entry =
				(const struct dirent64 *)(const void *)(buf + at);
			const char *name = entry->d_name;
			struct stat st;
			int64_t fd;

			at += entry->d_reclen;
			snprintf(path, sizeof path, "%d/fd/%.12s", (int)pid, name);
			if (number_i64(&name, &fd) && fd <= INT32_MAX && is_memory(m, path, &st))
				note(m, &st, pid, (int)fd);
		}
	if (dir >= 0)
		close(dir);
	return true;
}

static bool is_open_there(const struct memory_files *m, const struct memory_file *f, int64_t *bytes)
{
	char path[48];
	struct stat st;

	snprintf(path, sizeof path, "%d/fd/%d", (int)f->pid, f->fd);
	if (!is_memory(m, path, &st) || st.st_ino != f->inode || st.st_dev != f->device)
		return false;
	*bytes = st.st_blocks * BLOCK_BYTES;
	return true;
}

static int64_t risen(int64_t now, int64_t before)
{
	return now > before ? now - before : 0;
}

/* Those that are still open where they were found; one that another process has, too, is found
 * there when its turn comes. What was in one before stays known. */
static int64_t in_memfds(struct memory_files *m)
{
	int64_t sum = 0, bytes;

	for (uint32_t i = 0; i < m->nfiles;) {
		struct memory_file *f = &m->file[i];

		if (is_open_there(m, f, &bytes)) {
			number_add(&sum, risen(bytes, f->before));
		} else if (!f->before) {
			*f = m->file[--m->nfiles];
			continue;
		}
		i++;
	}
	return sum;
}

/* What the launcher has open its command has, too: what is in it by now is not the job's. */
static void note_inherited(struct memory_files *m, pid_t launcher)
{
	m->left = MEMORY_DESCRIPTORS;
	memory_files_look(m, launcher);
	for (uint32_t i = 0; i < m->nfiles; i++)
		is_open_there(m, &m->file[i], &m->file[i].before);
}

/* ---- tmpfs ---- */

struct walk {
	const struct memory_files *m;
	const struct memory_mount *mount;
	int left;
	int64_t bytes;
};

static void walk(struct walk *w, int dir, int depth);

static void walk_below(struct walk *w, int dir, const char *name, int depth)
{
	int below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (below < 0)
		return;
	if (!fstat(below, &st) && st.st_dev == w->mount->device)
		walk(w, below, depth);
	close(below);
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* What the owner has in it, and in its directories: files of Python's joblib are in one. */
static void walk(struct walk *w, int dir, int depth)
{
	_Alignas(struct dirent64) char buf[2048];
	ssize_t n;

	while (w->left > 0 && (n = getdents64(dir, buf, sizeof buf)) > 0)
		for (ssize_t at = 0; at < n && w->left-- > 0;) {
			const struct dirent64 *entry =
				(const struct dirent64 *)(const void *)(buf + at);
			struct stat st;

			at += entry->d_reclen;
			if (is_dots(entry->d_name) ||
			    fstatat(dir, entry->d_name, &st,
				    AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) ||
			    st.st_uid != w->m->owner || st.st_dev != w->mount->device)
				continue;
			if (S_ISREG(st.st_mode)) /* of each of its names a part */
				number_add(&w->bytes,
					   st.st_blocks * BLOCK_BYTES /
						   (int64_t)(st.st_nlink ? st.st_nlink : 1));
			if (S_ISDIR(st.st_mode) && depth < DEEPEST)
				walk_below(w, dir, entry->d_name, depth + 1);
		}
}

static int64_t in_mount(struct memory_files *m, struct memory_mount *mount)
{
	struct walk w = { .m = m, .mount = mount, .left = ENTRIES };
	struct statfs fs;
	struct stat st;
	int fd;

	if (mount->too_many || statfs(mount->path, &fs) || fs.f_type != TMPFS_MAGIC)
		return 0;
	if (mount->blocks == fs.f_blocks - fs.f_bfree) /* nobody has more of it, or less */
		return mount->bytes;
	fd = open(mount->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	mount->blocks = fs.f_blocks - fs.f_bfree;
	if (!fstat(fd, &st) && st.st_dev == mount->device)
		walk(&w, fd, 0);
	close(fd);
	mount->too_many = w.left <= 0;
	mount->bytes = mount->too_many ? 0 : w.bytes;
	if (mount->bytes < mount->before) /* what comes in its place is new */
		mount->before = mount->bytes;
	return mount->bytes;
}

static bool is_systems(const char *point)
{
	static const char *const systems[] = { "/dev", "/proc", "/run", "/sys", "/var/run" };

	for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
		if (is_below(point, systems[i]))
			return strcmp(point, "/dev/shm") != 0;
	return !point[1];
}

/* Does the way there lead through a mount that may hang? */
static bool is_behind(const char *mounts, const char *point)
{
	struct mount other;

	while (mountinfo_next(&mounts, &other))
		if (other.point[1] && is_below(point, other.point) &&
		    strcmp(other.type, "tmpfs") != 0 && strcmp(other.type, "devtmpfs") != 0)
			return true;
	return false;
}

static bool is_same(const struct root *proc, const char *a, const char *b)
{
	struct stat x, y;

	return !fstatat(proc->fd, a, &x, 0) && !fstatat(proc->fd, b, &y, 0) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Paths mean the same to it as here. */
static bool sees_the_same(const struct root *proc, pid_t pid)
{
	char mounts[48], root[48];

	snprintf(mounts, sizeof mounts, "%d/ns/mnt", (int)pid);
	snprintf(root, sizeof root, "%d/root", (int)pid);
	return pid == getpid() ||
	       (is_same(proc, mounts, "self/ns/mnt") && is_same(proc, root, "/"));
}

/* before: what the way to it begins with. */
static void add_mount(struct memory_files *m, const char *before, const char *point)
{
	struct memory_mount *mount = &m->mount[m->nmounts];
	struct stat st;

	*mount = (struct memory_mount){ .point = strlen(before), .blocks = UINT64_MAX };
	if (snprintf(mount->path, sizeof mount->path, "%s%s", before, point) >=
		    (int)sizeof mount->path ||
	    stat(mount->path, &st))
		return;
	for (uint32_t i = 0; i < m->nmounts; i++)
		if (m->mount[i].device == st.st_dev)
			return;
	mount->device = st.st_dev;
	mount->before = in_mount(m, mount);
	m->nmounts++;
}

static bool is_candidate(const struct mount *one)
{
	return strcmp(one->type, "tmpfs") == 0 && !is_systems(one->point);
}

/* /dev/shm, and of the others those that were mounted last. */
static void find_mounts(struct memory_files *m, pid_t pid)
{
	struct kept info = { 0 };
	struct mount one;
	char path[32], before[sizeof m->proc->path + 32] = "";
	const char *at;
	uint32_t left = 0;

	if (!sees_the_same(m->proc, pid))
		snprintf(before, sizeof before, "%s/%d/root", m->proc->path, (int)pid);
	snprintf(path, sizeof path, "%d/mountinfo", (int)pid);
	if (!kept_open(&info, m->proc, path, 0, NULL)) {
		for (at = info.text; mountinfo_next(&at, &one);)
			left += is_candidate(&one);
		for (at = info.text; m->nmounts < MEMORY_MOUNTS_MAX && mountinfo_next(&at, &one);)
			if (is_candidate(&one) &&
			    (left-- < MEMORY_MOUNTS_MAX || strcmp(one.point, "/dev/shm") == 0) &&
			    !is_behind(info.text, one.point))
				add_mount(m, before, one.point);
	}
	kept_close(&info);
}

/* ---- System V segments ---- */

/* A line of /proc/sysvipc/shm: key, id, mode, size, two processes, attached, owner; the fifteenth
 * number are the bytes resident. */
static int64_t in_segment(const struct memory_files *m, const char *line)
{
	enum { MAKER = 4, LAST = 5, OWNER = 7, RESIDENT = 14 };
	int64_t v[RESIDENT + 1];
	const char *p = line;

	for (int i = 0; i <= RESIDENT; i++)
		if (!number_i64(&p, &v[i]))
			return 0;
	if (v[OWNER] != (int64_t)m->owner || v[RESIDENT] <= 0)
		return 0;
	return m->is_jobs(m->of, (pid_t)v[MAKER]) || m->is_jobs(m->of, (pid_t)v[LAST]) ? v[RESIDENT]
										       : 0;
}

static int64_t in_segments(const struct memory_files *m)
{
	char text[SEGMENTS_TEXT];
	int64_t sum = 0;

	if (m->segments <= 0 || file_reread(m->segments, text, sizeof text) <= 0)
		return 0;
	for (const char *line = number_next_line(text); line && *line;
	     line = number_next_line(line))
		number_add(&sum, in_segment(m, line));
	return sum;
}

/* ---- all of it ---- */

void memory_files_open(struct memory_files *m, const struct root *proc, pid_t pid, pid_t launcher)
{
	char path[48];
	struct stat st;

	m->proc = proc;
	snprintf(path, sizeof path, "%d", (int)pid);
	if (fstatat(proc->fd, path, &st, 0))
		return;
	m->owner = st.st_uid;
	m->segments = root_file(proc, "sysvipc/shm");
	find_mounts(m, pid);
	if (launcher)
		note_inherited(m, launcher);
}

void memory_files_close(struct memory_files *m)
{
	file_close(&m->segments);
	*m = (struct memory_files){ 0 };
}

void memory_files_begin(struct memory_files *m, bool (*is_jobs)(const void *of, pid_t pid),
			const void *of)
{
	m->left = MEMORY_DESCRIPTORS;
	m->is_jobs = is_jobs;
	m->of = of;
}

bool memory_files_bytes(struct memory_files *m, int64_t *of_job, int64_t *of_user)
{
	bool known = true;

	*of_job = in_memfds(m);
	number_add(of_job, in_segments(m));
	*of_user = 0;
	for (uint32_t i = 0; i < m->nmounts; i++) {
		number_add(of_user, risen(in_mount(m, &m->mount[i]), m->mount[i].before));
		known = known && !m->mount[i].too_many;
	}
	return known;
}
