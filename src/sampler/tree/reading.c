/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/reading.h"

#include "base/clock.h"
#include "base/text/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { HUGE_PAGE_BYTES = 2 << 20 };

/* Kernel memory of what is held open, in pieces of 1.5 kB: a file takes two, and the folder of its
 * process, which they hold together, one. */
enum { FILE_WEIGHT = 2, FOLDER_WEIGHT = 1, WEIGHT_MAX = 6400 };

static const char *const kept_name[PROCESS_FILES_KEPT] = {
	[KEPT_STAT] = "stat",
	[KEPT_STATM] = "statm",
	[KEPT_IO] = "io",
	[KEPT_FDS] = "fd",
};

pid_t reading_self(const struct root *proc)
{
	char self[16];
	const char *p = self;
	struct statfs fs;
	int64_t pid;
	ssize_t n;

	if (fstatfs(proc->fd, &fs) || fs.f_type != PROC_SUPER_MAGIC)
		return 0;
	n = readlinkat(proc->fd, "self", self, sizeof self - 1);
	self[n > 0 ? n : 0] = '\0';
	return number_i64(&p, &pid) ? (pid_t)pid : 0;
}

pid_t reading_process_of(const struct root *proc, pid_t id)
{
	char path[32], text[512];
	const char *p;
	int64_t pid;

	snprintf(path, sizeof path, "%d/status", (int)id);
	root_read(proc, path, text, sizeof text); /* its beginning is enough */
	p = number_find_line(text, "Tgid:");
	return p && number_i64(&p, &pid) && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : id;
}

void reading_init(struct reading *r, const struct root *proc)
{
	struct rlimit files = { .rlim_cur = 1024 };
	struct stat st;
	long hz = sysconf(_SC_CLK_TCK);
	pid_t self;

	*r = (struct reading){ .proc = proc, .page_bytes = sysconf(_SC_PAGESIZE) };
	r->tick_ns = NS_PER_S / (hz > 0 ? hz : 100);
	self = reading_self(proc);
	r->clocks = self == getpid();
	r->files_by_size = r->clocks && !stat("/proc/self/fd", &st) && st.st_size > 0;
	getrlimit(RLIMIT_NOFILE, &files);
	r->kept_max = files.rlim_cur > 128 ? (uint32_t)(files.rlim_cur - 64) : 0;
	if (r->kept_max > WEIGHT_MAX / FILE_WEIGHT)
		r->kept_max = WEIGHT_MAX / FILE_WEIGHT;
	if (!self)
		r->kept_max = 0; /* files of a made-up /proc do not end with their process */
}

