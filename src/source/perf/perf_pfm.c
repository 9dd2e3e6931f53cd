/* SPDX-License-Identifier: Apache-2.0 */
#include "source/perf/perf_pfm.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* perfmon/pfmlib.h and perfmon/pfmlib_perf_event.h of libpfm4, version 4 of its interface */
enum { PFM_SUCCESS = 0, PFM_PLM3 = 8, PFM_OS_PERF_EVENT = 1 };
struct pfm_arg {
	struct perf_event_attr *attr;
	char **name;
	size_t size;
	int index, cpu, flags;
};
typedef int pfm_start(void);
typedef int pfm_encode(const char *name, int privileges, int os, void *arg);

static int take(const struct perf_event_attr *a, struct perf_event *ev)
{
	if (a->type == PERF_TYPE_RAW)
		ev->pmu = "cpu";
	else if (a->type == PERF_TYPE_HARDWARE)
		ev->pmu = "hardware";
	else if (a->type == PERF_TYPE_SOFTWARE)
		ev->pmu = "software";
	else
		return -EOPNOTSUPP;
	ev->config[0] = a->config;
	ev->config[1] = a->config1;
	ev->config[2] = a->config2;
	return 0;
}

static int encode(void *library, const char *name, struct perf_event *ev, struct err *e)
{
	struct perf_event_attr attr = { .size = sizeof attr };
	struct pfm_arg arg = { .attr = &attr, .size = sizeof arg };
	pfm_encode *give = NULL;
	pfm_start *start = NULL;

	*(void **)&start = dlsym(library, "pfm_initialize");
	*(void **)&give = dlsym(library, "pfm_get_os_event_encoding");
	if (!start || !give || start() != PFM_SUCCESS)
		return err_set(e, -ENOSYS, "libpfm4 does not start here");
	if (give(name, PFM_PLM3, PFM_OS_PERF_EVENT, &arg) != PFM_SUCCESS)
		return err_set(e, -ENOENT, "libpfm4 does not know on this CPU");
	if (take(&attr, ev))
		return err_set(e, -EOPNOTSUPP, "this is not an event of the cores:");
	return 0;
}

/* It would bring the machine's own C library into a static program, which has another. */
#ifdef SONDE_STATIC
#define MISSING "this static program does not load libpfm4"
static void *load(void)
{
	return NULL;
}
#else
#define MISSING "libpfm4 is not installed"
static void *load(void)
{
	return dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
}
#endif

int perf_pfm_encode(const char *name, struct perf_event *ev, struct err *e)
{
	void *library = load();
	int bad;

	if (!library)
		return err_set(e, -ENOENT, "%s, which knows", MISSING);
	bad = encode(library, name, ev, e);
	dlclose(library);
	return bad;
}
