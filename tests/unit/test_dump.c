/* SPDX-License-Identifier: Apache-2.0 */
/* The task iterator and /proc have the same figures, to the unit: a tree of processes is stopped,
 * and read in both ways. Skipped where the iterator is not permitted. */
#include "base/clock.h"
#include "sampler/tree/tree_state.h"
#include "source/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { KINDS_MAX = 16, PATIENCE_MS = 20000, ROUNDS = 4, NOBODY = 65534, THREADS = 5 };

/* ---- what the processes do ---- */

static _Noreturn void spin(void)
{
	for (volatile unsigned i = 0;; i++)
		;
}

static _Noreturn void rest(void)
{
	for (;;)
		pause();
}

static _Noreturn void read_and_write(void)
{
	char block[4096] = { 0 };
	int from = open("/dev/zero", O_RDONLY), to = open("/dev/null", O_WRONLY);

	for (;;)
		if (read(from, block, sizeof block) < 0 || write(to, block, sizeof block) < 0)
			_exit(1);
}

/* Anonymous, shared and file memory, and faults. */
static _Noreturn void hold_memory(void)
{
	enum { SIZE = 8 << 20 };
	char *own = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (unsigned i = 0;; i += 4096) {
		own[i % SIZE] = shared[i % SIZE] = 1;
		if (i % SIZE == 0)
			madvise(own, SIZE / 2, MADV_DONTNEED);
	}
}

static void *thread_rests(void *arg)
{
	(void)arg;
	rest();
}

static void *thread_spins(void *arg)
{
	(void)arg;
	spin();
}

/* What it used stays with the process. */
static void *thread_ends(void *arg)
{
	enum { USED_MS = 20 };
	struct timespec used = { 0 };
	char c;
	int from = open("/dev/zero", O_RDONLY);

	while (used.tv_nsec < USED_MS * NS_PER_MS && read(from, &c, 1) == 1)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	close(from);
	return arg;
}

static _Noreturn void have_threads(void)
{
	pthread_t id;

	prctl(PR_SET_NAME, "many (threads) \x01");
	for (int i = 0; i < THREADS; i++) {
		if (i < 2 && !pthread_create(&id, NULL, thread_ends, NULL))
			pthread_join(id, NULL);
		pthread_create(&id, NULL, i % 2 ? thread_spins : thread_rests, NULL);
	}
	rest();
}

/* Its first thread has ended, and is a zombie until the last one has. */
static _Noreturn void lose_the_first_thread(void)
{
	pthread_t id;

	pthread_create(&id, NULL, thread_spins, NULL);
	pthread_exit(NULL);
}

static _Noreturn void keep_a_zombie(void)
{
	if (!fork())
		_exit(3);
	rest();
}

static _Noreturn void wait_for_children(void)
{
	for (;;) {
		if (!fork()) {
			for (volatile int i = 0; i < 100000; i++)
				;
			_exit(0);
		}
		wait(NULL);
	}
}

static _Noreturn void be_another_user(void)
{
	if (getuid() == 0 && setuid(NOBODY))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* which another user takes away */
	signal(SIGCHLD, SIG_IGN);
	read_and_write();
}

static _Noreturn void execute(void)
{
	execl("/bin/sh", "sh", "-c", "exec /bin/sh -c \"$0\" \"$0\"",
	      "exec /bin/sh -c \"$0\" \"$0\"", NULL);
	_exit(1);
}

static _Noreturn void be_nice(void)
{
	char name[64] = "a name longer than the kernel keeps";

	prctl(PR_SET_NAME, name);
	errno = 0;
	if (nice(7) == -1 && errno)
		_exit(1);
	for (int fd = 0; fd < 300; fd++)
		open("/dev/null", O_RDONLY);
	spin();
}

static void (*const kinds[])(void) = { spin,
				       rest,
				       read_and_write,
				       hold_memory,
				       have_threads,
				       lose_the_first_thread,
				       keep_a_zombie,
				       wait_for_children,
				       be_another_user,
				       execute,
				       be_nice };
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- the tree, stopped and going on ---- */

struct job {
	struct root proc;
	struct sample sample;
	struct tree *tree;
	pid_t root;
};

static _Noreturn void be_root(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < KINDS; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		kinds[i]();
	}
	rest();
}

static int signalled(const struct job *j, int signal)
{
	return kill(-j->root, signal);
}

/* Whether the states of all its threads, a line each, pass this filter of a shell. */
static bool states(const struct job *j, const char *filter)
{
	char command[512];

	snprintf(command, sizeof command,
		 "for p in $(pgrep -g %d); do cat /proc/$p/task/*/stat; done 2>/dev/null | "
		 "sed 's/.*) //' | %s",
		 (int)j->root, filter);
	return system(command) == 0;
}

static void wait_until(const struct job *j, int signal, const char *filter)
{
	const struct timespec a_little = { .tv_nsec = 20 * NS_PER_MS };
	int64_t until = clock_mono_ns() + PATIENCE_MS * NS_PER_MS;

	do {
		assert_int_equal(signalled(j, signal), 0);
		nanosleep(&a_little, NULL);
		assert_true(clock_mono_ns() < until);
	} while (!states(j, filter));
}

