/* SPDX-License-Identifier: Apache-2.0 */
/* How full file systems are is asked by a helper: it answers, hangs, dies, and holds nothing open.
 */
#include "base/clock.h"
#include "source/storage/localmounts.h"
#include "source/storage/mountinfo.h"
#include "source/storage/statfs_helper.h"
#include "unit/node.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct source source_filesystem;

static void pause_ms(int ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static bool wait_for_answer(const struct statfs_helper *h, int ms)
{
	for (; ms > 0 && !statfs_helper_answered(h); ms--)
		pause_ms(1);
	return statfs_helper_answered(h);
}

static void open_with(struct node *n, const char *procfs, void **state)
{
	assert_int_equal(sample_init(&n->sample, NODE_SLOTS, NODE_SLOTS), 0);
	assert_int_equal(root_open(&n->env.proc, procfs), 0);
	*state = calloc(1, source_filesystem.size);
	assert_int_equal(source_filesystem.open(*state, &n->env, &n->sample, NULL), 0);
}

/* Opened on the machine itself; the caller sets env.output_path. */
static void open_here(struct node *n, void **state)
{
	open_with(n, "/proc", state);
}

/* Where no mount is listed, none is known to be local. */
static void open_with_helpers(struct node *n, void **state)
{
	open_with(n, "/proc/self/fd", state);
}

static void read_here(struct node *n, void *state)
{
	sample_begin(&n->sample, 1, 1);
	source_filesystem.read(state, &n->sample);
}

/* Read until so many file systems have said something, for at most 20 s. */
static void read_told(struct node *n, void *state, uint32_t places)
{
	uint32_t told = 0;

	for (int i = 0; i < 2000 && told < places; i++) {
		pause_ms(i ? 10 : 0);
		read_here(n, state);
		told = 0;
		for (uint32_t k = 0; k < n->sample.nevents; k++)
			told += n->sample.event[k].kind == EVENT_INSTANCE;
	}
	assert_int_equal(told, places);
}

static void close_here(struct node *n, void *state)
{
	source_filesystem.close(state);
	free(state);
	sample_free(&n->sample);
	root_close(&n->env.proc);
}

static const struct event *find_event(const struct node *n, enum event_kind kind, const char *name)
{
	for (uint32_t i = 0; i < n->sample.nevents; i++)
		if (n->sample.event[i].kind == kind && strcmp(n->sample.event[i].name, name) == 0)
			return &n->sample.event[i];
	return NULL;
}

/* Below chroot(2) the kernel lists no mount for the root, and so it has no type. */
static bool root_is_listed(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[4096];
	bool found = false;

	while (f && !found && fgets(line, sizeof line, f))
		found = strstr(line, " / / ") != NULL;
	if (f)
		fclose(f);
	return found;
}

static void values_are_those_of_statfs(void **unused)
{
	struct node n = { .env.interval_ns = NS_PER_S };
	struct statfs fs;
	void *state;

	(void)unused;
	open_here(&n, &state);
	read_told(&n, state, 1);
	assert_int_equal(statfs("/", &fs), 0);
	assert_int_equal(node_value(&n, "filesystem.size_bytes", "/"),
			 (int64_t)fs.f_blocks * fs.f_frsize);
	assert_true(node_value(&n, "filesystem.available_bytes", "/") > 0);
	assert_true(node_value(&n, "filesystem.used_bytes", "/") > 0);
	if (root_is_listed())
		assert_non_null(find_event(&n, EVENT_LABEL, "type"));
	close_here(&n, state);
}

static void one_file_system_is_told_of_once(void **unused)
{
	struct node n = { .env = { .interval_ns = NS_PER_S, .output_path = "/" } };
	uint32_t instances = 0;
	void *state;

	(void)unused;
	open_here(&n, &state);
	read_told(&n, state, 1);
	for (uint32_t i = 0; i < n.sample.nevents; i++)
		instances += n.sample.event[i].kind == EVENT_INSTANCE;
	assert_int_equal(instances, 1);
	assert_string_equal(find_event(&n, EVENT_LABEL, "root")->text, "/");
	assert_string_equal(find_event(&n, EVENT_LABEL, "output")->text, "/");
	close_here(&n, state);
}

static void another_file_system_has_its_mount_point(void **unused)
{
	struct node n = { .env = { .interval_ns = NS_PER_S, .output_path = "/proc/self/fd" } };
	const struct event *output;
	void *state;

	(void)unused;
	open_here(&n, &state);
	read_told(&n, state, 2);
	output = find_event(&n, EVENT_LABEL, "output");
	assert_string_equal(output->text, "/proc/self/fd");
	assert_string_equal(node_instance_name(&n, output->id), "/proc");
	/* It has no inodes to count: said, and not 0. */
	assert_int_equal(node_value(&n, "filesystem.inodes_count", "/proc"), -1);
	close_here(&n, state);
}

static void a_missing_path_is_refused(void **unused)
{
	struct node n = { .env = { .interval_ns = NS_PER_S, .output_path = "/nowhere/at/all" } };
	const struct event *e = NULL;
	void *state;

	(void)unused;
	open_here(&n, &state);
	read_told(&n, state, 2);
	for (uint32_t i = 0; i < n.sample.nevents; i++)
		if (n.sample.event[i].kind == EVENT_STATE &&
		    n.sample.event[i].state == STATE_UNSUPPORTED &&
		    strcmp(n.sample.event[i].text, strerror(ENOENT)) == 0)
			e = &n.sample.event[i];
	assert_non_null(e);
	assert_int_equal(node_value(&n, "filesystem.size_bytes", "/nowhere/at/all"), -1);
	assert_true(node_value(&n, "filesystem.size_bytes", "/") > 0);
	close_here(&n, state);
}

static void signal_children(int signal)
{
	char path[64], text[256];
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)gettid());
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof text, f));
	fclose(f);
	for (char *p = text, *end; strtol(p, &end, 10) > 0; p = end)
		kill((pid_t)strtol(p, NULL, 10), signal);
}

