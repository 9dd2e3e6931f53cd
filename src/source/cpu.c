/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c - CPU time of the node, in total and per core, by the kernel's states: proc_stat(5). */
#include "base/text/number.h"
#include "source/core.h"
#include "source/device.h"
#include "source/kept.h"
#include "source/source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { CORES_MAX = 8192, ROOM = 64 * 1024 };

/* The columns of a line, which only ever grew at its end. */
enum {
	TIME_USER,
	TIME_NICE,
	TIME_SYSTEM,
	TIME_IDLE,
	TIME_IOWAIT,
	TIME_IRQ,
	TIME_SOFTIRQ,
	TIME_STEAL,
	TIME_GUEST,
	TIME_GUEST_NICE,
	NTIMES
};

/* The columns of the line of soft interrupts behind its sum: <linux/interrupt.h>, since
 * Linux 2.6.33. */
enum { NSOFTIRQS = 10 };

enum {
	NODE_TIMES = 0,
	NODE_CONTEXT_SWITCHES = NTIMES,
	NODE_FORKS,
	NODE_INTERRUPTS,
	NODE_RUNNING,
	NODE_BLOCKED,
	NODE_CORES,
	NODE_SOFTIRQS,
	NODE_NUMBER_OF = NODE_SOFTIRQS + 1 + NSOFTIRQS,
	CORE_TIMES = NODE_NUMBER_OF,
	CORE_DETAIL = CORE_TIMES + NTIMES,
	DERIVED = CORE_DETAIL + CORE_DETAILS,
	NODE_USED = DERIVED,
	NODE_USED_RATIO,
	CORE_USED_RATIO,
	METRICS_NUMBER_OF
};

#define NO_COLUMN "this kernel does not count it"
#define TICKS     .unit = UNIT_SECONDS, .mul = 1, .div = 100, .kind = KIND_COUNTER
#define COUNT     .unit = UNIT_COUNT, .over_nodes = COMBINE_SUM

#define TIME(column, word, heading, spent)                                                         \
	[NODE_TIMES + column] = { "node.cpu_" word "_seconds", TICKS, .over_nodes = COMBINE_SUM,   \
				  .label = "CPU: " heading,                                        \
				  .help = "Time that all cores spent " spent "." },                \
		      [CORE_TIMES + column] = { "cpu." word "_seconds",                            \
						"cpu",                                             \
						TICKS,                                             \
						.over_instances = COMBINE_SUM,                     \
						.over_nodes = COMBINE_SUM,                         \
						.label = heading,                                  \
						.help = "Time that the core spent " spent "." }

#define CORE .domain = "cpu"
#define SOFTIRQ(column, word, sentence)                                                            \
	[NODE_SOFTIRQS + column] = { "node.softirqs_" word, COUNT, .kind = KIND_COUNTER,           \
				     .label = "Soft interrupts, " word,                            \
				     .help = "Soft interrupts " sentence "." }

/* Guests are inside user and nice; waiting for I/O is idling; what was stolen was not used here. */
#define USED(scope)                                                                                \
	"(" scope "user_cores + " scope "nice_cores + " scope "system_cores + " scope              \
	"irq_cores + " scope "softirq_cores)"
#define USED_RATIO(scope)                                                                          \
	USED(scope)                                                                                \
	" / (" USED(scope) " + " scope "idle_cores + " scope "iowait_cores + " scope "steal_"      \
			   "cores)"

