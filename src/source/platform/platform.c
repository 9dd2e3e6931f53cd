/* SPDX-License-Identifier: Apache-2.0 */
#include "source/platform/platform_part.h"

#include "base/text/number.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define FACTS(array) array, sizeof(array) / sizeof((array)[0])

static const struct platform_fact facts[] = {
	{ "host.kernel", IN_PROC, "sys/kernel/ostype", FORM_TEXT, 0 },
	{ "host.kernel_release", IN_PROC, "sys/kernel/osrelease", FORM_TEXT, 0 },
	{ "host.kernel_version", IN_PROC, "sys/kernel/version", FORM_TEXT, 0 },
	{ "host.boot_id", IN_PROC, "sys/kernel/random/boot_id", FORM_TEXT, 0 },
	{ "host.system_model", IN_SYS, "firmware/devicetree/base/model", FORM_TEXT, 0 },
	{ "host.system_vendor", IN_SYS, "class/dmi/id/sys_vendor", FORM_TEXT, 0 },
	{ "host.system_model", IN_SYS, "class/dmi/id/product_name", FORM_TEXT, 0 },
	{ "host.board_model", IN_SYS, "class/dmi/id/board_name", FORM_TEXT, 0 },
	{ "host.firmware_vendor", IN_SYS, "class/dmi/id/bios_vendor", FORM_TEXT, 0 },
	{ "host.firmware_version", IN_SYS, "class/dmi/id/bios_version", FORM_TEXT, 0 },
	{ "host.firmware_date", IN_SYS, "class/dmi/id/bios_date", FORM_TEXT, 0 },
	{ "host.clock_source", IN_SYS,
	  "devices/system/clocksource/clocksource0/current_clocksource", FORM_TEXT, 0 },
};

/* Settings of the kernel that change how fast a job runs, or what may be measured. */
#define SYSCTL(group, name)                                                                        \
	{                                                                                          \
		"host.sysctl." group "." name, IN_PROC, "sys/" group "/" name, FORM_NUMBER, 0      \
	}
static const struct platform_fact settings[] = {
	SYSCTL("kernel", "perf_event_paranoid"),
	SYSCTL("kernel", "kptr_restrict"),
	SYSCTL("kernel", "nmi_watchdog"),
	SYSCTL("kernel", "numa_balancing"),
	SYSCTL("kernel", "randomize_va_space"),
	SYSCTL("kernel", "sched_autogroup_enabled"),
	SYSCTL("vm", "overcommit_memory"),
	SYSCTL("vm", "swappiness"),
	SYSCTL("vm", "zone_reclaim_mode"),
	SYSCTL("vm", "dirty_ratio"),
	SYSCTL("vm", "dirty_bytes"),
	SYSCTL("vm", "dirty_background_ratio"),
};

static void say_architecture(const struct platform *p)
{
	char release[PLATFORM_TEXT];
	struct utsname u;

	if (platform_line(p->proc, "sys/kernel/arch", release)) /* since Linux 6.1 */
		sample_meta_text(p->sample, "host.architecture", release);
	else if (platform_line(p->proc, "sys/kernel/osrelease", release) && !uname(&u) &&
		 strcmp(u.release, release) == 0) /* the files are of this kernel */
		sample_meta_text(p->sample, "host.architecture", u.machine);
}

/* NAME="value" of os-release(5), without the quotes. */
static void say_release(const struct platform *p, const char *text, const char *name,
			const char *key)
{
	const char *value = number_find_line(text, name);
	size_t n = value ? strcspn(value, "\n") : 0;
	bool is_quoted = n && (*value == '"' || *value == '\'');

	if (is_quoted && n >= 2 && value[n - 1] == *value)
		value++, n -= 2, is_quoted = false;
	if (n && !is_quoted)
		platform_text(p, key, value, n);
}

static void say_distribution(const struct platform *p)
{
	char text[4096];

	if (root_read(p->files, "etc/os-release", text, sizeof text) <= 0 &&
	    root_read(p->files, "usr/lib/os-release", text, sizeof text) <= 0)
		return;
	say_release(p, text, "PRETTY_NAME=", "host.distribution");
	say_release(p, text, "ID=", "host.distribution_id");
	say_release(p, text, "VERSION_ID=", "host.distribution_version");
}

/* Words of the kernel's command line that tell of speed; all of it may hold what is nobody's
 * business. */
static void say_parameters(const struct platform *p)
{
	static const char *const telling[] = {
		"mitigations",
		"nosmt",
		"isolcpus",
		"nohz",
		"rcu_nocb",
		"hugepage",
		"default_hugepage",
		"transparent_hugepage",
		"intel_pstate",
		"amd_pstate",
		"intel_idle.",
		"processor.",
		"cpufreq.",
		"cpuidle",
		"idle",
		"intel_iommu",
		"amd_iommu",
		"iommu",
		"numa_balancing",
		"psi",
		"cgroup",
		"systemd.unified_cgroup_hierarchy",
		"maxcpus",
		"nr_cpus",
		"mem",
		"clocksource",
		"tsc",
		"preempt",
		"nopti",
		"pti",
		"spectre",
		"nospectre",
		"l1tf",
		"mds",
		"retbleed",
		"nowatchdog",
		"nmi_watchdog",
		"skew_tick",
	};
	char line[4096], said[PLATFORM_TEXT] = "", *word, *rest = line;
	size_t n = 0;

	if (root_read(p->proc, "cmdline", line, sizeof line) <= 0)
		return;
	line[strcspn(line, "\n")] = '\0';
	while ((word = strsep(&rest, " "))) {
		bool tells = false;

		for (size_t i = 0; i < sizeof telling / sizeof telling[0]; i++)
			tells |= strncmp(word, telling[i], strlen(telling[i])) == 0;
		if (tells && n + strlen(word) + 2 < sizeof said)
			n += (size_t)snprintf(said + n, sizeof said - n, "%s%s", n ? " " : "",
					      word);
	}
	platform_text(p, "host.kernel_parameters", said, n);
}

static void say_vulnerabilities(const struct platform *p)
{
	static const struct platform_fact fact = { "host.vulnerability.%s", IN_SYS,
						   "devices/system/cpu/vulnerabilities/%s",
						   FORM_TEXT, 0 };
	char names[64][PLATFORM_NAME];
	size_t n = platform_names(p->sys, "devices/system/cpu/vulnerabilities", names, 64);

	for (size_t i = 0; i < n; i++)
		platform_facts_of(p, &fact, 1, names[i]);
}

void platform_say(const struct platform *p)
{
	platform_facts(p, FACTS(facts));
	say_architecture(p);
	say_distribution(p);
	say_parameters(p);
	platform_facts(p, FACTS(settings));
	platform_cpu(p);
	say_vulnerabilities(p);
	platform_memory(p);
	platform_devices(p);
	platform_gpus(p);
	platform_guest(p);
}