/* Read until the last EVENT_STATE is `state`, for at most 20 s. */
static const struct event *read_until(struct node *n, void *source_state, enum state state)
{
	for (int i = 0; i < 2000; i++) {
		const struct event *last =
			n->sample.nevents ? &n->sample.event[n->sample.nevents - 1] : NULL;

		if (last && last->kind == EVENT_STATE && last->state == state)
			return last;
		pause_ms(10);
		read_here(n, source_state);
	}
	return NULL;
}

/* A helper that hangs (here: is stopped) makes the values fail, with the reason, until it is back.
 */
static void a_hung_file_system_fails_and_comes_back(void **unused)
{
	struct node n = { .env.interval_ns = NS_PER_MS };
	const struct event *e;
	int64_t before;
	void *state;

	(void)unused;
	open_with_helpers(&n, &state);
	read_told(&n, state, 1);
	assert_true(node_value(&n, "filesystem.size_bytes", "/") > 0);
	signal_children(SIGSTOP);
	before = clock_mono_ns();
	e = read_until(&n, state, STATE_FAILED);
	assert_non_null(e);
	assert_string_equal(e->text, "it did not answer in 5 s");
	assert_true(clock_mono_ns() - before > 4 * NS_PER_S);
	assert_int_equal(node_value(&n, "filesystem.size_bytes", "/"), -1);
	signal_children(SIGCONT);
	assert_non_null(read_until(&n, state, STATE_PRESENT));
	assert_true(node_value(&n, "filesystem.size_bytes", "/") > 0);
	close_here(&n, state);
}

