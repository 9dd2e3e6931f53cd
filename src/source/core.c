/* SPDX-License-Identifier: Apache-2.0 */
#include "source/core.h"

#include "base/clock.h"
#include "base/reserve.h"
#include "base/text/number.h"
#include "source/cpulist.h"
#include "source/kept.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What no machine reaches: a row of each kind can be summed up. */
static const int64_t COUNT_LIMIT = INT64_C(1) << 48;

int interrupts_init(struct interrupts *x)
{
	*x = (struct interrupts){ .cpu = reserve(CPUS_MAX * sizeof *x->cpu),
				  .sum = reserve(CPUS_MAX * sizeof *x->sum),
				  .row = reserve(CPUS_MAX * sizeof *x->row) };
	if (x->cpu && x->sum && x->row)
		return 0;
	interrupts_free(x);
	return -ENOMEM;
}

void interrupts_free(struct interrupts *x)
{
	reserve_free(x->cpu, CPUS_MAX * sizeof *x->cpu);
	reserve_free(x->sum, CPUS_MAX * sizeof *x->sum);
	reserve_free(x->row, CPUS_MAX * sizeof *x->row);
	*x = (struct interrupts){ 0 };
}

static void begin_line(struct interrupts *x, enum interrupts_part part)
{
	x->part = part;
	x->label = 0;
	x->column = 0;
	x->number = -1;
}

void interrupts_begin(struct interrupts *x)
{
	x->ncolumns = x->nrows = 0;
	begin_line(x, INTERRUPTS_HEADER);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Behind a name of the header, "CPU12". One with anything else in it is none. */
static void take_name(struct interrupts *x, char c)
{
	if (!strchr("CPU \n", c) || !c) {
		x->ncolumns = 0;
		x->part = INTERRUPTS_REST;
		return;
	}
	if (x->number < 0)
		return;
	if (x->number < CPUS_MAX && x->ncolumns < CPUS_MAX) {
		x->sum[x->ncolumns] = 0;
		x->cpu[x->ncolumns++] = (uint32_t)x->number;
	}
	x->number = -1;
}

static void take_digit(struct interrupts *x, char c)
{
	if (x->number <= COUNT_LIMIT)
		x->number = (x->number < 0 ? 0 : x->number) * 10 + (c - '0');
}

/* The number of a column has ended. With the last one the row counts. */
static void take_count(struct interrupts *x)
{
	if (x->number < 0)
		return;
	if (x->number > COUNT_LIMIT) {
		x->part = INTERRUPTS_REST;
		return;
	}
	x->row[x->column++] = x->number;
	x->number = -1;
	if (x->column < x->ncolumns)
		return;
	x->part = INTERRUPTS_REST;
	x->nrows++;
	for (uint32_t i = 0; i < x->ncolumns; i++)
		number_add(&x->sum[i], x->row[i]);
}

/* ERR and MIS of x86, Err of ARM, BAD of POWER: faults of the interrupt controllers. */
static bool is_of_no_cpu(const struct interrupts *x)
{
	static const char labels[][4] = { "ERR", "MIS", "Err", "BAD" };

	for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
		const unsigned char *l = (const unsigned char *)labels[i];

		if (x->label == ((uint32_t)l[0] << 16 | (uint32_t)l[1] << 8 | l[2]))
			return true;
	}
	return false;
}

static void take_label(struct interrupts *x, char c)
{
	if (c != ':' || !x->ncolumns)
		x->label = (x->label << 8 | (unsigned char)c) & 0xffffff;
	else
		x->part = is_of_no_cpu(x) ? INTERRUPTS_REST : INTERRUPTS_COUNTS;
}

static void feed(struct interrupts *x, char c)
{
	if ((x->part == INTERRUPTS_HEADER || x->part == INTERRUPTS_COUNTS) && is_digit(c))
		take_digit(x, c);
	else if (x->part == INTERRUPTS_HEADER)
		take_name(x, c);
	else if (x->part == INTERRUPTS_LABEL)
		take_label(x, c);
	else if (x->part == INTERRUPTS_COUNTS && (c == ' ' || c == '\n'))
		take_count(x);
	else if (x->part == INTERRUPTS_COUNTS)
		x->part = INTERRUPTS_REST;
	if (c == '\n')
		begin_line(x, INTERRUPTS_LABEL);
}

