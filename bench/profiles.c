/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profiles.c - profiles as Scanner's workers leave them, and the least that can be done with them.
 *
 *   profiles make DB N          a database with a job of N intervals on 8 workers
 *   profiles sum FILE...        reads the files and sums their bytes
 *   profiles format N           formats N such intervals as Chrome's JSON, with fprintf, to
 * /dev/null
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORKERS = 8, LOADERS = 4, PIPELINES = 2, STAGES = 3, SAVERS = 4 };
enum { THREADS = 1 + LOADERS + PIPELINES * STAGES + SAVERS };

static const char *const keys[] = { "IO Packet Finished",  "Process Packet",
				    "Wait on Input Queue", "Wait on Output Queue",
				    "load_worker:read",    "memcpy" };
enum { KEYS = sizeof keys / sizeof keys[0] };

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void put(FILE *f, int64_t v)
{
	fwrite(&v, sizeof v, 1, f);
}

static void put_text(FILE *f, const char *text)
{
	fwrite(text, strlen(text) + 1, 1, f);
}

struct interval {
	uint8_t key;
	int64_t begin, end;
};

/* One behind the other; each fourth holds the two before it. */
static struct interval next_interval(int64_t *at, int64_t *outer, unsigned i)
{
	struct interval v = { (uint8_t)(next_random() % KEYS), *at, 0 };

	if (i % 4 == 0)
		*outer = *at;
	if (i % 4 == 3)
		v.begin = *outer;
	*at += (int64_t)(next_random() % 2000000);
	v.end = *at;
	*at += (int64_t)(next_random() % 200);
	return v;
}

static void make_thread(FILE *f, int node, const char *kind, const char *tag, int number,
			uint64_t n)
{
	int64_t at = 0, outer = 0;

	put(f, node);
	put_text(f, kind);
	put_text(f, tag);
	put(f, number);
	put(f, KEYS);
	for (unsigned i = 0; i < KEYS; i++) {
		put_text(f, keys[i]);
		putc((int)i, f);
	}
	put(f, (int64_t)n);
	for (unsigned i = 0; i < n; i++) {
		struct interval v = next_interval(&at, &outer, i);

		putc(v.key, f);
		put(f, v.begin);
		put(f, v.end);
	}
	put(f, 0);
}

static void make_worker(FILE *f, int node, uint64_t n)
{
	put(f, INT64_C(1700000000000000000));
	put(f, INT64_C(1700001000000000000));
	make_thread(f, node, "process_job", "", 0, n);
	putc(LOADERS, f);
	for (int i = 0; i < LOADERS; i++)
		make_thread(f, node, "load", "", i, n);
	putc(PIPELINES, f);
	putc(STAGES, f);
	for (int i = 0; i < PIPELINES; i++) {
		make_thread(f, node, "eval", "pre", i, n);
		make_thread(f, node, "eval", "eval", i, n);
		make_thread(f, node, "eval", "post", i, n);
	}
	putc(SAVERS, f);
	for (int i = 0; i < SAVERS; i++)
		make_thread(f, node, "save", "", i, n);
}

static void make(const char *db, uint64_t n)
{
	char path[4096];

	mkdir(db, 0700);
	snprintf(path, sizeof path, "%s/jobs", db);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/jobs/1", db);
	mkdir(path, 0700);
	for (int i = 0; i < WORKERS; i++) {
		FILE *f;

		snprintf(path, sizeof path, "%s/jobs/1/profile_%d.bin", db, i);
		f = fopen(path, "w");
		if (!f)
			err(1, "%s", path);
		make_worker(f, i, n / WORKERS / THREADS);
		if (fclose(f))
			err(1, "%s", path);
	}
}

static void sum(char **files)
{
	static uint8_t data[1 << 18];
	uint64_t total = 0;

	for (; *files; files++) {
		int fd = open(*files, O_RDONLY);
		ssize_t n;

		if (fd < 0)
			err(1, "%s", *files);
		while ((n = read(fd, data, sizeof data)) > 0)
			for (ssize_t i = 0; i < n; i++)
				total += data[i];
		close(fd);
	}
	printf("%" PRIu64 "\n", total);
}

static void format(uint64_t n)
{
	FILE *f = fopen("/dev/null", "w");
	int64_t at = 0, outer = 0;

	if (!f)
		err(1, "/dev/null");
	for (unsigned i = 0; i < n; i++) {
		struct interval v = next_interval(&at, &outer, i);

		fprintf(f,
			"{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRId64 ".%03" PRId64
			",\"dur\":%" PRId64 ".%03" PRId64 ",\"cat\":\"span\",\"name\":\"%s\"},\n",
			i / 1000000, i % 15, v.begin / 1000, v.begin % 1000,
			(v.end - v.begin) / 1000, (v.end - v.begin) % 1000, keys[v.key]);
	}
	fclose(f);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "make"))
		make(argv[2], strtoull(argv[3], NULL, 10));
	else if (argc > 2 && !strcmp(argv[1], "sum"))
		sum(argv + 2);
	else if (argc == 3 && !strcmp(argv[1], "format"))
		format(strtoull(argv[2], NULL, 10));
	else
		errx(2, "usage: profiles make DB N | sum FILE... | format N");
	return 0;
}
