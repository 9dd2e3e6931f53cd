/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/number.h"
#include "source/kept.h"
#include "source/platform/parts.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

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

static void platform_guest(const struct platform *p);

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

/* ---- Facts ---- */

/* Small files, links and folders, and the facts in them. */

char *platform_trim(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strcspn(text, "\r\n");
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	return text;
}

bool platform_line(const struct root *r, const char *path, char out[PLATFORM_TEXT])
{
	char buf[4096];
	ssize_t n = root_read(r, path, buf, sizeof buf); /* -EFBIG: the beginning is there */
	const char *line = platform_trim(buf);

	if (n == 0 || !*line)
		return false;
	snprintf(out, PLATFORM_TEXT, "%.*s", PLATFORM_TEXT - 1, line);
	return true;
}

bool platform_list(const struct root *r, const char *path, struct cpulist *set)
{
	char list[CPULIST_TEXT];

	sysfs_line(r, path, list, sizeof list);
	return *list && cpulist_parse(set, list);
}

void platform_text(const struct platform *p, const char *key, const char *text, size_t n)
{
	char copy[PLATFORM_TEXT], *value;

	snprintf(copy, sizeof copy, "%.*s", (int)(n < sizeof copy ? n : sizeof copy - 1), text);
	value = platform_trim(copy);
	if (*value)
		sample_meta_text(p->sample, key, value);
}

bool platform_link(const struct root *r, const char *path, char out[PLATFORM_NAME])
{
	char target[512];
	const char *name;
	ssize_t n = r->fd > 0 ? readlinkat(r->fd, path, target, sizeof target - 1) : -1;

	if (n <= 0)
		return false;
	target[n] = '\0';
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	if (!*name || strlen(name) >= PLATFORM_NAME)
		return false;
	snprintf(out, PLATFORM_NAME, "%s", name);
	return true;
}

/* In the manner of versions: eth2 before eth10. */
static int by_name(const void *a, const void *b)
{
	return strverscmp(a, b);
}

size_t platform_names(const struct root *r, const char *path, char (*names)[PLATFORM_NAME],
		      size_t max)
{
	_Alignas(struct dirent64) char buf[8192];
	int fd = root_file(r, path);
	ssize_t len = fd >= 0 ? 1 : 0;
	size_t n = 0;

	while (len > 0 && (len = getdents64(fd, buf, sizeof buf)) > 0)
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *d =
				(const struct dirent64 *)(const void *)(buf + at);

			at += d->d_reclen;
			if (d->d_name[0] != '.' && strlen(d->d_name) < PLATFORM_NAME && n < max)
				snprintf(names[n++], PLATFORM_NAME, "%s", d->d_name);
		}
	file_close(&fd);
	qsort(names, n, sizeof *names, by_name);
	return n;
}

static const struct root *root_of(const struct platform *p, enum platform_place place)
{
	return place == IN_PROC ? p->proc : place == IN_SYS ? p->sys : p->files;
}

static void say_chosen(const struct platform *p, const char *key, const char *line)
{
	const char *open = strchr(line, '['), *close = open ? strchr(open, ']') : NULL;

	if (close)
		platform_text(p, key, open + 1, (size_t)(close - open - 1));
	else if (!open)
		platform_text(p, key, line, strlen(line));
}

static void say_number(const struct platform *p, const char *key, const char *line, int64_t scale)
{
	int64_t v;

	if (number_i64(&line, &v) && !__builtin_mul_overflow(v, scale ? scale : 1, &v))
		sample_meta_int(p->sample, key, v);
}

/* With every other thread off, a list is long: cut, it would be another one. */
static void say_cpus(const struct platform *p, const struct platform_fact *f, const char *key,
		     const char *path)
{
	char list[CPULIST_TEXT];
	struct cpulist set;

	sysfs_line(root_of(p, f->place), path, list, sizeof list);
	if (*list && cpulist_parse(&set, list))
		sample_meta_text(p->sample, key, list);
}

static void say_fact(const struct platform *p, const struct platform_fact *f, const char *key,
		     const char *path)
{
	char line[PLATFORM_TEXT];

	if (f->form == FORM_CPUS)
		say_cpus(p, f, key, path);
	else if (!platform_line(root_of(p, f->place), path, line))
		return;
	else if (f->form == FORM_NUMBER)
		say_number(p, key, line, f->scale);
	else if (f->form == FORM_CHOSEN)
		say_chosen(p, key, line);
	else
		sample_meta_text(p->sample, key, line);
}