void interrupts_feed(struct interrupts *x, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		feed(x, text[i]);
}

bool interrupts_end(const struct interrupts *x)
{
	return x->nrows && x->part == INTERRUPTS_LABEL && x->column == 0;
}

/* ---- Topology ---- */

static void read_list(const struct root *sys, const char *path, struct cpulist *out)
{
	char text[CPULIST_TEXT];

	sysfs_line(sys, path, text, sizeof text);
	cpulist_parse(out, text);
}

static void read_numa(struct topology *t)
{
	struct cpulist nodes, cpus;
	char path[64];

	read_list(t->sys, "devices/system/node/online", &nodes);
	for (uint32_t node = cpulist_next(&nodes, 0); node < CPUS_MAX;
	     node = cpulist_next(&nodes, node + 1)) {
		snprintf(path, sizeof path, "devices/system/node/node%" PRIu32 "/cpulist", node);
		read_list(t->sys, path, &cpus);
		for (uint32_t each = cpulist_next(&cpus, 0); each < CPUS_MAX;
		     each = cpulist_next(&cpus, each + 1))
			t->numa[each] = (uint16_t)(node + 1);
	}
}

/* t is all zero. */
static void topology_open(struct topology *t, const struct root *sys)
{
	t->sys = sys;
	read_list(sys, "devices/cpu_core/cpus", &t->performance);
	read_list(sys, "devices/cpu_atom/cpus", &t->efficiency);
	read_list(sys, "devices/cpu_lowpower/cpus", &t->low_power);
	read_numa(t);
}

static int64_t number_of(const struct topology *t, uint32_t cpu, const char *what)
{
	char path[96];
	int64_t v;

	snprintf(path, sizeof path, "devices/system/cpu/cpu%" PRIu32 "/topology/%s", cpu, what);
	return sysfs_read_number(t->sys, path, &v) == 0 && v >= 0 ? v : -1;
}

static int64_t thread_of(const struct topology *t, uint32_t cpu)
{
	struct cpulist siblings;
	char path[96];
	int64_t rank = 0;

	snprintf(path, sizeof path,
		 "devices/system/cpu/cpu%" PRIu32 "/topology/thread_siblings_list", cpu);
	read_list(t->sys, path, &siblings);
	if (!cpulist_has(&siblings, cpu))
		return -1;
	for (uint32_t i = cpulist_next(&siblings, 0); i < cpu; i = cpulist_next(&siblings, i + 1))
		rank++;
	return rank;
}

static const char *type_of(const struct topology *t, uint32_t cpu)
{
	if (cpulist_has(&t->low_power, cpu))
		return "low_power";
	if (cpulist_has(&t->efficiency, cpu))
		return "efficiency";
	return cpulist_has(&t->performance, cpu) ? "performance" : NULL;
}

static struct place topology_of(const struct topology *t, uint32_t cpu)
{
	return (struct place){
		.package = number_of(t, cpu, "physical_package_id"),
		.core = number_of(t, cpu, "core_id"),
		.thread = thread_of(t, cpu),
		.numa = cpu < CPUS_MAX ? (int64_t)t->numa[cpu] - 1 : -1,
		.type = type_of(t, cpu),
	};
}

/* ---- Cores ---- */

enum { FILES_PER_S = 16, PERIOD_MAX_S = 10, NONE = -1 };
enum { INTERRUPTS_SHARE = 10000 }; /* of a core: one part in so many */
static const int64_t INTERRUPTS_LEAST_NS = 10 * NS_PER_S, INTERRUPTS_MOST_NS = 600 * NS_PER_S;

static const char *const throttle_files[CORE_DETAILS] = {
	[CORE_THROTTLES] = "core_throttle_count",
	[CORE_THROTTLED] = "core_throttle_total_time_ms",
};

