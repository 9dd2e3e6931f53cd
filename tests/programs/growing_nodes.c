/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growing_nodes DIR NODES PROCESSES GPUS: recordings of so many nodes that grow when they are told
 * to. A line of standard input is an order: "step" gives every node that is left a sample a second
 * later, "same" one in which nothing has moved, "end N" closes node N's, "lose N" stops it. Each is
 * answered with a line.
 *
 * Node N has 8 cores, of which its processes use N % 9 together, and N % 10 GiB of 10. The names of
 * the first node's processes are hostile.
 */
#include "base/clock.h"
#include "recording/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { NODES_MAX = 4096, THINGS_MAX = 64, GIB = 1 << 30 };

#define ROW(n, d, u, k)                                                                            \
	{                                                                                          \
		.name = (n), .domain = (d), .label = (n), .help = "Made.", .unit = (u),            \
		.kind = (k)                                                                        \
	}
enum { JOB_CPU, JOB_RSS, JOB_READ, JOB_WRITTEN, JOB_LIVE, JOB_METRICS };
static const struct metric job[] = {
	ROW("job.cpu_seconds", NULL, UNIT_SECONDS, KIND_COUNTER),
	ROW("job.resident_bytes", NULL, UNIT_BYTES, KIND_GAUGE),
	ROW("job.read_bytes", NULL, UNIT_BYTES, KIND_COUNTER),
	ROW("job.written_bytes", NULL, UNIT_BYTES, KIND_COUNTER),
	ROW("job.processes_live_count", NULL, UNIT_COUNT, KIND_GAUGE),
};
enum { CPU, RSS, READ, WRITTEN, THREADS, METRICS };
static const struct metric process[] = {
	ROW("process.cpu_seconds", "process", UNIT_SECONDS, KIND_COUNTER),
	ROW("process.resident_bytes", "process", UNIT_BYTES, KIND_GAUGE),
	ROW("process.read_bytes", "process", UNIT_BYTES, KIND_COUNTER),
	ROW("process.written_bytes", "process", UNIT_BYTES, KIND_COUNTER),
	ROW("process.threads_count", "process", UNIT_COUNT, KIND_GAUGE),
};
enum { USED, MEMORY, TOTAL, POWER, GPU_METRICS };
static const struct metric gpu[] = {
	{ .name = "gpu.utilization_ratio",
	  .domain = "gpu",
	  .label = "Use",
	  .help = "Made.",
	  .div = 100,
	  .unit = UNIT_RATIO,
	  .kind = KIND_GAUGE,
	  .over_instances = COMBINE_MEAN },
	ROW("gpu.memory_used_bytes", "gpu", UNIT_BYTES, KIND_GAUGE),
	ROW("gpu.memory_total_bytes", "gpu", UNIT_BYTES, KIND_GAUGE),
	ROW("gpu.power_watts", "gpu", UNIT_WATTS, KIND_GAUGE),
};

static const char *const hostile[] = {
	"\033[2J\033]0;title\007",
	"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
	"bad\xff\xfe",
	"e\xcc\x81"
	"accent",
	"new\nline\ttab",
	"\xe2\x80\xae"
	"turned",
	"wide\xf0\x9f\x8e\x89\xf0\x9f\x8e\x89",
	"a name that is longer than any column has room for it",
};
enum { HOSTILE = sizeof hostile / sizeof hostile[0] };

struct node {
	struct sample s;
	struct writer *w;
	uint32_t job_slot, slot[THINGS_MAX], gpu_slot[THINGS_MAX];
};

static struct node node[NODES_MAX];
static unsigned nodes, processes, gpus;
static int64_t steps = 1, moved = 1, mono0;

static void die(const char *what)
{
	fprintf(stderr, "growing_nodes: %s\n", what);
	exit(1);
}