static bool has_children(const char *type)
{
	struct node n = { .env.interval_ns = NS_PER_MS };
	char folder[] = "/tmp/test_filesystem.XXXXXX", self[64], file[80];
	void *state;
	FILE *f;
	bool has;

	assert_non_null(mkdtemp(folder));
	snprintf(self, sizeof self, "%s/self", folder);
	assert_int_equal(mkdir(self, 0700), 0);
	snprintf(file, sizeof file, "%s/mountinfo", self);
	f = fopen(file, "w");
	assert_non_null(f);
	fprintf(f, "22 1 8:1 / / rw - %s /dev/sda1 rw\n", type);
	fclose(f);
	open_with(&n, folder, &state);
	has = waitpid(-1, NULL, WNOHANG) == 0;
	close_here(&n, state);
	assert_int_equal(unlink(file) | rmdir(self) | rmdir(folder), 0);
	return has;
}

static void only_what_may_hang_has_a_helper(void **unused)
{
	(void)unused;
	assert_false(has_children("ext4"));
	assert_true(has_children("nfs4"));
	assert_true(has_children("a new one"));
}

static void a_killed_helper_fails(void **unused)
{
	struct node n = { .env.interval_ns = NS_PER_MS };
	const struct event *e;
	void *state;

	(void)unused;
	open_with_helpers(&n, &state);
	read_told(&n, state, 1);
	signal_children(SIGKILL);
	e = read_until(&n, state, STATE_FAILED);
	assert_non_null(e);
	read_here(&n, state);
	assert_int_equal(node_value(&n, "filesystem.size_bytes", "/"), -1);
	close_here(&n, state);
}