/* What the device's class says: throttling is counted by every thread of a core, so one counts. */
enum { CLASS_FIRST_THREAD = 1, CLASS_OTHER_THREAD };

static int64_t number_of_core(const struct device *core)
{
	const char *p = core->name + strlen("cpu");
	int64_t v;

	return core->len > strlen("cpu") && number_i64(&p, &v) && !*p && v >= 0 && v < CPUS_MAX
		       ? v
		       : NONE;
}

static void path_of(char out[96], int64_t cpu, const char *file)
{
	snprintf(out, 96, "devices/system/cpu/cpu%" PRId64 "/%s", cpu, file);
}

/* CPU 0 may be off, or taken out of service. */
static uint32_t first_online(const struct root *sys)
{
	char text[CPULIST_TEXT];
	struct cpulist online;
	uint32_t first;

	sysfs_line(sys, "devices/system/cpu/online", text, sizeof text);
	cpulist_parse(&online, text);
	first = cpulist_next(&online, 0);
	return first < CPUS_MAX ? first : 0;
}

static bool any_has(const struct core_reader *r, const char *file)
{
	char path[96];

	path_of(path, r->first, file);
	return sysfs_exists(r->sys, path);
}

/* What follows "cpu MHz\t\t: " on this line. */
static const char *value_of(const char *line, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0)
		return NULL;
	line += n + strspn(line + n, " \t");
	return *line == ':' ? line + 1 : NULL;
}

struct cpuinfo_line {
	int64_t cpu, khz; /* NONE: it says nothing of it */
};

static struct cpuinfo_line parse_line(const char *line)
{
	struct cpuinfo_line l = { NONE, NONE };
	const char *cpu = value_of(line, "processor"), *mhz = value_of(line, "cpu MHz");
	int64_t v;

	if (cpu && number_i64(&cpu, &v) && v >= 0 && v < CPUS_MAX)
		l.cpu = v;
	if (mhz && number_fixed(&mhz, 3, &v))
		l.khz = v;
	return l;
}

static void put_of_core(struct devices *cores, struct sample *s, int64_t cpu, uint32_t slot,
			int64_t value)
{
	char name[DEVICE_NAME_SIZE];
	int len = snprintf(name, sizeof name, "cpu%" PRId64, cpu);
	struct device *core = devices_meet(cores, name, (size_t)len);

	if (core && core->nslots > slot)
		device_have(core, s, slot, value);
}

/* Whole lines of a piece of the file. Returns whether one of them told a frequency. */
static bool take_lines(const char *text, int64_t *cpu, struct devices *cores, struct sample *s,
		       uint32_t slot)
{
	bool found = false;

	for (; *text; text = number_next_line(text)) {
		struct cpuinfo_line l = parse_line(text);

		if (l.cpu != NONE)
			*cpu = l.cpu;
		if (l.khz == NONE || *cpu == NONE)
			continue;
		found = true;
		if (cores && l.khz > 0)
			put_of_core(cores, s, *cpu, slot, l.khz);
		*cpu = NONE;
	}
	return found;
}

/* It has 1.5 kB a core, so it goes by in pieces. Without cores: until the first frequency. */
static bool read_cpuinfo(int fd, struct devices *cores, struct sample *s, uint32_t slot)
{
	char piece[8192];
	size_t kept = 0;
	int64_t cpu = NONE;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, piece + kept, sizeof piece - 1 - kept, at)) > 0) {
		size_t len = kept + (size_t)n;
		char *end = memrchr(piece, '\n', len), rest;

		if (!end)
			return false;
		at += n;
		kept = len - (size_t)(end + 1 - piece);
		rest = end[1];
		end[1] = '\0';
		if (take_lines(piece, &cpu, cores, s, slot) && !cores)
			return true;
		end[1] = rest;
		memmove(piece, end + 1, kept);
	}
	return false;
}

/* /proc/cpuinfo and not scaling_cur_freq where both are there: Linux 4.13 to 5.17 may sleep for 10
 * ms in each reading of the latter, and on cpuinfo only when it is opened. Without cpufreq what
 * cpuinfo says is a constant. */
