/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a timeline or profile of another tool, plain or compressed: taken or refused with a
 * sentence, and what was taken is a recording that can be read. The first byte says whether it goes
 * beside another one, and which format it is. */
#include "import/importer.h"
#include "recording/join.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const formats[] = { "chrome-trace", "otlp",        "darshan", "nsys",
				       "pprof",        "perf-script", "pprof",   "perf-script" };
static char directory[64], written[300];

static void wrote(void *ctx, const char *name)
{
	(void)ctx;
	if (*written || strlen(name) >= sizeof written)
		abort();
	snprintf(written, sizeof written, "%s", name);
}

static void check_samples(struct run *r)
{
	struct run_samples x;
	struct err e = { "" };
	int rc = r->next_samples ? r->rewind_samples(r) : 0;

	while (!rc && r->next_samples && (rc = r->next_samples(r, &x, &e)) > 0) {
		rc = 0;
		for (uint32_t i = 0; i < x.n; i++)
			if (x.unit <= 0 || x.items[i].node >= r->nstacks || !x.items[i].weight)
				abort();
	}
	for (uint32_t i = 1; i < r->nstacks; i++)
		if (r->stacks[i].parent >= i || r->stacks[i].frame >= r->nframes)
			abort();
}

static void check_recording(int dir)
{
	char path[sizeof directory + sizeof written], tail[sizeof written];
	struct err e = { "" };
	struct run *r;

	snprintf(path, sizeof path, "%s/%s", directory, written);
	if (run_open(&r, path, &e) || r->ndamages || r->nnodes != 2)
		abort();
	for (uint32_t i = 0; i < r->npacks; i++) {
		const struct run_span *s;
		int n = r->unpack(r, i, &s, &e);

		if (n <= 0)
			abort();
		while (n--)
			if (s[n].end_ns < s[n].begin_ns || strlen(s[n].name) > 1000)
				abort();
	}
	check_samples(r);
	run_close(r);
	snprintf(tail, sizeof tail, "%.*s.tail", (int)strlen(written) - 6, written);
	unlinkat(dir, tail, 0);
	if (unlinkat(dir, written, 0))
		abort();
	*written = '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int dir = -1;
	char path[sizeof directory + 16];
	struct import x = { .path = path, .wrote = wrote };
	struct err e = { "" };
	struct store s;
	int fd, rc;

	if (dir < 0) {
		snprintf(directory, sizeof directory, "fuzz-timelines-%d", (int)getpid());
		mkdir(directory, 0700);
		dir = open(directory, O_RDONLY | O_DIRECTORY);
	}
	snprintf(path, sizeof path, "%s/trace", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || (size > 1 && write(fd, data + 1, size - 1) != (ssize_t)size - 1) ||
	    store_open(&s, directory))
		abort();
	close(fd);
	x.store = &s;
	x.dirfd = dir;
	if (size && data[0] & 1)
		x.place = (struct import_place){ .host = "h",
						 .into = true,
						 .last_utc = INT64_C(2000000000000000000),
						 .utc_of_mono = INT64_C(1699999000000000000),
						 .align_utc = INT64_C(1699999000000000500),
						 .of = "node-h.sonde",
						 .align = data[0] & 2 ? "a" : NULL };
	rc = importer_find(formats[size ? data[0] >> 2 & 7 : 0])->run(&x, &e);
	if (rc ? !e.text[0] || *written : !*written)
		abort();
	if (!rc)
		check_recording(dir);
	store_close(&s);
	return 0;
}