static const struct metric metrics[] = {
	TIME(TIME_USER, "user", "User", "in user mode, guests included"),
	TIME(TIME_NICE, "nice", "Nice", "in user mode with low priority, niced guests included"),
	TIME(TIME_SYSTEM, "system", "System", "in kernel mode"),
	TIME(TIME_IDLE, "idle", "Idle", "idle, with no disk request waiting"),
	TIME(TIME_IOWAIT, "iowait", "I/O wait", "idle while a disk request waited"),
	TIME(TIME_IRQ, "irq", "Interrupts", "in hardware interrupts"),
	TIME(TIME_SOFTIRQ, "softirq", "Soft interrupts", "in software interrupts"),
	TIME(TIME_STEAL, "steal", "Stolen", "waiting for a hypervisor that ran something else"),
	TIME(TIME_GUEST, "guest", "Guests", "running guests; part of user"),
	TIME(TIME_GUEST_NICE, "guest_nice", "Niced guests", "running niced guests; part of nice"),
	[NODE_CONTEXT_SWITCHES] = { "node.context_switches", COUNT, .kind = KIND_COUNTER,
				    .label = "Context switches",
				    .help = "Context switches on all cores." },
	[NODE_FORKS] = { "node.forks", COUNT, .kind = KIND_COUNTER, .label = "Forks",
			 .help = "Processes and threads that were created." },
	[NODE_INTERRUPTS] = { "node.interrupts", COUNT, .kind = KIND_COUNTER, .label = "Interrupts",
			      .help = "Hardware interrupts served by all cores." },
	[NODE_RUNNING] = { "node.procs_running", COUNT, .kind = KIND_GAUGE, .label = "Runnable",
			   .help = "Threads that run or wait for a core." },
	[NODE_BLOCKED] = { "node.procs_blocked", COUNT, .kind = KIND_GAUGE, .label = "Blocked",
			   .help = "Threads that wait for a disk." },
	[NODE_CORES] = { "node.cores_online_count", COUNT, .kind = KIND_GAUGE,
			 .label = "Cores online", .help = "Logical cores that are online." },
	[NODE_SOFTIRQS] = { "node.softirqs", COUNT, .kind = KIND_COUNTER,
			    .label = "Soft interrupts",
			    .help = "Soft interrupts served by all cores." },
	SOFTIRQ(1, "hi", "of high priority"),
	SOFTIRQ(2, "timer", "of timers"),
	SOFTIRQ(3, "net_tx", "of packets sent"),
	SOFTIRQ(4, "net_rx", "of packets received"),
	SOFTIRQ(5, "block", "of block devices"),
	SOFTIRQ(6, "irq_poll", "of block devices that are polled"),
	SOFTIRQ(7, "tasklet", "of drivers' tasklets"),
	SOFTIRQ(8, "sched", "of the scheduler's balancing"),
	SOFTIRQ(9, "hrtimer", "of high-resolution timers"),
	SOFTIRQ(10, "rcu", "of read-copy-update"),
	[CORE_DETAIL +
		CORE_INTERRUPTS] = { "cpu.interrupts", CORE, COUNT, .kind = KIND_COUNTER,
				     .over_instances = COMBINE_SUM, .label = "Interrupts",
				     .help = "Interrupts of all kinds that the core took, read every 10 s, "
					     "less often if that takes long." },
	[CORE_DETAIL +
		CORE_FREQUENCY] = { "cpu.frequency_hertz", CORE, .unit = UNIT_HERTZ, .mul = 1000,
				    .kind = KIND_GAUGE, .over_instances = COMBINE_MEAN,
				    .over_nodes = COMBINE_MEAN, .label = "Frequency",
				    .help = "Frequency of the core, read every 1 to 10 s: on x86 what it was lately, "
					    "measured by the kernel; else the one that was set." },
	[CORE_DETAIL +
		CORE_THROTTLES] = { "cpu.throttles", CORE, COUNT, .kind = KIND_COUNTER,
				    .over_instances = COMBINE_SUM, .label = "Throttled",
				    .help = "Times the core was slowed down because it was too hot, "
					    "counted with its first thread." },
	[CORE_DETAIL +
		CORE_THROTTLED] = { "cpu.throttled_seconds", CORE, .unit = UNIT_ELAPSED_SECONDS,
				    .mul = 1, .div = 1000, .kind = KIND_COUNTER,
				    .over_instances = COMBINE_MEAN, .over_nodes = COMBINE_MEAN,
				    .label = "Time throttled",
				    .help = "Time in which the core was slowed down because it was too "
					    "hot, counted with its first thread." },
	[NODE_USED] = { "node.cpu_used_cores", .unit = UNIT_CORES, .kind = KIND_GAUGE,
			.over_nodes = COMBINE_SUM, .formula = USED("node.cpu_"),
			.label = "Cores used",
			.help = "Cores at work in user, nice, system and interrupt time; idle, I/O "
				"wait and stolen time are left out." },
	[NODE_USED_RATIO] = { "node.cpu_used_ratio", .unit = UNIT_RATIO, .kind = KIND_GAUGE,
			      .over_nodes = COMBINE_MEAN, .formula = USED_RATIO("node.cpu_"),
			      .label = "CPU used",
			      .help = "Cores at work as a share of the cores online." },
	[CORE_USED_RATIO] = { "cpu.used_ratio", "cpu", .unit = UNIT_RATIO, .kind = KIND_GAUGE,
			      .over_instances = COMBINE_MEAN, .over_nodes = COMBINE_MEAN,
			      .formula = USED_RATIO("cpu."), .label = "CPU used",
			      .help = "Share of its time that the core was at work." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS_NUMBER_OF, "a row for every index");

struct cpu {
	struct kept stat;
	struct devices cores;
	uint32_t slot;     /* of NODE_NUMBER_OF series */
	uint32_t ncolumns; /* that this kernel has; 0: it counts nothing of the node */
	int64_t hz;        /* ticks in a second */
	struct core_reader detail;
	bool told;                 /* what no core here can tell */
	bool later;                /* where cores are, and how fast, is told by rest() */
	bool interrupts_later;     /* likewise */
	bool whole;                /* every line of this scan told what it should */
	int lacks[NODE_NUMBER_OF]; /* why a series of the node has no value: sysfs_put_state */
};

static int64_t hundredths(const struct cpu *c, int64_t ticks)
{
	return c->hz == 100 ? ticks : ticks / c->hz * 100 + ticks % c->hz * 100 / c->hz;
}

static void tell(struct cpu *c, struct sample *s, uint32_t metric, int error)
{
	if (c->slot)
		sysfs_put_state(s, c->slot + metric, &c->lacks[metric], error);
}

/* -1: there is something, and it is no count. A 0 of a kernel that counts nothing is none. */
static void put(struct cpu *c, struct sample *s, uint32_t metric, int64_t value)
{
	if (!value && !c->ncolumns && metric != NODE_CORES)
		return;
	tell(c, s, metric, value < 0 ? -ERANGE : 0);
	if (c->slot && value >= 0)
		sample_put(s, c->slot + metric, value);
}

static bool is_core(const char *line)
{
	return strncmp(line, "cpu", 3) == 0 && line[3] >= '0' && line[3] <= '9';
}

/* The first core says what none of them can tell; the others have no series for it. */
static void announce(struct cpu *c, struct device *core, struct sample *s)
{
	uint32_t ndetails = c->told ? core_ndetails(&c->detail) : CORE_DETAILS;

	device_announce(core, s, &metrics[CORE_TIMES],
			ndetails      ? NTIMES + ndetails
			: c->ncolumns ? c->ncolumns
				      : 1);
	if (!c->later)
		core_born(&c->detail, core, s, NTIMES);
	for (uint32_t i = c->ncolumns; core->slot && i < core->nslots && i < NTIMES; i++)
		sample_refuse(s, core->slot + i, STATE_UNSUPPORTED, NO_COLUMN);
	c->told = true;
}

static const char *read_core(struct cpu *c, struct sample *s, const char *line, int64_t *cores)
{
	const char *p = line + strcspn(line, " \n");
	struct device *core = devices_meet(&c->cores, line, (size_t)(p - line));
	uint32_t i = 0;
	int64_t v;

	if (!core)
		return p;
	++*cores;
	if (!core->told)
		announce(c, core, s);
	for (; i < c->ncolumns && number_count(&p, &v); i++)
		device_count(core, s, i, v < 0 ? v : hundredths(c, v));
	c->whole &= i == c->ncolumns;
	return p;
}

static const char *read_total(struct cpu *c, struct sample *s, const char *p)
{
	uint32_t i = 0;
	int64_t v;

	for (; i < c->ncolumns && number_count(&p, &v); i++)
		put(c, s, NODE_TIMES + i, v < 0 ? v : hundredths(c, v));
	for (; i < c->ncolumns; i++)
		tell(c, s, NODE_TIMES + i, -EBADMSG);
	return p;
}

static void read_softirqs(struct cpu *c, struct sample *s, const char *p)
{
	int64_t v[1 + NSOFTIRQS];
	uint32_t n = 0;

	while (n <= NSOFTIRQS && number_count(&p, &v[n]))
		n++;
	for (uint32_t i = 0; i < (n > NSOFTIRQS ? n : n > 0); i++)
		put(c, s, NODE_SOFTIRQS + i, v[i]);
}

/* The lines behind the cores, each with one number that counts ("intr" has many: the first is the
 * sum). */
static bool read_other(struct cpu *c, struct sample *s, const char *line)
{
	static const struct {
		const char *key;
		uint32_t metric;
	} rows[] = {
		{ "ctxt ", NODE_CONTEXT_SWITCHES }, { "processes ", NODE_FORKS },
		{ "intr ", NODE_INTERRUPTS },       { "procs_running ", NODE_RUNNING },
		{ "procs_blocked ", NODE_BLOCKED },
	};
	int64_t v;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *p = line + strlen(rows[i].key);

		if (strncmp(line, rows[i].key, strlen(rows[i].key)) != 0)
			continue;
		if (!number_count(&p, &v))
			v = -1;
		put(c, s, rows[i].metric, v);
		return v >= 0;
	}
	return false;
}