static void open_cpuinfo(struct core_reader *r)
{
	int fd = root_file(r->proc, "cpuinfo");

	if (fd >= 0 && read_cpuinfo(fd, NULL, NULL, 0))
		r->cpuinfo = fd;
	else
		file_close(&fd);
}

static void open_interrupts(struct core_reader *r, const struct root *proc)
{
	int fd = root_file(proc, "interrupts");

	if (fd >= 0 && interrupts_init(&r->interrupts) < 0) {
		file_close(&fd);
		fd = -ENOMEM;
	}
	r->interrupts_period_ns = INTERRUPTS_LEAST_NS;
	r->interrupts_file = fd < 0 ? 0 : fd;
	r->interrupts_error = fd < 0 ? fd : 0;
	r->tells[CORE_INTERRUPTS] = fd >= 0;
}

void core_open(struct core_reader *r, const struct source_env *env, uint32_t ncores)
{
	uint32_t files = 0;

	r->sys = &env->sys;
	r->proc = &env->proc;
	r->first = first_online(r->sys);
	open_interrupts(r, &env->proc);
	r->tells[CORE_FREQUENCY] = any_has(r, "cpufreq/scaling_cur_freq");
	r->tells[CORE_THROTTLES] = any_has(r, "thermal_throttle/core_throttle_count");
	r->tells[CORE_THROTTLED] = any_has(r, "thermal_throttle/core_throttle_total_time_ms");
	for (int i = CORE_FREQUENCY; i < CORE_DETAILS; i++)
		files += r->tells[i] ? ncores : 0;
	r->period_ns = files * NS_PER_S / FILES_PER_S;
	if (r->period_ns < NS_PER_S)
		r->period_ns = NS_PER_S;
	if (r->period_ns > PERIOD_MAX_S * NS_PER_S)
		r->period_ns = PERIOD_MAX_S * NS_PER_S;
}

bool core_reads_by_place(const struct core_reader *r)
{
	return r->tells[CORE_THROTTLES] || r->tells[CORE_THROTTLED];
}

void core_open_rest(struct core_reader *r)
{
	topology_open(&r->topology, r->sys);
	if (r->tells[CORE_FREQUENCY])
		open_cpuinfo(r);
}

void core_close(struct core_reader *r)
{
	file_close(&r->cpuinfo);
	file_close(&r->interrupts_file);
	interrupts_free(&r->interrupts);
}

uint32_t core_ndetails(const struct core_reader *r)
{
	uint32_t n = CORE_DETAILS;

	while (n && !r->tells[n - 1])
		n--;
	return n;
}

static void label(struct sample *s, const struct device *core, const char *key, int64_t value)
{
	char text[24];

	if (value < 0)
		return;
	snprintf(text, sizeof text, "%" PRId64, value);
	sample_label(s, core->instance, key, text);
}

static const char *reason_against(const struct core_reader *r, const struct device *core, int i)
{
	if (!r->tells[i] && i == CORE_FREQUENCY)
		return "this machine has no cpufreq";
	if (!r->tells[i])
		return "this machine does not count it";
	if (i >= CORE_THROTTLES && core->class == CLASS_OTHER_THREAD)
		return "it is counted with the first thread of the core";
	return NULL;
}

void core_born(const struct core_reader *r, struct device *core, struct sample *s, uint32_t first)
{
	int64_t cpu = number_of_core(core);
	struct place p;

	if (cpu == NONE)
		return;
	p = topology_of(&r->topology, (uint32_t)cpu);
	core->class = p.thread > 0 ? CLASS_OTHER_THREAD : CLASS_FIRST_THREAD;
	label(s, core, "package", p.package);
	label(s, core, "core", p.core);
	label(s, core, "thread", p.thread);
	label(s, core, "numa", p.numa);
	if (p.type)
		sample_label(s, core->instance, "type", p.type);
	for (uint32_t i = 0; core->slot && i < CORE_DETAILS && first + i < core->nslots; i++) {
		const char *reason = reason_against(r, core, (int)i);

		if (i == CORE_INTERRUPTS && r->interrupts_error)
			sample_refuse(s, core->slot + first, state_of(r->interrupts_error),
				      strerror(-r->interrupts_error));
		else if (reason)
			sample_refuse(s, core->slot + first + i, STATE_UNSUPPORTED, reason);
	}
}

