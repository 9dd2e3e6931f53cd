/* SPDX-License-Identifier: Apache-2.0 */
/* Who is in a control group, where others may be in another pid namespace. */
#include "source/cgroup/cgroup.h"

#include "unit/tree.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct scene {
	char dir[32];
	struct source_env env;
	pid_t job;
};

static void begin(struct scene *x)
{
	*x = (struct scene){ .dir = "members.XXXXXX", .job = 500 };
	assert_non_null(mkdtemp(x->dir));
	tree_put(x->dir, "group/cgroup.procs", "500\n");
	assert_int_equal(root_open(&x->env.proc, x->dir), 0);
	assert_int_equal(root_open(&x->env.sys, x->dir), 0);
	x->env.roots = &x->job;
	x->env.nroots = 1;
}

static void end(struct scene *x)
{
	char command[64];

	root_close(&x->env.proc);
	root_close(&x->env.sys);
	snprintf(command, sizeof command, "rm -rf %s", x->dir);
	assert_int_equal(system(command), 0);
}

static enum cgroup_owner owner(const struct scene *x, int version)
{
	const struct cgroup_place place = {
		.root = &x->env.sys, .version = version, .mount = "group", .path = "/", .skip = 1
	};
	struct cgroup_members members;
	char *text = malloc(GROUP_TEXT);

	assert_non_null(text);
	cgroup_members_open(&members, &x->env, &place, 0, text);
	cgroup_members_close(&members);
	free(text);
	return members.owner;
}

static void put_namespace(const struct scene *x, const char *target)
{
	char path[64];

	tree_put(x->dir, "self/ns/user", "\n");
	snprintf(path, sizeof path, "%s/self/ns/pid", x->dir);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

/* Version 1 has no line for them, version 2 a 0. */
static void others_outside_of_the_pid_namespace_are_not_seen(void **unused)
{
	struct scene x;

	(void)unused;
	begin(&x);
	assert_int_equal(owner(&x, 1), OWNER_ALONE);
	put_namespace(&x, "pid:[4026531836]");
	assert_int_equal(owner(&x, 1), OWNER_ALONE);
	put_namespace(&x, "pid:[4026532299]");
	assert_int_equal(owner(&x, 1), OWNER_UNKNOWN);
	assert_int_equal(owner(&x, 2), OWNER_ALONE);
	tree_put(x.dir, "group/cgroup.procs", "0\n500\n");
	assert_int_equal(owner(&x, 2), OWNER_OTHERS);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_outside_of_the_pid_namespace_are_not_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
