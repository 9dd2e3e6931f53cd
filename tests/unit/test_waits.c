/* SPDX-License-Identifier: Apache-2.0 */
/* What threads wait for, and for whom: the kernel's texts are read right or not at all, a line from
 * the helper comes back as it was, and only who really waits in a circle is called so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>

#include "source/program/filelocks.h"
#include "unit/tree.h"
#include "waits/ends.h"
#include "waits/object.h"
#include "waits/say.h"
#include "waits/wait.h"

static void test_holders_of_locks_on_files(void **state)
{
	static const char locks[] = "1: POSIX  ADVISORY  WRITE 100 08:01:7 0 EOF\n"
				    "1: -> POSIX  ADVISORY  WRITE 200 08:01:7 0 EOF\n"
				    "1:  -> POSIX  ADVISORY  READ 300 08:01:7 0 10\n"
				    "2: FLOCK  ADVISORY  WRITE 400 fe:02:8 0 EOF\n"
				    "2: -> FLOCK  ADVISORY  WRITE 200 fe:02:8 0 EOF\n"
				    "3: OFDLCK ADVISORY  WRITE -1 08:01:9 0 EOF\n"
				    "3: -> OFDLCK ADVISORY  WRITE -1 08:01:9 0 EOF\n"
				    "4: LEASE  ACTIVE    READ 5 08:01:7 0 EOF\n";
	pid_t pid[4];

	(void)state;
	assert_int_equal(filelocks_holders(locks, 200, 7, pid, 4), 1);
	assert_int_equal(pid[0], 100);
	assert_int_equal(filelocks_holders(locks, 300, 7, pid, 4), 1);
	assert_int_equal(pid[0], 100);
	assert_int_equal(filelocks_holders(locks, 200, 8, pid, 4), 1);
	assert_int_equal(pid[0], 400);
	assert_int_equal(filelocks_holders(locks, 200, 0, pid, 4), 2);
	assert_int_equal(filelocks_holders(locks, 200, 0, pid, 1), 1);
	assert_int_equal(filelocks_holders(locks, 999, 9, pid, 4), 1);
	assert_int_equal(pid[0], -1);
	assert_int_equal(filelocks_holders(locks, 100, 7, pid, 4), 0);
	assert_int_equal(
		filelocks_holders("1: ->\n->\n1:\n: -> a b c\n1: -> a b c 200 7", 200, 0, pid, 4),
		0);
}

/* A thread of process 100 in flock(3), with these files below /proc. */
static void lock_on_file(struct wait_thread *t, const char *locks, const char *fdinfo)
{
	const struct object_call call = { .number = SYS_flock, .arg = { 3, LOCK_EX } };
	struct root proc = { 0 };
	const struct object_world w = { .proc = &proc };

	tree_put("proc", "locks", "%s", locks);
	tree_put("proc", "100/fdinfo/3", "%s", fdinfo);
	assert_int_equal(root_open(&proc, "proc"), 0);
	*t = (struct wait_thread){ .pid = 100, .tid = 100, .state = WAIT_WAITS };
	object_name(t, &call, 'S', &w);
	root_close(&proc);
}

