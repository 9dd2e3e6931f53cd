/* SPDX-License-Identifier: Apache-2.0 */
/* numa.c - memory of each NUMA node and where allocations were placed:
 * /sys/devices/system/node/node N/{meminfo,numastat}, Documentation/admin-guide/numastat.rst. */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/cpulist.h"
#include "source/device.h"
#include "source/kept.h"
#include "source/meminfo.h"
#include "source/period.h"
#include "source/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NODES_MAX = 1024, TEXT_SIZE = 8192 };

/* Since Linux 5.14 each reading of numastat walks all cores: a node a second in the mean. */
static const int64_t PERIOD_PER_NODE_NS = NS_PER_S, PERIOD_MAX_NS = 10 * NS_PER_S;

/* K: kibibytes, N: a number of huge pages, of meminfo; A: allocations, of numastat. */
#define FIELDS(K, N, A)                                                                            \
	K("MemTotal", "memory_total", "Memory present", "Memory of the NUMA node.")                \
	K("MemFree", "memory_free", "Free", "Memory nothing uses.")                                \
	K("MemUsed", "memory_used", "Used", "Memory that is not free, page cache included.")       \
	MEMINFO_USE(K)                                                                             \
	MEMINFO_WRITING(K)                                                                         \
	K("FilePages", "memory_file_pages", "Page cache",                                          \
	  "Page cache of files and block devices, shared memory included.")                        \
	MEMINFO_MAPPED(K)                                                                          \
	MEMINFO_ANONYMOUS(K)                                                                       \
	MEMINFO_SHARED(K)                                                                          \
	MEMINFO_KERNEL(K)                                                                          \
	MEMINFO_SLAB(K)                                                                            \
	MEMINFO_HUGE(K)                                                                            \
	MEMINFO_PAGES(N)                                                                           \
	MEMINFO_SURPLUS(N)                                                                         \
	A("numa_hit", "hit", "as wanted", "Allocations requested on this node and placed here.")   \
	A("numa_miss", "miss", "missed", "Allocations requested on another node and placed here.") \
	A("numa_foreign", "foreign", "foreign",                                                    \
	  "Allocations requested on this node and placed on another.")                             \
	A("interleave_hit", "interleave", "interleaved",                                           \
	  "Allocations of an interleaving policy placed here as intended.")                        \
	A("local_node", "local", "by local cores",                                                 \
	  "Allocations placed here while the program ran on a core of this node.")                 \
	A("other_node", "other", "by other cores",                                                 \
	  "Allocations placed here while the program ran on a core of another node.")

#define IN_MEMINFO(key, name, heading, sentence)  { key, ':', false },
#define IN_NUMASTAT(key, name, heading, sentence) { key, ' ', true },
static const struct field {
	const char *key;
	char end;      /* what follows the key */
	bool numastat; /* which file it is in */
} fields[] = { FIELDS(IN_MEMINFO, IN_MEMINFO, IN_NUMASTAT) };

enum { NFIELDS = sizeof fields / sizeof fields[0] };
enum { USED_RATIO, MISS_RATIO, OTHER_RATIO, MEASURED };

#define NUMA .domain = "numa", .over_nodes = COMBINE_SUM, .over_instances = COMBINE_SUM
#define KIBIBYTES(key, word, heading, sentence)                                                    \
	{ "numa." word "_bytes", NUMA,        .kind = KIND_GAUGE,                                  \
	  .unit = UNIT_BYTES,    .mul = 1024, .label = heading,                                    \
	  .help = sentence },
#define PAGES(key, word, heading, sentence)                                                        \
	{ "numa." word "_count", NUMA, .kind = KIND_GAUGE, .unit = UNIT_COUNT, .label = heading,   \
	  .help = sentence },
#define PLACED(key, word, heading, sentence)                                                       \
	{ "numa.allocations_" word,                                                                \
	  NUMA,                                                                                    \
	  .kind = KIND_COUNTER,                                                                    \
	  .unit = UNIT_COUNT,                                                                      \
	  .label = "Allocations " heading,                                                         \
	  .help = sentence },
