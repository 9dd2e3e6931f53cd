/* SPDX-License-Identifier: Apache-2.0 */
#include "files/calls.h"

#include "base/process.h"
#include "base/text/number.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { IDS_MAX = 4000, RING = 128 * 4096, PATIENCE_MS = 5000 };

#if defined(__x86_64__)
const struct call calls[] = {
	{ SYS_read, CALL_READ, 1, "read" },
	{ SYS_write, CALL_WRITE, 1, "write" },
	{ SYS_pread64, CALL_READ_AT, 1, "pread64" },
	{ SYS_pwrite64, CALL_WRITE_AT, 1, "pwrite64" },
	{ SYS_readv, CALL_READ, 0, "readv" },
	{ SYS_writev, CALL_WRITE, 0, "writev" },
	{ SYS_preadv, CALL_READ_AT, 0, "preadv" },
	{ SYS_pwritev, CALL_WRITE_AT, 0, "pwritev" },
	{ SYS_sendfile, CALL_COPY, 0, "sendfile64" },
	{ SYS_copy_file_range, CALL_COPY_RANGE, 0, "copy_file_range" },
	{ SYS_preadv2, CALL_READ_AT, 0, "preadv2" },
	{ SYS_pwritev2, CALL_WRITE_AT, 0, "pwritev2" },
	{ SYS_splice, CALL_COPY_RANGE, 0, "splice" },
	{ SYS_openat, CALL_OPEN_AT, 1, "openat" },
	{ SYS_open, CALL_OPEN, 0, "open" },
	{ SYS_creat, CALL_OPEN, 0, "creat" },
	{ SYS_openat2, CALL_OPEN_AT2, 0, "openat2" },
	{ SYS_close, CALL_CLOSE, 0, "close" },
	{ SYS_dup, CALL_DUP, 0, "dup" },
	{ SYS_dup2, CALL_DUP, 0, "dup2" },
	{ SYS_dup3, CALL_DUP, 0, "dup3" },
	{ SYS_fcntl, CALL_FCNTL, 0, "fcntl" },
	{ SYS_lseek, CALL_SEEK, 0, "lseek" },
	{ SYS_stat, CALL_STAT, 0, "newstat" },
	{ SYS_lstat, CALL_STAT, 0, "newlstat" },
	{ SYS_fstat, CALL_STAT_FD, 0, "newfstat" },
	{ SYS_newfstatat, CALL_STAT_AT, 1, "newfstatat" },
	{ SYS_statx, CALL_STAT_AT, 0, "statx" },
	{ SYS_fsync, CALL_SYNC, 1, "fsync" },
	{ SYS_fdatasync, CALL_SYNC, 0, "fdatasync" },
	{ SYS_io_uring_setup, CALL_IO_URING, 0, "io_uring_setup" },
};
const uint32_t ncalls = sizeof calls / sizeof calls[0];
#else
const struct call calls[] = { { 0, 0, 0, "" } };
const uint32_t ncalls = 0;
#endif

/* Older kernels do not have them. */
static bool is_new(const struct call *c)
{
	return c->kind == CALL_OPEN_AT2 || c->kind == CALL_IO_URING;
}

static bool complete(const struct calls_ids *ids)
{
	for (uint32_t i = 0; i < ncalls; i++)
		if ((!ids->exit[i] && !is_new(&calls[i])) || (calls[i].timed && !ids->enter[i]))
			return false;
	return ncalls > 0;
}

static uint32_t read_id(const char *what, const char *name)
{
	char path[128], text[16] = "";
	int fd;

	snprintf(path, sizeof path, "/sys/kernel/tracing/events/syscalls/sys_%s_%s/id", what, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof text - 1) < 0)
		text[0] = '\0';
	close(fd);
	return (uint32_t)strtoul(text, NULL, 10);
}

static void read_tracefs(struct calls_ids *ids)
{
	for (uint32_t i = 0; i < ncalls; i++) {
		ids->enter[i] = read_id("enter", calls[i].name);
		ids->exit[i] = read_id("exit", calls[i].name);
	}
}

/* ---- the cache ---- */

/* False: there is no place for it. */
static bool cache_path(char *path, size_t size, bool make)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char boot[40] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC), n;

	if (fd < 0 || read(fd, boot, 36) != 36)
		boot[0] = '\0';
	if (fd >= 0)
		close(fd);
	if (!*boot || (!(cache && *cache == '/') && !(home && *home == '/')))
		return false;
	if (cache && *cache == '/')
		n = snprintf(path, size, "%s", cache);
	else
		n = snprintf(path, size, "%s/.cache", home);
	if (n < 0 || (size_t)n + 80 > size)
		return false;
	if (make)
		(void)mkdir(path, 0700);
	strncat(path, "/sonde", size - strlen(path) - 1);
	if (make)
		(void)mkdir(path, 0700);
	n = (int)strlen(path);
	snprintf(path + n, size - (size_t)n, "/tracepoints-%s", boot);
	return true;
}