static void test_hostile_files_of_locks_invent_no_holder(void **state)
{
	static const char held[] = "1: FLOCK  ADVISORY  WRITE 400 fe:02:8 0 EOF\n";
	static const char waits[] = "1: -> FLOCK  ADVISORY  WRITE 100 fe:02:8 0 EOF\n";
	static const char ino[] = "pos:\t0\nflags:\t0100002\nmnt_id:\t30\nino:\t8\n";
	static const struct {
		const char *locks[3], *fdinfo;
		int holder; /* 0: none */
	} cases[] = {
		{ { held, waits, "" }, ino, 400 },
		{ { held, waits, "" }, "", 400 }, /* an older kernel: no inode */
		{ { held, waits, "" }, "ino:\t9\n", 0 },
		{ { held, waits, "" }, "ino:\t99999999999999999999999999\n", 400 },
		{ { held, waits, "" }, "ino:\t-8\nmnt_id:\t", 400 },
		{ { waits, held, "" }, ino, 0 },
		{ { "1: FLOCK  ADVISORY  WRITE 4294967696 fe:02:8 0 EOF\n", waits, "" }, ino, 0 },
		{ { "1: FLOCK  ADVISORY  WRITE 99999999999999999999 f:0:8 0 E\n", waits, "" },
		  ino,
		  0 },
		{ { "1: FLOCK  ADVISORY  WRITE -7 fe:02:8 0 EOF\n", waits, "" }, ino, 0 },
		{ { "2: FLOCK  ADVISORY  WRITE 400 fe:02:8 0 EOF\n", waits, "" }, ino, 0 },
		{ { "18446744073709551617: FLOCK  A  W 400 fe:02:8 0 EOF\n", waits, "" }, ino, 0 },
		{ { held, "1: -> FLOCK\n", "1: -> FLOCK  ADVISORY  WRITE 100" }, ino, 0 },
		{ { held, "1: -> FLOCK  ADVISORY  WRITE 100 8 0 EOF\n", "\xff\xfe" }, ino, 0 },
		{ { "1: \x01\x02 \xff \xff 400 fe:02:8\n\n\n", waits, waits }, ino, 400 },
	};

	(void)state;
	tree_put("proc", "400/comm", "evil\nDeadlock: \x1b[31m\n");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct wait_thread t;
		char locks[512];

		snprintf(locks, sizeof locks, "%s%s%s", cases[i].locks[0], cases[i].locks[1],
			 cases[i].locks[2]);
		lock_on_file(&t, locks, cases[i].fdinfo);
		print_message("%zu\n", i);
		assert_int_equal(t.kind, WAIT_FILE_LOCK);
		assert_int_equal(t.nholders, cases[i].holder != 0);
		assert_int_equal(t.closed, cases[i].holder != 0);
		if (t.nholders)
			assert_string_equal(t.holder[0].process, "evil");
		assert_int_equal(t.nholders ? t.holder[0].pid : 0, cases[i].holder);
	}
}

/* A path of a program is not opened: where it leads is told by its words and the mounts. */
static void test_paths_that_are_opened_have_their_mounts(void **state)
{
	static const char mounts[] = "30 1 254:2 / / rw - ext4 /dev/vda rw\n"
				     "31 30 0:44 / /data/far rw - fuse.sshfs host: rw\n"
				     "32 30 254:3 / /data/disk rw - ext4 /dev/vdb rw\n";
	static const struct {
		const char *cwd, *path, *object;
	} cases[] = {
		{ "/data", "far/a/b", "/data/far/a/b (fuse.sshfs at /data/far)" },
		{ "/data/far/x", "./b", "/data/far/x/b (fuse.sshfs at /data/far)" },
		{ "/", "/data/far/b", "/data/far/b (fuse.sshfs at /data/far)" },
		{ "/data", "disk/b", "/data/disk/b" }, /* a link may lead elsewhere */
		{ "/data/far", "../b", "../b" },
		{ NULL, "far/b", "far/b" },
	};
	char at[64], name[64];

	(void)state;
	snprintf(name, sizeof name, "%d/mountinfo", (int)getpid());
	tree_put("proc", name, "%s", mounts);
	snprintf(at, sizeof at, "proc/%d/cwd", (int)getpid());
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct object_call call = { .number = SYS_openat, .sp = 1, .pc = 1 };
		struct wait_thread t = { .pid = getpid(), .tid = getpid() };
		struct ends ends = { 0 };
		struct root proc;

		call.arg[0] = (uint32_t)AT_FDCWD;
		call.arg[1] = (uintptr_t)cases[i].path;
		unlink(at);
		assert_true(!cases[i].cwd || !symlink(cases[i].cwd, at));
		assert_int_equal(root_open(&proc, "proc"), 0);
		object_name(&t, &call, 'D', &(struct object_world){ .proc = &proc, .ends = &ends });
		root_close(&proc);
		print_message("%zu\n", i);
		assert_int_equal(t.kind, WAIT_STORAGE);
		assert_string_equal(t.object, cases[i].object);
	}
}

