/* SPDX-License-Identifier: Apache-2.0 */
/* make_nodes DIR NODES SECONDS SERIES: a run of so many nodes at 1 Hz, through the real writer.
 *
 * The series are Sonde's own: all that a node has, then cores, disks, interfaces, file systems and
 * processes until there are enough. How they move is made once from a seed; each node takes it from
 * another row and value on, on a clock of its own, so that all files differ. */
#include "base/clock.h"
#include "recording/writer.h"
#include "source/process.h"
#include "source/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 2, ENDED_PROCESSES = 20, VARIABLES = 150, SETS_MAX = 512 };

/* Metrics side by side of one thing. */
struct set {
	const struct metric *metric;
	uint32_t count;
	const char *domain; /* NULL: the node itself */
	unsigned number;    /* of the thing in its domain */
};

struct plan {
	struct set set[SETS_MAX];
	uint32_t nsets, nseries, rows;
	const struct metric **metric; /* [nseries] */
	int64_t *move;                /* [rows][nseries] what is added to the value before */
};

static void die(const char *what)
{
	fprintf(stderr, "make_nodes: %s\n", what);
	exit(1);
}

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Below 2^bits, with as many magnitudes as real bursts have. */
static int64_t burst(uint64_t *seed, unsigned bits)
{
	uint64_t r = random_next(seed);

	return (int64_t)((r >> 16) & ((UINT64_C(1) << (bits - r % 4)) - 1));
}

/* ---- which series ---- */

static bool is_measured(const struct metric *m, const char *domain)
{
	return !m->formula && (domain ? m->domain && !strcmp(m->domain, domain) : !m->domain);
}

/* The measured rows of a domain as sets, until the plan has as many series as wanted. */
static void add_thing(struct plan *p, const char *domain, unsigned number, uint32_t wanted)
{
	for (size_t s = 0; s < nsources; s++) {
		const struct metric *m = sources[s]->metrics, *end = m + sources[s]->nmetrics;

		while (m < end && p->nseries < wanted && p->nsets < SETS_MAX) {
			uint32_t n = 0;

			while (m + n < end && is_measured(&m[n], domain) && n < EVENT_SET_MAX &&
			       p->nseries + n < wanted)
				n++;
			if (n)
				p->set[p->nsets++] = (struct set){ m, n, domain, number };
			p->nseries += n;
			m += n ? n : 1;
		}
	}
}

static void choose_series(struct plan *p, uint32_t wanted)
{
	static const struct {
		const char *domain;
		unsigned n;
	} things[] = { { NULL, 1 },         { "cpu", 8 },     { "disk", 2 },
		       { "filesystem", 1 }, { "network", 1 }, { "process", 4096 } };
	uint32_t at = 0;

	for (size_t t = 0; t < sizeof things / sizeof things[0]; t++)
		for (unsigned i = 0; i < things[t].n && p->nseries < wanted; i++)
			add_thing(p, things[t].domain, i, wanted);
	p->metric = calloc(p->nseries, sizeof(struct metric *));
	if (p->nseries < wanted || !p->metric)
		die("so many series are too many");
	for (uint32_t s = 0; s < p->nsets; s++)
		for (uint32_t i = 0; i < p->set[s].count; i++)
			p->metric[at++] = &p->set[s].metric[i];
}

/* ---- how they move ---- */

static int64_t move_of(const struct metric *m, uint64_t *seed)
{
	uint64_t r = random_next(seed);

	if (m->kind == KIND_COUNTER && (m->unit == UNIT_SECONDS || m->unit == UNIT_ELAPSED_SECONDS))
		return m->div > 1000 ? burst(seed, m->div > 1000000 ? 30 : 18)
				     : (int64_t)(r % 5 ? r >> 8 & 3 : r >> 8 & 63);
	if (m->kind == KIND_COUNTER && m->unit == UNIT_BYTES)
		return r % 2 ? burst(seed, 17) : 0;
	if (m->kind == KIND_COUNTER)
		return r % 3 ? burst(seed, 8) : 0;
	if (m->unit == UNIT_BYTES)
		return r % 3 ? 0 : 4096 * (burst(seed, 10) - burst(seed, 10));
	return r % 12 ? 0 : (int64_t)(r >> 8 & 3) - (int64_t)(r >> 16 & 3);
}