void platform_facts(const struct platform *p, const struct platform_fact *fact, size_t n)
{
	for (size_t i = 0; i < n; i++)
		say_fact(p, &fact[i], fact[i].key, fact[i].path);
}

/* The text with its one %s replaced: such formats come from tables, not from a literal. */
static void fill(char *out, size_t size, const char *text, const char *of)
{
	const char *at = strstr(text, "%s");

	if (at)
		snprintf(out, size, "%.*s%s%s", (int)(at - text), text, of, at + 2);
	else
		snprintf(out, size, "%s", text);
}

void platform_facts_of(const struct platform *p, const struct platform_fact *fact, size_t n,
		       const char *of)
{
	char key[PLATFORM_KEY], path[PLATFORM_PATH];

	for (size_t i = 0; i < n; i++) {
		fill(key, sizeof key, fact[i].key, of);
		fill(path, sizeof path, fact[i].path, of);
		say_fact(p, &fact[i], key, path);
	}
}

/* ---- Guests ---- */

/* Whether this is a virtual machine, or inside a container, and how that is known: the first tell
 * that is found. */

/* text NULL: that the file is there is enough; kind NULL: its first line is the kind. */
struct measured {
	const char *kind;
	enum platform_place place;
	const char *path, *text;
};

#define DMI    "class/dmi/id/"
#define CLOCKS "devices/system/clocksource/clocksource0/available_clocksource"

static const struct measured hypervisors[] = {
	{ "kvm", IN_SYS, DMI "product_name", "KVM" },
	{ "amazon", IN_SYS, DMI "bios_vendor", "Amazon EC2" },
	{ "google", IN_SYS, DMI "product_name", "Google Compute Engine" },
	{ "openstack", IN_SYS, DMI "product_name", "OpenStack" },
	{ "kvm", IN_SYS, DMI "sys_vendor", "QEMU" },
	{ "vmware", IN_SYS, DMI "sys_vendor", "VMware" },
	{ "virtualbox", IN_SYS, DMI "product_name", "VirtualBox" },
	{ "hyper-v", IN_SYS, DMI "product_name", "Virtual Machine" },
	{ "xen", IN_SYS, DMI "sys_vendor", "Xen" },
	{ "bhyve", IN_SYS, DMI "sys_vendor", "BHYVE" },
	{ "parallels", IN_SYS, DMI "sys_vendor", "Parallels" },
	{ "xen", IN_SYS, "hypervisor/type", "xen" },
	{ "wsl", IN_PROC, "sys/kernel/osrelease", "icrosoft" },
	{ "kvm", IN_SYS, "firmware/devicetree/base/hypervisor/compatible", "kvm" },
	{ "xen", IN_SYS, "firmware/devicetree/base/hypervisor/compatible", "xen" },
	{ "kvm", IN_SYS, CLOCKS, "kvm-clock" },
	{ "hyper-v", IN_SYS, CLOCKS, "hyperv" },
	{ "xen", IN_SYS, CLOCKS, "xen" },
};

/* Of the job's control groups, of its mounts, and of the files that engines leave. */
static const struct measured containers[] = {
	{ NULL, IN_FILES, "run/systemd/container", NULL },
	{ "podman", IN_FILES, "run/.containerenv", NULL },
	{ "kubernetes", IN_PROC, "self/cgroup", "kubepods" },
	{ "docker", IN_PROC, "self/cgroup", "docker" },
	{ "podman", IN_PROC, "self/cgroup", "libpod-" },
	{ "lxc", IN_PROC, "self/cgroup", "/lxc" },
	{ "containerd", IN_PROC, "self/cgroup", "cri-containerd" },
	{ "kubernetes", IN_PROC, "self/mountinfo", "/kubelet/pods/" },
	{ "docker", IN_FILES, ".dockerenv", NULL },
	{ "docker", IN_PROC, "self/mountinfo", "/var/lib/docker/" },
	{ "podman", IN_PROC, "self/mountinfo", "/containers/storage/overlay" },
	{ "containerd", IN_PROC, "self/mountinfo", "/io.containerd." },
};

/* The engines of clusters tell in the environment; most of their containers have no other sign. */
static const struct {
	const char *variable, *kind;
} engines[] = {
	{ "APPTAINER_CONTAINER=", "apptainer" },
	{ "SINGULARITY_CONTAINER=", "singularity" },
	{ "CH_RUNNING=", "charliecloud" },
	{ "SHIFTER_RUNTIME=", "shifter" },
	{ "KUBERNETES_SERVICE_HOST=", "kubernetes" },
	{ "container=", NULL }, /* systemd's convention: the value is the kind */
};

