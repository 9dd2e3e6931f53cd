/* SPDX-License-Identifier: Apache-2.0 */
/* NFS mounts: sums over operations, versions, names with everything in them, one superblock in two
 * places, mounts that come and go. */
#include "source/kept.h"
#include "unit/one_source.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct source source_nfs;

#define HOSTILE "/mnt/with fstype nfs\ndevice x"

static void open_fixture(struct one *x)
{
	char proc[512];

	one_open(x, &source_nfs, one_fixture(proc, "nfs/proc"), NULL);
	assert_int_equal(x->result, 0);
	one_read(x);
	assert_int_equal(x->result, 0);
}

#define IS(metric, mount, number)                                                                  \
	assert_int_equal(node_value(&x.n, "nfs." metric, mount), (int64_t)(number))

static void a_mount_of_version_4_tells_all(void **unused)
{
	struct one x;

	(void)unused;
	open_fixture(&x);
	IS("read_bytes", "/home", 2021340783);
	IS("direct_written_bytes", "/home", 8192);
	IS("server_written_bytes", "/home", 39087991255);
	IS("pages_written", "/home", 9557343);
	IS("data_invalidations", "/home", 16671);
	IS("opens", "/home", 2104);
	IS("congestion_waits", "/home", 5);
	IS("delays", "/home", 13);
	IS("pnfs_writes", "/home", 15);
	IS("connects", "/home", 3); /* of two connections */
	IS("bad_replies", "/home", 7);
	IS("read_requests", "/home", 34096 + 4); /* READ_PLUS is a read */
	IS("read_round_trip_seconds", "/home", 464840 + 2);
	IS("read_execute_seconds", "/home", 467945 + 3);
	IS("read_queued_seconds", "/home", 2272 + 1);
	IS("read_errors", "/home", 2);
	IS("write_requests", "/home", 322308);
	IS("write_queued_seconds", "/home", 401718334);
	IS("write_errors", "/home", 3);
	IS("open_requests", "/home", 12637 + 98741);
	IS("lock_requests", "/home", 22512 + 21247);
	IS("lookup_requests", "/home", 11727);
	IS("commit_requests", "/home", 12541);
	assert_string_equal(one_label(&x, "/home", "device"), "fs.example.com:/home");
	assert_string_equal(one_label(&x, "/home", "vers"), "4.1");
	assert_string_equal(one_label(&x, "/home", "nconnect"), "2");
	assert_string_equal(one_label(&x, "/home", "scope"), "node");
	one_close(&x);
}

/* Against the columns of the fixture, added up by hand. */
static void operations_are_added_up(void **unused)
{
	struct one x;

	(void)unused;
	open_fixture(&x);
	IS("requests", "/data", 6877);
	IS("transmissions", "/data", 6880);
	IS("timeouts", "/data", 2);
	IS("execute_seconds", "/data", 10156);
	IS("metadata_requests", "/data", 1226);
	IS("metadata_round_trip_seconds", "/data", 531);
	IS("create_requests", "/data", 5);
	IS("remove_requests", "/data", 5);
	IS("readdir_requests", "/data", 13);
	IS("getattr_requests", "/data", 1000);
	one_close(&x);
}

static void what_an_older_kernel_does_not_tell_is_unsupported(void **unused)
{
	static const char *const missing[] = { "nfs.errors", "nfs.read_errors", "nfs.pnfs_reads",
					       "nfs.open_requests" };
	struct one x;

	(void)unused;
	open_fixture(&x);
	for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
		assert_int_equal(node_value(&x.n, missing[i], "/data"), -1);
		assert_int_equal(one_state(&x, missing[i], "/data"), STATE_UNSUPPORTED);
	}
	IS("connects", "/data", 3); /* rdma */
	IS("delays", "/data", 13);
	/* Datagrams know no connection. */
	assert_int_equal(one_state(&x, "nfs.connects", HOSTILE), STATE_UNSUPPORTED);
	one_close(&x);
}

static void names_may_hold_anything(void **unused)
{
	struct one x;

	(void)unused;
	open_fixture(&x);
	assert_int_equal(one_events(&x, EVENT_INSTANCE, HOSTILE), 1);
	assert_string_equal(one_label(&x, HOSTILE, "device"), "srv:/a mounted on /b");
	IS("read_requests", HOSTILE, 193);
	IS("server_read_bytes", HOSTILE, 114028223);
	one_close(&x);
}

static uint32_t births(const struct one *x)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < x->n.sample.nevents; i++)
		count += x->n.sample.event[i].kind == EVENT_INSTANCE;
	return count;
}

/* A bind mount of a part of /home has the counters of /home. */
static void a_superblock_is_counted_once(void **unused)
{
	struct one x;

	(void)unused;
	open_fixture(&x);
	assert_int_equal(births(&x), 3);
	assert_int_equal(one_events(&x, EVENT_INSTANCE, "/container/view/home of\talice\\n"), 0);
	one_close(&x);
}