static void test_connections_of_tables(void **state)
{
	char line[] = "   0: 0100007F:1F90 0500000A:D431 01 00000000:00000000 00:00000000 00000000 "
		      "1000        0 55555 1 0000000000000000 100 0 0 10 0";
	char six[] = "   1: 0000000000000000FFFF00000100007F:1F90 "
		     "00000000000000000000000000000000:0000 0A 0:0 00:0 0 1000 0 77 1";
	char header[] =
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt "
		"  uid  timeout inode";
	char torn[] = "   0: 0100007F:1F90 0500";
	struct ends_line a, b;

	(void)state;
	assert_true(ends_line_parse(&a, line));
	assert_string_equal(a.local, "127.0.0.1:8080");
	assert_string_equal(a.remote, "10.0.0.5:54321");
	assert_int_equal(a.inode, 55555);
	assert_false(a.listens);
	assert_true(ends_line_parse(&b, six));
	assert_string_equal(b.local, "127.0.0.1:8080");
	assert_true(b.listens);
	assert_int_equal(a.local_key, b.local_key);
	assert_false(ends_line_parse(&a, header));
	assert_false(ends_line_parse(&a, torn));
}

static void test_calls_are_parsed(void **state)
{
	struct object_call c;

	(void)state;
	assert_true(
		object_call_parse(&c, "202 0x5500 0x80 0x2 0x0 0x0 0x0 0x7ffc10000010 0x7f20\n"));
	assert_int_equal(c.number, 202);
	assert_int_equal(c.arg[2], 2);
	assert_int_equal(c.sp, 0x7ffc10000010);
	assert_int_equal(c.pc, 0x7f20);
	assert_true(object_call_parse(&c, "-1 0x7ffc10 0x7f20\n"));
	assert_int_equal(c.number, -1);
	assert_int_equal(c.pc, 0x7f20);
	/* waitpid() of 32 bits: of 64 bits that number is poll(). */
	assert_true(object_call_parse(&c, "7 0x5 0x0 0x0 0x0 0x0 0x0 0xffd32a10 0xf7f20549\n"));
	assert_int_equal(c.number, CALL_32);
	assert_false(object_call_parse(&c, "running\n"));
	assert_false(object_call_parse(&c, "0 0x3\n"));
	assert_false(object_call_parse(&c, ""));
}

static void test_functions_tell_the_kind_of_lock(void **state)
{
	(void)state;
	assert_int_equal(futex_kind_of("___pthread_mutex_lock"), WAIT_MUTEX);
	assert_int_equal(futex_kind_of("__GI___lll_lock_wait"), WAIT_MUTEX);
	assert_int_equal(futex_kind_of("__lll_lock_wait_private"), WAIT_LOCK);
	assert_int_equal(futex_kind_of("___pthread_cond_wait"), WAIT_CONDITION);
	assert_int_equal(futex_kind_of("__pthread_clockjoin_ex"), WAIT_THREAD_END);
	assert_int_equal(futex_kind_of("__new_sem_wait_slow64.constprop.0"), WAIT_SEMAPHORE);
	assert_int_equal(futex_kind_of("sem_wait_for_guests"), WAIT_UNKNOWN);
	assert_int_equal(futex_kind_of("main"), WAIT_UNKNOWN);
}

/* ---- lines ---- */

static struct wait_thread *add(struct waits *w, pid_t pid, pid_t tid)
{
	struct wait_thread *t = waits_add(w);

	assert_non_null(t);
	t->pid = pid;
	t->tid = tid;
	t->state = WAIT_WAITS;
	snprintf(t->process, sizeof t->process, "p%d", (int)pid);
	return t;
}

static bool take(struct waits *w, const char *text, size_t n)
{
	struct pool pool = { 0 };
	struct err e;
	const struct jsontree *doc = jsontree_read(&pool, text, n, &e);
	bool ok = wait_take(waits_add(w), doc);

	pool_free(&pool);
	return ok;
}

