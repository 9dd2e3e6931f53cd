# SPDX-License-Identifier: Apache-2.0
# plain
"""The library of run --annotations kokkos as Kokkos 3.7 and later call it, by a caller made after the interface of Kokkos Tools: what it asks for, kernels, fences, copies, memory, views and metadata;
a version of the interface from the future changes nothing."""
import collections
import csv
import os
import subprocess

from patience import patience

SONDE = os.environ["SONDE"]
CALLER = """
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct space { char name[64]; };
struct settings { bool requires_global_fencing; bool padding[255]; };
static void *tool;
static void *find(const char *name)
{
	return dlsym(tool, name);
}
#define CALL(name, types, ...) do { void (*f) types = (void (*) types)find("kokkosp_" #name); if (f) f(__VA_ARGS__); else if (needed) missing = 1; } while (0)
static int missing, needed = 1;
int main(void)
{
	struct settings settings;
	struct space host = { "Host" }, cuda = { "Cuda" };
	uint64_t id = 0, inner = 0;
	uint32_t section;

	tool = dlopen(getenv("KOKKOS_TOOLS_LIBS"), RTLD_NOW | RTLD_GLOBAL);
	if (!tool)
		return 9;
	memset(&settings, 1, sizeof settings);
	needed = 0;
	CALL(init_library, (int, uint64_t, uint32_t, void *), 0, 99991231, 0, NULL);
	CALL(parse_args, (int, char **), 0, NULL);
	needed = 1;
	CALL(request_tool_settings, (uint32_t, struct settings *), 1, &settings);
	if (settings.requires_global_fencing || !settings.padding[0] || !settings.padding[254])
		return 8;
	CALL(declare_metadata, (const char *, const char *), "solver", "of a kind");
	CALL(allocate_data, (struct space, const char *, void *, uint64_t), host, "a", &host, 1000);
	CALL(allocate_data, (struct space, const char *, void *, uint64_t), cuda, "a", &cuda, 4096);
	CALL(push_profile_region, (const char *), "step");
	for (int i = 0; i < 3; i++) {
		CALL(begin_parallel_for, (const char *, uint32_t, uint64_t *), "axpy", 0x01000001, &id);
		CALL(begin_fence, (const char *, uint32_t, uint64_t *), "Kokkos::fence", 0x01000001, &inner);
		CALL(end_fence, (uint64_t), inner);
		CALL(end_parallel_for, (uint64_t), id);
	}
	CALL(begin_parallel_reduce, (const char *, uint32_t, uint64_t *), "dot", 0, &id);
	CALL(end_parallel_reduce, (uint64_t), id);
	CALL(begin_parallel_scan, (const char *, uint32_t, uint64_t *), "scan", 0, &id);
	CALL(end_parallel_scan, (uint64_t), id);
	CALL(begin_deep_copy, (struct space, const char *, const void *, struct space, const char *, const void *, uint64_t), cuda, "d", &cuda, host, "h", &host, 1000);
	CALL(end_deep_copy, (void), );
	CALL(dual_view_modify, (const char *, const void *, bool), "x", &host, false);
	CALL(dual_view_sync, (const char *, const void *, bool), "x", &host, true);
	CALL(create_profile_section, (const char *, uint32_t *), "section", &section);
	CALL(start_profile_section, (uint32_t), section);
	CALL(pop_profile_region, (void), );
	CALL(stop_profile_section, (uint32_t), section);
	needed = 0;
	CALL(destroy_profile_section, (uint32_t), section);
	needed = 1;
	CALL(profile_event, (const char *), "event");
	CALL(deallocate_data, (struct space, const char *, void *, uint64_t), host, "a", &host, 1000);
	needed = 0;
	CALL(finalize_library, (void), );
	return missing;
}
"""
with open("caller.c", "w", encoding="utf-8") as f:
    f.write(CALLER)
subprocess.run(["cc", "-O1", "-w", "-o", "caller", "caller.c", "-ldl"], check=True)
subprocess.run([SONDE, "run", "-q", "-o", "out", "--annotations", "kokkos", "--", "./caller"], check=True, timeout=patience(60))
subprocess.run([SONDE, "export", "--to", "csv", "-o", "csv", "out"], check=True, timeout=patience(60), stderr=subprocess.DEVNULL)


def table(name):
    with open(f"csv/{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


spans = table("spans")
assert collections.Counter(s["name"] for s in spans) == {"step": 1, "parallel_for: axpy": 3, "fence: Kokkos::fence": 3, "parallel_reduce: dot": 1, "parallel_scan: scan": 1,
                                                         "deep_copy: d <- h": 1, "section": 1}, spans
step = next(s for s in spans if s["name"] == "step")
for s in spans:
    if s["name"] != "section":
        assert s["track"] == step["track"] and step["begin_time"] <= s["begin_time"] <= s["end_time"] <= step["end_time"], s
assert next(s for s in spans if s["name"] == "section")["end_time"] > step["end_time"]
marks = {m["name"]: m["message"] for m in table("marks")}
assert marks == {"metadata": '"solver=of a kind"', "dual_view_modify: x": "on=host", "dual_view_sync: x": "on=device", "event": ""}, marks
bytes_of = collections.defaultdict(list)
for c in table("counters"):
    bytes_of[c["name"]].append(float(c["value"]))
assert bytes_of == {"Kokkos Host bytes": [1000, 0], "Kokkos Cuda bytes": [4096]}, bytes_of