#define RATIO                                                                                      \
	.domain = "numa", .kind = KIND_GAUGE, .unit = UNIT_RATIO, .over_nodes = COMBINE_MAX,       \
	.over_instances = COMBINE_MAX

static const struct metric metrics[] = {
	[USED_RATIO] = { "numa.memory_used_ratio", RATIO,
			 .formula = "numa.memory_used_bytes / numa.memory_total_bytes",
			 .label = "Memory used",
			 .help = "Memory that is not free as a share of the NUMA node's." },
	[MISS_RATIO] = { "numa.allocations_miss_ratio", RATIO,
			 .formula = "numa.allocations_miss_per_second / "
				    "(numa.allocations_miss_per_second + "
				    "numa.allocations_hit_per_second)",
			 .label = "Allocations missed",
			 .help = "Share of the allocations placed here that were requested on "
				 "another "
				 "node." },
	[OTHER_RATIO] = { "numa.allocations_other_ratio", RATIO,
			  .formula = "numa.allocations_other_per_second / "
				     "(numa.allocations_other_per_second + "
				     "numa.allocations_local_per_second)",
			  .label = "Allocations by other cores",
			  .help = "Share of the allocations placed here that were made on a core of "
				  "another node." },
	[MEASURED] = FIELDS(KIBIBYTES, PAGES, PLACED)
};
_Static_assert(sizeof metrics / sizeof metrics[0] == MEASURED + NFIELDS, "a row for every field");
_Static_assert(sizeof fields / sizeof fields[0] <= EVENT_SET_MAX,
	       "the fields are one set of series");

struct numa {
	const struct root *sys;
	struct cpulist online;
	struct devices nodes;
	struct period period;
	int64_t period_ns;
	bool is_counted; /* sysctl vm.numa_stat */
};

/* The field of this line, looked for from next on; NFIELDS when it is none of ours. */
static size_t field_of(const char *line, bool numastat, size_t next)
{
	for (size_t tried = 0; tried < NFIELDS; tried++) {
		size_t i = (next + tried) % NFIELDS, n = strlen(fields[i].key);

		if (fields[i].numastat == numastat && strncmp(line, fields[i].key, n) == 0 &&
		    line[n] == fields[i].end)
			return i;
	}
	return NFIELDS;
}

/* "Node 0 MemTotal:  24684092 kB" without the node. */
static const char *behind_node(const char *line)
{
	int64_t node;

	if (strncmp(line, "Node ", 5) != 0)
		return line;
	line += 5;
	return number_i64(&line, &node) ? number_skip_blanks(line) : line;
}

static bool scan(struct device *v, struct sample *s, const char *text, bool numastat)
{
	size_t next = 0;
	bool any = false;

	for (const char *line = text; *line; line = number_next_line(line)) {
		const char *p = numastat ? line : behind_node(line);
		size_t i = field_of(p, numastat, next);
		int64_t value;

		if (i == NFIELDS)
			continue;
		p += strlen(fields[i].key) + 1;
		if (!number_i64(&p, &value) || value < 0 || (*p != '\n' && *p != ' ')) {
			device_lack(v, s, (uint32_t)i, STATE_FAILED, "its line holds no number");
			continue;
		}
		device_have(v, s, (uint32_t)i, value);
		next = i + 1;
		any = true;
	}
	return any;
}

static int read_file(const struct numa *n, struct device *v, struct sample *s, bool numastat)
{
	char path[96], text[TEXT_SIZE];
	ssize_t r;

	snprintf(path, sizeof path, "devices/system/node/%s/%s", v->name,
		 numastat ? "numastat" : "meminfo");
	r = root_read(n->sys, path, text, sizeof text);
	if (r >= 0)
		return scan(v, s, text, numastat) ? 0 : -EBADMSG;
	for (uint32_t i = 0; i < NFIELDS; i++)
		if (fields[i].numastat == numastat)
			device_lack(v, s, i, state_of((int)r), sysfs_reason((int)r));
	return (int)r;
}

