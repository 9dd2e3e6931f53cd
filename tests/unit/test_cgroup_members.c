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

static void put_process(const struct scene *x, int pid, const char *comm, const char *program)
{
	char path[64];

	snprintf(path, sizeof path, "%d/stat", pid);
	tree_put(x->dir, path, "%d (%s) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0\n", pid,
		 comm);
	snprintf(path, sizeof path, "%s/%d/exe", x->dir, pid);
	unlink(path);
	assert_int_equal(symlink(program, path), 0);
}

/* What a launcher leaves beside its job is nobody's child: its program shows it. */
static void the_launchers_sentinel_is_no_other(void **unused)
{
	struct scene x;
	char path[64];

	(void)unused;
	begin(&x);
	tree_put(x.dir, "one", "1");
	tree_put(x.dir, "two", "2");
	tree_put(x.dir, "group/cgroup.procs", "500\n600\n");
	put_process(&x, 600, "sonde-sentinel", "../one");
	assert_int_equal(owner(&x, 1),
			 OWNER_OTHERS); /* what the recorder's program is cannot be seen */
	tree_put(x.dir, "self/stat",
		 "9 (sonde-recorder) S 1 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0\n");
	snprintf(path, sizeof path, "%s/self/exe", x.dir);
	assert_int_equal(symlink("../one", path), 0);
	assert_int_equal(owner(&x, 1), OWNER_ALONE);
	put_process(&x, 600, "sonde-sentinel", "../two");
	assert_int_equal(owner(&x, 1), OWNER_OTHERS);
	put_process(&x, 600, "sonde", "../one"); /* it has no name of its own yet */
	assert_int_equal(owner(&x, 1), OWNER_ALONE);
	tree_put(x.dir, "group/cgroup.procs", "500\n600\n601\n");
	put_process(&x, 601, "sh", "../two"); /* another job of it */
	assert_int_equal(owner(&x, 1), OWNER_OTHERS);
	end(&x);
}

/* Another launcher's task may be in another group; the first one joins, too. */
static void with_several_launchers_it_is_not_known(void **unused)
{
	struct cgroup_place here = { .mount = "group", .path = "/", .skip = 1, .version = 2 };
	struct cgroup_members members;
	char *text = malloc(GROUP_TEXT);
	struct scene x;

	(void)unused;
	assert_non_null(text);
	begin(&x);
	here.root = &x.env.sys;
	cgroup_members_open(&members, &x.env, &here, 0, text);
	assert_int_equal(members.owner, OWNER_ALONE);
	assert_false(cgroup_members_joined(&members, 500));
	assert_int_equal(members.owner, OWNER_ALONE);
	assert_true(cgroup_members_joined(&members, 700));
	assert_int_equal(members.owner, OWNER_UNKNOWN);
	assert_false(cgroup_members_joined(&members, 701));
	cgroup_members_close(&members);
	free(text);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_launchers_sentinel_is_no_other),
		cmocka_unit_test(with_several_launchers_it_is_not_known),
		cmocka_unit_test(others_outside_of_the_pid_namespace_are_not_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
