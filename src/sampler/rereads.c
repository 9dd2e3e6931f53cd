/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/rereads.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "core/stacks/waitkind.h"
#include "sampler/inspection.h"
#include "source/procfile.h"
#include "source/storage/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	RARER = 1000, /* than what a look costs */
	LOOKS = 64,   /* about, until each time doubles */
	PROCESSES = 4,
	DESCRIPTORS = 32, /* of each that are looked at */
	LEAST_READ = 4 << 20,
	LEAST_SIZE = 64 << 10,
	PART = 20, /* of the size: how far it may be off, and how much is a move */
	LEAST_AGREED = 5,
	LEAST_BACK = 5,
	LEAST_TIMES = 4,
};

bool reread_agrees(int64_t size, int64_t from, int64_t bytes, int64_t to)
{
	int64_t off = ((from + bytes) % size - to % size + size) % size;

	return (off < size - off ? off : size - off) <= size / PART;
}

/* ---- a file ---- */

static struct reread *find(struct rereads *r, pid_t pid, int fd, uint64_t mount, uint64_t inode)
{
	struct reread *least = r->file;

	for (struct reread *f = r->file; f < r->file + REREADS_FILES; f++) {
		if (f->pid == pid && f->fd == fd && f->mount == mount && f->inode == inode)
			return f;
		if (!f->pid || (least->pid && f->bytes < least->bytes))
			least = f;
	}
	*least = (struct reread){
		.pid = pid, .fd = fd, .mount = mount, .inode = inode, .looks = 1, .before = -1
	};
	return least;
}

static void take_place(struct reread *f, int64_t size, int64_t at, int64_t read)
{
	int64_t bytes = read - f->read;

	if (f->size == size && bytes < size / PART)
		return; /* later, when there is more to tell by */
	if (f->size == size && llabs(at - f->at) > size / PART) {
		f->moved++;
		f->back += at < f->at;
		if (reread_agrees(size, f->at, bytes, at)) {
			f->agreed++;
			f->bytes += bytes;
		}
	}
	if (f->size != size)
		f->moved = f->agreed = f->back = 0, f->bytes = 0, f->before = read;
	f->size = size;
	f->at = at;
	f->read = read;
}

/* Its size, without a question to a server; -1: not told. */
static int64_t size_of(const struct rereads *r, const struct root *proc, pid_t pid, int fd,
		       uint64_t mount)
{
	char path[48], point[MOUNT_PATH_SIZE], type[MOUNT_TYPE_SIZE];
	struct statx st;

	if (!mountinfo_find(r->mounts, mount, point, sizeof point, type) || wait_is_far(type))
		return -1;
	snprintf(path, sizeof path, "%d/fd/%d", (int)pid, fd);
	if (statx(proc->fd, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_SIZE,
		  &st) < 0 ||
	    !S_ISREG(st.stx_mode) || st.stx_size > INT64_MAX / 2)
		return -1;
	return (int64_t)st.stx_size;
}

static bool number_of(const char *fdinfo, const char *key, uint64_t *out)
{
	const char *at = number_find_line(fdinfo, key);

	at = at ? number_skip_blanks(at) : NULL;
	return at && number_u64(&at, out);
}

static bool read_of(const struct root *proc, pid_t pid, int64_t *out)
{
	char path[32], text[512];
	struct proc_io io;

	snprintf(path, sizeof path, "%d/io", (int)pid);
	if (root_read(proc, path, text, sizeof text) <= 0 || proc_io_parse(text, &io))
		return false;
	*out = io.rchar;
	return true;
}

/* Where others have the cores, the process goes on between two questions: its place and what it has
 * read belong together only if it read little meanwhile. */
static void look_at_file(struct rereads *r, const struct root *proc, pid_t pid, int fd)
{
	char path[48], fdinfo[1024];
	uint64_t at, mount, inode;
	const char *flags;
	int64_t size, before, read;
	struct reread *f;
	ssize_t n;

	snprintf(path, sizeof path, "%d/fdinfo/%d", (int)pid, fd);
	if (!read_of(proc, pid, &before) || root_read(proc, path, fdinfo, sizeof fdinfo) <= 0 ||
	    !(flags = number_find_line(fdinfo, "flags:")) ||
	    (strtoul(flags, NULL, 8) & O_ACCMODE) == O_WRONLY || !number_of(fdinfo, "pos:", &at) ||
	    !number_of(fdinfo, "ino:", &inode) || !mountinfo_id_of(fdinfo, &mount) ||
	    !read_of(proc, pid, &read))
		return;
	size = size_of(r, proc, pid, fd, mount);
	if (size < LEAST_SIZE || at > (uint64_t)size || read - before > size / PART / 2)
		return;
	f = find(r, pid, fd, mount, inode);
	take_place(f, size, (int64_t)at, read);
	f->within += at > 0 && at < (uint64_t)size;
	if (f->path[0])
		return;
	snprintf(path, sizeof path, "%d/fd/%d", (int)pid, fd);
	n = readlinkat(proc->fd, path, f->path, sizeof f->path - 1);
	f->path[n > 0 ? n : 0] = '\0';
}

