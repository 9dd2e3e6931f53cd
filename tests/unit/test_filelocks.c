/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds a lock on a file: the one who took it, or who has it from there; and a lock that is
 * only asked for is seen as that, but not what came with an open file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "source/program/filelocks.h"
#include "unit/tree.h"

static const char open_file[] = "pos:\t0\nflags:\t0100002\nmnt_id:\t30\nino:\t8\n";
static const char held[] = "1: FLOCK  ADVISORY  WRITE 400 fe:02:8 0 EOF\n";

static void process(int pid, const char *name, int parent)
{
	char path[32];

	snprintf(path, sizeof path, "%d/comm", pid);
	tree_put("proc", path, "%s\n", name);
	snprintf(path, sizeof path, "%d/stat", pid);
	tree_put("proc", path,
		 "%d (%s) S %d 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0 0 0 0 0 0 0 0 0 0 "
		 "0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		 pid, name, parent);
	snprintf(path, sizeof path, "%d/mountinfo", pid);
	tree_put("proc", path, "30 1 254:2 / / rw - ext4 /dev/vda rw\n");
}

static void say_holder(const struct root *proc, bool may_search, char out[FILELOCKS_TEXT])
{
	struct filelocks all = { 0 };

	filelocks_say_holder(proc, &all, 200, 3, may_search, out);
	filelocks_forget(&all);
}

static void test_the_holder_is_named(void **state)
{
	char out[FILELOCKS_TEXT];
	struct root proc;

	(void)state;
	process(200, "waiter", 1);
	process(400, "holder", 1);
	tree_put("proc", "200/fdinfo/3", "%s", open_file);
	tree_put("proc", "locks", "%s1: -> FLOCK  ADVISORY  WRITE 200 fe:02:8 0 EOF\n", held);
	assert_int_equal(root_open(&proc, "proc"), 0);
	say_holder(&proc, false, out);
	assert_string_equal(out, ", held by holder (pid 400)");
	/* It has ended: the shell that called it has the lock now, and may not be known. */
	tree_put("proc", "400/comm", "%s", "");
	say_holder(&proc, true, out);
	assert_string_equal(out, "");
	process(500, "sh", 1);
	tree_put("proc", "500/fdinfo/9", "%slock:\t%s", open_file, held);
	say_holder(&proc, true, out);
	assert_string_equal(out, ", held by sh (pid 500)");
	say_holder(&proc, false, out);
	assert_string_equal(out, "");
	root_close(&proc);
}

static void test_a_lock_that_is_asked_for(void **state)
{
	static const struct {
		const char *locks, *fdinfo, *mounts;
		int parent;
		bool found;
	} cases[] = {
		{ held, open_file, "30 1 254:2 / / rw - ext4 a rw\n", 1, true },
		{ "1: POSIX  ADVISORY  WRITE 400 fe:02:8 0 EOF\n", open_file,
		  "30 1 254:2 / / rw - ext4 a rw\n", 1, true },
		/* shared; another file system, file, or process; asked for */
		{ "1: FLOCK  ADVISORY  READ  400 fe:02:8 0 EOF\n", open_file,
		  "30 1 254:2 / / rw - ext4 a rw\n", 1, false },
		{ held, open_file, "30 1 254:3 / / rw - ext4 a rw\n", 1, false },
		{ held, open_file, "31 1 254:2 / / rw - ext4 a rw\n", 1, false },
		{ "1: FLOCK  ADVISORY  WRITE 400 fe:02:9 0 EOF\n", open_file,
		  "30 1 254:2 / / rw - ext4 a rw\n", 1, false },
		{ "1: FLOCK  ADVISORY  WRITE 200 fe:02:8 0 EOF\n", open_file,
		  "30 1 254:2 / / rw - ext4 a rw\n", 1, false },
		{ "1: -> FLOCK  ADVISORY  WRITE 400 fe:02:8 0 EOF\n", open_file,
		  "30 1 254:2 / / rw - ext4 a rw\n", 1, false },
		/* what its parent has locked came with the file; so did a lock of the file itself
		 */
		{ held, open_file, "30 1 254:2 / / rw - ext4 a rw\n", 400, false },
		{ held,
		  "mnt_id:\t30\nino:\t8\nlock:\t1: FLOCK  ADVISORY  WRITE 400 fe:02:8 0 EOF\n",
		  "30 1 254:2 / / rw - ext4 a rw\n", 1, false },
		{ held, "mnt_id:\t30\n", "30 1 254:2 / / rw - ext4 a rw\n", 1, false },
		{ "", open_file, "30 1 254:2 / / rw - ext4 a rw\n", 1, false },
	};
	struct filelocks all = { 0 };
	char out[FILELOCKS_TEXT];
	struct root proc;
	uint64_t fd;

	(void)state;
	process(400, "holder", 1);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		process(200, "asks", cases[i].parent);
		tree_put("proc", "200/mountinfo", "%s", cases[i].mounts);
		tree_put("proc", "200/fdinfo/3", "%s", cases[i].fdinfo);
		tree_put("proc", "locks", "%s", cases[i].locks);
		assert_int_equal(root_open(&proc, "proc"), 0);
		print_message("%zu\n", i);
		assert_int_equal(filelocks_beside(&proc, &all, 200, &fd, out), cases[i].found);
		filelocks_forget(&all);
		if (cases[i].found)
			assert_string_equal(out, "holder (pid 400)");
		assert_true(!cases[i].found || fd == 3);
		root_close(&proc);
	}
}

