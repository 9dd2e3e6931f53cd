/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traced_nodes DIR SPANS: a recording of two nodes, whose monotonic clocks have nothing in common,
 * of 10 s with a sample each second: marks, processes one after the other and at a time, and so
 * many spans on two threads and the node itself: one behind the other, in each other, across each
 * other, of no length, without an end. Names are hostile. One span began before the first sample.
 */
#include "base/clock.h"
#include "recording/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 2, SECONDS = 10, TRACKS = 3 };

static const int64_t utc0 = INT64_C(1750000000123456789);
static const int64_t mono0[NODES] = { INT64_C(5000000000), INT64_C(777000000000007) };

static const struct metric rows[] = {
	{ .name = "node.memory_used_bytes",
	  .label = "Memory",
	  .help = "Made.",
	  .unit = UNIT_BYTES,
	  .kind = KIND_GAUGE },
	{ .name = "job.cpu_seconds",
	  .label = "CPU",
	  .help = "Made.",
	  .unit = UNIT_SECONDS,
	  .kind = KIND_COUNTER },
};
static const struct metric gpu = { .name = "gpu.power_watts",
				   .domain = "gpu",
				   .label = "Power",
				   .help = "Made.",
				   .unit = UNIT_WATTS,
				   .kind = KIND_GAUGE };

static const char *const names[] = {
	"compute", "\"},{\"ph\":\"X", "new\nline\ttab\001", "bad\xff\xfe", "</script>", "", "wait",
};
enum { NAMES = sizeof names / sizeof names[0] };

static uint64_t state = 88172645463325252U;

/* xorshift: the same numbers everywhere. */
static int64_t any(int64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int64_t)(state % (uint64_t)below);
}

static void die(const char *what)
{
	fprintf(stderr, "traced_nodes: %s\n", what);
	exit(1);
}

static uint32_t process(struct sample *s, uint32_t parent, unsigned number, int64_t birth)
{
	char pid[16];
	uint32_t id = sample_instance(s, "process", names[number % NAMES], parent, birth, 0);

	snprintf(pid, sizeof pid, "%u", 100 + number);
	sample_label(s, id, "pid", pid);
	return id;
}

static void put_span(struct sample *s, const uint32_t track[TRACKS], int64_t begin, int64_t end)
{
	int64_t length = any(4) ? any(50000000) : 0, at = begin + any(end - begin);

	sample_span(s, track[any(TRACKS)], at, at + length, names[any(NAMES)],
		    any(2) ? names[any(NAMES)] : NULL);
}

/* One of the samples: what was between the one before and this one. */
static void fill(struct sample *s, struct writer *w, unsigned node, int at, int64_t spans)
{
	static uint32_t slot, gpu_slot, first, track[TRACKS];
	int64_t now = mono0[node] + at * NS_PER_S;

	sample_begin(s, utc0 + at * NS_PER_S, now);
	if (!at) {
		sample_clock(s, now, utc0, 1000, true);
		slot = sample_series(s, rows, sizeof rows / sizeof rows[0], 0);
		gpu_slot = sample_series(s, &gpu, 1, sample_instance(s, "gpu", "gpu0", 0, now, 0));
		first = process(s, 0, 0, now - NS_PER_S);
		for (int i = 1; i < TRACKS; i++)
			track[i] = sample_instance(s, "thread", i == 1 ? "loader" : names[1], 0,
						   now, 0);
		sample_span(s, 0, now - NS_PER_S / 2, now + 3 * NS_PER_S, "before", NULL);
		sample_mark(s, 0, now + 1, "first\nmark", "he said \"so\"");
	} else {
		sample_end(s, process(s, first, (unsigned)at, now - NS_PER_S),
			   now - at % 3 * NS_PER_S / 4);
		sample_mark(s, 0, now, names[at % NAMES], NULL);
		for (int64_t i = 0; i < spans; i++)
			put_span(s, track, now - NS_PER_S, now);
	}
	if (at == SECONDS)
		sample_span(s, track[1], now - 5, INT64_MAX, "not ended", NULL);
	sample_put(s, slot, INT64_C(1000000) * (at + 1));
	if (at != 4) /* absent is not zero */
		sample_put(s, slot + 1, at * at);
	sample_put(s, gpu_slot, 300 - at);
	if (writer_sample(w, s, NULL))
		die("a sample cannot be written");
}

int main(int argc, char **argv)
{
	const struct writer_options options = { .chunk_rows = 4 };
	int fd = argc == 3 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int64_t spans = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	struct err e = { "" };

	if (fd < 0)
		die("wants DIR SPANS");
	for (unsigned node = 0; node < NODES; node++) {
		struct sample s;
		struct writer *w;

		if (sample_init(&s, 64, 4096) ||
		    writer_open(&w, fd, node ? "beta" : "alpha", &options, &e))
			die(e.text);
		for (int at = 0; at <= SECONDS; at++)
			fill(&s, w, node, at, spans / NODES / SECONDS);
		if (writer_close(w, &e))
			die(e.text);
		sample_free(&s);
	}
	return 0;
}
