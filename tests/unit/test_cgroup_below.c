/* SPDX-License-Identifier: Apache-2.0 */
/* Kills for want of memory in the groups below one, which version 1 counts there alone. */
#include "source/cgroup/cgroup_group.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct cgroup_below below;
static char top[32];
static char text[4096];

/* A group of this path, created if missing, and its count. */
static void group(const char *path, int kills)
{
	char name[256], line[64];
	int fd;

	snprintf(name, sizeof name, "%s/%s", top, path);
	mkdir(name, 0700);
	snprintf(name, sizeof name, "%s/%s/memory.oom_control", top, path);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	snprintf(line, sizeof line, "oom_kill_disable 0\nunder_oom 0\noom_kill %d\n", kills);
	assert_int_equal(write(fd, line, strlen(line)), strlen(line));
	close(fd);
}

static void begin(void)
{
	snprintf(top, sizeof top, "step.XXXXXX");
	assert_non_null(mkdtemp(top));
	group("", 100); /* its own: none of those below */
	cgroup_below_open(&below, open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static int64_t kills(void)
{
	return cgroup_below_kills(&below, true, text, sizeof text);
}

static void all_below_are_added_up(void **state)
{
	(void)state;
	begin();
	assert_int_equal(kills(), 0);
	group("task_0", 1);
	group("task_1", 0);
	assert_int_equal(kills(), 1);
	group("task_1", 2);
	assert_int_equal(kills(), 3);
	/* what comes later, and what is in it, at the first look */
	group("task_2", 4);
	group("task_2/deep", 8);
	group("task_2/deep/deeper", 16);
	assert_int_equal(kills(), 31);
	assert_int_equal(kills(), 31);
	cgroup_below_close(&below);
}

/* As the kernel says of a file whose group is gone: here its descriptor reads a directory. */
static void who_is_gone_keeps_its_count(void **state)
{
	char name[64];

	(void)state;
	begin();
	group("task_0", 5);
	group("task_1", 1);
	assert_int_equal(kills(), 6);
	for (size_t i = 1; i < CGROUPS_BELOW; i++)
		if (below.group[i].file && below.group[i].kills == 5)
			assert_int_equal(dup2(below.group[0].dir, below.group[i].file),
					 below.group[i].file);
	snprintf(name, sizeof name, "%s/task_0/memory.oom_control", top);
	assert_int_equal(remove(name), 0);
	snprintf(name, sizeof name, "%s/task_0", top);
	assert_int_equal(remove(name), 0);
	assert_int_equal(kills(), 6);
	group("task_2", 2); /* as many groups as before */
	assert_int_equal(kills(), 8);
	group("task_1", 2);
	assert_int_equal(kills(), 9);
	cgroup_below_close(&below);
}

static void no_more_than_there_is_room_for(void **state)
{
	char name[32];

	(void)state;
	begin();
	for (int i = 0; i < CGROUPS_BELOW + 20; i++) {
		snprintf(name, sizeof name, "task_%d", i);
		group(name, 1);
	}
	assert_int_equal(kills(), CGROUPS_BELOW - 1);
	assert_int_equal(kills(), CGROUPS_BELOW - 1);
	cgroup_below_close(&below);
}

static void without_groups_below_there_is_none(void **state)
{
	struct cgroup_below never = { 0 };

	(void)state;
	assert_int_equal(cgroup_below_kills(&never, true, text, sizeof text), 0);
	cgroup_below_close(&never);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_below_are_added_up),
		cmocka_unit_test(who_is_gone_keeps_its_count),
		cmocka_unit_test(no_more_than_there_is_room_for),
		cmocka_unit_test(without_groups_below_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
