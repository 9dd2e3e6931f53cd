/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor MODE PID SAMPLES INTERVAL-MS [FILE...]: the yardstick. The bare system calls of a sample of
 * PID and its descendants, on files that stay open, and nothing else: nothing is parsed, nothing
 * kept, nothing written. Prints the CPU us of a sample, its wake-up included.
 *
 *   full   of each process stat and io are read, and once a second the size of fd asked for; and
 *          the node's files: what Sonde must ask for to read everything anew
 *   gate   of each process its CPU clock is asked for; and the node's files: what Sonde must ask
 *          for when nobody ran
 *   moved  gate, and full of those whose clock has moved: what Sonde must ask for
 *
 * The node's files are those below, and FILE...: those of the control group. Each file is read with
 * one call, whatever its size. tests/bench/floor-is-what-it-says.py pins the
 * system calls, and that Sonde makes the same.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PIDS_MAX = 1 << 16, BUFFER = 1 << 17, READ_MAX = 2 };

static const char *const often[] = {
	"/proc/stat",
	"/proc/meminfo",
	"/proc/diskstats",
	"/proc/net/dev",
};
/* once a second */
static const char *const rarely[] = {
	"/proc/loadavg",
	"/proc/pressure/cpu",
	"/proc/pressure/memory",
	"/proc/pressure/io",
};
enum {
	OFTEN = sizeof often / sizeof often[0],
	RARELY = sizeof rarely / sizeof rarely[0],
	MORE_MAX = 16,
	NODE_FILES = RARELY + OFTEN + MORE_MAX,
};

struct process {
	pid_t pid, ppid;
	bool ours;
	int file[READ_MAX], files; /* of what is read; files: the directory fd */
	int64_t cpu_ns;
};

struct floor {
	struct process *process; /* those of the tree come first once it is found */
	size_t n;
	int node[NODE_FILES]; /* RARELY of them first */
	int every;            /* samples to a second */
	bool clocks;          /* ask for the CPU clock ... */
	bool moved;           /* ... and read those whose clock has moved */
	char buffer[BUFFER];
};

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static pid_t parent_of(pid_t pid, char *buffer, size_t size)
{
	char path[64];
	const char *end;
	int fd;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buffer, size - 1);
	close(fd);
	if (n <= 0)
		return 0;
	buffer[n] = '\0';
	end = strrchr(buffer, ')');
	return end && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : 0;
}

static void list_processes(struct floor *f)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (!proc)
		fail("/proc");
	while ((entry = readdir(proc)) && f->n < PIDS_MAX) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0)
			f->process[f->n++] = (struct process){
				.pid = pid,
				.ppid = parent_of(pid, f->buffer, BUFFER),
			};
	}
	closedir(proc);
}

static bool is_ours(const struct floor *f, pid_t pid)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->process[i].pid == pid)
			return f->process[i].ours;
	return false;
}

/* Keep of all processes those below root. */
static void find_tree(struct floor *f, pid_t root)
{
	size_t kept = 0;
	bool more = true;

	list_processes(f);
	while (more) {
		more = false;
		for (size_t i = 0; i < f->n; i++) {
			struct process *p = &f->process[i];

			if (p->ours || (p->pid != root && !is_ours(f, p->ppid)))
				continue;
			p->ours = more = true;
		}
	}
	for (size_t i = 0; i < f->n; i++)
		if (f->process[i].ours)
			f->process[kept++] = f->process[i];
	f->n = kept;
}

static int open_of(pid_t pid, const char *name, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		fail(path);
	return fd;
}

static void open_node(struct floor *f, char *const *more, int n)
{
	const int flags = O_RDONLY | O_CLOEXEC; /* -1: no such file here */

	if (n > MORE_MAX)
		fail("too many files");
	for (int i = 0; i < RARELY; i++)
		f->node[i] = open(rarely[i], flags);
	for (int i = 0; i < OFTEN; i++)
		f->node[RARELY + i] = open(often[i], flags);
	for (int i = 0; i < MORE_MAX; i++)
		f->node[RARELY + OFTEN + i] = i < n ? open(more[i], flags) : -1;
}

static void open_files(struct floor *f)
{
	static const char *const names[READ_MAX] = { "stat", "io" };
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (size_t i = 0; i < f->n && (!f->clocks || f->moved); i++) {
		struct process *p = &f->process[i];

		for (size_t k = 0; k < READ_MAX; k++)
			p->file[k] = open_of(p->pid, names[k], O_RDONLY);
		p->files = open_of(p->pid, "fd", O_RDONLY | O_DIRECTORY);
	}
}

static void sample(struct floor *f, bool all)
{
	struct stat st;

	for (size_t i = 0; i < f->n; i++) {
		struct process *p = &f->process[i];
		int64_t before = p->cpu_ns;

		if (f->clocks)
			p->cpu_ns = now_ns((clockid_t)(~(unsigned)p->pid << 3 | 2U));
		if (f->clocks && (!f->moved || p->cpu_ns == before))
			continue;
		for (size_t k = 0; k < READ_MAX; k++)
			if (pread(p->file[k], f->buffer, BUFFER, 0) <= 0)
				fail("a process of the tree ended");
		if (all)
			fstat(p->files, &st);
	}
	for (size_t i = all ? 0 : RARELY; i < NODE_FILES; i++)
		if (f->node[i] >= 0 && pread(f->node[i], f->buffer, BUFFER, 0) < 0)
			fail("a file of the node");
}

static void measure(struct floor *f, int samples, int64_t interval_ns)
{
	int64_t deadline = now_ns(CLOCK_MONOTONIC), begin;

	sample(f, true);
	begin = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < samples; i++) {
		struct timespec ts;

		deadline += interval_ns;
		ts = (struct timespec){ deadline / 1000000000, deadline % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		sample(f, i % f->every == f->every - 1);
	}
	printf("%.1f\n", (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / samples / 1e3);
}

int main(int argc, char **argv)
{
	static struct floor f;
	const char *mode = argc > 1 ? argv[1] : "";
	int64_t interval_ns;

	f.moved = strcmp(mode, "moved") == 0;
	f.clocks = f.moved || strcmp(mode, "gate") == 0;
	if (argc < 5 || (!f.clocks && strcmp(mode, "full") != 0)) {
		fprintf(stderr, "usage: floor full|gate|moved PID SAMPLES INTERVAL-MS [FILE...]\n");
		return 2;
	}
	f.process = calloc(PIDS_MAX, sizeof *f.process);
	if (!f.process)
		fail("floor");
	interval_ns = strtol(argv[4], NULL, 10) * 1000000;
	f.every = interval_ns < 1000000000 ? (int)(1000000000 / interval_ns) : 1;
	find_tree(&f, (pid_t)strtol(argv[2], NULL, 10));
	open_files(&f);
	open_node(&f, argv + 5, argc - 5);
	measure(&f, (int)strtol(argv[3], NULL, 10), interval_ns);
	free(f.process);
	return 0;
}