int process_clock(pid_t pid, int64_t *ns)
{
	/* What clock_getcpuclockid(3) gives, without its extra system call: CPUCLOCK_SCHED of pid.
	 */
	clockid_t id = (clockid_t)(~(unsigned)pid << 3 | 2U);
	struct timespec ts;

	/* The C library would ask the vDSO first, which knows no such clock. */
	if (syscall(SYS_clock_gettime, id, &ts))
		return -errno;
	*ns = (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
	return 0;
}

int64_t process_own_ns(const struct process *p)
{
	return p->cpu_ns > p->counted_ns ? p->cpu_ns : p->counted_ns;
}

int64_t process_children_ns(const struct reading *r, const struct process *p)
{
	return (p->stat.cutime + p->stat.cstime) * r->tick_ns;
}

/* The longest of them, stat, has 52 numbers. */
struct text {
	char buf[1024];
};

static int open_file(const struct reading *r, const struct process *p, enum kept_file which)
{
	char path[32];

	snprintf(path, sizeof path, "%d/%s", (int)p->pid, kept_name[which]);
	return root_file(r->proc, path);
}

/* Of what a process holds open. */
static uint32_t weight_of(const struct process *p)
{
	uint32_t files = 0;

	for (int i = 0; i < PROCESS_FILES_KEPT; i++)
		files += p->kept[i] > 0;
	return files ? files * FILE_WEIGHT + FOLDER_WEIGHT : 0;
}

bool reading_has_room(const struct reading *r)
{
	return r->weight + FOLDER_WEIGHT + PROCESS_FILES_KEPT * FILE_WEIGHT <=
	       FILE_WEIGHT * r->kept_max;
}

static bool is_kept(enum kept_file which, enum keep keep)
{
	return keep != KEEP_NONE && (which == KEPT_STATM) == (keep == KEEP_IDLE);
}

/* Keep a descriptor that was opened, or close it. */
static void keep_or_close(struct reading *r, struct process *p, enum kept_file which, int fd,
			  bool keep)
{
	if (p->kept[which] == fd)
		return;
	if (keep && r->weight + FILE_WEIGHT + FOLDER_WEIGHT <= FILE_WEIGHT * r->kept_max) {
		r->weight -= weight_of(p);
		p->kept[which] = fd;
		r->weight += weight_of(p);
	} else {
		close(fd);
	}
}

/* Read one of its files, through the kept descriptor when there is one. */
static ssize_t read_file(struct reading *r, struct process *p, enum kept_file which, enum keep keep,
			 struct text *out)
{
	int fd = p->kept[which] > 0 ? p->kept[which] : open_file(r, p, which);
	ssize_t n;

	if (fd < 0)
		return fd == -ENOENT ? -ESRCH : fd;
	n = file_reread(fd, out->buf, sizeof out->buf);
	keep_or_close(r, p, which, fd, is_kept(which, keep) && n > 0);
	return n;
}

static int count_entries(int fd)
{
	char buf[4096] __attribute__((aligned(8)));
	int n = 0;
	long got;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	while ((got = syscall(SYS_getdents64, fd, buf, sizeof buf)) > 0)
		for (long at = 0; at < got; n++) {
			unsigned short length;

			memcpy(&length, buf + at + 16, sizeof length);
			at += length;
		}
	return got < 0 ? -errno : n - 2; /* . and .. */
}

static void take_files(struct process *p, int64_t n)
{
	if (n != p->files || !p->files_known)
		process_changed(p);
	p->files_known = true;
	p->files = n;
}

static void read_files(struct reading *r, struct process *p, enum keep keep)
{
	struct stat st;
	int fd, n;

	if (p->files_refused)
		return;
	fd = p->kept[KEPT_FDS] > 0 ? p->kept[KEPT_FDS] : open_file(r, p, KEPT_FDS);
	p->files_refused = fd == -EACCES || fd == -EPERM;
	if (fd < 0)
		return;
	if (r->files_by_size)
		n = fstat(fd, &st) ? -1 : (int)st.st_size;
	else
		n = count_entries(fd);
	keep_or_close(r, p, KEPT_FDS, fd, is_kept(KEPT_FDS, keep) && n >= 0);
	if (n >= 0)
		take_files(p, n);
}

void process_close(struct reading *r, struct process *p, enum keep keep)
{
	r->weight -= weight_of(p);
	for (int i = 0; i < PROCESS_FILES_KEPT; i++)
		if (!is_kept((enum kept_file)i, keep))
			file_close(&p->kept[i]);
	r->weight += weight_of(p);
}

static int take_stat(struct process *p, const struct proc_stat *st)
{
	if (st->pid != p->pid || (p->start_ticks && st->starttime != p->start_ticks))
		return -ESRCH;
	p->stat = *st;
	p->start_ticks = st->starttime ? st->starttime : 1;
	p->ppid = st->ppid;
	process_name(p, st->comm);
	if (st->stack && st->stack != p->stack)
		process_executes(p);
	p->stack = st->stack ? st->stack : p->stack;
	return 0;
}

static int read_stat(struct reading *r, struct process *p, enum keep keep)
{
	struct text t;
	struct proc_stat st;
	ssize_t n = read_file(r, p, KEPT_STAT, keep, &t);
	int bad;

	if (n < 0)
		return (int)n;
	if (n == 0)
		return -ESRCH;
	bad = proc_stat_parse(t.buf, &st);
	return bad ? bad : take_stat(p, &st);
}

static void read_io(struct reading *r, struct process *p, enum keep keep)
{
	struct text t;
	struct proc_io io;
	ssize_t n;

	if (p->io_refused)
		return;
	n = read_file(r, p, KEPT_IO, keep, &t);
	p->io_refused = n == -EACCES || n == -EPERM;
	if (n <= 0 || proc_io_parse(t.buf, &io))
		return;
	p->io = io;
	p->io_known = true;
}

static int read_statm(struct reading *r, struct process *p, enum keep keep, struct proc_statm *out)
{
	struct text t;
	ssize_t n = read_file(r, p, KEPT_STATM, keep, &t);

	if (n < 0)
		return (int)n;
	return n ? proc_statm_parse(t.buf, out) : -ESRCH;
}

static void read_shared(struct reading *r, struct process *p, enum keep keep)
{
	p->shared_known = read_statm(r, p, keep, &p->statm) == 0;
	p->shared_bytes = p->shared_known ? p->statm.shared_pages * r->page_bytes : 0;
	p->statm_rss_pages = p->stat.rss_pages;
}

/* statm costs the kernel a third of stat. Its resident pages are counted in another way than stat's
 * since Linux 6.16: they show that they changed, and stat how many there are. */
bool process_stands(struct reading *r, struct process *p, enum keep keep)
{
	struct proc_statm now;

	return p->shared_known && read_statm(r, p, keep, &now) == 0 &&
	       now.resident_pages == p->statm.resident_pages &&
	       now.shared_pages == p->statm.shared_pages;
}

/* A steady resident size mostly means steady shared memory; what else there is the refresh finds.
 */
static bool shared_may_differ(const struct process *p)
{
	return llabs(p->stat.rss_pages - p->statm_rss_pages) > p->statm_rss_pages / 64;
}

/* Since the last sample others have driven its row out of the caches: it comes back while the
 * kernel tells of the process. */
static void fetch_row(const struct process *p)
{
	enum { LINE = 64 };

	for (size_t at = LINE; at < sizeof *p; at += LINE)
		__builtin_prefetch((const char *)p + at, 1);
}

static void find_io(struct reading *r, struct process *p, const struct told *told, enum keep keep)
{
	if (!told || !told->io_known) {
		read_io(r, p, keep);
		return;
	}
	p->io = told->io;
	p->io_known = true;
}

static void find_files(struct reading *r, struct process *p, const struct told *told,
		       enum keep keep)
{
	if (told && told->files >= 0)
		take_files(p, told->files);
	else
		read_files(r, p, keep);
}

static void note_growth(const struct reading *r, struct process *p, int64_t before)
{
	int64_t now = clock_mono_ns(), since = p->grown_at_ns ? p->grown_at_ns : p->birth_ns;

	p->grown_bytes = (p->stat.rss_pages - before) * r->page_bytes;
	p->grown_ns = now - since;
	p->grown_at_ns = now;
}

int process_read(struct reading *r, struct process *p, unsigned parts, enum keep keep)
{
	return process_take(r, p, NULL, parts, keep);
}

int process_take(struct reading *r, struct process *p, const struct told *told, unsigned parts,
		 enum keep keep)
{
	int64_t rss;
	int bad;

	if (parts == READ_SHARED && process_stands(r, p, keep)) {
		p->stale &= (uint8_t)~READ_SHARED;
		return 0;
	}
	if (parts == READ_FILES) {
		find_files(r, p, told, keep);
		p->stale &= (uint8_t)~READ_FILES;
		return 0;
	}
	fetch_row(p);
	rss = p->stat.rss_pages;
	bad = told ? take_stat(p, &told->stat) : read_stat(r, p, keep);
	if (bad)
		return bad;
	if (!r->clocks)
		p->cpu_ns = (p->stat.utime + p->stat.stime) * r->tick_ns;
	if (parts & READ_SHARED || shared_may_differ(p))
		read_shared(r, p, keep);
	if (parts & READ_IO)
		find_io(r, p, told, keep);
	if (parts & READ_FILES)
		find_files(r, p, told, keep);
	p->walk_due = true;
	process_changed(p);
	p->stale &= (uint8_t) ~(parts | READ_STAT);
	note_growth(r, p, rss);
	process_grew(r, p);
	return 0;
}

void process_grew(const struct reading *r, struct process *p)
{
	int64_t now = p->stat.rss_pages * r->page_bytes + p->hugetlb_bytes;

	if (now > p->peak_rss_bytes)
		p->peak_rss_bytes = now;
}

int process_walk(const struct reading *r, struct process *p)
{
	struct proc_smaps smaps;
	char path[40], buf[2048];
	ssize_t n;
	int bad;

	snprintf(path, sizeof path, "%d/smaps_rollup", (int)p->pid);
	n = root_read(r->proc, path, buf, sizeof buf);
	if (n < 0)
		return (int)n;
	bad = n ? proc_smaps_parse(buf, &smaps) : -ESRCH;
	if (bad)
		return bad;
	p->pss_bytes = smaps.pss;
	p->uss_bytes = smaps.uss;
	p->swap_bytes = smaps.swap;
	p->anonymous_huge_bytes = smaps.anonymous_huge;
	p->shared_memory_bytes = smaps.shared_memory;
	process_walked(r, p);
	return 0;
}

static int64_t more_since_walk(const struct reading *r, const struct process *p)
{
	int64_t more = p->stat.rss_pages * r->page_bytes - p->walk_rss_bytes;

	return more > 0 ? more : 0;
}

int64_t process_faulted_since_walk(const struct reading *r, const struct process *p)
{
	int64_t each = p->huge_faults ? HUGE_PAGE_BYTES : r->page_bytes;
	int64_t faulted = (p->stat.minflt - p->walk_minflt) * each - more_since_walk(r, p);

	return faulted > 0 ? faulted : 0;
}

/* Of its page faults since the last walk, the part that gave it what others had, too: as those that
 * come may do. */
static void learn_copies(const struct reading *r, struct process *p)
{
	int64_t more = more_since_walk(r, p), copied = process_faulted_since_walk(r, p);
	int64_t own = p->uss_bytes - p->walk_uss_bytes - more;
	double now = 0;

	if (!p->walk_ns || copied <= 0)
		return;
	if (own > 0)
		now = (double)own / (double)copied;
	p->copies = now > 1 ? 1 : now > p->copies / 2 ? now : p->copies / 2;
}

void process_walked(const struct reading *r, struct process *p)
{
	learn_copies(r, p);
	p->walk_uss_bytes = p->uss_bytes;
	p->walk_private_bytes = p->stat.rss_pages * r->page_bytes - p->shared_bytes;
	p->walk_minflt = p->stat.minflt;
	p->walk_rss_bytes = p->stat.rss_pages * r->page_bytes;
	p->walk_ns = clock_mono_ns();
	p->walked_now = true;
	p->walk_outdated = false;
	process_changed(p);
}
