/* SPDX-License-Identifier: Apache-2.0 */
/* The helper sonde-files: calls become counters of files, also where an entry was lost, a name came
 * too late, or a descriptor was copied before its file was known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/tracing.h"

enum { NONE = 0x7fffffff }; /* no process has this id */

struct fixture {
	struct tracing tracing;
	int64_t now_ns;
};

static const struct call *call(const char *name)
{
	for (uint32_t i = 0; i < ncalls; i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	return NULL;
}

static void take(struct fixture *f, struct traced t)
{
	t.pid = t.tid = NONE;
	t.time_ns = f->now_ns += 1000;
	t.has_arguments = t.kind == TRACED_ENTER || call_has_registers(t.call);
	tracing_take(&f->tracing, &t, 0);
}

static void read_from(struct fixture *f, uint64_t fd, int64_t bytes)
{
	take(f, (struct traced){ .kind = TRACED_ENTER, .call = call("read"), .arg = { fd } });
	take(f, (struct traced){ .kind = TRACED_EXIT, .call = call("read"), .result = bytes });
}

static void open_nameless(struct fixture *f, int fd)
{
	take(f, (struct traced){ .kind = TRACED_EXIT,
				 .call = call("openat"),
				 .arg = { (uint64_t)AT_FDCWD },
				 .result = fd });
}

static void ask_inode(struct fixture *f, uint64_t fd, const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	take(f, (struct traced){ .kind = TRACED_EXIT,
				 .call = call("newfstat"),
				 .arg = { fd },
				 .device = st.st_dev,
				 .inode = st.st_ino });
}

static int64_t value(struct fixture *f, const char *path, enum files_counter which)
{
	struct book_process *p = book_process(f->tracing.book, NONE);

	return book_row(f->tracing.book, book_row_of(f->tracing.book, p, path, f->now_ns))
		->value[which];
}

static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	if (!ncalls)
		return -1;
	f->tracing.book = book_new();
	f->tracing.inodes = inodes_new();
	*state = f;
	return !f->tracing.book || !f->tracing.inodes;
}

static int end(void **state)
{
	struct fixture *f = *state;

	book_free(f->tracing.book);
	inodes_free(f->tracing.inodes);
	free(f);
	return 0;
}

static void test_an_entry_that_was_lost_is_a_loss(void **state)
{
	struct fixture *f = *state;

	open_nameless(f, 3);
	take(f, (struct traced){ .kind = TRACED_EXIT, .call = call("read"), .result = 5 });
	assert_int_equal(f->tracing.unpaired, 0); /* it was in this call before it was traced */
	read_from(f, 3, 10);
	take(f, (struct traced){ .kind = TRACED_EXIT, .call = call("read"), .result = 5 });
	assert_int_equal(f->tracing.unpaired, 1);
	assert_int_equal(value(f, "", FILE_READ_BYTES), 10);
}

static void test_an_inode_names_what_was_read_before(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(stat("/proc/self/exe", &st), 0);
	inodes_learn(f->tracing.inodes, st.st_dev, st.st_ino, "/proc/self/exe");
	open_nameless(f, 3);
	read_from(f, 3, 80);
	assert_int_equal(value(f, "", FILE_READ_BYTES), 80);
	/* bash does this with its script. */
	take(f, (struct traced){
			.kind = TRACED_EXIT, .call = call("dup2"), .arg = { 3 }, .result = 9 });
	take(f, (struct traced){ .kind = TRACED_EXIT, .call = call("close"), .arg = { 3 } });
	ask_inode(f, 9, "/proc/self/exe");
	read_from(f, 9, 7);
	assert_int_equal(value(f, "", FILE_READ_BYTES), 0);
	assert_int_equal(value(f, "", FILE_OPENS), 0);
	assert_int_equal(value(f, "/proc/self/exe", FILE_READ_BYTES), 87);
	assert_int_equal(value(f, "/proc/self/exe", FILE_READS), 2);
	assert_int_equal(value(f, "/proc/self/exe", FILE_OPENS), 1);
}