/* Every thread of every process is stopped, or has ended. */
static void wait_until_frozen(const struct job *j)
{
	wait_until(j, SIGSTOP, "awk '!/^[TZX]/ { runs = 1 } END { exit runs }'");
}

/* A zombie, a first thread that has ended, and all threads are there: one child comes and goes. */
static void wait_until_complete(const struct job *j)
{
	char filter[128];

	snprintf(filter, sizeof filter, "awk '/^Z/ { z++ } END { exit !(z >= 2 && NR >= %d) }'",
		 KINDS + 1 + 1 + 1 + THREADS);
	wait_until(j, 0, filter);
}

static void go_on(const struct job *j)
{
	const struct timespec a_while = { .tv_nsec = 120 * NS_PER_MS };

	assert_int_equal(signalled(j, SIGCONT), 0);
	nanosleep(&a_while, NULL);
}

static int job_make(void **state, enum tree_reader reader)
{
	struct tree_options o = { .process_events = PROCESS_EVENTS_POLLING,
				  .reader = reader,
				  .pss = PSS_OFF };
	struct job *j = calloc(1, sizeof *j);
	struct err e = { "" };

	*state = j;
	j->root = fork();
	if (!j->root) {
		setpgid(0, 0);
		be_root();
	}
	setpgid(j->root, j->root);
	wait_until_complete(j);
	assert_int_equal(root_open(&j->proc, "/proc"), 0);
	assert_int_equal(sample_init(&j->sample, 32768, 65536), 0);
	o.proc = &j->proc;
	o.roots = &j->root;
	o.nroots = 1;
	wait_until_frozen(j);
	assert_int_equal(tree_open(&j->tree, &o, &j->sample, &e), 0);
	return 0;
}

static int job_open(void **state)
{
	return job_make(state, TREE_BPF);
}

static int job_open_auto(void **state)
{
	return job_make(state, TREE_AUTO);
}

static int job_close(void **state)
{
	struct job *j = *state;

	signalled(j, SIGKILL);
	waitpid(j->root, NULL, 0);
	tree_close(j->tree);
	sample_free(&j->sample);
	root_close(&j->proc);
	free(j);
	return 0;
}

static void next(struct job *j)
{
	sample_clear_events(&j->sample);
	sample_begin(&j->sample, 0, clock_mono_ns());
	tree_sample(j->tree, &j->sample, false);
}

/* Its helper may come late: samples until then are of /proc. */
static void next_by_iterator(struct job *j)
{
	int64_t until = clock_mono_ns() + PATIENCE_MS * NS_PER_MS;

	do {
		assert_true(clock_mono_ns() < until);
		next(j);
	} while (!j->tree->dump.used);
}

/* ---- both ways ---- */

#define SAME(field)                                                                                \
	do {                                                                                       \
		if (a->field != b->field)                                                          \
			fail_msg("%s of %d (%s): %lld by the iterator, %lld in /proc", #field,     \
				 (int)pid, comm, (long long)a->field, (long long)b->field);        \
	} while (0)

static void same_stat(pid_t pid, const struct proc_stat *a, const struct proc_stat *b)
{
	const char *comm = b->comm;

	assert_string_equal(a->comm, b->comm);
	SAME(pid);
	SAME(ppid);
	SAME(state);
	SAME(flags);
	SAME(minflt);
	SAME(cminflt);
	SAME(majflt);
	SAME(cmajflt);
	SAME(utime);
	SAME(stime);
	SAME(cutime);
	SAME(cstime);
	SAME(nice);
	SAME(num_threads);
	SAME(starttime);
	SAME(vsize_bytes);
	SAME(rss_pages);
	SAME(stack);
}

static void same_io(pid_t pid, const char *comm, const struct proc_io *a, const struct proc_io *b)
{
	SAME(rchar);
	SAME(wchar);
	SAME(syscr);
	SAME(syscw);
	SAME(read_bytes);
	SAME(write_bytes);
	SAME(cancelled_write_bytes);
}

static void thread_text(const struct job *j, pid_t pid, pid_t tid, const char *file,
			char text[8192])
{
	char path[64];

	snprintf(path, sizeof path, "%d/task/%d/%s", (int)pid, (int)tid, file);
	if (root_read(&j->proc, path, text, 8192) <= 0)
		fail_msg("%s cannot be read", path);
}

static void same_thread(const struct job *j, pid_t pid, const struct task_seen *seen)
{
	char text[8192];
	struct thread_status st;
	int64_t ns, moves;

	thread_text(j, pid, seen->tid, "status", text);
	assert_int_equal(thread_status_parse(text, &st), 0);
	assert_int_equal(seen->state, st.state);
	assert_int_equal(seen->use[USE_VOLUNTARY], st.voluntary);
	assert_int_equal(seen->use[USE_INVOLUNTARY], st.involuntary);
	thread_text(j, pid, seen->tid, "schedstat", text);
	if (!thread_schedstat_parse(text, &ns))
		assert_int_equal(seen->use[USE_WAITED], ns);
	thread_text(j, pid, seen->tid, "sched", text);
	if (!thread_sched_parse(text, &moves))
		assert_int_equal(seen->use[USE_MIGRATIONS], moves);
}