static void read_file(const struct core_reader *r, struct device *core, struct sample *s,
		      const char *file, uint32_t slot)
{
	char path[96];
	int64_t v;
	int bad;

	path_of(path, number_of_core(core), file);
	bad = sysfs_read_number(r->sys, path, &v);
	if (bad == 0 && v < 0)
		bad = -ERANGE;
	if (bad)
		device_lack(core, s, slot, state_of(bad), sysfs_reason(bad));
	else
		device_have(core, s, slot, v);
}

static void read_core(const struct core_reader *r, struct device *core, struct sample *s,
		      uint32_t first)
{
	uint32_t frequency = first + CORE_FREQUENCY;

	if (r->tells[CORE_FREQUENCY] && !r->cpuinfo)
		read_file(r, core, s, "cpufreq/scaling_cur_freq", frequency);
	else if (r->tells[CORE_FREQUENCY] && s->state[core->slot + frequency] != STATE_PRESENT)
		device_lack(core, s, frequency, STATE_FAILED, "cpuinfo reports none for this core");
	for (uint32_t i = CORE_THROTTLES; i < CORE_DETAILS; i++) {
		char file[64];

		snprintf(file, sizeof file, "thermal_throttle/%s", throttle_files[i]);
		if (r->tells[i] && core->class == CLASS_FIRST_THREAD)
			read_file(r, core, s, file, first + i);
	}
}

static bool read_interrupts(struct core_reader *r)
{
	char piece[8192];
	off_t at = 0;
	ssize_t n;

	interrupts_begin(&r->interrupts);
	while ((n = pread(r->interrupts_file, piece, sizeof piece, at)) > 0) {
		interrupts_feed(&r->interrupts, piece, (size_t)n);
		at += n;
	}
	return interrupts_end(&r->interrupts);
}

static void put_interrupts(struct core_reader *r, struct devices *cores, struct sample *s,
			   uint32_t slot)
{
	const struct interrupts *x = &r->interrupts;
	bool whole = read_interrupts(r);

	devices_begin(cores);
	for (uint32_t i = 0; whole && i < x->ncolumns; i++)
		put_of_core(cores, s, x->cpu[i], slot, x->sum[i]);
	for (struct device *core = cores->row; core < cores->row + cores->n; core++)
		if (core->slot && core->nslots > slot &&
		    s->state[core->slot + slot] != STATE_PRESENT)
			device_lack(core, s, slot, STATE_FAILED,
				    "/proc/interrupts reports none for this core");
}

/* The more of them there are, and the more CPUs, the longer it takes the kernel to write them. */
void core_read_interrupts(struct core_reader *r, struct devices *cores, struct sample *s,
			  uint32_t first)
{
	int64_t before, period_ns;

	if (!r->tells[CORE_INTERRUPTS] ||
	    !period_is_due(&r->interrupts_period, s, r->interrupts_period_ns))
		return;
	before = clock_cpu_ns();
	put_interrupts(r, cores, s, first + CORE_INTERRUPTS);
	period_ns = (clock_cpu_ns() - before) * INTERRUPTS_SHARE;
	if (period_ns < INTERRUPTS_LEAST_NS)
		period_ns = INTERRUPTS_LEAST_NS;
	r->interrupts_period_ns = period_ns < INTERRUPTS_MOST_NS ? period_ns : INTERRUPTS_MOST_NS;
}

void core_read(struct core_reader *r, struct devices *cores, struct sample *s, uint32_t first)
{
	if (core_ndetails(r) <= CORE_FREQUENCY || !period_is_due(&r->period, s, r->period_ns))
		return;
	if (r->cpuinfo) {
		devices_begin(cores);
		read_cpuinfo(r->cpuinfo, cores, s, first + CORE_FREQUENCY);
	}
	for (struct device *core = cores->row; core < cores->row + cores->n; core++)
		if (core->slot && core->nslots > first)
			read_core(r, core, s, first);
}