static int count_files(pid_t pid)
{
	char path[64];
	int n = 0;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	d = opendir(path);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

/* It keeps its socket and three times /dev/null: no pipe of ours that someone waits on. */
static void the_helper_holds_nothing_of_ours(void **unused)
{
	struct statfs_helper h;
	int pipes[2];

	(void)unused;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(statfs_helper_start(&h, "/"), 0);
	assert_int_equal(statfs_helper_ask(&h), 0);
	assert_true(wait_for_answer(&h, 5000));
	assert_int_equal(count_files(h.pid), 4);
	statfs_helper_stop(&h);
	close(pipes[0]);
	close(pipes[1]);
}

static void a_stopped_helper_is_not_waited_for(void **unused)
{
	struct statfs_helper h;
	pid_t pid;

	(void)unused;
	assert_int_equal(statfs_helper_start(&h, "/"), 0);
	pid = h.pid;
	kill(pid, SIGSTOP);
	assert_int_equal(statfs_helper_ask(&h), 0);
	assert_false(wait_for_answer(&h, 50));
	statfs_helper_stop(&h);
	assert_int_equal(kill(pid, 0), -1);
	statfs_helper_stop(&h); /* again: nothing happens */
}

static void the_helper_ends_with_its_parent(void **unused)
{
	struct statfs_helper h;
	int pipes[2], status;
	pid_t parent, helper = 0;

	(void)unused;
	assert_int_equal(pipe(pipes), 0);
	parent = fork();
	if (parent == 0) {
		statfs_helper_start(&h, "/");
		_exit(write(pipes[1], &h.pid, sizeof h.pid) != sizeof h.pid);
	}
	assert_int_equal(read(pipes[0], &helper, sizeof helper), sizeof helper);
	waitpid(parent, &status, 0);
	for (int i = 0; i < 5000 && kill(helper, 0) == 0; i++) {
		char path[64], text[64] = "";
		FILE *f;

		snprintf(path, sizeof path, "/proc/%d/stat", (int)helper);
		f = fopen(path, "r");
		if (!f || !fgets(text, sizeof text, f) || strstr(text, ") Z")) {
			if (f)
				fclose(f);
			helper = 0; /* gone, or not yet reaped by whoever inherited it */
			break;
		}
		fclose(f);
		pause_ms(1);
	}
	assert_true(helper == 0 || kill(helper, 0) < 0);
	close(pipes[0]);
	close(pipes[1]);
}

static void mounts_are_found_by_id(void **unused)
{
	static const char text[] = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
				   "36 27 98:0 /a /mnt/my\\040disk\\011x rw,noatime master:1 "
				   "shared:2 - nfs4 srv:/x rw\n"
				   "37 27 98:0 / /short rw\n"
				   "38 27\n"
				   "39 27 0:1 / /a-very-long-mount-point - tmpfs none rw";
	char point[16], type[MOUNT_TYPE_SIZE];

	(void)unused;
	assert_true(mountinfo_find(text, 27, point, sizeof point, type));
	assert_string_equal(point, "/");
	assert_string_equal(type, "ext4");
	assert_true(mountinfo_find(text, 36, point, sizeof point, type));
	assert_string_equal(point, "/mnt/my disk\tx");
	assert_string_equal(type, "nfs4");
	assert_false(mountinfo_find(text, 37, point, sizeof point, type));
	assert_false(mountinfo_find(text, 38, point, sizeof point, type));
	assert_false(mountinfo_find(text, 1, point, sizeof point, type));
	assert_false(mountinfo_find("", 0, point, sizeof point, type));
	assert_true(mountinfo_find(text, 39, point, sizeof point, type));
	assert_string_equal(point, "/a-very-long-mo");
}

static void mounts_are_found_by_path(void **unused)
{
	static const char text[] = "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
				   "36 27 98:0 / /mnt/my\\040disk rw - nfs4 srv:/x rw\n"
				   "37 27 98:0 / /mnt rw - tmpfs none rw\n"
				   "38 27\n"
				   "39 27 0:1 / /mnt rw - tmpfs none rw\n";

	(void)unused;
	assert_int_equal(mountinfo_of_path(text, "/"), 27);
	assert_int_equal(mountinfo_of_path(text, "/mnt/my disk/a"), 36);
	assert_int_equal(mountinfo_of_path(text, "/mnt/my disk"), 36);
	assert_int_equal(mountinfo_of_path(text, "/mnt/my diskette"), 39);
	assert_int_equal(mountinfo_of_path(text, "/mntx"), 27);
	assert_int_equal(mountinfo_of_path("38 27\n", "/mnt"), 0);
	assert_int_equal(mountinfo_of_path("", "/"), 0);
}

/* The file system of the job's working directory, which is asked once more at the end, but not
 * waited for when it hangs. */
static void the_working_directory_is_asked_at_the_end(void **unused)
{
	const pid_t self = getpid();
	struct node n = { .env = { .interval_ns = 1000 * NS_PER_S,
				   .roots = &self,
				   .nroots = 1,
				   .launched = true } };
	const struct event *work;
	char here[PATH_MAX];
	int64_t before;
	void *state;

	(void)unused;
	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(chdir("/proc/sys"), 0);
	setenv("TMPDIR", "/proc/net", 1);
	open_here(&n, &state);
	read_told(&n, state, 2);
	work = find_event(&n, EVENT_LABEL, "work");
	assert_string_equal(work->text, "/proc/sys");
	assert_string_equal(node_instance_name(&n, work->id), "/proc");
	assert_int_equal(find_event(&n, EVENT_LABEL, "temporary")->id, work->id);
	signal_children(SIGSTOP);
	sample_begin(&n.sample, 2, 2);
	n.sample.last = true;
	before = clock_mono_ns();
	source_filesystem.read(state, &n.sample);
	before = clock_mono_ns() - before;
	assert_true(before >= 50 * NS_PER_MS);
	assert_true(before < 4 * NS_PER_S);
	assert_true(node_value(&n, "filesystem.size_bytes", "/") > 0);
	close_here(&n, state);
	assert_int_equal(chdir(here), 0);
	unsetenv("TMPDIR");
}

static size_t one_that_is_gone(const void *rounds, pid_t *out, size_t cap)
{
	uint32_t *n = *(uint32_t *const *)rounds;

	(void)cap;
	*out = INT_MAX;
	++*n;
	return 1;
}

/* Of a job that has none open elsewhere: the longer that is so the more rarely, and at its end. */
static void files_that_are_written_to_are_looked_for_more_and_more_rarely(void **unused)
{
	const pid_t self = getpid();
	uint32_t rounds = 0, *counter = &rounds;
	struct node n = { .env = { .interval_ns = NS_PER_S,
				   .roots = &self,
				   .nroots = 1,
				   .job = { .tree = &counter, .pids = one_that_is_gone } } };
	void *state;

	(void)unused;
	open_here(&n, &state);
	for (int i = 1; i <= 100; i++) {
		sample_begin(&n.sample, i * NS_PER_S, i * NS_PER_S);
		source_filesystem.read(state, &n.sample);
		assert_true(i != 10 || rounds >= 8);
	}
	assert_in_range(rounds, 20, 50);
	rounds = 0;
	sample_begin(&n.sample, 101 * NS_PER_S, 101 * NS_PER_S);
	n.sample.last = true;
	source_filesystem.read(state, &n.sample);
	assert_true(rounds >= 1);
	close_here(&n, state);
}

static size_t local_mounts(const char *mountinfo)
{
	struct localmounts l = { 0 };

	localmounts_begin(&l, mountinfo);
	assert_null(localmounts_filled(&l));
	return l.n;
}

/* Of those with room each file system once; none of a server, none behind one, and no file. */
static void only_local_mounts_are_asked(void **unused)
{
	struct localmounts l = { 0 };
	struct stat here;

	(void)unused;
	assert_int_equal(local_mounts("22 1 8:1 / / rw - ext4 a rw\n"), 1);
	assert_int_equal(local_mounts("22 1 8:1 / / rw - ext4 a rw\n"
				      "23 22 8:1 / /. rw - ext4 a rw\n"
				      "24 22 8:1 / /proc rw - tmpfs a rw\n"
				      "25 22 8:1 / /proc/uptime rw - tmpfs a rw\n"
				      "26 22 8:1 / /nowhere rw - tmpfs a rw\n"),
			 1);
	assert_int_equal(local_mounts("22 1 8:1 / / rw - nfs4 a rw\n"), 0);
	assert_int_equal(local_mounts("22 1 8:1 / / rw - overlay a rw\n"
				      "23 22 8:1 / /tmp rw - tmpfs a rw\n"),
			 1);
	assert_int_equal(local_mounts("22 1 8:1 / / rw - nfs4 a rw\n"
				      "23 22 8:1 / /tmp rw - tmpfs a rw\n"),
			 0);
	assert_int_equal(local_mounts(""), 0);
	localmounts_begin(&l, "22 1 8:1 / / rw - ext4 a rw\n");
	assert_int_equal(stat("/", &here), 0);
	assert_ptr_equal(localmounts_find(&l, here.st_dev), &l.mount[0]);
	assert_null(localmounts_find(&l, here.st_dev + 1));
	assert_true(l.mount[0].available_bytes > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_of_statfs),
		cmocka_unit_test(one_file_system_is_told_of_once),
		cmocka_unit_test(another_file_system_has_its_mount_point),
		cmocka_unit_test(a_missing_path_is_refused),
		cmocka_unit_test(a_hung_file_system_fails_and_comes_back),
		cmocka_unit_test(only_what_may_hang_has_a_helper),
		cmocka_unit_test(a_killed_helper_fails),
		cmocka_unit_test(the_helper_holds_nothing_of_ours),
		cmocka_unit_test(a_stopped_helper_is_not_waited_for),
		cmocka_unit_test(the_helper_ends_with_its_parent),
		cmocka_unit_test(mounts_are_found_by_id),
		cmocka_unit_test(mounts_are_found_by_path),
		cmocka_unit_test(only_local_mounts_are_asked),
		cmocka_unit_test(the_working_directory_is_asked_at_the_end),
		cmocka_unit_test(files_that_are_written_to_are_looked_for_more_and_more_rarely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