static int scan(struct cpu *c, struct sample *s)
{
	int64_t cores = 0;
	bool ended = false;

	c->whole = true;
	devices_begin(&c->cores);
	for (const char *p = c->stat.text; *p; p = number_next_line(p)) {
		if (strncmp(p, "cpu ", 4) == 0) {
			p = read_total(c, s, p + 4);
		} else if (is_core(p)) {
			p = read_core(c, s, p, &cores);
		} else if (strncmp(p, "softirq ", 8) == 0) {
			read_softirqs(c, s, p + 8);
		} else {
			ended |= read_other(c, s, p);
		}
	}
	/* A file that is cut short says nothing of cores that went away. */
	if (!ended || !c->whole)
		devices_incomplete(&c->cores, s, c->ncolumns);
	if (!ended)
		return -EBADMSG;
	put(c, s, NODE_CORES, cores);
	devices_sweep(&c->cores, s);
	return 0;
}

static uint32_t count_cores(const char *stat)
{
	uint32_t n = 0;

	for (const char *p = stat; *p; p = number_next_line(p))
		n += strncmp(p, "cpu", 3) == 0 && p[3] != ' ';
	return n;
}

/* *columns: 0 where all that it ever counted is 0, which no machine is when it has booted. */
static int count_columns(const char *stat, uint32_t *columns)
{
	const char *p = number_find_line(stat, "cpu ");
	bool counts = false;
	uint32_t n = 0;
	int64_t v;

	for (; p && n < NTIMES && number_count(&p, &v); n++)
		counts |= v != 0;
	*columns = counts ? n : 0;
	return n ? 0 : -EBADMSG;
}