static uint32_t same_threads(const struct job *j, const struct process *p,
			     const struct task_sum *sum)
{
	uint32_t n = 0;

	for (uint32_t i = sum->thread; i; i = j->tree->dump.seen[i].next, n++)
		same_thread(j, p->pid, &j->tree->dump.seen[i]);
	assert_int_equal(n, p->stat.num_threads);
	return n;
}

/* Whether the iterator told of it. Zombies are read from /proc, and those with a dead first thread;
 * and where pids began again in between, so that a parent's is the higher one, its children. */
static bool same_process(struct job *j, const struct process *p, uint32_t *threads)
{
	struct task_sum *sum = dump_of(j->tree, p);
	struct process files = { .pid = p->pid };
	struct reading *r = &j->tree->reading;
	struct told told;
	int64_t clock_ns;

	assert_int_equal(process_read(r, &files, READ_ALL, KEEP_NONE), 0);
	if (!sum && files.stat.ppid >= p->pid) {
		*threads += (uint32_t)files.stat.num_threads;
		return true;
	}
	if (!sum) {
		assert_int_not_equal(files.stat.flags & TASK_EXITING, 0);
		return false;
	}
	dump_tell(j->tree, sum, &told);
	same_stat(p->pid, &told.stat, &files.stat);
	assert_int_equal(told.io_known, files.io_known);
	same_io(p->pid, files.comm, &told.io, &files.io);
	assert_int_equal(told.files, files.files);
	assert_int_equal(process_clock(p->pid, &clock_ns), 0);
	assert_int_equal(dump_cpu_ns(sum), clock_ns);
	*threads += same_threads(j, p, sum);
	return true;
}

static void every_figure_is_that_of_proc(void **state)
{
	struct job *j = *state;
	uint32_t told, threads;

	for (int round = 0; round < ROUNDS; round++) {
		wait_until_frozen(j);
		next_by_iterator(j);
		assert_true(dump_has_threads(j->tree));
		told = threads = 0;
		for (uint32_t i = 0; i < j->tree->table.nlive; i++)
			told += same_process(j, &j->tree->table.row[j->tree->table.live[i]],
					     &threads);
		/* but the zombie, and who lost its first thread; one has a child now and then */
		assert_in_range(told, KINDS + 1 - 1, KINDS + 1);
		assert_in_range(threads, told + THREADS, told + THREADS);
		go_on(j);
	}
}

static bool says(const struct job *j, const char *name, const char *text)
{
	for (uint32_t i = 0; i < j->sample.nevents; i++)
		if (j->sample.event[i].kind == EVENT_META &&
		    !strcmp(j->sample.event[i].name, name) && strstr(j->sample.event[i].text, text))
			return true;
	return false;
}

/* What the kernel refuses in the middle, the files of /proc tell in the same sample. */
static void without_it_proc_is_read_at_once(void **state)
{
	struct job *j = *state;
	uint64_t before;

	next_by_iterator(j);
	close(j->tree->dump.iterator.link);
	go_on(j);
	before = j->tree->reads;
	next(j);
	assert_false(j->tree->dump.used);
	assert_true(j->tree->reads > before);
	assert_true(says(j, "mechanism.task_iterator", "failed"));
	assert_true(strstr(tree_complaint(j->tree), "/proc is read") != NULL);
	assert_int_equal(j->tree->dump.iterator.link, 0);
}

/* As if so many processes had run in the sample before. */
static bool is_used_after(struct job *j, uint32_t moved)
{
	j->tree->dump.moved = moved;
	next(j);
	return j->tree->dump.used;
}

static void auto_takes_what_is_cheaper(void **state)
{
	enum { FEW = 10, MANY = 1 << 20 };
	struct job *j = *state;
	int64_t until = clock_mono_ns() + PATIENCE_MS * NS_PER_MS;

	assert_false(is_used_after(j, FEW));
	assert_false(j->tree->dump.started);
	while (!is_used_after(j, MANY))
		assert_true(clock_mono_ns() < until);
	assert_true(says(j, "mechanism.task_iterator", "used"));
	assert_false(is_used_after(j, FEW));
	assert_true(is_used_after(j, MANY));
	assert_string_equal(tree_complaint(j->tree), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_figure_is_that_of_proc, job_open, job_close),
		cmocka_unit_test_setup_teardown(without_it_proc_is_read_at_once, job_open,
						job_close),
		cmocka_unit_test_setup_teardown(auto_takes_what_is_cheaper, job_open_auto,
						job_close),
	};
	struct err e = { "no answer" };
	struct iterator it;
	bool is_there = !iterator_start(&it, &e) && iterator_wait(&it, PATIENCE_MS, &e) == 1;

	iterator_close(&it);
	if (!is_there) {
		print_message("skipped, the task iterator is not available: %s\n", e.text);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
