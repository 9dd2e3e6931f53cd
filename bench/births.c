/* SPDX-License-Identifier: Apache-2.0 */
/*
 * births ROUNDS SPAWNS PROGRAM: what each way to be told of process starts and ends costs whoever
 * starts them: the CPU time of starting PROGRAM so often and waiting for it, over that without.
 * All ways take turns; prints a line for each: its name, then percent, median of the rounds.
 */
#include <fcntl.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS_MAX = 10000,
	RING_PAGES = 32,
	DRAIN_NS = 20 * 1000 * 1000,
	ASK_BYTES = sizeof(struct nlmsghdr) + sizeof(struct cn_msg) + sizeof(int),
};

static const struct way {
	const char *name;
	bool records, counts; /* an event of a CPU for each, */
	bool together;        /* or one for both */
	bool total;           /* one clock for all CPUs */
	bool connector;
} ways[] = {
	{ .name = "none" },
	{ .name = "records, and counts of each task", .records = true, .counts = true },
	{ .name = "both by one event", .records = true, .counts = true, .together = true },
	{ .name = "records only", .records = true },
	{ .name = "counts of each task only", .counts = true },
	{ .name = "a count of all together", .total = true },
	{ .name = "proc connector", .connector = true },
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(2);
}

static void event_open(int cpu, bool records, bool counts)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof a,
		.config = counts ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.inherit = 1,
		.inherit_stat = counts && cpu >= 0,
		.task = records,
		.comm = records,
		.comm_exec = records,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = 4096,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	long fd = syscall(SYS_perf_event_open, &a, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		die("perf_event_open");
	if (cpu >= 0 && mmap(NULL, (RING_PAGES + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED,
			     (int)fd, 0) == MAP_FAILED)
		die("mmap");
}

static void watch(const struct way *w)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_CONF);

	if (w->total)
		event_open(-1, false, true);
	for (int cpu = 0; cpu < cpus; cpu++) {
		if (w->together)
			event_open(cpu, true, true);
		if (w->records && !w->together)
			event_open(cpu, true, false);
		if (w->counts && !w->together)
			event_open(cpu, false, true);
	}
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static double cpu_seconds(void)
{
	double sum = 0;
	struct rusage u;

	for (int i = 0; i < 2; i++) {
		getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &u);
		sum += seconds(u.ru_utime) + seconds(u.ru_stime);
	}
	return sum;
}

/* In a process of its own: what it uses and what it starts is told to `out`. */
static _Noreturn void start_many(const struct way *w, long spawns, char *program, int out)
{
	char *argv[] = { program, NULL };
	double before, took;
	pid_t pid;

	watch(w);
	before = cpu_seconds();
	for (long i = 0; i < spawns; i++)
		if (posix_spawn(&pid, program, NULL, NULL, argv, NULL) ||
		    waitpid(pid, NULL, 0) != pid)
			die(program);
	took = cpu_seconds() - before;
	_exit(write(out, &took, sizeof took) == sizeof took ? 0 : 2);
}

static _Noreturn void listen_on(int told)
{
	const struct sockaddr_nl group = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	const struct timespec pause = { .tv_nsec = DRAIN_NS };
	const struct nlmsghdr head = { .nlmsg_len = ASK_BYTES, .nlmsg_type = NLMSG_DONE };
	const struct cn_msg message = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof(int) };
	const enum proc_cn_mcast_op op = PROC_CN_MCAST_LISTEN;
	char ask[ASK_BYTES] = { 0 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
	char datagram[512];

	memcpy(ask, &head, sizeof head);
	memcpy(ask + sizeof head, &message, sizeof message);
	memcpy(ask + sizeof head + sizeof message, &op, sizeof op);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&group, sizeof group) ||
	    send(fd, ask, sizeof ask, 0) < 0)
		_exit(2);
	if (write(told, "", 1) != 1)
		_exit(2);
	for (;;) {
		while (recv(fd, datagram, sizeof datagram, MSG_DONTWAIT) > 0)
			continue;
		nanosleep(&pause, NULL);
	}
}

/* Its pid, when it is heard. */
static pid_t listener(void)
{
	int told[2];
	pid_t pid;
	char c;

	if (pipe2(told, O_CLOEXEC) || (pid = fork()) < 0)
		die("fork");
	if (!pid)
		listen_on(told[1]);
	close(told[1]);
	if (read(told[0], &c, 1) != 1)
		fprintf(stderr, "births: the proc connector may not be listened to\n");
	close(told[0]);
	return pid;
}

static double cost_of(const struct way *w, long spawns, char *program)
{
	pid_t heard = w->connector ? listener() : 0, pid;
	double took = 0;
	int out[2];

	if (pipe2(out, O_CLOEXEC) || (pid = fork()) < 0)
		die("fork");
	if (!pid)
		start_many(w, spawns, program, out[1]);
	close(out[1]);
	if (read(out[0], &took, sizeof took) != sizeof took)
		die(w->name);
	close(out[0]);
	waitpid(pid, NULL, 0);
	if (heard) {
		kill(heard, SIGKILL);
		waitpid(heard, NULL, 0);
	}
	return took;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	static double percent[WAYS][ROUNDS_MAX];
	long rounds = argc == 4 ? strtol(argv[1], NULL, 10) : 0;
	long spawns = argc == 4 ? strtol(argv[2], NULL, 10) : 0;

	if (rounds < 1 || rounds > ROUNDS_MAX || spawns < 1) {
		fprintf(stderr, "usage: births ROUNDS SPAWNS PROGRAM\n");
		return 2;
	}
	for (long r = 0; r < rounds; r++) {
		double took[WAYS];

		for (long i = 0; i < WAYS; i++) {
			long w = r % 2 ? WAYS - 1 - i : i;

			took[w] = cost_of(&ways[w], spawns, argv[3]);
		}
		for (long w = 0; w < WAYS; w++)
			percent[w][r] = 100 * (took[w] / took[0] - 1);
	}
	for (long w = 1; w < WAYS; w++) {
		qsort(percent[w], (size_t)rounds, sizeof percent[w][0], by_size);
		printf("%.2f %s\n", percent[w][rounds / 2], ways[w].name);
	}
	return 0;
}