static void cpu_close(void *state)
{
	struct cpu *c = state;

	kept_close(&c->stat);
	core_close(&c->detail);
	devices_free(&c->cores);
}

static int cpu_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct cpu *c = state;
	int r = kept_open(&c->stat, &env->proc, "stat", ROOM, e);

	if (r < 0)
		return r;
	c->hz = sysconf(_SC_CLK_TCK);
	r = count_columns(c->stat.text, &c->ncolumns);
	if (r < 0 || c->hz <= 0) {
		cpu_close(c);
		return err_set(e, -EBADMSG, "%s/stat: it has no line \"cpu\"", env->proc.path);
	}
	r = devices_init(&c->cores, CORES_MAX);
	if (r < 0) {
		cpu_close(c);
		return err_set(e, r, "there is no memory for a table of cores");
	}
	c->slot = sample_series(s, metrics, NODE_NUMBER_OF, 0);
	for (uint32_t i = c->ncolumns; c->slot && i < NTIMES; i++)
		sample_refuse(s, c->slot + i, STATE_UNSUPPORTED, NO_COLUMN);
	core_open(&c->detail, env, count_cores(c->stat.text));
	c->later = env->rest_follows && !core_reads_by_place(&c->detail);
	c->interrupts_later = env->rest_follows;
	if (!c->later)
		core_open_rest(&c->detail);
	sample_catalogue(s, &metrics[DERIVED], METRICS_NUMBER_OF - DERIVED);
	scan(c, s);
	for (uint32_t i = NODE_CONTEXT_SWITCHES; c->slot && i < NODE_NUMBER_OF; i++)
		if (s->state[c->slot + i] != STATE_PRESENT && !c->lacks[i])
			sample_refuse(s, c->slot + i, STATE_UNSUPPORTED, NO_COLUMN);
	return 0;
}

static int cpu_read(void *state, struct sample *s)
{
	struct cpu *c = state;
	int r = kept_read(&c->stat);

	r = r < 0 ? r : scan(c, s);
	if (r == 0 && !c->interrupts_later)
		core_read_interrupts(&c->detail, &c->cores, s, NTIMES);
	if (r == 0 && !c->later)
		core_read(&c->detail, &c->cores, s, NTIMES);
	return r;
}

/* Four files a core, of which there may be hundreds: where it is, and its frequency, which is no
 * count of what was before. Of the interrupts, a number for each kind and core, a moment is
 * missing. */
static void cpu_rest(void *state, struct sample *s)
{
	struct cpu *c = state;

	c->interrupts_later = false;
	core_read_interrupts(&c->detail, &c->cores, s, NTIMES);
	if (!c->later)
		return;
	c->later = false;
	core_open_rest(&c->detail);
	for (struct device *core = c->cores.row; core < c->cores.row + c->cores.n; core++)
		if (core->told)
			core_born(&c->detail, core, s, NTIMES);
	core_read(&c->detail, &c->cores, s, NTIMES);
}

const struct source source_cpu = {
	.name = "cpu",
	.what = "CPU of the node, in total and per core; frequency and throttling of cores",
	.fix_admin = SOURCE_FIX_PROC,
	SOURCE_METRICS(metrics),
	.size = sizeof(struct cpu),
	.open = cpu_open,
	.read = cpu_read,
	.rest = cpu_rest,
	.close = cpu_close,
};
