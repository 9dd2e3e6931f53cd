/* SPDX-License-Identifier: Apache-2.0 */
/* A job that waits for the same all the time is looked at closely ever more rarely. */
#include "sampler/hang.h"

#include "base/clock.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { STEP_S = 5, STEPS = 720, SHARE = 25000 };

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

/* Another sample; who is looking is waited for, as the time that has passed is made up. */
static void step(struct hang *h, struct tree *t, const struct root *proc, struct sample *s,
		 int64_t now_ns)
{
	siginfo_t ended;

	sample_begin(s, now_ns, now_ns);
	tree_sample(t, s, false);
	hang_step(h, t, proc, s);
	if (h->look.pid)
		waitid(P_PID, (id_t)h->look.pid, &ended, WEXITED | WNOWAIT);
	sample_clear_events(s);
}

static void the_same_silence_is_looked_at_rarely(void **state)
{
	const struct cadence often = { .interval_ns = NS_PER_S,
				       .refresh = 16,
				       .shared = 16,
				       .rarer = 1,
				       .turns = 1,
				       .io_turns = 1 };
	pid_t pid = sleeper();
	struct root proc;
	struct tree_options o = { .proc = &proc,
				  .roots = &pid,
				  .nroots = 1,
				  .process_events = PROCESS_EVENTS_POLLING,
				  .pss = PSS_OFF };
	struct hang h = { .patience_ns = INT64_MAX };
	struct sample s = { 0 };
	struct tree *t;
	struct err e;
	int64_t before_ns;

	(void)state;
	assert_int_equal(root_open(&proc, "/proc"), 0);
	assert_int_equal(sample_init(&s, 4096, 4096), 0);
	assert_int_equal(tree_open(&t, &o, &s, &e), 0);
	tree_pace(t, &often, 0);
	for (int i = 1; i <= STEPS; i++)
		step(&h, t, &proc, &s, i * STEP_S * NS_PER_S);
	assert_non_null(strstr(h.evidence, "waits for a signal"));
	assert_true(h.look.looks >= 1);
	/* The last look was begun by what those before it had taken. Where the helper was not
	 * built, or does not run, there was no answer. */
	before_ns = h.look.cpu_ns - h.look.cpu_ns / h.look.looks;
	assert_true(!h.looked_ns || before_ns * SHARE <= STEPS * STEP_S * NS_PER_S);
	hang_say_end(&h, &s);
	tree_close(t);
	sample_free(&s);
	root_close(&proc);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_silence_is_looked_at_rarely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
