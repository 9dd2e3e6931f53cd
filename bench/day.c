/* SPDX-License-Identifier: Apache-2.0 */
/*
 * day DIR [HOURS]: a day of a recorder in minutes. The sampler and the writer, as they are, record
 * a job that runs now, but their clocks are simulated: a sample a second of theirs, as fast as it
 * can be taken. Between two samples two processes of the job end, two begin, of 300 names in turn,
 * and eight others do something: in a day 172,800 processes, and every process number several
 * times. Prints the resident bytes after each hour.
 */
#include "base/clock.h"
#include "recording/writer.h"
#include "sampler/sampler.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 8, SHORT = 40, BORN = 2, NAMES = 300, HOUR = 3600 };

/* What the simulated clocks are ahead of the real ones; they stand while a sample is taken. */
static struct {
	bool on;
	int64_t mono_ns, utc_ns;
} simulated;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t ns = id == CLOCK_MONOTONIC ? simulated.mono_ns : simulated.utc_ns;

	if (!simulated.on || (id != CLOCK_MONOTONIC && id != CLOCK_REALTIME))
		return (int)syscall(SYS_clock_gettime, id, ts);
	*ts = (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
	return 0;
}

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static pid_t begin_process(int number, int orders, int others)
{
	char name[16], order;
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(name, sizeof name, "part%d", number % NAMES);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(others);
	while (orders >= 0 && read(orders, &order, 1) == 1)
		;
	for (;;)
		pause();
}

/* The job: for every byte it gets, one step, and a byte back. */
static void run_job(int steps, int done)
{
	int orders[WORKERS][2], number = 0;
	pid_t brief[SHORT] = { 0 };
	char step;

	for (int i = 0; i < WORKERS; i++)
		if (pipe2(orders[i], O_CLOEXEC) || begin_process(i, orders[i][0], orders[i][1]) < 0)
			_exit(2);
	while (read(steps, &step, 1) == 1) {
		for (int i = 0; i < BORN; i++, number++) {
			pid_t *p = &brief[number % SHORT];

			if (*p)
				kill(*p, SIGKILL);
			if (*p && waitpid(*p, NULL, 0) != *p)
				_exit(2);
			*p = begin_process(number, -1, -1);
			if (*p < 0)
				_exit(2);
		}
		for (int i = 0; i < WORKERS; i++)
			if (write(orders[i][1], &step, 1) != 1)
				_exit(2);
		if (write(done, &step, 1) != 1)
			_exit(2);
	}
	_exit(0);
}

static pid_t begin_job(int *steps, int *done)
{
	int to[2], from[2];
	pid_t job;

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		fail("pipe");
	job = fork();
	if (job == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		run_job(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	*steps = to[1];
	*done = from[0];
	return job;
}

static int64_t resident_bytes(void)
{
	char text[128] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
		fail("/proc/self/statm");
	close(fd);
	return strtol(strchr(text, ' '), NULL, 10) * sysconf(_SC_PAGESIZE);
}

static void record(struct sampler *s, struct writer *w, int samples, const int job[2])
{
	struct sampler_figures figures = { 0 };
	struct writer_figures written;
	struct err e;
	char step = '.';

	for (int i = 0; i < samples; i++) {
		if (write(job[0], &step, 1) != 1 || read(job[1], &step, 1) != 1)
			fail("the job");
		simulated.mono_ns += NS_PER_S;
		simulated.utc_ns += NS_PER_S;
		sampler_take(s, &figures, i == samples - 1);
		if (!i)
			sampler_open_rest(s);
		if (writer_sample(w, &s->sample, &e)) {
			fprintf(stderr, "day: %s\n", e.text);
			exit(2);
		}
		writer_figures(w, &written);
		figures.written_bytes = (int64_t)written.bytes;
		if ((i + 1) % HOUR == 0) {
			printf("%d %lld\n", (i + 1) / HOUR, (long long)resident_bytes());
			fflush(stdout);
		}
	}
}

int main(int argc, char **argv)
{
	int steps, done, hours = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 24;
	pid_t job = begin_job(&steps, &done);
	const struct writer_options w = { 0 };
	struct sampler_options o = { .output = argc > 1 ? argv[1] : ".", .interval_ns = NS_PER_S };
	struct sampler sampler = { 0 };
	struct writer *writer;
	struct err e = { "" };
	int directory = open(o.output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	o.tree.roots = &job;
	o.tree.nroots = 1;
	simulated.mono_ns = clock_mono_ns();
	simulated.utc_ns = clock_utc_ns();
	simulated.on = true;
	if (directory < 0 || sampler_open(&sampler, &o, &e) ||
	    writer_open(&writer, directory, "day", &w, &e)) {
		fprintf(stderr, "day: %s\n", e.text);
		return 2;
	}
	record(&sampler, writer, hours * HOUR, (int[2]){ steps, done });
	if (writer_close(writer, &e)) {
		fprintf(stderr, "day: %s\n", e.text);
		return 2;
	}
	sampler_close(&sampler);
	close(directory);
	kill(job, SIGKILL);
	return waitpid(job, NULL, 0) == job ? 0 : 2;
}