static void test_a_line_comes_back_as_it_was(void **state)
{
	const struct wait_frame frame = { (char *)"f\"<\n", (char *)"a.c", (char *)"/bin/x", 12 };
	const struct wait_frame unknown = { .module = (char *)"/lib/y" };
	const struct wait_holder h = { 7, 8, "holder" };
	struct waits w = { 0 }, back = { 0 };
	struct bytes b = { 0 }, again = { 0 };
	struct json j = { .out = &b }, k = { .out = &again };
	struct wait_thread *t = add(&w, 5, 6);

	(void)state;
	t->kind = WAIT_MUTEX;
	t->closed = true;
	t->stack = WAIT_STACK_CUT;
	snprintf(t->object, sizeof t->object, "at 0x1");
	wait_add_holder(t, &h);
	wait_add_holder(t, &h);
	assert_int_equal(t->nholders, 1);
	assert_true(wait_add_frame(t, &frame) && wait_add_frame(t, &unknown));
	wait_put(&j, t);
	assert_true(take(&back, (const char *)b.data, b.len));
	wait_put(&k, &back.thread[0]);
	assert_int_equal(b.len, again.len);
	assert_memory_equal(b.data, again.data, b.len);
	assert_string_equal(back.thread[0].frame[0].function, "f\"<\n");
	assert_null(back.thread[0].frame[1].function);
	/* Cut anywhere it makes no sense. */
	for (size_t n = 0; n < b.len; n++)
		assert_false(take(&back, (const char *)b.data, n));
	assert_false(take(&back, "{\"pid\":1,\"tid\":1,\"state\":\"x\",\"stack\":\"none\"}", 45));
	bytes_free(&b);
	bytes_free(&again);
	waits_free(&w);
	waits_free(&back);
}

static void test_more_holders_than_there_is_room_for_leave_it_open(void **state)
{
	struct waits w = { 0 };
	struct wait_thread *t = add(&w, 1, 1);

	(void)state;
	t->closed = true;
	for (pid_t i = 0; i <= WAIT_HOLDERS; i++)
		wait_add_holder(t, &(struct wait_holder){ 10 + i, 0, "" });
	assert_int_equal(t->nholders, WAIT_HOLDERS);
	assert_false(t->closed);
	waits_free(&w);
}

/* ---- cycles ---- */

static struct wait_thread *waiting(struct waits *w, pid_t pid, pid_t tid, pid_t for_pid,
				   pid_t for_tid)
{
	struct wait_thread *t = add(w, pid, tid);

	t->kind = WAIT_PIPE_READ;
	t->closed = true;
	wait_add_holder(t, &(struct wait_holder){ for_pid, for_tid, "" });
	return t;
}

static uint32_t cycles_of(const struct waits *w)
{
	struct cycle found[CYCLES_MAX];

	return cycles_find(w, found);
}

static void test_a_cycle_is_found_and_said(void **state)
{
	struct waits w = { 0 };
	struct cycle found[CYCLES_MAX];
	struct bytes b = { 0 };

	(void)state;
	waiting(&w, 9, 9, 1, 0); /* waits for the cycle and is not in it */
	waiting(&w, 1, 1, 2, 0);
	waiting(&w, 2, 2, 3, 0);
	waiting(&w, 3, 3, 1, 0);
	assert_int_equal(cycles_find(&w, found), 1);
	assert_int_equal(found[0].n, 3);
	say_cycle(&b, &w);
	bytes_u8(&b, 0);
	assert_string_equal((char *)b.data,
			    "Deadlock: p1 (pid 1) waits for data from a pipe, written by  (pid 2); "
			    "p2 (pid 2) waits for data from a pipe, written by  (pid 3); "
			    "p3 (pid 3) waits for data from a pipe, written by  (pid 1)");
	bytes_free(&b);
	waits_free(&w);
}

static void test_two_cycles_are_two(void **state)
{
	struct waits w = { 0 };

	(void)state;
	waiting(&w, 1, 11, 1, 12);
	waiting(&w, 1, 12, 1, 11);
	waiting(&w, 2, 2, 3, 0);
	waiting(&w, 3, 3, 2, 0);
	waiting(&w, 4, 4, 4, 4); /* a mutex that it holds itself */
	assert_int_equal(cycles_of(&w), 3);
	waits_free(&w);
}

