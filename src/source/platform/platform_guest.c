/* SPDX-License-Identifier: Apache-2.0 */
/* platform_guest.c - whether this is a virtual machine, or inside a container, and how that is
 * known: the first tell that is found. */
#include "base/text/number.h"
#include "source/platform/platform_part.h"

#include <stdio.h>
#include <string.h>

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

static bool tells(const struct platform *p, const char *what, const struct measured *t)
{
	const struct root *r = t->place == IN_PROC  ? p->proc
			       : t->place == IN_SYS ? p->sys
						    : p->files;
	char text[16384], evidence[PLATFORM_TEXT];
	const char *kind = t->kind;
	ssize_t n = root_read(r, t->path, text, sizeof text); /* -EFBIG: most of it is there */

	if ((n < 0 && !*text) || (t->text && !strstr(text, t->text)))
		return false;
	if (!kind)
		kind = platform_trim(text);
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
	if (told_by_environment(p))
		return;
	for (size_t i = 0; i < sizeof containers / sizeof containers[0]; i++)
		if (tells(p, "container", &containers[i]))
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
	char text[8192];
	const char *flags;
	bool is_guest;

	for (size_t i = 0; i < sizeof hypervisors / sizeof hypervisors[0]; i++)
		if (tells(p, "virtualisation", &hypervisors[i]))
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

void platform_guest(const struct platform *p)
{
	say_hypervisor(p);
	say_container(p);
	say_user_namespace(p);
}
