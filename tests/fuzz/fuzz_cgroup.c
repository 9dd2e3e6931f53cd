/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte says which file the rest is: one of a control group's, of either version, or one
 * that tells where the group is. */
#include "source/cgroup/cgroup_file.h"
#include "source/storage/mountinfo.h"
#include "source_fuzz.h"

extern const struct source source_cgroup;

enum {
	CGROUP = CGROUP_FILES,
	MOUNTINFO,
	PROCS,
	STAT,
	LIMITS,
	DISKS = LIMITS + 6,
	KINDS = DISKS + 2
};

static const char mounts[] = "1 0 0:1 / /sys/fs/v1 rw - cgroup cgroup rw,cpu,cpuacct,memory,blkio,"
			     "pids\n2 0 0:2 / /sys/fs/v2 rw - cgroup2 cgroup2 rw\n";
static const char where[][64] = { "", "1:cpu,cpuacct,memory,blkio,pids:/g\n", "0::/g\n" };
static const char *const limits[] = { "memory.limit_in_bytes",
				      "cpu.cfs_quota_us",
				      "cpu.cfs_period_us",
				      "memory.max",
				      "cpu.max",
				      "pids.max" };

/* What tells the name of a disk that the group has used. */
static const char *const disks[] = { "diskstats", "sys/dev/block/8:0/uevent" };
static const char used[] = "8:0 rbytes=1 wbytes=2 rios=3 wios=4\n253:1 rbytes=5\n";
static const char io_stat[] = "sys/fs/v2/g/io.stat";

static void prepare(void)
{
	static const char *const folders[] = {
		"self",      "sys",         "sys/fs",  "sys/fs/v1",     "sys/fs/v1/g",
		"sys/fs/v2", "sys/fs/v2/g", "sys/dev", "sys/dev/block", "sys/dev/block/8:0"
	};
	static const uint8_t procs[] = "1\n";

	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
		mkdir(folders[i], 0700);
	source_fuzz_write("sys/fs/v1/g/cgroup.procs", procs, 2);
	source_fuzz_write("sys/fs/v2/g/cgroup.procs", procs, 2);
	source_fuzz_write("sys/fs/v2/g/cgroup.events", procs, 2);
	source_fuzz_write("sys/fs/v2/g/memory.current", procs, 2);
	source_fuzz_write("sys/fs/v1/g/memory.usage_in_bytes", procs, 2);
}

static void run(void)
{
	struct source_env env = { .interval_ns = 1000000000 };
	void *state = calloc(1, source_cgroup.size);
	pid_t root = 1;
	struct sample s;

	env.roots = &root;
	if (!state || sample_init(&s, 16384, 4096) < 0 || root_open(&env.proc, ".") < 0 ||
	    root_open(&env.sys, "sys") < 0)
		abort();
	if (source_cgroup.open(state, &env, &s, NULL) == 0) {
		for (int i = 0; i < 3; i++) {
			sample_begin(&s, 1, (int64_t)i * 600000000);
			source_cgroup.read(state, &s);
			source_fuzz_check(&s);
		}
		source_cgroup.close(state);
	}
	root_close(&env.proc);
	root_close(&env.sys);
	sample_free(&s);
	free(state);
}

static void paths(const char *text)
{
	char path[CGROUP_PATH_SIZE];
	struct mount m;
	size_t job;

	if (cgroup_path_find(text, "memory", path) || cgroup_path_find(text, "", path)) {
		const char *below = cgroup_path_below("/a", path);

		cgroup_path_level(path, &job);
		if (job > strlen(path) || (below && (below < path || below > path + strlen(path))))
			abort();
	}
	cgroup_path_level(text, &job);
	if (job > strlen(text))
		abort();
	while (mountinfo_next(&text, &m))
		if (m.root[0] != '/' || strlen(m.point) >= sizeof m.point)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t kind = size ? data[0] % KINDS : 0, n = size ? size - 1 : 0;
	int version = kind < CGROUP_FILES ? cgroup_files[kind].version : 1 + (kind % 2 != 0);
	char path[96] = "self/cgroup", *text = malloc(n + 1);

	if (!text)
		abort();
	if (n)
		memcpy(text, data + 1, n);
	text[n] = '\0';
	paths(text);
	free(text);
	prepare();
	if (kind >= LIMITS)
		version = kind - LIMITS < 3 ? 1 : 2;
	source_fuzz_write(path, (const uint8_t *)where[version], strlen(where[version]));
	source_fuzz_write("self/mountinfo", (const uint8_t *)mounts, sizeof mounts - 1);
	if (kind >= DISKS)
		source_fuzz_write(io_stat, (const uint8_t *)used, sizeof used - 1);
	if (kind < CGROUP_FILES)
		snprintf(path, sizeof path, "sys/fs/v%d/g/%s", version, cgroup_files[kind].name);
	else if (kind >= DISKS)
		snprintf(path, sizeof path, "%s", disks[kind - DISKS]);
	else if (kind >= LIMITS)
		snprintf(path, sizeof path, "sys/fs/v%d/g/%s", version, limits[kind - LIMITS]);
	else if (kind == PROCS)
		snprintf(path, sizeof path, "sys/fs/v%d/g/cgroup.procs", version);
	else
		snprintf(path, sizeof path, "self/%s",
			 kind == CGROUP ? "cgroup"
			 : kind == STAT ? "stat"
					: "mountinfo");
	source_fuzz_write(path, data + (size != 0), n);
	run();
	unlink(path);
	if (kind >= DISKS)
		unlink(io_stat);
	return 0;
}