/* Each of these breaks the circle 1 -> 2 -> 1. */
static void test_what_might_go_on_is_no_cycle(void **state)
{
	enum { OPEN, MOVED, RUNS, OTHER, SECOND, UNSEEN, ITSELF, CASES };

	(void)state;
	for (int i = 0; i < CASES; i++) {
		struct waits w = { 0 };
		struct wait_thread *a, *b;

		waiting(&w, 1, 1, i == ITSELF ? 1 : 2, 0);
		waiting(&w, 2, 2, 1, 0);
		a = &w.thread[0];
		b = &w.thread[1];
		if (i == ITSELF) {
			assert_int_equal(cycles_of(&w), 0);
			waits_free(&w);
			continue;
		}
		assert_int_equal(cycles_of(&w), 1);
		a->closed = i != OPEN;
		a->moved = i == MOVED;
		b->state = i == RUNS ? WAIT_READY : WAIT_WAITS;
		if (i == OTHER) { /* a third process has the end, too, and is free */
			wait_add_holder(a, &(struct wait_holder){ 3, 0, "" });
			add(&w, 3, 3);
		}
		if (i == SECOND) /* a second thread of process 2 is free */
			add(&w, 2, 22);
		if (i == UNSEEN)
			wait_add_holder(a, &(struct wait_holder){ 77, 0, "" });
		assert_int_equal(cycles_of(&w), 0);
		waits_free(&w);
	}
}

static void test_equal_threads_are_said_together(void **state)
{
	const struct wait_frame inner = { (char *)"__GI___libc_read", NULL,
					  (char *)"/usr/lib/libc.so.6", 0 };
	const struct wait_frame own = { (char *)"load", (char *)"/src/io.c", (char *)"/bin/app",
					88 };
	const struct wait_frame start = { (char *)"start_thread", NULL,
					  (char *)"/usr/lib/libc.so.6", 0 };
	struct waits w = { 0 };
	struct bytes b = { 0 };

	(void)state;
	for (pid_t i = 1; i <= 3; i++) {
		struct wait_thread *t = add(&w, 5, 5 + i);

		t->kind = WAIT_PIPE_READ;
		if (i == 2)
			continue;
		wait_add_frame(t, &inner);
		wait_add_frame(t, &own);
		wait_add_frame(t, &start);
	}
	say_waits(&b, &w);
	bytes_u8(&b, 0);
	assert_string_equal((char *)b.data, "2 of 3 threads of p5 in read < load (io.c:88)\n"
					    "    p5 (pid 5: 6, 8) waits for data from a pipe\n"
					    "1 of 3 threads of p5\n"
					    "    p5 (pid 5: 7) waits for data from a pipe\n");
	bytes_free(&b);
	waits_free(&w);
}

static void test_who_only_sleeps_is_said_last(void **state)
{
	static const char said[] = "1 of 3 threads of p7: waits for a mutex; "
				   "1 of 3 threads of p7: sleeps (timer); "
				   "1 of 3 threads of p7: sleeps (timer): 2 s";
	struct waits w = { 0 };
	struct bytes b = { 0 };

	(void)state;
	for (pid_t i = 0; i < 3; i++)
		add(&w, 7, 7 + i)->kind = i == 2 ? WAIT_MUTEX : WAIT_TIMER;
	snprintf(w.thread[1].object, sizeof w.thread[1].object, "2 s");
	say_where(&b, &w);
	bytes_u8(&b, 0);
	assert_string_equal((char *)b.data, said);
	bytes_free(&b);
	waits_free(&w);
}

static void test_a_line_break_in_a_name_begins_no_line(void **state)
{
	struct waits w = { 0 };
	struct wait_thread *t = add(&w, 5, 5);
	struct bytes b = { 0 };

	(void)state;
	t->kind = WAIT_STORAGE;
	snprintf(t->process, sizeof t->process, "a\nDeadlock: b");
	snprintf(t->object, sizeof t->object, "/c\nDeadlock: d");
	say_waits(&b, &w);
	bytes_u8(&b, 0);
	assert_string_equal((char *)b.data,
			    "1 of 1 threads of a?Deadlock: b\n"
			    "    a?Deadlock: b (pid 5) waits for storage: /c?Deadlock: d\n");
	bytes_free(&b);
	waits_free(&w);
}