/* A /proc of our own in the working directory. */
static void write_file(const char *path, const char *text, size_t n)
{
	int fd;

	mkdir("proc", 0700);
	mkdir("proc/self", 0700);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
	close(fd);
}

static void write_stats(const char *text)
{
	write_file("proc/self/mountstats", text, strlen(text));
}

static void clean_up(void)
{
	unlink("proc/self/mountstats");
	unlink("proc/self/mountinfo");
	unlink("proc/filesystems");
	rmdir("proc/self");
	assert_int_equal(rmdir("proc"), 0);
}

#define ROOTFS "device rootfs mounted on / with fstype rootfs\n"
#define MOUNT(device, point, bytes, reads)                                                         \
	"device " device " mounted on " point " with fstype nfs4 statvers=1.1\n"                   \
	"\topts:\trw,vers=4.2\n\tbytes:\t" bytes " 2 3 4 5 6 7 8 \n\tper-op statistics\n"          \
	"\t        READ: " reads " 0 100 200 1 20 30 0\n"                                          \
	"\t     GETATTR: 2 2 0 10 20 1 4 6 0\n\n"

static void mounts_end_and_are_born(void **unused)
{
	struct one x;

	(void)unused;
	write_stats(ROOTFS MOUNT("s:/a", "/a", "1", "1 1") MOUNT("s:/b", "/b", "2", "1 1"));
	one_open(&x, &source_nfs, "proc", NULL);
	one_read(&x);
	IS("read_bytes", "/a", 1);
	IS("read_bytes", "/b", 2);
	write_stats(ROOTFS MOUNT("s:/b", "/b", "12", "1 1") MOUNT("s:/c", "/c", "3", "1 1"));
	one_read(&x);
	assert_int_equal(one_events(&x, EVENT_END, "/a"), 1);
	assert_int_equal(one_events(&x, EVENT_END, "/b"), 0);
	IS("read_bytes", "/b", 12);
	IS("read_bytes", "/c", 3);
	/* Another server's file system at the same place is another one. */
	write_stats(ROOTFS MOUNT("t:/b", "/b", "100", "1 1"));
	one_read(&x);
	assert_int_equal(one_events(&x, EVENT_END, "/b"), 1);
	assert_int_equal(one_events(&x, EVENT_INSTANCE, "/b"), 2);
	one_close(&x);
	clean_up();
}

/* The first place is unmounted; the second goes on counting. */
static void the_other_place_takes_over(void **unused)
{
	static const char info[] = "60 26 0:50 / /a rw - nfs4 s:/a rw\n"
				   "61 26 0:50 /x /b rw - nfs4 s:/a/x rw\n";
	struct one x;

	(void)unused;
	write_stats(ROOTFS MOUNT("s:/a", "/a", "1", "1 1") MOUNT("s:/a/x", "/b", "1", "1 1"));
	write_file("proc/self/mountinfo", info, sizeof info - 1);
	one_open(&x, &source_nfs, "proc", NULL);
	one_read(&x);
	assert_int_equal(births(&x), 1);
	write_stats(ROOTFS MOUNT("s:/a/x", "/b", "5", "1 1"));
	one_read(&x);
	assert_int_equal(one_events(&x, EVENT_END, "/a"), 1);
	assert_int_equal(one_events(&x, EVENT_INSTANCE, "/b"), 1);
	IS("read_bytes", "/b", 5);
	one_close(&x);
	clean_up();
}

static void it_is_read_once_a_second(void **unused)
{
	struct one x;
	int put = 0;

	(void)unused;
	write_stats(ROOTFS MOUNT("s:/a", "/a", "1", "1 1"));
	one_open(&x, &source_nfs, "proc", NULL);
	for (int i = 0; i < 100; i++) {
		one_step(&x, 100000000);
		put += node_value(&x.n, "nfs.read_bytes", "/a") >= 0;
	}
	assert_int_equal(put, 12); /* 0.9 s is as good as 1 s */
	one_close(&x);
	clean_up();
}

static void something_may_be_mounted_later(void **unused)
{
	struct one x;

	(void)unused;
	write_stats(ROOTFS);
	one_open(&x, &source_nfs, "proc", NULL);
	assert_int_equal(x.result, -ENODEV);
	one_close(&x);
	write_file("proc/filesystems", "nodev\tnfs\n", 10);
	one_open(&x, &source_nfs, "proc", NULL);
	assert_int_equal(x.result, 0);
	one_read(&x);
	write_stats(ROOTFS MOUNT("s:/a", "/a", "1", "1 1"));
	for (int i = 0; i < 10; i++)
		one_read(&x);
	IS("read_bytes", "/a", 1);
	one_close(&x);
	clean_up();
}

