/* SPDX-License-Identifier: Apache-2.0 */
/* placement.c - on which NUMA nodes the job's memory lies, by /proc/PID/numa_maps. Reading it
 * goes through the page tables and holds the lock that the process's own mmap needs. So one process
 * is looked at a second, in turn, when what that costs is saved up; the cost is predicted from its
 * resident memory, and from what it took the last time. */
#include "source/placement.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "source/cpulist.h"
#include "source/kept.h"
#include "source/period.h"
#include "source/procfile.h"
#include "source/source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- numa_maps ---- */

/* What no machine reaches: mappings and processes can be summed up. */
static const int64_t PAGE_LIMIT = INT64_C(1) << 35, BYTES_LIMIT = INT64_C(1) << 46;

/* A word such as "N0=12". */
static bool is_node(const char *word)
{
	return word[0] == 'N' && word[1] >= '0' && word[1] <= '9';
}

static bool read_page_size(const char *word, int64_t *bytes)
{
	static const char key[] = "kernelpagesize_kB=";
	const char *p = word + sizeof key - 1;
	int64_t kilobytes;

	if (strncmp(word, key, sizeof key - 1) != 0)
		return true;
	if (!number_i64(&p, &kilobytes) || kilobytes <= 0 || kilobytes > PAGE_LIMIT / 1024)
		return false;
	*bytes = kilobytes * 1024;
	return true;
}

static bool add_pages(struct numa_maps *m, const char *word, int64_t page_bytes)
{
	const char *p = word + 1;
	int64_t node, pages;

	if (!number_i64(&p, &node) || node >= NUMA_MAPS_NODES || *p++ != '=' ||
	    !number_i64(&p, &pages) || pages < 0 || pages > BYTES_LIMIT / page_bytes ||
	    pages * page_bytes > BYTES_LIMIT - m->bytes[node])
		return false;
	number_add(&m->bytes[node], pages * page_bytes);
	return true;
}

static const char *next_word(const char *p, const char *end)
{
	while (p < end && *p != ' ')
		p++;
	while (p < end && *p == ' ')
		p++;
	return p;
}

/* The size of the pages comes last. Blanks in names of files are escaped. */
static bool add_line(struct numa_maps *m, const char *line, const char *end, int64_t page_bytes)
{
	for (const char *p = line; p < end; p = next_word(p, end))
		if (!read_page_size(p, &page_bytes))
			return false;
	for (const char *p = line; p < end; p = next_word(p, end))
		if (is_node(p) && !add_pages(m, p, page_bytes))
			return false;
	return true;
}

int numa_maps_add(struct numa_maps *m, const char *text, int64_t page_bytes, size_t *used)
{
	const char *line = text;

	for (const char *end; (end = strchr(line, '\n')); line = end + 1)
		if (!add_line(m, line, end, page_bytes))
			return -EBADMSG;
	*used = (size_t)(line - text);
	return 0;
}

/* ---- Source ---- */

enum {
	PIDS = 1024,
	ROUND_S = 30,
	SHARE = 2000,          /* of a core: one part in so many */
	LONGEST_WALK_MS = 250, /* of what is never done: the process waits for it */
	FIRST_NS_PER_MB = 11000,
	LEARN_FROM_MB = 8, /* smaller ones tell little of the cost of their pages */
	TEXT_SIZE = 16 * 1024,
};

static const int64_t OPENING_NS = 15000, AT_FIRST_NS = 20 * NS_PER_MS;

enum { ON_NODE, LOCAL, REMOTE, AGE, MEASURED, LOCAL_RATIO = MEASURED, METRICS };

#define SUMMED .kind = KIND_GAUGE, .unit = UNIT_BYTES, .over_nodes = COMBINE_SUM
#define SHARED " Pages that several processes have count for each."