/* SQLite locks bytes from 1 GiB on; a parent's lock counts, too. */
static void test_a_lock_of_a_database(void **state)
{
	static const struct {
		const char *locks;
		bool found;
	} cases[] = {
		{ "1: POSIX  ADVISORY  WRITE 400 fe:02:8 1073741825 1073741825\n", true },
		{ "1: POSIX  ADVISORY  READ  300 fe:02:8 1073741826 1073742335\n"
		  "2: POSIX  ADVISORY  WRITE 400 fe:02:8 1073741824 1073742335\n",
		  true },
		{ "1: POSIX  ADVISORY  READ  400 fe:02:8 1073741826 1073742335\n", false },
		{ "1: POSIX  ADVISORY  WRITE 200 fe:02:8 1073741825 1073741825\n", false },
		{ "1: POSIX  ADVISORY  WRITE 400 fe:02:9 1073741825 1073741825\n", false },
		{ "1: POSIX  ADVISORY  WRITE 400 fe:02:8 1073741825 1073742336\n", false },
		{ "1: POSIX  ADVISORY  WRITE 400 fe:02:8 1073741823 1073741825\n", false },
		{ "1: POSIX  ADVISORY  WRITE 400 fe:02:8 1073741825 EOF\n", false },
		{ "1: POSIX  ADVISORY  WRITE 400 fe:02:8\n", false },
		{ held, false },
	};
	struct filelocks all = { 0 };
	char out[FILELOCKS_TEXT];
	struct root proc;
	uint64_t fd;

	(void)state;
	process(400, "holder", 1);
	process(200, "asks", 400);
	tree_put("proc", "200/fdinfo/3", "%s", open_file);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		tree_put("proc", "locks", "%s", cases[i].locks);
		assert_int_equal(root_open(&proc, "proc"), 0);
		print_message("%zu\n", i);
		assert_int_equal(filelocks_database(&proc, &all, 200, &fd, out), cases[i].found);
		filelocks_forget(&all);
		if (cases[i].found)
			assert_string_equal(out, "holder (pid 400)");
		root_close(&proc);
	}
}

/* One with a log has the lock of who writes in a file beside it, where all have another one. */
static void test_the_writer_of_a_log(void **state)
{
	static const char shared[] = "mnt_id:\t30\nino:\t8\n"
				     "lock:\t1: POSIX  ADVISORY  READ 200 fe:02:8 128 128\n";
	static const struct {
		const char *locks, *file;
		bool found;
	} cases[] = {
		{ "1: POSIX  ADVISORY  WRITE 400 fe:02:8 120 120\n", "/x/rows.db-shm", true },
		{ "1: POSIX  ADVISORY  WRITE 400 fe:02:8 120 120\n", "/x/rows.db", false },
		{ "1: POSIX  ADVISORY  WRITE 400 fe:02:8 123 123\n", "/x/rows.db-shm", false },
		{ "1: POSIX  ADVISORY  READ  400 fe:02:8 120 120\n", "/x/rows.db-shm", false },
		{ "1: POSIX  ADVISORY  WRITE 200 fe:02:8 120 120\n", "/x/rows.db-shm", false },
		{ "1: POSIX  ADVISORY  WRITE 400 fe:02:8 1073741825 1073741825\n", "/x/rows.db-shm",
		  false },
		{ held, "/x/rows.db-shm", false },
	};
	struct filelocks all = { 0 };
	char out[FILELOCKS_TEXT];
	struct root proc;
	uint64_t fd;

	(void)state;
	process(400, "holder", 1);
	process(200, "asks", 1);
	tree_put("proc", "200/fdinfo/3", "%s", shared);
	tree_put("proc", "200/fd/none", "%s", "");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		tree_put("proc", "locks", "%s", cases[i].locks);
		unlink("proc/200/fd/3");
		assert_int_equal(symlink(cases[i].file, "proc/200/fd/3"), 0);
		assert_int_equal(root_open(&proc, "proc"), 0);
		print_message("%zu\n", i);
		assert_int_equal(filelocks_database(&proc, &all, 200, &fd, out), cases[i].found);
		filelocks_forget(&all);
		root_close(&proc);
	}
}

/* However many processes are looked at: each time the kernel waits for every CPU. */
static void test_all_locks_are_read_once(void **state)
{
	struct filelocks all = { 0 };
	char out[FILELOCKS_TEXT];
	struct root proc;
	uint64_t fd;

	(void)state;
	process(200, "asks", 1);
	process(201, "asks", 1);
	process(400, "holder", 1);
	tree_put("proc", "200/fdinfo/3", "%s", open_file);
	tree_put("proc", "201/fdinfo/3", "%s", open_file);
	assert_int_equal(root_open(&proc, "proc"), 0);
	tree_put("proc", "locks", "%s", held);
	assert_true(filelocks_beside(&proc, &all, 200, &fd, out));
	tree_put("proc", "locks", "%s", "");
	assert_true(filelocks_beside(&proc, &all, 201, &fd, out));
	assert_false(filelocks_database(&proc, &all, 201, &fd, out));
	filelocks_forget(&all);
	assert_false(filelocks_beside(&proc, &all, 201, &fd, out));
	tree_put("proc", "locks", "%s", held); /* that there was none is known as well */
	assert_false(filelocks_beside(&proc, &all, 201, &fd, out));
	filelocks_forget(&all);
	root_close(&proc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_holder_is_named),
		cmocka_unit_test(test_a_lock_that_is_asked_for),
		cmocka_unit_test(test_a_lock_of_a_database),
		cmocka_unit_test(test_the_writer_of_a_log),
		cmocka_unit_test(test_all_locks_are_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
