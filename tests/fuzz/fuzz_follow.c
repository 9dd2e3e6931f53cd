/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of fuzz_recording, followed: first the recording as it is, then with its end cut off,
 * then whole again; at last as it was at some instants.
 */
#define READ   follow_all
#define DOMAIN "d"
#define ROWS                                                                                       \
	{ .name = "q.a" }, { .name = "q.b", .storage = STORE_REAL },                               \
	{                                                                                          \
		.name = "q.c"                                                                      \
	}

#include "core/frame/run.h"

static void follow_all(struct run *r);

#include "fuzz_recording.c"
#include "recording/follow.h"

static void node_read(const struct follow_node *n)
{
	read_text(n->host);
	for (uint32_t i = 0; i < n->nseries; i++) {
		const struct follow_series *s = &n->series[i];
		const struct follow_instance *in = follow_instance(n, s->instance);

		check(!i || n->series[i - 1].id < s->id);
		check(!s->present || s->seen_ns == n->mono_ns);
		check(s->seen_ns <= n->mono_ns && s->state < STATE_NUMBER_OF);
		read_text(s->metric->name);
		if (in)
			read_text(in->name);
	}
	for (uint32_t i = 0; i < n->nmetas; i++) {
		read_text(n->metas[i].key);
		read_text(n->metas[i].text);
	}
}

/* Forwards, and back. */
static void replay(struct follow *f)
{
	static const int64_t part[] = { 0, 1, 2, 4, 3, 4 };

	for (uint32_t k = 0; k < follow_count(f); k++) {
		const struct follow_node *n = follow_node(f, k);
		int64_t first = n->first_utc_ns, whole = n->last_mono_ns - n->first_mono_ns;

		for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
			check(!follow_at(f, first + whole / 4 * part[i], NULL));
			node_read(n);
		}
	}
}

static void follow_all(struct run *r)
{
	int fd = openat(directory(), "node-f.sonde", O_RDWR | O_CLOEXEC);
	off_t size = lseek(fd, 0, SEEK_END);
	struct follow *f;
	uint8_t byte = 0;

	read_all(r);
	check(!follow_open(&f, r->path, NULL));
	for (int i = 0; i < 3; i++) {
		check(!follow_poll(f, NULL));
		for (uint32_t k = 0; k < follow_count(f); k++)
			node_read(follow_node(f, k));
		if (size && !i) {
			check(pread(fd, &byte, 1, size - 1) == 1);
			check(!ftruncate(fd, size - 1));
		}
		if (size && i == 1)
			check(pwrite(fd, &byte, 1, size - 1) == 1);
	}
	replay(f);
	follow_close(f);
	close(fd);
}