static void test_a_stack_without_symbols_is_short(void **state)
{
	static const char *const functions[] = { "read", NULL, NULL, "__libc_start_main_impl",
						 NULL };
	struct waits w = { 0 };
	struct wait_thread *t = add(&w, 1, 1);
	struct bytes b = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		const struct wait_frame f = {
			(char *)(uintptr_t)functions[i], NULL,
			(char *)(uintptr_t)(functions[i] ? "/lib/libc.so.6" : "/bin/dash"), 0
		};

		assert_true(wait_add_frame(t, &f));
	}
	say_stack(&b, t, 0);
	bytes_u8(&b, 0);
	assert_string_equal((char *)b.data, "read < dash (no symbols)");
	bytes_free(&b);
	waits_free(&w);
}

/* Of glibc 2.41, in a program that has it in itself: what the program called comes first. */
static void test_how_a_call_is_made_is_not_where_it_waits(void **state)
{
	static const char *const functions[] = { "__syscall_cancel_arch",
						 "__internal_syscall_cancel", "__syscall_cancel",
						 "accept", "serve" };
	struct waits w = { 0 };
	struct wait_thread *t = add(&w, 1, 1);
	struct bytes b = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		const struct wait_frame f = { (char *)(uintptr_t)functions[i], NULL,
					      (char *)(uintptr_t) "/opt/server", 0 };

		assert_true(wait_add_frame(t, &f));
	}
	say_stack(&b, t, 0);
	bytes_u8(&b, 0);
	assert_string_equal((char *)b.data, "accept < serve");
	bytes_free(&b);
	waits_free(&w);
}

/* What was called of Python's library, not how that works; all of it where there is room. */
static void test_a_short_stack_has_the_scripts_own_lines(void **state)
{
#define LIB "/usr/lib/python3.11/"
	static const struct {
		const char *function, *file;
	} frames[] = {
		{ "Popen._try_wait", LIB "subprocess.py" },
		{ "Popen.wait", LIB "subprocess.py" },
		{ "fetch", LIB "site-packages/own/get.py" },
		{ "main", "/x/job.py" },
	};
	static const char *const wanted[] = {
		"Popen._try_wait (subprocess.py:1) < Popen.wait (subprocess.py:2) < fetch "
		"(get.py:3) < main (job.py:4)",
		"Popen.wait (subprocess.py:2) < fetch (get.py:3) < main (job.py:4)",
	};
	struct waits w = { 0 };
	struct wait_thread *t = add(&w, 1, 1);

	(void)state;
	for (uint32_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
		const struct wait_frame f = { (char *)(uintptr_t)frames[i].function,
					      (char *)(uintptr_t)frames[i].file,
					      (char *)(uintptr_t)WAIT_PYTHON, i + 1 };

		assert_true(wait_add_frame(t, &f));
	}
	for (uint32_t most = 0; most <= 4; most += 4) {
		struct bytes b = { 0 };

		say_stack(&b, t, most);
		bytes_u8(&b, 0);
		assert_string_equal((char *)b.data, wanted[most > 0]);
		bytes_free(&b);
	}
	waits_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holders_of_locks_on_files),
		cmocka_unit_test(test_hostile_files_of_locks_invent_no_holder),
		cmocka_unit_test(test_paths_that_are_opened_have_their_mounts),
		cmocka_unit_test(test_connections_of_tables),
		cmocka_unit_test(test_calls_are_parsed),
		cmocka_unit_test(test_functions_tell_the_kind_of_lock),
		cmocka_unit_test(test_a_line_comes_back_as_it_was),
		cmocka_unit_test(test_more_holders_than_there_is_room_for_leave_it_open),
		cmocka_unit_test(test_a_cycle_is_found_and_said),
		cmocka_unit_test(test_two_cycles_are_two),
		cmocka_unit_test(test_what_might_go_on_is_no_cycle),
		cmocka_unit_test(test_equal_threads_are_said_together),
		cmocka_unit_test(test_who_only_sleeps_is_said_last),
		cmocka_unit_test(test_a_line_break_in_a_name_begins_no_line),
		cmocka_unit_test(test_a_stack_without_symbols_is_short),
		cmocka_unit_test(test_how_a_call_is_made_is_not_where_it_waits),
		cmocka_unit_test(test_a_short_stack_has_the_scripts_own_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
