/* SPDX-License-Identifier: Apache-2.0 */
/* On which mounts the files are that the job's processes have open, over a made /proc. */
#include "unit/job_scene.h"

extern const struct source source_openfiles;

static const char mounts[] = "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
			     "25 24 0:40 / /scratch rw - lustre server:/fs rw\n";

/* mount 0: its fdinfo tells none. */
static void put_file(const struct scene *x, int pid, int fd, const char *target, int mount)
{
	char name[64];

	scene_put_link(x, pid, fd, target);
	snprintf(name, sizeof name, "%d/fdinfo/%d", pid, fd);
	if (mount)
		tree_put(x->dir, name, "pos:\t0\nflags:\t02100002\nmnt_id:\t%d\nino:\t9\n", mount);
	else
		tree_put(x->dir, name, "pos:\t0\nflags:\t02100002\n");
}

static int set_up(void **state)
{
	struct scene *x = scene_begin();

	tree_put(x->dir, "self/mountinfo", "%s", mounts);
	x->pids[0] = 500;
	x->pids[1] = 600;
	x->npids = 2;
	put_file(x, 500, 0, "/scratch/in", 25);
	put_file(x, 500, 1, "/scratch/out (deleted)", 25);
	put_file(x, 500, 2, "socket:[77]", 9);
	put_file(x, 600, 0, "/etc/passwd", 24);
	put_file(x, 600, 1, "pipe:[78]", 10);
	put_file(x, 600, 2, "/memfd:x (deleted)", 5);
	put_file(x, 600, 3, "/old/kernel", 0);
	scene_open(x, &source_openfiles);
	*state = x;
	return 0;
}

static int64_t files_on(const struct scene *x, const char *mount)
{
	return node_value(&x->one.n, "mount.job_open_files_count", mount);
}

/* Until something is put. */
static int read_until_put(struct scene *x, const char *mount)
{
	int seconds = 0;

	do
		one_read(&x->one);
	while (files_on(x, mount) < 0 && seconds++ < 100);
	return seconds;
}

static void files_are_counted_by_mount(void **state)
{
	struct scene *x = *state;

	assert_in_range(read_until_put(x, "/scratch"), 1, 10);
	assert_int_equal(files_on(x, "/scratch"), 2);
	assert_int_equal(files_on(x, "/"), 1);
	assert_int_equal(files_on(x, "not mounted here"), 1);
	one_read(&x->one);
	assert_true(files_on(x, "/scratch") < 0); /* absent until the next round is over */
}

static void a_round_comes_every_minute(void **state)
{
	struct scene *x = *state;

	read_until_put(x, "/scratch");
	put_file(x, 500, 3, "/scratch/more", 25);
	read_for(x, 50);
	assert_in_range(read_until_put(x, "/scratch"), 1, 15);
	assert_int_equal(files_on(x, "/scratch"), 3);
}

static void who_may_not_be_looked_at_leaves_nothing_known(void **state)
{
	struct scene *x = *state;

	forbidden = "600/fd";
	read_for(x, 60);
	for (uint32_t i = 1; i < x->one.n.sample.nslots; i++)
		assert_int_equal(x->one.n.sample.state[i], STATE_ABSENT);
	assert_int_equal(one_events(&x->one, EVENT_INSTANCE, "/scratch"), 0);
	forbidden = NULL;
	read_until_put(x, "/scratch");
	assert_int_equal(files_on(x, "/"), 1);
}

static void a_process_that_ends_meanwhile_is_no_harm(void **state)
{
	struct scene *x = *state;

	x->pids[2] = 700;
	x->npids = 3;
	read_until_put(x, "/scratch");
	assert_int_equal(files_on(x, "/"), 1);
}

static void what_was_seen_of_one_that_ends_half_way_does_not_count(void **state)
{
	struct scene *x = *state;
	char command[96];

	for (int fd = 3; fd < 20; fd++)
		put_file(x, 500, fd, "/var/log", 24);
	read_for(x, 1);
	snprintf(command, sizeof command, "rm %s/500/fd/*", x->dir);
	assert_int_equal(system(command), 0);
	read_until_put(x, "/");
	assert_int_equal(files_on(x, "/"), 1);
	assert_true(files_on(x, "/scratch") < 0);
}

static void an_id_that_is_another_mount_is_another_instance(void **state)
{
	struct scene *x = *state;

	read_until_put(x, "/scratch");
	tree_put(x->dir, "self/mountinfo",
		 "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n25 24 0:41 / /work rw - nfs server:/w rw\n");
	assert_in_range(read_until_put(x, "/work"), 1, 80);
	assert_int_equal(files_on(x, "/work"), 2);
	assert_int_equal(one_events(&x->one, EVENT_END, "/scratch"), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, scene_end)
	const struct CMUnitTest tests[] = {
		TEST(files_are_counted_by_mount),
		TEST(a_round_comes_every_minute),
		TEST(who_may_not_be_looked_at_leaves_nothing_known),
		TEST(a_process_that_ends_meanwhile_is_no_harm),
		TEST(what_was_seen_of_one_that_ends_half_way_does_not_count),
		TEST(an_id_that_is_another_mount_is_another_instance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