/* A third of the series never moves, but the job's do; the rest work in phases, ten side by side
 * together. */
static void make_moves(struct plan *p)
{
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
	bool *active = calloc(p->nseries, sizeof *active);

	p->move = calloc((size_t)p->rows * p->nseries, sizeof *p->move);
	if (!p->move || !active)
		die("not enough memory");
	for (uint32_t row = 0; row < p->rows; row++)
		for (uint32_t s = 0; s < p->nseries; s++) {
			bool still = s * 37 % 100 < 33 && strncmp(p->metric[s]->name, "job.", 4);

			if (random_next(&seed) % 40 == 0)
				active[s - s % 10] = random_next(&seed) % 100 < 70;
			if (!still && active[s - s % 10])
				p->move[(size_t)row * p->nseries + s] =
					move_of(p->metric[s], &seed);
		}
	free(active);
}

/* ---- a node ---- */

struct node {
	const struct plan *p;
	struct sample sample;
	uint32_t *slot;
	int64_t *value;
	uint64_t seed;
	uint32_t shift; /* row of the plan that is its first */
	int64_t utc_ns, mono_ns;
};

static void open_series(struct node *n)
{
	struct sample *s = &n->sample;
	uint32_t at = 0, instance = 0;
	const struct set *before = NULL;
	char name[32];

	for (uint32_t i = 0; i < n->p->nsets; before = &n->p->set[i++]) {
		const struct set *set = &n->p->set[i];
		uint32_t slot;

		if (!set->domain) {
			instance = 0;
		} else if (!before || before->domain != set->domain ||
			   before->number != set->number) {
			snprintf(name, sizeof name, "%s%u", set->domain, set->number);
			instance = sample_instance(s, set->domain, name, 0, n->mono_ns, 0);
			sample_label(s, instance, "pid", name + strcspn(name, "0123456789"));
		}
		slot = sample_series(s, set->metric, set->count, instance);
		if (!slot)
			die("the sample has no room for the series");
		for (uint32_t k = 0; k < set->count; k++)
			n->slot[at++] = slot + k;
	}
	for (uint32_t i = 0; i < n->p->nseries; i++)
		if (n->p->metric[i]->kind == KIND_GAUGE)
			n->value[i] = n->p->metric[i]->unit == UNIT_BYTES
					      ? INT64_C(4096) * (1000000 + burst(&n->seed, 18))
					      : 500 + burst(&n->seed, 8);
}

static void say_begin(struct node *n, const char *host)
{
	struct sample *s = &n->sample;
	char name[48];

	for (size_t i = 0; i < nsources; i++)
		sample_catalogue(s, sources[i]->metrics, (uint32_t)sources[i]->nmetrics);
	sample_clock(s, n->mono_ns, n->utc_ns, 1000, true);
	sample_meta_text(s, "run.id", "0123456789abcdef0123456789abcdef");
	for (unsigned i = 0; i < VARIABLES; i++) {
		snprintf(name, sizeof name, "job.environment.VARIABLE_%u", i);
		sample_meta_text(s, name, "as on every node");
	}
	sample_meta_int(s, "run.interval_ns", NS_PER_S);
	sample_meta_text(s, "job.command", "./solver input.dat");
	sample_meta_text(s, "node.host", host);
	sample_meta_int(s, "node.cores_present", 8);
	sample_meta_int(s, "node.memory_bytes", INT64_C(64) << 30);
}

static void say_end(struct node *n)
{
	struct sample *s = &n->sample;
	int64_t wall_ns = (int64_t)n->p->rows * NS_PER_S;

	sample_meta_int(s, "job.exit_code", 0);
	sample_meta_int(s, "job.wall_ns", wall_ns);
	sample_meta_int(s, "job.cpu_ns", 3 * wall_ns);
	sample_meta_int(s, "job.cpu_attributed_ns", 3 * wall_ns);
	sample_meta_int(s, "job.processes_started", ENDED_PROCESSES);
	sample_meta_int(s, "job.peak_memory_bytes", burst(&n->seed, 34));
	sample_meta_text(s, "job.peak_memory_kind", "pss");
	sample_meta_int(s, "monitor.samples", n->p->rows);
}