/* Cut anywhere, it gives fewer values, and never another one. */
static void cut_statistics_give_no_wrong_value(void **unused)
{
	static char text[65536];
	char proc[512], full[600];
	static int64_t whole[NODE_SLOTS];
	struct one x;
	struct root root;
	ssize_t n;

	(void)unused;
	snprintf(full, sizeof full, "%s", one_fixture(proc, "nfs/proc"));
	assert_int_equal(root_open(&root, full), 0);
	n = root_read(&root, "self/mountstats", text, sizeof text);
	root_close(&root);
	assert_true(n > 0);
	write_file("proc/self/mountstats", text, (size_t)n);
	one_open(&x, &source_nfs, "proc", NULL);
	one_read(&x);
	for (uint32_t i = 1; i < x.n.sample.nslots; i++)
		whole[i] = x.n.sample.state[i] == STATE_PRESENT ? x.n.sample.value[i] : -1;
	for (ssize_t cut = n - 1; cut > 0; cut -= 3) {
		if (text[cut - 1] == '\n')
			continue; /* looks whole */
		write_file("proc/self/mountstats", text, (size_t)cut);
		one_read(&x);
		assert_int_not_equal(x.result, 0);
		for (uint32_t i = 1; i < x.n.sample.nslots; i++)
			if (x.n.sample.state[i] == STATE_PRESENT)
				assert_int_equal(x.n.sample.value[i], whole[i]);
	}
	assert_int_equal(one_events(&x, EVENT_END, "/home"), 0);
	one_close(&x);
	clean_up();
}

static void a_bad_operation_spoils_the_sums_only(void **unused)
{
	struct one x;

	(void)unused;
	write_stats(ROOTFS MOUNT("s:/a", "/a", "1", "1 1x"));
	one_open(&x, &source_nfs, "proc", NULL);
	one_read(&x);
	IS("read_bytes", "/a", 1);
	IS("requests", "/a", -1);
	IS("read_requests", "/a", -1);
	IS("metadata_requests", "/a", -1);
	write_stats(ROOTFS MOUNT("s:/a", "/a", "1", "9223372036854775807 1"));
	one_read(&x);
	IS("read_bytes", "/a", 1);
	IS("requests", "/a", -1); /* it does not fit */
	IS("metadata_requests", "/a", 2);
	one_close(&x);
	clean_up();
}

/* Mounts whose lines are 2 kB long, in a name space of our own. Only root may. */
static bool mount_long_names(void)
{
	char path[4000] = "mnt";

	if (unshare(CLONE_NEWNS) < 0)
		return false;
	mkdir(path, 0700);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("sonde", path, "tmpfs", 0, NULL) < 0)
		return false;
	for (int i = 0; i < 16; i++) {
		size_t n = strlen(path);

		snprintf(path + n, sizeof path - n, "/%0120d", i);
		if (mkdir(path, 0700) < 0 ||
		    (i >= 12 && mount("sonde", path, "tmpfs", 0, NULL) < 0))
			return false;
	}
	return true;
}

/* What the kernel gives to who reads until there is no more. */
static size_t read_to_end(char *text, size_t size)
{
	int fd = open("/proc/self/mountstats", O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	while (fd >= 0 && (got = read(fd, text + n, size - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	close(fd);
	return n;
}

/* 0: read whole; 1: not; 77: such mounts cannot be made here. */
static int read_long_records(void)
{
	static char text[1 << 20];
	struct root proc;
	struct kept k;
	int result = 77;

	if (mount_long_names() && root_open(&proc, "/proc") == 0 &&
	    read_to_end(text, sizeof text) &&
	    kept_open_records(&k, &proc, "self/mountstats", 0, NULL) == 0)
		result = strcmp(k.text, text) != 0;
	return result;
}

static void long_records_are_read_whole(void **unused)
{
	int status;
	pid_t pid = fork();

	(void)unused;
	if (pid == 0)
		_exit(read_long_records());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rmdir("mnt");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mount_of_version_4_tells_all),
		cmocka_unit_test(operations_are_added_up),
		cmocka_unit_test(what_an_older_kernel_does_not_tell_is_unsupported),
		cmocka_unit_test(names_may_hold_anything),
		cmocka_unit_test(a_superblock_is_counted_once),
		cmocka_unit_test(mounts_end_and_are_born),
		cmocka_unit_test(the_other_place_takes_over),
		cmocka_unit_test(it_is_read_once_a_second),
		cmocka_unit_test(something_may_be_mounted_later),
		cmocka_unit_test(cut_statistics_give_no_wrong_value),
		cmocka_unit_test(a_bad_operation_spoils_the_sums_only),
		cmocka_unit_test(long_records_are_read_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