static int read_files(const struct numa *n, struct device *v, struct sample *s)
{
	int a = read_file(n, v, s, false), b = n->is_counted ? read_file(n, v, s, true) : 0;

	return a < 0 ? a : b;
}

/* What it did not tell in the first reading. */
static void refuse(const struct numa *n, struct device *v, struct sample *s)
{
	for (uint32_t i = 0; v->slot && i < NFIELDS; i++)
		if (fields[i].numastat && !n->is_counted)
			device_lack(v, s, i, STATE_UNSUPPORTED,
				    "counting is switched off: sysctl vm.numa_stat is 0");
		else if (s->state[v->slot + i] != STATE_PRESENT)
			device_lack(v, s, i, STATE_UNSUPPORTED, "this kernel does not report it");
}

static void announce(const struct numa *n, struct device *v, struct sample *s)
{
	char path[96], cpus[CPULIST_TEXT];

	device_announce(v, s, &metrics[MEASURED], NFIELDS);
	snprintf(path, sizeof path, "devices/system/node/%s/cpulist", v->name);
	sysfs_line(n->sys, path, cpus, sizeof cpus);
	if (*cpus)
		sample_label(s, v->instance, "cpus", cpus);
	read_files(n, v, s);
	refuse(n, v, s);
}

static void list_nodes(struct numa *n, struct sample *s)
{
	devices_begin(&n->nodes);
	for (uint32_t i = cpulist_next(&n->online, 0); i < CPUS_MAX;
	     i = cpulist_next(&n->online, i + 1)) {
		char name[DEVICE_NAME_SIZE];
		int len = snprintf(name, sizeof name, "node%" PRIu32, i);
		struct device *v = devices_meet(&n->nodes, name, (size_t)len);

		if (v)
			announce(n, v, s);
	}
}

static void numa_close(void *state)
{
	struct numa *n = state;

	devices_free(&n->nodes);
}

/* What a machine of one NUMA node could say is in node.memory_*. */
static int numa_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct numa *n = state;
	char list[CPULIST_TEXT];
	int64_t counted;
	int r;

	n->sys = &env->sys;
	sysfs_line(n->sys, "devices/system/node/online", list, sizeof list);
	cpulist_parse(&n->online, list);
	if (cpulist_count(&n->online) < 2)
		return err_set(e, -ENODEV,
			       "this machine has one NUMA node, or does not report them");
	r = devices_init(&n->nodes, NODES_MAX);
	if (r < 0)
		return err_set(e, r, "there is no memory for a table of NUMA nodes");
	n->period_ns = cpulist_count(&n->online) * PERIOD_PER_NODE_NS;
	if (n->period_ns > PERIOD_MAX_NS)
		n->period_ns = PERIOD_MAX_NS;
	n->is_counted =
		sysfs_read_number(&env->proc, "sys/vm/numa_stat", &counted) < 0 || counted != 0;
	sample_catalogue(s, metrics, MEASURED);
	list_nodes(n, s);
	return 0;
}

static int numa_read(void *state, struct sample *s)
{
	struct numa *n = state;
	int result = 0;

	if (!period_is_due(&n->period, s, n->period_ns))
		return 0;
	for (struct device *v = n->nodes.row; v < n->nodes.row + n->nodes.n; v++) {
		int r = v->slot ? read_files(n, v, s) : 0;

		device_incomplete(v, s, NFIELDS);
		result = r < 0 ? r : result;
	}
	return result;
}

const struct source source_numa = {
	.name = "numa",
	.what = "memory of the NUMA nodes, and where allocations were placed",
	SOURCE_METRICS(metrics),
	.size = sizeof(struct numa),
	.open = numa_open,
	.read = numa_read,
	.close = numa_close,
};
