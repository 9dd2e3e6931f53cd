/* SPDX-License-Identifier: Apache-2.0 */
/* platform_arm.c - which cores an Arm machine has: /proc/cpuinfo has no name for them, MIDR_EL1
 * does. Numbers: Arm's Technical Reference Manuals, and arch/arm64/include/asm/cputype.h. */
#include "base/text/number.h"
#include "source/cpulist.h"
#include "source/platform/platform_part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void platform_arm(const struct platform *p, const char *cpuinfo)
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