/* ---- a process ---- */

static void look_at_process(struct rereads *r, const struct root *proc, pid_t pid)
{
	struct fdlist files = { 0 };
	char target[FDLIST_TARGET], path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%d/mountinfo", (int)pid);
	n = root_read(proc, path, r->mounts, sizeof r->mounts);
	if (n <= 0 && n != -EFBIG)
		return;
	if (fdlist_open(&files, proc, pid) < 0)
		return;
	for (struct reread *f = r->file; f < r->file + REREADS_FILES; f++)
		f->looks += f->pid == pid;
	for (int i = 0; i < DESCRIPTORS && fdlist_next(&files, &fd, target); i++)
		if (*target == '/' && strncmp(target, "/dev/", 5) != 0 &&
		    strncmp(target, "/proc/", 6) != 0 && strncmp(target, "/sys/", 5) != 0)
			look_at_file(r, proc, pid, fd);
	fdlist_close(&files);
}

int64_t rereads_next_ns(int64_t began_ns, int64_t now_ns, int64_t began_cpu_ns)
{
	int64_t cost_ns = (clock_cpu_ns() - began_cpu_ns) * RARER;
	int64_t wait_ns = (now_ns - began_ns) / LOOKS;

	wait_ns = wait_ns > REREADS_SOONEST_NS ? wait_ns : REREADS_SOONEST_NS;
	return now_ns + (cost_ns > wait_ns ? cost_ns : wait_ns);
}

void rereads_step(struct rereads *r, const struct tree *t, const struct root *proc,
		  const struct sample *s)
{
	pid_t pid[PROCESSES];
	size_t n;
	int64_t began_ns, read = tree_read_bytes(t);

	r->began_ns = r->began_ns ? r->began_ns : s->mono_ns;
	if (s->mono_ns < r->next_ns || read - r->read < LEAST_READ)
		return;
	r->read = read;
	began_ns = clock_cpu_ns();
	n = tree_readers(t, LEAST_READ, pid, PROCESSES);
	for (size_t i = 0; i < n; i++)
		look_at_process(r, proc, pid[i]);
	r->next_ns = rereads_next_ns(r->began_ns, s->mono_ns, began_ns);
}

/* ---- the end ---- */

static const struct reread *most(const struct rereads *r)
{
	const struct reread *most = NULL;

	for (const struct reread *f = r->file; f < r->file + REREADS_FILES; f++)
		if (f->agreed >= LEAST_AGREED && 5 * f->agreed >= 4 * f->moved &&
		    (!most || f->bytes > most->bytes))
			most = f;
	return most;
}

void rereads_say_path(const struct source_env *env, const char *key, const char *path,
		      struct sample *s)
{
	const char *name = env->no_paths ? strrchr(path, '/') : NULL;
	char out[REREADS_PATH];

	snprintf(out, sizeof out, "%s", name ? name + 1 : path);
	inspection_mask_text(env->mask.secrets, out, sizeof out);
	sample_meta_text(s, key, out);
}

/* All that a process had open and moved in, since where else it read is not known. */
static int64_t sizes_of(const struct rereads *r, pid_t pid)
{
	int64_t sum = 0;

	for (const struct reread *f = r->file; f < r->file + REREADS_FILES; f++)
		sum += f->pid == pid && f->moved ? f->size : 0;
	return sum;
}

static void say_back(const struct rereads *r, const struct source_env *env, struct sample *s)
{
	const struct reread *f = NULL;

	for (const struct reread *x = r->file; x < r->file + REREADS_FILES; x++)
		if (x->back >= LEAST_BACK && 5 * x->agreed < 4 * x->moved &&
		    (!f || x->back > f->back))
			f = x;
	if (!f || (f->read - f->before) / LEAST_TIMES < sizes_of(r, f->pid))
		return;
	rereads_say_path(env, "job.gone_back_file", f->path, s);
	sample_meta_int(s, "job.gone_back_pid", f->pid);
	sample_meta_int(s, "job.gone_back_size_bytes", f->size);
	sample_meta_int(s, "job.gone_back_bytes", f->read - f->before);
	sample_meta_int(s, "job.gone_back_looks", f->back);
}

void rereads_say_end(const struct rereads *r, const struct source_env *env, struct sample *s)
{
	const struct reread *f = most(r);

	say_back(r, env, s);
	if (!f || f->bytes < 2 * f->size)
		return;
	rereads_say_path(env, "job.reread_file", f->path, s);
	sample_meta_int(s, "job.reread_pid", f->pid);
	sample_meta_int(s, "job.reread_size_bytes", f->size);
	sample_meta_int(s, "job.reread_bytes", f->bytes);
	sample_meta_int(s, "job.reread_looks", f->looks);
	sample_meta_int(s, "job.reread_within_looks", f->within);
}