static const struct metric metrics[] = {
	[ON_NODE] = { "job_numa.resident_bytes", .domain = "job_numa", SUMMED,
		      .over_instances = COMBINE_SUM, .label = "Job's memory",
		      .help = "Memory of the job's processes on the NUMA node; updated once all "
			      "of them were read, absent in between." SHARED },
	[LOCAL] = { "job.numa_local_bytes", SUMMED, .label = "Memory, local",
		    .help = "Memory of the job on a NUMA node of which the process may "
			    "use "
			    "a CPU." SHARED },
	[REMOTE] = { "job.numa_remote_bytes", SUMMED, .label = "Memory, remote",
		     .help = "Memory of the job on NUMA nodes of which the process may "
			     "use "
			     "no CPU." SHARED },
	[AGE] = { "job.numa_age_seconds", .kind = KIND_GAUGE, .unit = UNIT_SECONDS,
		  .div = 1000000000, .over_nodes = COMBINE_MAX, .label = "Age of placement",
		  .help = "Age of the oldest process reading in the current values." },
	[LOCAL_RATIO] = { "job.numa_local_ratio", .kind = KIND_GAUGE, .unit = UNIT_RATIO,
			  .over_nodes = COMBINE_MIN,
			  .formula = "job.numa_local_bytes / (job.numa_local_bytes + "
				     "job.numa_remote_bytes)",
			  .label = "Memory, local",
			  .help = "Share of the job's memory on NUMA nodes of which the "
				  "process may use a CPU; 1 where it may use all CPUs." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS, "a row for every index");

/* Why there is no sum. */
enum trouble { NO_TROUBLE, FORBIDDEN, TOO_MANY, TOO_LARGE, GARBAGE, TROUBLES };

static const struct {
	enum state state;
	const char *reason;
} troubles[] = {
	[NO_TROUBLE] = { STATE_PRESENT, NULL },
	[FORBIDDEN] = { STATE_FORBIDDEN, "a process of the job is another user's or protected: its "
					 "numa_maps may not be read" },
	[TOO_MANY] = { STATE_FAILED, "the job has more processes than are sampled" },
	[TOO_LARGE] = { STATE_FAILED, "a process has so much memory that going through its page "
				      "tables would hold it up for longer than 250 ms" },
	[GARBAGE] = { STATE_FAILED, "numa_maps of a process has a value that is not a number" },
};
_Static_assert(sizeof troubles / sizeof troubles[0] == TROUBLES, "one for every trouble");

struct placement {
	const struct source_env *env;
	struct period looks, rounds;
	int64_t page_bytes, saved_ns, saved_at_ns;
	uint32_t nodes; /* of node[] */
	struct node {
		uint32_t number, slot;
		struct cpulist cpus;
	} node[NUMA_MAPS_NODES];
	uint32_t slot; /* LOCAL, REMOTE and AGE */
	enum trouble told;
	/* the round */
	bool open, any; /* any: some process has been looked at */
	enum trouble trouble;
	int64_t began_ns, local_bytes, remote_bytes;
	struct numa_maps sum;
	size_t npids, turn;
	pid_t pids[PIDS];
	struct cost {
		pid_t pid;
		int64_t ns_per_mb;
	} cost[PIDS]; /* at pid % PIDS, of one that had it last */
	char text[TEXT_SIZE];
};

static void add_node(struct placement *p, uint32_t number, struct sample *s)
{
	struct node *v = &p->node[p->nodes];
	char path[64], cpus[CPULIST_TEXT], name[32];
	uint32_t instance;

	snprintf(path, sizeof path, "devices/system/node/node%u/cpulist", number);
	sysfs_line(&p->env->sys, path, cpus, sizeof cpus);
	cpulist_parse(&v->cpus, cpus);
	v->number = number;
	snprintf(name, sizeof name, "node%u", number);
	instance = sample_instance(s, metrics[ON_NODE].domain, name, 0, clock_mono_ns(), 0);
	if (instance)
		v->slot = sample_series(s, &metrics[ON_NODE], 1, instance);
	p->nodes++;
}

static int placement_open(void *state, const struct source_env *env, struct sample *s,
			  struct err *e)
{
	struct placement *p = state;
	struct cpulist online;
	char list[CPULIST_TEXT];

	sysfs_line(&env->sys, "devices/system/node/online", list, sizeof list);
	cpulist_parse(&online, list);
	if (cpulist_count(&online) < 2)
		return err_set(e, -ENODEV,
			       "this machine has one NUMA node, or does not report them");
	if (!sysfs_exists(&env->proc, "self/numa_maps"))
		return err_set(e, -ENOENT, "this kernel has no %s/PID/numa_maps", env->proc.path);
	p->env = env;
	p->page_bytes = sysconf(_SC_PAGESIZE);
	p->saved_ns = AT_FIRST_NS;
	p->saved_at_ns = s->mono_ns;
	for (uint32_t i = cpulist_next(&online, 0); i < NUMA_MAPS_NODES;
	     i = cpulist_next(&online, i + 1))
		add_node(p, i, s);
	p->slot = sample_series(s, &metrics[LOCAL], MEASURED - LOCAL, 0);
	sample_catalogue(s, &metrics[MEASURED], METRICS - MEASURED);
	return 0;
}

static ssize_t read_text(struct placement *p, const char *file)
{
	char path[48];

	snprintf(path, sizeof path, "%d/%s", (int)p->pids[p->turn], file);
	return root_read(&p->env->proc, path, p->text, sizeof p->text);
}

/* The CPUs that the process may use; all of them when it does not tell. */
static struct cpulist cpus_of(struct placement *p)
{
	struct thread_status status;
	struct cpulist cpus;
	char list[CPULIST_TEXT];

	memset(&cpus, 0xff, sizeof cpus);
	if (read_text(p, "status") > 0 && !thread_status_parse(p->text, &status) && status.cpus) {
		snprintf(list, sizeof list, "%.*s", (int)strcspn(status.cpus, "\n"), status.cpus);
		if (!cpulist_parse(&cpus, list))
			memset(&cpus, 0xff, sizeof cpus);
	}
	return cpus;
}

static bool has_cpu_of(const struct cpulist *cpus, const struct node *v)
{
	for (size_t i = 0; i < CPUS_MAX / 64; i++)
		if (cpus->word[i] & v->cpus.word[i])
			return true;
	return false;
}

static void add_process(struct placement *p, const struct numa_maps *m)
{
	struct cpulist cpus = cpus_of(p);

	p->any = true;
	for (const struct node *v = p->node; v < p->node + p->nodes; v++) {
		int64_t bytes = m->bytes[v->number];

		number_add(&p->sum.bytes[v->number], bytes);
		number_add(has_cpu_of(&cpus, v) ? &p->local_bytes : &p->remote_bytes, bytes);
	}
}

/* Read numa_maps in pieces that end with a line. */
static int walk(struct placement *p, struct numa_maps *m)
{
	char path[32];
	size_t kept = 0, used;
	ssize_t n = 0;
	int fd, bad = 0;

	snprintf(path, sizeof path, "%d/numa_maps", (int)p->pids[p->turn]);
	fd = root_file(&p->env->proc, path);
	if (fd < 0)
		return fd;
	while (!bad && (n = read(fd, p->text + kept, sizeof p->text - 1 - kept)) > 0) {
		kept += (size_t)n;
		p->text[kept] = '\0';
		bad = numa_maps_add(m, p->text, p->page_bytes, &used);
		if (bad || strlen(p->text) != kept || (!used && kept == sizeof p->text - 1)) {
			bad = -EBADMSG;
			break;
		}
		kept -= used;
		memmove(p->text, p->text + used, kept);
	}
	bad = n < 0 ? -errno : bad;
	file_close(&fd);
	return bad;
}

static void look(struct placement *p, int64_t megabytes)
{
	struct numa_maps m = { 0 };
	int64_t before = clock_cpu_ns(), cost;
	pid_t pid = p->pids[p->turn];
	int bad = walk(p, &m);

	if (bad == -EACCES || bad == -EPERM)
		p->trouble = FORBIDDEN;
	else if (bad == -EBADMSG)
		p->trouble = GARBAGE;
	else if (!bad)
		add_process(p, &m);
	cost = clock_cpu_ns() - before;
	p->saved_ns -= cost;
	if (!bad && megabytes >= LEARN_FROM_MB)
		p->cost[pid % PIDS] = (struct cost){ pid, cost / megabytes };
}

static void begin_round(struct placement *p, const struct sample *s)
{
	p->npids = p->env->job.tree ? p->env->job.pids(p->env->job.tree, p->pids, PIDS) : 0;
	p->turn = 0;
	p->open = p->npids > 0;
	p->trouble = p->npids == PIDS ? TOO_MANY : NO_TROUBLE;
	p->began_ns = s->mono_ns;
	p->any = false;
	p->local_bytes = p->remote_bytes = 0;
	p->sum = (struct numa_maps){ 0 };
	if (!p->open)
		p->rounds = (struct period){ 0 }; /* as soon as there is one */
}

static void tell(struct placement *p, struct sample *s)
{
	enum state state = troubles[p->trouble].state;

	if (p->told == p->trouble)
		return;
	p->told = p->trouble;
	for (uint32_t i = 0; i < p->nodes; i++)
		if (p->node[i].slot)
			sample_refuse(s, p->node[i].slot, state, troubles[p->trouble].reason);
	for (uint32_t i = 0; p->slot && i < MEASURED - LOCAL; i++)
		sample_refuse(s, p->slot + i, state, troubles[p->trouble].reason);
}

static void end_round(struct placement *p, struct sample *s)
{
	p->open = false;
	tell(p, s);
	if (p->trouble || !p->any) /* all have ended meanwhile */
		return;
	for (const struct node *v = p->node; v < p->node + p->nodes; v++)
		sample_put(s, v->slot, p->sum.bytes[v->number]);
	if (!p->slot)
		return;
	sample_put(s, p->slot, p->local_bytes);
	sample_put(s, p->slot + REMOTE - LOCAL, p->remote_bytes);
	sample_put(s, p->slot + AGE - LOCAL, s->mono_ns - p->began_ns);
}

static void save_up(struct placement *p, const struct sample *s)
{
	number_add(&p->saved_ns, (s->mono_ns - p->saved_at_ns) / SHARE);
	p->saved_at_ns = s->mono_ns;
	if (p->saved_ns > LONGEST_WALK_MS * NS_PER_MS)
		p->saved_ns = LONGEST_WALK_MS * NS_PER_MS;
}

static int64_t predict_ns(const struct placement *p, int64_t megabytes)
{
	pid_t pid = p->pids[p->turn];
	const struct cost *c = &p->cost[pid % PIDS];

	return OPENING_NS + megabytes * (c->pid == pid ? c->ns_per_mb : FIRST_NS_PER_MB);
}

/* The process whose turn it is, when that can be paid for; one that has ended takes none. */
static void take_turn(struct placement *p)
{
	struct proc_statm statm;
	int64_t megabytes, cost;

	while (p->turn < p->npids &&
	       (read_text(p, "statm") <= 0 || proc_statm_parse(p->text, &statm) < 0))
		p->turn++;
	if (p->turn == p->npids)
		return;
	megabytes = statm.resident_pages * p->page_bytes / 1048576;
	cost = predict_ns(p, megabytes);
	if (cost > LONGEST_WALK_MS * NS_PER_MS)
		p->trouble = TOO_LARGE;
	else if (cost > p->saved_ns)
		return;
	else
		look(p, megabytes);
	p->turn++;
}

static int placement_read(void *state, struct sample *s)
{
	struct placement *p = state;

	if (!period_is_due(&p->looks, s, NS_PER_S))
		return 0;
	save_up(p, s);
	if (!p->open && period_is_due(&p->rounds, s, ROUND_S * NS_PER_S))
		begin_round(p, s);
	if (p->open)
		take_turn(p);
	if (p->open && (p->turn == p->npids || p->trouble))
		end_round(p, s);
	return 0;
}

const struct source source_placement = {
	.name = "placement",
	.what = "the job's memory on each NUMA node",
	SOURCE_METRICS(metrics),
	.size = sizeof(struct placement),
	.open = placement_open,
	.read = placement_read,
};