static void say(const struct platform *p, const char *what, const char *kind, const char *evidence)
{
	char key[PLATFORM_KEY];

	snprintf(key, sizeof key, "host.%s", what);
	sample_meta_text(p->sample, key, kind);
	snprintf(key, sizeof key, "host.%s_evidence", what);
	sample_meta_text(p->sample, key, evidence);
}

static const char *place_name(enum platform_place place)
{
	return place == IN_PROC ? "/proc/" : place == IN_SYS ? "/sys/" : "/";
}

/* The file that was read last: several rows, one after the other, are of the same. */
struct last_file {
	const char *path; /* NULL: none was */
	bool is_there;
	char text[16384];
};

static void read_file(const struct platform *p, const struct measured *t, struct last_file *f)
{
	const struct root *r = t->place == IN_PROC  ? p->proc
			       : t->place == IN_SYS ? p->sys
						    : p->files;

	if (f->path && !strcmp(f->path, t->path))
		return;
	f->path = t->path;
	/* -EFBIG: most of it is there */
	f->is_there = root_read(r, t->path, f->text, sizeof f->text) >= 0 || *f->text;
}

static bool tells(const struct platform *p, const char *what, const struct measured *t,
		  struct last_file *f)
{
	char evidence[PLATFORM_TEXT];
	const char *kind = t->kind;

	read_file(p, t, f);
	if (!f->is_there || (t->text && !strstr(f->text, t->text)))
		return false;
	if (!kind)
		kind = platform_trim(f->text);
	if (!*kind)
		return false;
	if (t->text)
		snprintf(evidence, sizeof evidence, "%s%s has %s", place_name(t->place), t->path,
			 t->text);
	else
		snprintf(evidence, sizeof evidence, "%s%s is there", place_name(t->place), t->path);
	say(p, what, kind, evidence);
	return true;
}

static bool told_by_environment(const struct platform *p)
{
	for (char *const *v = p->environment; v && *v; v++)
		for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
			size_t n = strlen(engines[i].variable);
			char evidence[PLATFORM_TEXT], kind[PLATFORM_NAME];

			if (strncmp(*v, engines[i].variable, n) != 0)
				continue;
			snprintf(kind, sizeof kind, "%.*s", PLATFORM_NAME - 1,
				 engines[i].kind ? engines[i].kind : *v + n);
			snprintf(evidence, sizeof evidence, "the variable %.*s is set", (int)n - 1,
				 engines[i].variable);
			if (!*kind)
				continue;
			say(p, "container", kind, evidence);
			return true;
		}
	return false;
}

static void say_container(const struct platform *p)
{
	struct last_file last = { 0 };

	if (told_by_environment(p))
		return;
	for (size_t i = 0; i < sizeof containers / sizeof containers[0]; i++)
		if (tells(p, "container", &containers[i], &last))
			return;
	say(p, "container", "none", "no sign of one was found");
}

/* "         0          0 4294967295": the identity; any other is a user namespace. */
static void say_user_namespace(const struct platform *p)
{
	char line[PLATFORM_TEXT];
	const char *q = line;
	int64_t inside, outside, n;

	if (!platform_line(p->proc, "self/uid_map", line) || !number_i64(&q, &inside) ||
	    !number_i64(&q, &outside) || !number_i64(&q, &n))
		return;
	sample_meta_bool(p->sample, "host.user_namespace",
			 inside != 0 || outside != 0 || n != UINT32_MAX);
}

static void say_hypervisor(const struct platform *p)
{
	struct last_file last = { 0 };
	char text[8192];
	const char *flags;
	bool is_guest;

	for (size_t i = 0; i < sizeof hypervisors / sizeof hypervisors[0]; i++)
		if (tells(p, "virtualisation", &hypervisors[i], &last))
			return;
	/* x86 tells of a hypervisor in CPUID; the first record is enough */
	root_read(p->proc, "cpuinfo", text, sizeof text);
	flags = strstr(text, "\nflags");
	if (!flags)
		return;
	is_guest = strstr(flags, " hypervisor") != NULL;
	say(p, "virtualisation", is_guest ? "unknown" : "none",
	    is_guest ? "the CPU has the flag hypervisor" : "the CPU has no flag hypervisor");
}

static void platform_guest(const struct platform *p)
{
	say_hypervisor(p);
	say_container(p);
	say_user_namespace(p);
}
