/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c - the CPUs: model, topology, caches, clock, governor. */
#include "base/text/number.h"
#include "source/cpulist.h"
#include "source/platform/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Cores of Arm ---- */

/* Which cores an Arm machine has: /proc/cpuinfo has no name for them, MIDR_EL1 does. Numbers: Arm's
 * Technical Reference Manuals, and arch/arm64/include/asm/cputype.h. */

static const struct {
	uint32_t implementer;
	const char *name;
} implementers[] = {
	{ 0x41, "ARM" },       { 0x42, "Broadcom" }, { 0x43, "Cavium" },    { 0x46, "FUJITSU" },
	{ 0x48, "HiSilicon" }, { 0x4e, "NVIDIA" },   { 0x50, "APM" },       { 0x51, "Qualcomm" },
	{ 0x53, "Samsung" },   { 0x61, "Apple" },    { 0x6d, "Microsoft" }, { 0x70, "Phytium" },
	{ 0xc0, "Ampere" },
};

static const struct {
	uint32_t implementer, part;
	const char *name;
} parts[] = {
	{ 0x41, 0xd03, "Cortex-A53" },
	{ 0x41, 0xd04, "Cortex-A35" },
	{ 0x41, 0xd05, "Cortex-A55" },
	{ 0x41, 0xd07, "Cortex-A57" },
	{ 0x41, 0xd08, "Cortex-A72" },
	{ 0x41, 0xd09, "Cortex-A73" },
	{ 0x41, 0xd0a, "Cortex-A75" },
	{ 0x41, 0xd0b, "Cortex-A76" },
	{ 0x41, 0xd0c, "Neoverse-N1" },
	{ 0x41, 0xd0d, "Cortex-A77" },
	{ 0x41, 0xd40, "Neoverse-V1" },
	{ 0x41, 0xd41, "Cortex-A78" },
	{ 0x41, 0xd42, "Cortex-A78AE" },
	{ 0x41, 0xd44, "Cortex-X1" },
	{ 0x41, 0xd46, "Cortex-A510" },
	{ 0x41, 0xd47, "Cortex-A710" },
	{ 0x41, 0xd48, "Cortex-X2" },
	{ 0x41, 0xd49, "Neoverse-N2" },
	{ 0x41, 0xd4a, "Neoverse-E1" },
	{ 0x41, 0xd4b, "Cortex-A78C" },
	{ 0x41, 0xd4d, "Cortex-A715" },
	{ 0x41, 0xd4e, "Cortex-X3" },
	{ 0x41, 0xd4f, "Neoverse-V2" },
	{ 0x41, 0xd80, "Cortex-A520" },
	{ 0x41, 0xd81, "Cortex-A720" },
	{ 0x41, 0xd82, "Cortex-X4" },
	{ 0x41, 0xd83, "Neoverse-V3AE" },
	{ 0x41, 0xd84, "Neoverse-V3" },
	{ 0x41, 0xd85, "Cortex-X925" },
	{ 0x41, 0xd87, "Cortex-A725" },
	{ 0x41, 0xd8e, "Neoverse-N3" },
	{ 0x42, 0x516, "ThunderX2" },
	{ 0x43, 0x0a1, "ThunderX" },
	{ 0x43, 0x0af, "ThunderX2" },
	{ 0x46, 0x001, "A64FX" },
	{ 0x46, 0x003, "MONAKA" },
	{ 0x48, 0xd01, "TaiShan-v110" },
	{ 0x48, 0xd02, "TaiShan-v120" },
	{ 0x4e, 0x004, "Carmel" },
	{ 0x4e, 0x010, "Olympus" },
	{ 0x50, 0x000, "X-Gene" },
	{ 0x51, 0x001, "Oryon" },
	{ 0x51, 0xc00, "Falkor" },
	{ 0x61, 0x022, "Icestorm-M1" },
	{ 0x61, 0x023, "Firestorm-M1" },
	{ 0x61, 0x024, "Icestorm-M1-Pro" },
	{ 0x61, 0x025, "Firestorm-M1-Pro" },
	{ 0x6d, 0xd49, "Azure-Cobalt-100" },
	{ 0xc0, 0xac3, "Ampere-1" },
	{ 0xc0, 0xac4, "Ampere-1a" },
	{ 0xc0, 0xac5, "Ampere-1b" },
};

static const char *implementer_name(uint32_t implementer)
{
	for (size_t i = 0; i < sizeof implementers / sizeof implementers[0]; i++)
		if (implementers[i].implementer == implementer)
			return implementers[i].name;
	return NULL;
}

static const char *part_name(uint32_t implementer, uint32_t part)
{
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (parts[i].implementer == implementer && parts[i].part == part)
			return parts[i].name;
	return NULL;
}