/* False: it does not tell of all of them. */
static bool read_cache(struct calls_ids *ids)
{
	char path[4096], line[128];
	FILE *in = cache_path(path, sizeof path, false) ? fopen(path, "re") : NULL;
	uint32_t told = 0;

	while (in && fgets(line, sizeof line, in)) {
		const char *p = line;
		uint64_t nr, enter, leave;

		if (!number_u64(&p, &nr) || !number_u64(&p, &enter) || !number_u64(&p, &leave) ||
		    enter > UINT32_MAX || leave > UINT32_MAX)
			continue;
		for (uint32_t i = 0; i < ncalls; i++)
			if (calls[i].nr == nr) {
				ids->enter[i] = (uint32_t)enter;
				ids->exit[i] = (uint32_t)leave;
				told++;
			}
	}
	if (in)
		fclose(in);
	return told == ncalls && complete(ids);
}

static void write_cache(const struct calls_ids *ids)
{
	char path[4096], made[4200];
	FILE *out;

	if (!cache_path(path, sizeof path, true))
		return;
	snprintf(made, sizeof made, "%s.%d", path, (int)getpid());
	out = fopen(made, "we");
	if (!out)
		return;
	for (uint32_t i = 0; i < ncalls; i++)
		fprintf(out, "%u %u %u\n", calls[i].nr, ids->enter[i], ids->exit[i]);
	if (fclose(out) || rename(made, path))
		unlink(made);
}

/* ---- finding out ---- */

struct found {
	uint16_t type;
	uint8_t flags[6];
	int32_t nr;
};

static int open_on_itself(uint32_t id)
{
	struct perf_event_attr a = { .size = sizeof a,
				     .type = PERF_TYPE_TRACEPOINT,
				     .config = id,
				     .exclude_kernel = 1,
				     .sample_period = 1,
				     .sample_type = PERF_SAMPLE_RAW };

	return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* All of them fail, and change nothing. */
static void call_each(void)
{
	for (uint32_t i = 0; i < ncalls; i++)
		(void)syscall(calls[i].nr, -1, -1, -1, -1, 0, 0);
}

/* The first record of a call is of its entry, the second of its return. */
static void take_records(struct calls_ids *ids, const struct perf_event_mmap_page *page)
{
	const char *data = (const char *)page + 4096;
	enum { HEAD = 12 };

	for (uint64_t at = 0, head = page->data_head; at + HEAD < head && head < RING;) {
		struct perf_event_header h;
		struct found f;

		memcpy(&h, data + at, sizeof h);
		memcpy(&f, data + at + HEAD, sizeof f);
		for (uint32_t i = 0; i < ncalls && h.type == PERF_RECORD_SAMPLE; i++)
			if ((uint32_t)f.nr == calls[i].nr)
				(ids->enter[i] ? ids->exit : ids->enter)[i] = f.type;
		if (!h.size)
			break;
		at += h.size;
	}
}

/* In a process of its own: to close that many events takes the kernel 38 ms each. */
static _Noreturn void find_and_tell(int to)
{
	struct rlimit most;
	struct calls_ids ids = { { 0 }, { 0 } };
	void *ring = MAP_FAILED;
	int first = -1;

	descriptors_close(0, to);
	if (!getrlimit(RLIMIT_NOFILE, &most)) {
		most.rlim_cur = most.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &most);
	}
	for (uint32_t id = 1; id < IDS_MAX; id++) {
		int fd = open_on_itself(id);

		if (fd >= 0 && first >= 0)
			(void)ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, first);
		else if (fd >= 0)
			first = fd,
			ring = mmap(NULL, 4096 + RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (ring == MAP_FAILED && first >= 0)
			break;
	}
	call_each();
	if (ring != MAP_FAILED)
		take_records(&ids, ring);
	(void)!write(to, &ids, sizeof ids);
	_exit(0);
}

static void find_out(struct calls_ids *ids)
{
	struct pollfd p;
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return;
	child = fork();
	if (!child)
		find_and_tell(ends[1]);
	close(ends[1]);
	p = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	if (child > 0 && poll(&p, 1, PATIENCE_MS) == 1 &&
	    read(ends[0], ids, sizeof *ids) != (ssize_t)sizeof *ids)
		*ids = (struct calls_ids){ { 0 }, { 0 } };
	close(ends[0]);
}

int calls_find(struct calls_ids *ids, struct err *e)
{
	*ids = (struct calls_ids){ { 0 }, { 0 } };
	if (!ncalls)
		return err_set(e, -EOPNOTSUPP, "system calls are not traced on this processor");
	read_tracefs(ids);
	if (complete(ids))
		return 0;
	if (read_cache(ids))
		return 0;
	find_out(ids);
	if (!complete(ids))
		return err_set(e, -EACCES,
			       "this kernel lets this user trace no system calls "
			       "(kernel.perf_event_paranoid above 2, or without "
			       "CONFIG_FTRACE_SYSCALLS)");
	write_cache(ids);
	return 0;
}