/* One that lived between two samples. */
static void say_process(struct node *n, uint32_t row)
{
	int64_t final[PROCESS_FINALS] = {
		[PROCESS_CPU] = burst(&n->seed, 30), [PROCESS_PEAK_RESIDENT] = burst(&n->seed, 28)
	};
	uint32_t id = sample_instance(&n->sample, "process", row % 2 ? "cc1" : "sh", 0,
				      n->sample.mono_ns, 0);

	sample_label(&n->sample, id, "pid", "4711");
	sample_final(&n->sample, id, process_metrics, PROCESS_FINALS, final,
		     UINT64_C(1) << PROCESS_CPU | UINT64_C(1) << PROCESS_PEAK_RESIDENT);
	sample_end(&n->sample, id, n->sample.mono_ns + NS_PER_S / 2);
}

static void write_row(struct node *n, struct writer *w, uint32_t row)
{
	const struct plan *p = n->p;
	const int64_t *move = p->move + (size_t)((row + n->shift) % p->rows) * p->nseries;
	int64_t ns = row * NS_PER_S + burst(&n->seed, 17);
	uint32_t every = p->rows / ENDED_PROCESSES;

	sample_begin(&n->sample, n->utc_ns + ns, n->mono_ns + ns);
	for (uint32_t i = 0; i < p->nseries; i++) {
		n->value[i] += move[i];
		sample_put(&n->sample, n->slot[i], n->value[i]);
	}
	if (every && row % every == every - 1)
		say_process(n, row);
	if (row + 1 == p->rows)
		say_end(n);
	if (writer_sample(w, &n->sample, NULL))
		die("cannot write");
}

static void write_node(const struct plan *p, int dirfd, unsigned number)
{
	static const struct writer_options options = { 0 };
	struct node n = { .p = p, .seed = (number + 1) * UINT64_C(0xd1b54a32d192ed03) };
	struct writer *w;
	char host[32];

	n.slot = calloc(p->nseries, sizeof *n.slot);
	n.value = calloc(p->nseries, sizeof *n.value);
	n.shift = (uint32_t)(random_next(&n.seed) % p->rows);
	n.utc_ns = INT64_C(1700000000) * NS_PER_S + burst(&n.seed, 28);
	n.mono_ns = burst(&n.seed, 50);
	snprintf(host, sizeof host, "n%05u", number);
	if (!n.slot || !n.value || sample_init(&n.sample, p->nseries + 64, 4096) ||
	    writer_open(&w, dirfd, host, &options, NULL))
		die("cannot open a recording");
	sample_begin(&n.sample, n.utc_ns, n.mono_ns);
	say_begin(&n, host);
	open_series(&n);
	for (uint32_t row = 0; row < p->rows; row++)
		write_row(&n, w, row);
	if (writer_close(w, NULL))
		die("cannot close a recording");
	sample_free(&n.sample);
	free(n.slot);
	free(n.value);
}

static void work(const struct plan *p, int dirfd, unsigned first, unsigned nodes)
{
	for (unsigned i = first; i < nodes; i += WORKERS)
		write_node(p, dirfd, i);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct plan p = { 0 };
	int dirfd, status, failed = 0;
	unsigned nodes;

	if (argc != 5)
		die("usage: make_nodes DIR NODES SECONDS SERIES");
	nodes = (unsigned)strtoul(argv[2], NULL, 10);
	p.rows = (uint32_t)strtoul(argv[3], NULL, 10);
	dirfd = open(argv[1], O_RDONLY | O_DIRECTORY);
	if (dirfd < 0 || !nodes || !p.rows)
		die("it takes a directory, a number of nodes and of seconds");
	choose_series(&p, (uint32_t)strtoul(argv[4], NULL, 10));
	make_moves(&p);
	for (unsigned i = 0; i < WORKERS; i++)
		if (fork() == 0)
			work(&p, dirfd, i, nodes);
	while (wait(&status) > 0)
		failed |= status;
	free(p.metric);
	free(p.move);
	return failed ? 1 : 0;
}
