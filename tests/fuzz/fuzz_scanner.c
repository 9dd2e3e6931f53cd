/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a profile of Scanner's, or as one of its descriptors: what is told keeps the
 * promises of import/scanner.h, and faults have a place inside the file. The first byte
 * says which: a worker's, the master's, a job's descriptor, the database's. */
#include "import/scanner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t whole, rows;
static volatile size_t seen;
static const struct scanner_thread *thread;

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void times(void *ctx, int64_t begin, int64_t end)
{
	(void)ctx;
	seen = seen + (size_t)(begin ^ end);
}

static void chains(void *ctx, unsigned pipelines, unsigned stages)
{
	(void)ctx;
	check(pipelines < 256 && stages < 256);
}

static int begin_thread(void *ctx, const struct scanner_thread *t)
{
	(void)ctx;
	thread = t;
	check(strlen(t->type) < 64 && strlen(t->tag) < 64);
	for (unsigned i = 0; i < SCANNER_KEYS; i++)
		check(!t->key[i] || strlen(t->key[i]) < SCANNER_TEXT_MAX);
	return 0;
}

static int intervals(void *ctx, const struct scanner_intervals *i)
{
	(void)ctx;
	check(i->n && i->n <= SCANNER_BATCH);
	rows += i->n;
	for (uint32_t k = 0; k < i->n; k++)
		check(i->key[k] < SCANNER_KEYS && thread->key[i->key[k]] &&
		      i->begin_ns[k] <= i->end_ns[k]);
	return 0;
}

static void counter(void *ctx, const char *name, int64_t value)
{
	(void)ctx;
	seen = seen + strlen(name) + (size_t)value;
}

static int end_thread(void *ctx)
{
	(void)ctx;
	return 0;
}

static void fault(void *ctx, uint64_t offset, bool lost, const char *what)
{
	(void)ctx;
	(void)lost;
	check(offset <= whole && *what);
}

static void job(void *ctx, const struct scanner_job *j)
{
	(void)ctx;
	seen = seen + strlen(j->name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct scanner_visitor v = { NULL,      times,   chains,     begin_thread,
						  intervals, counter, end_thread, fault };
	struct scan in = { .at = data + (size > 0), .end = data + size };
	unsigned which = size ? data[0] % 4 : 0;
	struct scanner_job j;
	int64_t bad;
	int fd;

	whole = (size_t)(in.end - in.at);
	rows = 0;
	if (which >= 2) {
		if (which == 2)
			scanner_database_job(in, &j, &bad);
		else
			scanner_database_jobs(in, job, NULL, &bad);
		check(bad <= (int64_t)whole);
		return 0;
	}
	fd = memfd_create("profile", MFD_CLOEXEC);
	check(fd >= 0 && write(fd, in.at, whole) == (ssize_t)whole);
	check(!scanner_profile_read(fd, which == 1, &v));
	check(rows <= whole / 17);
	close(fd);
	return 0;
}
