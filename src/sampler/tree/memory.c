/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - memory that no resident set has: huge pages of hugetlbfs, which the kernel counts
 * apart (HugetlbPages of /proc/PID/status), and files in memory that no process maps; and what each
 * of several resident sets has, since the processes run in the same memory. */
#include "sampler/tree/memory.h"

#include "base/text/number.h"
#include "sampler/tree/tree_state.h"
#include "source/kept.h"
#include "source/storage/mountinfo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	DESCRIPTORS = 256,      /* a turn: 1 us each, */
	DESCRIPTORS_AGAIN = 64, /* and so many of processes that have as many as before */
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
		if (is_below(target, strchr(m->mount[i].path, '/') + strlen("/root")))
			return fstatat(m->proc->fd, path, st, 0) == 0 &&
			       st->st_dev == m->mount[i].device && st->st_nlink == 0;
	return false;
}

static void note(struct memory_files *m, const struct stat *st, pid_t pid, int fd)
{
	uint32_t i = 0;

	while (i < m->nfiles && (m->file[i].inode != st->st_ino || m->file[i].device != st->st_dev))
		i++;
	if (i == MEMORY_FILES_MAX)
		return;
	m->nfiles += i == m->nfiles;
	m->file[i] = (struct memory_file){ .device = st->st_dev,
					   .inode = st->st_ino,
					   .pid = pid,
					   .fd = fd,
					   .bytes = st->st_blocks * BLOCK_BYTES };
}

/* False when it is not looked at: so many have been. */
static bool memory_files_look(struct memory_files *m, pid_t pid)
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

/* Those that are still open where they were found; one that another process has, too, is found
 * there when its turn comes. */
static int64_t in_memfds(struct memory_files *m)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < m->nfiles;) {
		struct memory_file *f = &m->file[i];
		char path[48];
		struct stat st;

		snprintf(path, sizeof path, "%d/fd/%d", (int)f->pid, f->fd);
		if (!is_memory(m, path, &st) || st.st_ino != f->inode || st.st_dev != f->device) {
			*f = m->file[--m->nfiles];
			continue;
		}
		f->bytes = st.st_blocks * BLOCK_BYTES;
		number_add(&sum, f->bytes);
		i++;
	}
	return sum;
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
			if (S_ISREG(st.st_mode))
				number_add(&w->bytes, st.st_blocks * BLOCK_BYTES);
			if (S_ISDIR(st.st_mode) && depth < DEEPEST)
				walk_below(w, dir, entry->d_name, depth + 1);
		}
}