static void test_an_inode_without_a_name_is_found_later(void **state)
{
	struct fixture *f = *state;
	char *directory = realpath(".", NULL), path[4096], other[4096], found[4096];
	struct stat st;
	int fd;

	assert_non_null(directory);
	snprintf(path, sizeof path, "%s/data", directory);
	snprintf(other, sizeof other, "%s/other", directory);
	free(directory);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	assert_false(inodes_path(f->tracing.inodes, st.st_dev, st.st_ino, found, sizeof found));
	inodes_near(f->tracing.inodes, other);
	assert_true(inodes_path(f->tracing.inodes, st.st_dev, st.st_ino, found, sizeof found));
	assert_string_equal(found, path);
	fd = open(other, O_CREAT | O_WRONLY, 0600); /* the directory has changed since */
	assert_true(fd >= 0 && !fstat(fd, &st));
	close(fd);
	assert_true(inodes_path(f->tracing.inodes, st.st_dev, st.st_ino, found, sizeof found));
	assert_string_equal(found, other);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(unlink(path), 0); /* a name holds only while the file has it */
	assert_false(inodes_known(f->tracing.inodes, st.st_dev, st.st_ino, found, sizeof found));
}

static void test_a_name_below_what_has_none_is_not_made_up(void **state)
{
	struct fixture *f = *state;

	open_nameless(f, 3);
	ask_inode(f, 3, "/proc/self/exe"); /* no name of it is known: the row is of the inode */
	take(f, (struct traced){ .kind = TRACED_EXIT,
				 .call = call("openat"),
				 .arg = { 3 },
				 .name = (char *)"below/it",
				 .result = 4 });
	read_from(f, 4, 10);
	assert_int_equal(value(f, "/below/it", FILE_READ_BYTES), 0);
	assert_int_equal(value(f, "", FILE_READ_BYTES), 10);
}

static void take_own(struct fixture *f, const char *name, int fd, int64_t time_ns)
{
	struct traced t = { .kind = TRACED_ENTER,
			    .call = call(name),
			    .arg = { (uint64_t)fd },
			    .pid = getpid(),
			    .tid = getpid(),
			    .time_ns = time_ns,
			    .has_arguments = true };

	tracing_take(&f->tracing, &t, 0);
	t.kind = TRACED_EXIT;
	t.result = strcmp(name, "read") ? 0 : 10;
	t.has_arguments = call_has_registers(t.call);
	tracing_take(&f->tracing, &t, 0);
}

static int64_t own_value(struct fixture *f, const char *path, enum files_counter which)
{
	struct book_process *p = book_process(f->tracing.book, getpid());

	return book_row(f->tracing.book, book_row_of(f->tracing.book, p, path, 1))->value[which];
}

/* What was read before the look was read from a file that has been closed since. */
static void test_a_descriptor_that_became_another_file_has_no_name(void **state)
{
	struct fixture *f = *state;
	char *directory = realpath(".", NULL), path[4096];
	int fd;

	assert_non_null(directory);
	snprintf(path, sizeof path, "%s/second", directory);
	free(directory);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	take_own(f, "read", fd, 1000);
	take_own(f, "read", fd, 2000);
	assert_int_equal(own_value(f, path, FILE_READ_BYTES), 20); /* as far as is known yet */
	take_own(f, "close", fd, 3000);
	assert_int_equal(own_value(f, path, FILE_READ_BYTES), 0);
	assert_int_equal(own_value(f, path, FILE_READS), 0);
	assert_int_equal(own_value(f, "", FILE_READ_BYTES), 20);
	assert_int_equal(own_value(f, path, FILE_OPENS) | own_value(f, "", FILE_OPENS), 0);
	take_own(f, "read", fd, 4000);
	take_own(f, "read", fd, INT64_MAX - 1); /* it is open since the look */
	take_own(f, "close", fd, INT64_MAX);
	assert_int_equal(own_value(f, path, FILE_READ_BYTES), 20);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_entry_that_was_lost_is_a_loss, begin, end),
		cmocka_unit_test_setup_teardown(test_an_inode_names_what_was_read_before, begin,
						end),
		cmocka_unit_test_setup_teardown(test_an_inode_without_a_name_is_found_later, begin,
						end),
		cmocka_unit_test_setup_teardown(test_a_name_below_what_has_none_is_not_made_up,
						begin, end),
		cmocka_unit_test_setup_teardown(
			test_a_descriptor_that_became_another_file_has_no_name, begin, end),
	};

	return ncalls ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