/* A kind of core and how many there are. */
struct core_kind {
	uint32_t midr; /* without variant and revision */
	uint32_t n;
};

enum { KINDS_MAX = 8 };
#define KIND_BITS UINT32_C(0xff00fff0) /* without variant, architecture and revision */

static size_t count_kinds(const struct platform *p, struct core_kind kind[KINDS_MAX])
{
	char path[PLATFORM_PATH], line[PLATFORM_TEXT], *end;
	struct cpulist online;
	size_t n = 0, k;

	if (!platform_list(p->sys, "devices/system/cpu/online", &online))
		return 0;
	for (uint32_t cpu = 0; (cpu = cpulist_next(&online, cpu)) < CPUS_MAX; cpu++) {
		uint32_t midr;

		snprintf(path, sizeof path, "devices/system/cpu/cpu%u/regs/identification/midr_el1",
			 cpu);
		if (!platform_line(p->sys, path, line))
			return 0;
		midr = (uint32_t)strtoull(line, &end, 16) & KIND_BITS;
		for (k = 0; k < n && kind[k].midr != midr; k++)
			;
		if (end == line || k == KINDS_MAX)
			continue;
		n += k == n;
		kind[k].midr = midr;
		kind[k].n++;
	}
	return n;
}

/* "CPU part\t: 0xd4f"; false when it is not there. */
static bool number_of(const char *cpuinfo, const char *name, uint32_t *out)
{
	const char *value = number_find_line(cpuinfo, name);
	unsigned long v;
	char *end;

	value = value ? strchr(value, ':') : NULL;
	v = value ? strtoul(value + 1, &end, 0) : 0;
	if (!value || end == value + 1 || v > UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

/* "Neoverse-V2", or "Cortex-X925 and Cortex-A725" when there are several kinds. */
static void say_model(const struct platform *p, const struct core_kind *kind, size_t n)
{
	char said[PLATFORM_TEXT] = "";
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t implementer = kind[i].midr >> 24, part = kind[i].midr >> 4 & 0xfff;
		const char *name = part_name(implementer, part);
		char number[48];

		snprintf(number, sizeof number, "implementer 0x%02x part 0x%03x", implementer,
			 part);
		len += (size_t)snprintf(said + len, sizeof said - len, "%s%s", i ? " and " : "",
					name ? name : number);
		if (n > 1)
			len += (size_t)snprintf(said + len, sizeof said - len, " (%u)", kind[i].n);
	}
	platform_text(p, "host.cpu_model", said, len);
}

/* When /proc/cpuinfo is an Arm machine's. */
static void say_arm(const struct platform *p, const char *cpuinfo)
{
	struct core_kind kind[KINDS_MAX] = { { 0 } };
	uint32_t implementer, part, variant, revision;
	const char *vendor;
	size_t n;

	if (!number_of(cpuinfo, "CPU implementer", &implementer) ||
	    !number_of(cpuinfo, "CPU part", &part))
		return;
	n = count_kinds(p, kind);
	if (!n) {
		kind[0].midr = (implementer << 24 | part << 4) & KIND_BITS;
		n = 1;
	}
	say_model(p, kind, n);
	vendor = implementer_name(implementer);
	if (vendor)
		sample_meta_text(p->sample, "host.cpu_vendor", vendor);
	if (number_of(cpuinfo, "CPU variant", &variant) &&
	    number_of(cpuinfo, "CPU revision", &revision)) {
		char text[32];

		snprintf(text, sizeof text, "r%up%u", variant, revision);
		sample_meta_text(p->sample, "host.cpu_revision", text);
	}
}

/* ---- CPUs ---- */

#define CPU "devices/system/cpu/"

static const struct platform_fact facts[] = {
	{ "host.cpus_online", IN_SYS, CPU "online", FORM_CPUS, 0 },
	{ "host.cpus_possible", IN_SYS, CPU "possible", FORM_CPUS, 0 },
	{ "host.cpus_isolated", IN_SYS, CPU "isolated", FORM_CPUS, 0 },
	{ "host.cpus_tickless", IN_SYS, CPU "nohz_full", FORM_CPUS, 0 },
	/* hybrid processors of Intel, since Linux 5.13 */
	{ "host.cpus_performance", IN_SYS, "devices/cpu_core/cpus", FORM_CPUS, 0 },
	{ "host.cpus_efficient", IN_SYS, "devices/cpu_atom/cpus", FORM_CPUS, 0 },
	{ "host.cpus_low_power", IN_SYS, "devices/cpu_lowpower/cpus", FORM_CPUS, 0 },
	{ "host.smt", IN_SYS, CPU "smt/control", FORM_TEXT, 0 },
	{ "host.cpu_idle_driver", IN_SYS, CPU "cpuidle/current_driver", FORM_TEXT, 0 },
	{ "host.cpu_pstate_driver", IN_SYS, CPU "intel_pstate/status", FORM_TEXT, 0 },
	{ "host.cpu_pstate_driver", IN_SYS, CPU "amd_pstate/status", FORM_TEXT, 0 },
};

/* Of the first CPU that is online: the files give kHz. */
static const struct platform_fact clock_facts[] = {
	{ "host.cpu_frequency_driver", IN_SYS, CPU "%s/cpufreq/scaling_driver", FORM_TEXT, 0 },
	{ "host.cpu_energy_preference", IN_SYS, CPU "%s/cpufreq/energy_performance_preference",
	  FORM_TEXT, 0 },
	{ "host.cpu_min_hertz", IN_SYS, CPU "%s/cpufreq/cpuinfo_min_freq", FORM_NUMBER, 1000 },
	{ "host.cpu_max_hertz", IN_SYS, CPU "%s/cpufreq/cpuinfo_max_freq", FORM_NUMBER, 1000 },
	{ "host.cpu_base_hertz", IN_SYS, CPU "%s/cpufreq/base_frequency", FORM_NUMBER, 1000 },
};

/* The value of a field of the first CPU in /proc/cpuinfo, "name<blanks>: value"; NULL: none. */
static const char *field(const char *text, const char *name, size_t *n)
{
	size_t len = strlen(name);

	for (const char *p = text; *p && *p != '\n'; p = number_next_line(p)) {
		const char *colon = p + len;

		if (strncmp(p, name, len) != 0)
			continue;
		colon = number_skip_blanks(colon);
		if (*colon != ':')
			continue;
		colon = number_skip_blanks(colon + 1);
		*n = strcspn(colon, "\n");
		return colon;
	}
	return NULL;
}

/* Architectures name the same thing differently; the first that is there is said. */
static const struct {
	const char *name, *key;
	bool is_number;
} fields[] = {
	{ "vendor_id", "host.cpu_vendor", false },
	{ "model name", "host.cpu_model", false },
	{ "Model Name", "host.cpu_model", false }, /* LoongArch */
	{ "cpu", "host.cpu_model", false },        /* POWER */
	{ "uarch", "host.cpu_model", false },      /* RISC-V */
	{ "isa", "host.cpu_isa", false },
	{ "cpu family", "host.cpu_family", true },
	{ "model", "host.cpu_model_number", true },
	{ "stepping", "host.cpu_stepping", true },
	{ "microcode", "host.cpu_microcode", false },
};

static void say_fields(const struct platform *p, const char *cpuinfo)
{
	static const char *const flags[] = { "flags", "Features", "features" };
	const char *value;
	int64_t v;
	size_t n;

	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		value = field(cpuinfo, fields[i].name, &n);
		if (value && !fields[i].is_number)
			platform_text(p, fields[i].key, value, n);
		else if (value && number_i64(&value, &v))
			sample_meta_int(p->sample, fields[i].key, v);
	}
	value = field(cpuinfo, "cpu MHz", &n);
	if (value && number_fixed(&value, 6, &v))
		sample_meta_int(p->sample, "host.cpu_hertz", v);
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		char copy[4096], *text;

		value = field(cpuinfo, flags[i], &n);
		if (!value)
			continue;
		snprintf(copy, sizeof copy, "%.*s", (int)(n < sizeof copy ? n : sizeof copy - 1),
			 value);
		text = platform_trim(copy);
		if (*text)
			sample_meta_text(p->sample, "host.cpu_flags", text);
	}
}