static void begin(unsigned i)
{
	struct node *n = &node[i];
	char text[32];

	sample_begin(&n->s, clock_utc_ns(), mono0);
	sample_meta_int(&n->s, "node.cores_present", 8);
	sample_meta_int(&n->s, "node.memory_bytes", INT64_C(10) * GIB);
	sample_meta_int(&n->s, "run.interval_ns", NS_PER_S);
	n->job_slot = sample_series(&n->s, job, JOB_METRICS, 0);
	for (unsigned k = 0; k < processes; k++) {
		uint32_t instance;

		snprintf(text, sizeof text, "worker%u", k);
		instance = sample_instance(&n->s, "process", i || k >= HOSTILE ? text : hostile[k],
					   0, mono0, 0);
		snprintf(text, sizeof text, "%u", 1000 + k);
		sample_label(&n->s, instance, "pid", text);
		n->slot[k] = sample_series(&n->s, process, METRICS, instance);
	}
	for (unsigned k = 0; k < gpus; k++) {
		snprintf(text, sizeof text, "gpu%u", k);
		n->gpu_slot[k] = sample_series(&n->s, gpu, GPU_METRICS,
					       sample_instance(&n->s, "gpu", text, 0, mono0, 0));
	}
}

static void put(unsigned i)
{
	struct node *n = &node[i];

	sample_put(&n->s, n->job_slot + JOB_CPU, moved * (i % 9));
	sample_put(&n->s, n->job_slot + JOB_RSS, INT64_C(1) * (i % 10) * GIB);
	sample_put(&n->s, n->job_slot + JOB_READ, moved * i * 1000000);
	sample_put(&n->s, n->job_slot + JOB_WRITTEN, moved * i * 1000);
	sample_put(&n->s, n->job_slot + JOB_LIVE, processes);
	for (unsigned k = 0; k < processes; k++) {
		sample_put(&n->s, n->slot[k] + CPU, moved * (k == 0) * (i % 9));
		sample_put(&n->s, n->slot[k] + RSS, (INT64_C(1) + k) << 20);
		sample_put(&n->s, n->slot[k] + READ, moved * k * 1000);
		sample_put(&n->s, n->slot[k] + WRITTEN, moved * k);
		sample_put(&n->s, n->slot[k] + THREADS, 1 + k);
	}
	for (unsigned k = 0; k < gpus; k++) {
		sample_put(&n->s, n->gpu_slot[k] + USED, (i * 7 + k * 13) % 101);
		sample_put(&n->s, n->gpu_slot[k] + MEMORY, INT64_C(1) * (k + 1) * GIB);
		sample_put(&n->s, n->gpu_slot[k] + TOTAL, INT64_C(80) * GIB);
		sample_put(&n->s, n->gpu_slot[k] + POWER, 100 + k);
	}
	if (writer_sample(n->w, &n->s, NULL))
		die("a sample cannot be written");
}

static void step_all(void)
{
	for (unsigned i = 0; i < nodes; i++) {
		if (!node[i].w)
			continue;
		sample_begin(&node[i].s, clock_utc_ns(), mono0 + steps * NS_PER_S);
		put(i);
	}
	steps++;
}

static void obey(const char *order)
{
	unsigned i = 0;

	if (!strncmp(order, "step", 4)) {
		moved++;
		step_all();
	} else if (!strncmp(order, "same", 4)) {
		step_all();
	} else if (sscanf(order, "end %u", &i) == 1 && i < nodes && node[i].w) {
		writer_close(node[i].w, NULL);
		node[i].w = NULL;
	} else if (sscanf(order, "lose %u", &i) == 1 && i < nodes && node[i].w) {
		writer_abandon(node[i].w);
		node[i].w = NULL;
	} else {
		die("no such order");
	}
	puts("done");
	fflush(stdout);
}

static void open_all(const char *dir)
{
	const struct writer_options options = { .chunk_rows = 60 };
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err e = { "" };
	char host[32];

	mono0 = clock_mono_ns();
	for (unsigned i = 0; i < nodes; i++) {
		snprintf(host, sizeof host, "node%u", i);
		if (fd < 0 || sample_init(&node[i].s, 1024, 512) ||
		    writer_open(&node[i].w, fd, host, &options, &e))
			die(e.text);
		begin(i);
		put(i);
	}
}

int main(int argc, char **argv)
{
	struct rlimit files;
	char order[64];

	if (argc != 5)
		die("wants DIR NODES PROCESSES GPUS");
	nodes = (unsigned)strtoul(argv[2], NULL, 10);
	processes = (unsigned)strtoul(argv[3], NULL, 10);
	gpus = (unsigned)strtoul(argv[4], NULL, 10);
	if (nodes > NODES_MAX || processes > THINGS_MAX || gpus > THINGS_MAX)
		die("that is too much");
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	open_all(argv[1]);
	puts("done");
	fflush(stdout);
	while (fgets(order, sizeof order, stdin))
		obey(order);
	return 0;
}
