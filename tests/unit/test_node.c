/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources say of whole machines: tests/fixtures/<machine>, or what tests/nodes/make.py
 * wrote to $BUILD/nodes/<machine>, gives tests/golden/node-<machine>.txt. UPDATE_GOLDEN=1 writes
 * the golden files anew. */
#include "unit/node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static const char *golden_of(char out[512], const char *machine)
{
	const char *top = getenv("TOP");

	snprintf(out, 512, "%s/tests/golden/node-%s.txt", top ? top : ".", machine);
	return out;
}

static const char *folder_of(char out[512], const char *machine)
{
	const char *top = getenv("TOP"), *build = getenv("BUILD");

	snprintf(out, 512, "%s/tests/fixtures/%s", top ? top : ".", machine);
	if (access(out, F_OK) < 0)
		snprintf(out, 512, "%s/nodes/%s", build ? build : "build", machine);
	return out;
}

/* Where the fixtures lie is not part of what they give. */
static void forget_path(struct bytes *b, const char *dir)
{
	size_t n = strlen(dir);
	char *at;

	bytes_u8(b, 0);
	while ((at = strstr((char *)b->data, dir)))
		memmove(at, at + n, strlen(at + n) + 1);
	b->len = strlen((char *)b->data);
}

static void compare(const struct bytes *got, const char *path)
{
	FILE *f = fopen(path, getenv("UPDATE_GOLDEN") ? "w" : "r");
	struct bytes want = { 0 };
	char line[4096];

	if (!f)
		fail_msg("%s cannot be opened", path);
	if (getenv("UPDATE_GOLDEN")) {
		fwrite(got->data, 1, got->len, f);
		fclose(f);
		return;
	}
	while (fgets(line, sizeof line, f))
		bytes_puts(&want, line);
	fclose(f);
	bytes_u8(&want, 0);
	assert_string_equal((char *)got->data, (char *)want.data);
	bytes_free(&want);
}

static void gives_its_golden_file(void **machine)
{
	char proc[520], sys[520], folder[512], golden[512];
	struct bytes b = { 0 };
	struct node n;

	folder_of(folder, *machine);
	snprintf(proc, sizeof proc, "%s/proc", folder);
	snprintf(sys, sizeof sys, "%s/sys", folder);
	node_open(&n, proc, sys);
	node_read_all(&n);
	node_text(&n, &b);
	forget_path(&b, folder);
	compare(&b, golden_of(golden, *machine));
	bytes_free(&b);
	node_close(&n);
}

#define MACHINE(machine)                                                                           \
	{                                                                                          \
		machine, gives_its_golden_file, NULL, NULL, (char[])                               \
		{                                                                                  \
			machine                                                                    \
		}                                                                                  \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MACHINE("vm-small"),
		MACHINE("smt-128"),
		MACHINE("bonded"),
		MACHINE("stacked"),
		MACHINE("linux-2.6.32"),
		MACHINE("container"),
		MACHINE("broken"),
		MACHINE("paths"),
		MACHINE("linux-3.10"),
		MACHINE("two-socket"),
		MACHINE("hybrid-intel"),
		MACHINE("zen4"),
		MACHINE("grace-superchip"),
		MACHINE("infiniband-two-ports"),
		MACHINE("omni-path-node"),
		MACHINE("slingshot-ex"),
		MACHINE("eight-gpus"),
		MACHINE("batch-cgroup-v1"),
		MACHINE("batch-cgroup-v2"),
		MACHINE("batch-cgroup-hybrid"),
		MACHINE("hidepid-2"),
		MACHINE("broken-sysfs"),
		MACHINE("largest-counters"),
		MACHINE("power9"),
		MACHINE("a64fx"),
		MACHINE("cray-xc"),
		MACHINE("cloud-efa"),
		MACHINE("oar-one-hierarchy"),
		MACHINE("gvisor"),
		MACHINE("cgroup-v1"),
		MACHINE("cgroup-v2"),
		MACHINE("cgroup-hybrid"),
		MACHINE("rapl-2s"),
		MACHINE("zen"),
		MACHINE("cray-ex"),
		MACHINE("hybrid"),
		MACHINE("grace"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