/* The first CPU is enough; the whole file is long, and asking for it interrupts every core. */
static void say_cpuinfo(const struct platform *p)
{
	char text[8192];
	int fd = root_file(p->proc, "cpuinfo");
	ssize_t n = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : 0;

	file_close(&fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	say_fields(p, text);
	say_arm(p, text);
}

static bool list_of(const struct platform *p, struct cpulist *set, uint32_t cpu, const char *name)
{
	char path[PLATFORM_PATH];

	snprintf(path, sizeof path, CPU "cpu%u/%s", cpu, name);
	return platform_list(p->sys, path, set);
}

/* How many groups the CPUs fall into, by the file that lists a CPU's group under its old name or
 * its new one; *largest is the size of the largest. 0: not known. */
static uint32_t groups(const struct platform *p, const struct cpulist *online, const char *old,
		       const char *new, uint32_t *largest)
{
	struct cpulist left = *online, group;
	uint32_t n = 0;

	*largest = 0;
	for (uint32_t cpu; (cpu = cpulist_next(&left, 0)) < CPUS_MAX; n++) {
		uint32_t size;

		if ((!list_of(p, &group, cpu, old) && !list_of(p, &group, cpu, new)) ||
		    !cpulist_has(&group, cpu))
			return 0;
		size = cpulist_count(&group);
		*largest = size > *largest ? size : *largest;
		cpulist_remove(&left, &group);
	}
	return n;
}

static void say_topology(const struct platform *p, const struct cpulist *online)
{
	uint32_t threads, size, cores, sockets, dies;

	cores = groups(p, online, "topology/thread_siblings_list", "topology/core_cpus_list",
		       &threads);
	sockets = groups(p, online, "topology/core_siblings_list", "topology/package_cpus_list",
			 &size);
	dies = groups(p, online, "topology/die_cpus_list", "topology/die_cpus_list", &size);
	sample_meta_int(p->sample, "host.cpus_count", cpulist_count(online));
	if (cores) {
		sample_meta_int(p->sample, "host.cores_count", cores);
		sample_meta_int(p->sample, "host.threads_per_core", threads);
	}
	if (sockets)
		sample_meta_int(p->sample, "host.sockets_count", sockets);
	if (dies)
		sample_meta_int(p->sample, "host.dies_count", dies);
}

static bool cache_line(const struct platform *p, const char *cpu, unsigned index, const char *name,
		       char line[PLATFORM_TEXT])
{
	char path[PLATFORM_PATH];

	snprintf(path, sizeof path, CPU "%s/cache/index%u/%s", cpu, index, name);
	return platform_line(p->sys, path, line);
}

/* Size and users of one cache of a CPU: host.cache_l1d_bytes, host.cache_l3_cpus_count. */
static void say_cache(const struct platform *p, const char *cpu, unsigned index)
{
	char key[PLATFORM_KEY], path[PLATFORM_PATH], level[PLATFORM_TEXT], line[PLATFORM_TEXT];
	const char *q = line, *type;
	struct cpulist set;
	int64_t kib;

	if (!cache_line(p, cpu, index, "level", level) || *level < '1' || *level > '9' ||
	    !cache_line(p, cpu, index, "type", line))
		return;
	type = *line == 'D' ? "d" : *line == 'I' ? "i" : "";
	if (cache_line(p, cpu, index, "size", line) && number_i64(&q, &kib) && *q == 'K' &&
	    kib > 0 && kib < INT32_MAX) {
		snprintf(key, sizeof key, "host.cache_l%c%s_bytes", *level, type);
		sample_meta_int(p->sample, key, kib * 1024);
	}
	snprintf(path, sizeof path, CPU "%s/cache/index%u/shared_cpu_list", cpu, index);
	if (platform_list(p->sys, path, &set)) {
		snprintf(key, sizeof key, "host.cache_l%c%s_cpus_count", *level, type);
		sample_meta_int(p->sample, key, cpulist_count(&set));
	}
}

static void say_caches(const struct platform *p, const char *cpu)
{
	enum { INDEXES = 8 };

	for (unsigned i = 0; i < INDEXES; i++)
		say_cache(p, cpu, i);
}

/* "performance", or "performance, powersave" when the CPUs differ. */
static void say_governors(const struct platform *p, const struct cpulist *online)
{
	char path[PLATFORM_PATH], line[PLATFORM_TEXT], said[PLATFORM_TEXT] = "";
	size_t n = 0;

	for (uint32_t cpu = 0; (cpu = cpulist_next(online, cpu)) < CPUS_MAX; cpu++) {
		snprintf(path, sizeof path, CPU "cpu%u/cpufreq/scaling_governor", cpu);
		if (!platform_line(p->sys, path, line))
			break;
		if (!strstr(said, line) && n + strlen(line) + 3 < sizeof said)
			n += (size_t)snprintf(said + n, sizeof said - n, "%s%s", n ? ", " : "",
					      line);
	}
	platform_text(p, "host.cpu_governor", said, n);
}

static void say_boost(const struct platform *p)
{
	char line[PLATFORM_TEXT];

	if (platform_line(p->sys, CPU "intel_pstate/no_turbo", line))
		sample_meta_bool(p->sample, "host.cpu_boost", *line == '0');
	else if (platform_line(p->sys, CPU "cpufreq/boost", line))
		sample_meta_bool(p->sample, "host.cpu_boost", *line != '0');
}

void platform_cpu(const struct platform *p)
{
	char first[16] = "cpu0";
	struct cpulist online;
	bool known = platform_list(p->sys, CPU "online", &online) && cpulist_count(&online);

	if (known) /* CPU 0 may be off, or taken out of service */
		snprintf(first, sizeof first, "cpu%u", cpulist_next(&online, 0));
	platform_facts(p, FACTS(facts));
	say_cpuinfo(p);
	platform_facts_of(p, FACTS(clock_facts), first);
	say_boost(p);
	say_caches(p, first);
	if (!known)
		return;
	say_topology(p, &online);
	say_governors(p, &online);
}