static int64_t in_mount(struct memory_files *m, struct memory_mount *mount)
{
	struct walk w = { .m = m, .mount = mount, .left = ENTRIES };
	char path[sizeof m->proc->path + MEMORY_PATH_SIZE];
	struct statfs fs;
	struct stat st;
	int fd;

	snprintf(path, sizeof path, "%s/%s", m->proc->path, mount->path);
	if (mount->too_many || statfs(path, &fs) || fs.f_type != TMPFS_MAGIC)
		return 0;
	if (mount->blocks == fs.f_blocks - fs.f_bfree) /* nobody has more of it, or less */
		return mount->bytes;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	mount->blocks = fs.f_blocks - fs.f_bfree;
	if (!fstat(fd, &st) && st.st_dev == mount->device)
		walk(&w, fd, 0);
	close(fd);
	mount->too_many = w.left <= 0;
	mount->bytes = mount->too_many ? 0 : w.bytes;
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

static void add_mount(struct memory_files *m, pid_t pid, const char *point)
{
	struct memory_mount *mount = &m->mount[m->nmounts];
	struct stat st;

	*mount = (struct memory_mount){ .blocks = UINT64_MAX };
	if (snprintf(mount->path, sizeof mount->path, "%d/root%s", (int)pid, point) >=
		    (int)sizeof mount->path ||
	    fstatat(m->proc->fd, mount->path, &st, 0))
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
	const char *at;
	char path[32];
	uint32_t left = 0;

	snprintf(path, sizeof path, "%d/mountinfo", (int)pid);
	if (!kept_open(&info, m->proc, path, 0, NULL)) {
		for (at = info.text; mountinfo_next(&at, &one);)
			left += is_candidate(&one);
		for (at = info.text; m->nmounts < MEMORY_MOUNTS_MAX && mountinfo_next(&at, &one);)
			if (is_candidate(&one) &&
			    (left-- < MEMORY_MOUNTS_MAX || strcmp(one.point, "/dev/shm") == 0) &&
			    !is_behind(info.text, one.point))
				add_mount(m, pid, one.point);
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
	ssize_t n = root_read(m->proc, "sysvipc/shm", text, sizeof text);
	int64_t sum = 0;

	if (n <= 0 && n != -EFBIG)
		return 0;
	for (const char *line = number_next_line(text); line && *line;
	     line = number_next_line(line))
		number_add(&sum, in_segment(m, line));
	return sum;
}

/* ---- all of it ---- */

/* m is zeroed; pid: a process of the job's user, in its mount namespace. */
static void memory_files_open(struct memory_files *m, const struct root *proc, pid_t pid)
{
	char path[48];
	struct stat st;

	m->proc = proc;
	snprintf(path, sizeof path, "%d", (int)pid);
	if (fstatat(proc->fd, path, &st, 0))
		return;
	m->owner = st.st_uid;
	find_mounts(m, pid);
}

static void memory_files_close(struct memory_files *m)
{
	*m = (struct memory_files){ 0 };
}

/* A turn: begin, look at processes whose descriptors are others than before, then ask. */
static void memory_files_begin(struct memory_files *m, bool (*is_jobs)(const void *of, pid_t pid),
			       const void *of)
{
	m->left = DESCRIPTORS;
	m->is_jobs = is_jobs;
	m->of = of;
}

static int64_t risen(int64_t now, int64_t before)
{
	return now > before ? now - before : 0;
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

enum { READS = 32 /* of status, in a sample: 20 us each */, LOOK_AGAIN = 16 /* turns */ };

/* What the machine has of them in use, which is the most that the job can have of shared ones. */
static bool machine_has_any(struct tree *t)
{
	struct memory *m = &t->memory;
	struct proc_hugetlb huge;
	char text[4096];

	if (m->meminfo <= 0)
		return false;
	if (!(t->due & READ_FILES) && !m->huge_present) /* once a second at most */
		return false;
	if (file_reread(m->meminfo, text, sizeof text) <= 0 || proc_hugetlb_parse(text, &huge))
		return false;
	m->huge_present = huge.present > 0;
	m->huge_used = huge.used;
	return m->huge_present;
}

static void read_huge(struct tree *t, struct process *p)
{
	char path[32], text[4096];
	int64_t had = p->hugetlb_bytes;

	snprintf(path, sizeof path, "%d/status", (int)p->pid);
	if (root_read(t->reading.proc, path, text, sizeof text) <= 0)
		return;
	p->hugetlb_faults = p->stat.minflt;
	p->hugetlb_bytes = proc_hugetlb(text);
	p->hugetlb_known = true;
	if (p->hugetlb_bytes == had)
		return;
	process_changed(p);
	process_grew(&t->reading, p);
}

/* To have more of them takes a page fault each. */
static bool may_have_others(const struct process *p)
{
	return !p->ended && !p->vanished && p->read_ns && p->stat.rss_pages &&
	       (!p->hugetlb_known || p->hugetlb_faults != p->stat.minflt);
}

static void huge_step(struct tree *t)
{
	struct memory *m = &t->memory;
	uint32_t n = t->table.nlive;
	int reads = 0;

	if (!(t->due & READ_IO) || !machine_has_any(t))
		return;
	for (uint32_t i = 0; i < n && reads < READS; i++) {
		struct process *p = &t->table.row[t->table.live[m->cursor++ % n]];

		if (!may_have_others(p))
			continue;
		read_huge(t, p);
		reads++;
	}
}

/* It is, or was until it ended. */
static bool is_of_tree(const void *tree, pid_t pid)
{
	const struct tree *t = tree;

	return table_find(&t->table, pid) || table_removed(&t->table, pid);
}

/* Shared memory of its processes that is no memfd or segment of theirs, neither now nor a turn ago:
 * what they had mapped was summed up before this turn. */
static void count_mapped(struct tree *t, int64_t surely_before)
{
	struct memory *m = &t->memory;
	bool known = !t->parts[PART_NO_PSS] && t->pss != PSS_OFF;
	int64_t mapped = t->parts[known ? PART_SHARED_MEMORY : PART_SHARED];

	mapped -= m->surely_bytes > surely_before ? m->surely_bytes : surely_before;
	if (mapped > m->mapped)
		m->mapped = mapped;
}

/* Other descriptors than when they were looked at: more or fewer of them; and, asked once in a
 * while and of few in a turn, any, of one that ran since. */
static bool may_have_other_files(const struct memory *m, const struct process *p)
{
	if (p->ended || !p->files_known)
		return false;
	return p->files_looked != p->files ||
	       ((m->turn + (uint64_t)p->pid) % LOOK_AGAIN == 0 && p->files_looked_ns != p->cpu_ns &&
		m->files.left > DESCRIPTORS - DESCRIPTORS_AGAIN);
}

static void files_step(struct tree *t)
{
	struct memory *m = &t->memory;
	int64_t surely_before = m->surely_bytes;
	uint32_t n = t->table.nlive;

	if (!(t->due & READ_FILES) || !m->files.proc)
		return;
	m->turn++;
	memory_files_begin(&m->files, is_of_tree, t);
	for (uint32_t i = 0; i < n; i++) {
		struct process *p = &t->table.row[t->table.live[(m->turn + i) % n]];

		if (!may_have_other_files(m, p))
			continue;
		if (!memory_files_look(&m->files, p->pid))
			break;
		p->files_looked = p->files;
		p->files_looked_ns = p->cpu_ns;
	}
	m->files_known = memory_files_bytes(&m->files, &m->surely_bytes, &m->of_user_bytes);
	count_mapped(t, surely_before);
}

void memory_open(struct tree *t, pid_t pid)
{
	if (t->reading.clocks) /* pids are this machine's, and so is /dev/shm */
		memory_files_open(&t->memory.files, t->reading.proc,
				  pid ? pid : reading_self(t->reading.proc));
	t->memory.meminfo = root_file(t->reading.proc, "meminfo");
}

void memory_close(struct tree *t)
{
	memory_files_close(&t->memory.files);
	file_close(&t->memory.meminfo);
}

void memory_step(struct tree *t, bool last)
{
	if (!last) /* nobody is there any more who has some */
		huge_step(t);
	files_step(t);
}

/* What was written and went to no storage: into files in memory, pipes and sockets. */
static void count_unstored(struct tree *t)
{
	struct memory *m = &t->memory;
	int64_t written = t->job[JOB_WRITTEN] - m->written;
	int64_t stored = t->job[JOB_STORAGE_WRITTEN] - m->stored;

	if (!t->job_known[JOB_WRITTEN])
		return;
	if (written > stored)
		number_add(&m->unstored, written - stored);
	m->written = t->job[JOB_WRITTEN];
	m->stored = t->job[JOB_STORAGE_WRITTEN];
}

/* Other processes of the user make files in memory, too, and nothing says who made one. The job
 * made no more than it wrote that went to no storage, or had mapped. */
void memory_sum(struct tree *t)
{
	struct memory *m = &t->memory;
	int64_t most;

	count_unstored(t);
	most = m->unstored;
	number_add(&most, m->mapped);
	/* A directory that grew went to storage and was not written by a call. */
	m->files_bytes = m->of_user_bytes - most <= most / 16 ? m->of_user_bytes : most;
	number_add(&m->files_bytes, m->surely_bytes);
}

int64_t memory_hugetlb(const struct tree *t)
{
	int64_t sum = t->parts[PART_HUGETLB];

	return sum < t->memory.huge_used ? sum : t->memory.huge_used;
}

int64_t memory_hugetlb_of(const struct tree *t, const struct process *p)
{
	int64_t sum = t->parts[PART_HUGETLB];

	if (!p->hugetlb_bytes || sum <= t->memory.huge_used)
		return p->hugetlb_bytes;
	return (int64_t)((double)p->hugetlb_bytes * (double)t->memory.huge_used / (double)sum);
}

int64_t memory_unmapped(const struct tree *t)
{
	int64_t more = t->memory.files_bytes - t->parts[PART_SHARED_MEMORY];

	return more > 0 ? more : 0;
}

/* kcmp(2); where it may not be asked, they have not. */
static bool same_memory(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

void memory_lend(struct tree *t, struct process *p)
{
	struct process *parent = table_find(&t->table, p->ppid);
	pid_t pid;

	if (!t->reading.clocks || !parent || parent->stack != p->stack ||
	    parent->stat.vsize_bytes / 2 > p->stat.vsize_bytes || !same_memory(p->pid, p->ppid))
		return;
	pid = parent->memory_of ? parent->memory_of : parent->pid;
	parent = table_find(&t->table, pid);
	if (!parent)
		return;
	parent->lends = true;
	p->memory_of = pid;
}

void memory_lender_left(struct tree *t, pid_t pid)
{
	struct process *heir = NULL;

	for (uint32_t i = 0; i < t->table.nlive; i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		if (p->memory_of != pid)
			continue;
		p->memory_of = heir ? heir->pid : 0;
		if (heir)
			heir->lends = true;
		else
			heir = p;
		p->walk_due = true;
		process_changed(p);
	}
}
