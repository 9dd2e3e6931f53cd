/* SPDX-License-Identifier: Apache-2.0 */
/* The first verdict names who failed first, or the node that had too little memory. */
#include "report/summary/ending.h"
#include "summary_made.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include <cmocka.h>

#define MI (INT64_C(1) << 20)

/* Ranks 0 to 5 of a step, two a node. */
enum { RANKS = 6, PER_NODE = 2, NODES = 3 };

/* An ending: by signal, or with an exit code; -1: it was not reported. */
struct ending {
	int signal, code;
	int64_t at_ms;
};

static void label(struct synthetic *x, uint32_t instance, const char *key, int value)
{
	static char text[3 * MAX][16]; /* until the next test */
	static uint32_t n;
	struct run_instance *in = &x->instance[instance];
	char *to = text[n++ % (3 * MAX)];

	snprintf(to, sizeof text[0], "%d", value);
	if (!in->nlabels++)
		in->first_label = x->run.nlabels;
	x->label[x->run.nlabels++] = (struct run_label){ key, to };
}

static void task(struct synthetic *x, int rank, const struct ending *e)
{
	uint32_t i = x->run.ninstances++;

	x->instance[i] = (struct run_instance){ .node = 1 + (uint32_t)rank / PER_NODE,
						.domain = "task",
						.name = "rank",
						.birth_ns = 100 * NS_PER_S,
						.end_ns = 100 * NS_PER_S + e->at_ms * NS_PER_MS };
	label(x, i, "rank", rank);
	label(x, i, "step", 0);
	if (e->signal)
		label(x, i, "signal", e->signal);
	else if (e->code >= 0)
		label(x, i, "exit_code", e->code);
}

static const struct summary_verdict *first(const struct summary *s, const char *rule)
{
	assert_true(s->nverdicts > 0);
	if (strcmp(s->verdicts[0].rule, rule) != 0)
		fail_msg("%s: %s", s->verdicts[0].rule, s->verdicts[0].sentence);
	return &s->verdicts[0];
}

static void says(const struct summary_verdict *v, const char *words)
{
	if (!strstr(v->sentence, words))
		fail_msg("'%s' is not in '%s'", words, v->sentence);
}

static void test_who_failed_first_is_named(void **state)
{
	static const struct {
		int rank;
		struct ending dies, others;
		const char *says;
	} cases[] = {
		{ 3,
		  { SIGSEGV, 0, 3000 },
		  { SIGTERM, 0, 3200 },
		  "rank 3 of step 0 on n2, killed by SIGSEGV, 3.00 s" },
		{ 5,
		  { SIGABRT, 0, 12000 },
		  { SIGTERM, 0, 12002 },
		  "rank 5 of step 0 on n3, killed by SIGABRT, 12.0 s" },
		/* the clocks of nodes are a little apart: the others seem to have ended before */
		{ 4,
		  { SIGSEGV, 0, 5010 },
		  { SIGTERM, 0, 5000 },
		  "rank 4 of step 0 on n3, killed by SIGSEGV" },
		{ 0, { 0, 7, 400 }, { SIGTERM, 0, 900 }, "rank 0 of step 0 on n1, exit code 7" },
		{ 2, { 0, 1, 9000 }, { SIGKILL, 0, 9500 }, "rank 2 of step 0 on n2, exit code 1" },
		{ 1,
		  { 0, 139, 8000 },
		  { 0, 143, 8100 },
		  "rank 1 of step 0 on n1, exit code 139 (SIGSEGV in what it ran)" },
		{ 3,
		  { SIGKILL, 0, 6000 },
		  { SIGTERM, 0, 6500 },
		  "rank 3 of step 0 on n2, killed by SIGKILL" },
		{ 5,
		  { SIGBUS, 0, 7000 },
		  { SIGKILL, 0, 7001 },
		  "rank 5 of step 0 on n3, killed by SIGBUS" },
		/* the others see a lost connection and abort much later */
		{ 2,
		  { SIGTERM, 0, 2000 },
		  { SIGABRT, 0, 4000 },
		  "rank 2 of step 0 on n2, killed by SIGTERM, 2.00 s" },
		{ 4,
		  { SIGFPE, 0, 10000 },
		  { 0, 0, 11000 },
		  "rank 4 of step 0 on n3, killed by SIGFPE, 10.0 s" },
		{ 0, { 0, 137, 1000 }, { 0, 143, 3000 }, "exit code 137 (SIGKILL in what it ran)" },
	};

	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		struct synthetic *x = with_work(NODES);
		struct summary s;

		for (int rank = 0; rank < RANKS; rank++)
			task(x, rank, rank == cases[c].rank ? &cases[c].dies : &cases[c].others);
		/* What launchers say of each node at its end: the greatest. */
		for (uint32_t node = 1; node <= NODES; node++)
			meta_int(x, node, "job.signal", SIGTERM);
		s = made(x);
		says(first(&s, "first-failure"), cases[c].says);
		done(&s, x);
	}
}

/* scancel, or a time limit: nobody failed first. */
static void test_all_at_once_were_ended_from_outside(void **state)
{
	static const struct {
		struct ending first, others;
		const char *rule;
	} cases[] = {
		{ { SIGTERM, 0, 9000 }, { SIGTERM, 0, 9060 }, "ended-together" },
		{ { SIGKILL, 0, 9090 }, { SIGKILL, 0, 9000 }, "ended-together" },
		{ { 0, 143, 9000 }, { 0, 143, 9001 }, "ended-together" },
		{ { SIGTERM, 0, 9000 }, { SIGTERM, 0, 9500 }, "first-failure" },
		{ { SIGKILL, 0, 9000 }, { SIGTERM, 0, 9001 }, "first-failure" },
		{ { SIGSEGV, 0, 9000 }, { SIGSEGV, 0, 9000 }, "first-failure" },
		{ { SIGTERM, 0, 9000 }, { 0, 0, 9000 }, "first-failure" },
	};

	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		struct synthetic *x = with_work(NODES);
		struct summary s;

		for (int rank = 0; rank < RANKS; rank++)
			task(x, rank, rank == 2 ? &cases[c].first : &cases[c].others);
		s = made(x);
		first(&s, cases[c].rule);
		done(&s, x);
	}
}

static void test_by_whom_is_said_only_when_it_is_known(void **state)
{
	struct synthetic *x = with_work(NODES);
	struct ending e = { SIGTERM, 0, 9000 };
	struct summary s;

	(void)state;
	for (int rank = 0; rank < RANKS; rank++)
		task(x, rank, &e);
	s = made(x);
	says(first(&s, "ended-together"), "All 6 ended at once");
	says(&s.verdicts[0], "Who sent the signal is not known");
	assert_null(strstr(s.verdicts[0].sentence, "outside"));
	done(&s, x);
}

/* scancel of a step, with all that watches it; a time limit that tasks ignored. */
static void test_tasks_that_were_killed_without_a_word_are_named(void **state)
{
	static const struct {
		const char *batch_state, *rule, *says, *heading;
		int64_t others_ms;
		int others_code;
	} cases[] = {
		{ NULL, "killed-unreported", "6 of 6 were killed by SIGKILL at once, 19.0 s",
		  "Killed by SIGKILL (signal 9)", 19800, -1 },
		{ "RUNNING", "killed-unreported", "6 of 6 were killed by SIGKILL",
		  "Killed by SIGKILL (signal 9)", 19000, -1 },
		{ NULL, "killed-unreported", "1 of 6 were killed", "Killed by SIGKILL (signal 9)",
		  19000, 0 },
		{ "TIMEOUT", "time-limit", "Ended at the time limit of 1 min 00 s",
		  "Ended at the time limit", 19000, -1 },
		{ "CANCELLED", "cancelled-told", "Killed by SIGKILL after", "Cancelled", 19000,
		  -1 },
		/* who failed first is more */
		{ NULL, "first-failure", "exit code 3",
		  "First to fail: rank 0 of step 0 on n1, exit code 3", 15000, 3 },
	};

	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		struct synthetic *x = with_work(NODES);
		struct ending it = { 0, -1, 19000 };
		struct ending others = { 0, cases[c].others_code, cases[c].others_ms };
		struct summary s;

		for (int rank = 0; rank < RANKS; rank++)
			task(x, rank, rank == 2 ? &it : &others);
		if (cases[c].batch_state) {
			meta_text(x, "job.scheduler_state", cases[c].batch_state);
			meta_int(x, 1, "job.time_limit_seconds", 60);
		}
		s = made(x);
		says(first(&s, cases[c].rule), cases[c].says);
		assert_string_equal(ending_heading_of(&s).words, cases[c].heading);
		done(&s, x);
	}
}

/* One that was lost long before its node's recording ended may have left its task behind. */
static void test_a_task_that_may_live_on_was_not_killed(void **state)
{
	struct synthetic *x = with_work(NODES);
	struct ending lost = { 0, -1, 9000 };
	struct summary s;

	(void)state;
	for (int rank = 0; rank < RANKS; rank++)
		task(x, rank, &lost);
	s = made(x);
	assert_true(s.story.unreported == 0);
	done(&s, x);
}

/* Step 0 failed, step 1 was cancelled: the heading's command is that of its ending. */
static void test_the_heading_is_of_the_recording_that_ended_so(void **state)
{
	struct synthetic *x = with_work(2);
	struct summary s;

	(void)state;
	x->node[2].host = "n1";
	x->node[2].first_ns += 10 * NS_PER_S;
	meta_text(x, "job.command", "first");
	meta_text(x, "job.command", "second");
	x->meta[x->run.nmetas - 1].node = 2;
	meta_text(x, "job.scheduler_state", "CANCELLED");
	meta_int(x, 1, "job.exit_code", 3);
	meta_int(x, 1, "job.wall_ns", 9 * NS_PER_S);
	meta_int(x, 2, "job.signal", SIGTERM);
	meta_int(x, 2, "job.wall_ns", NS_PER_S);
	s = made(x);
	assert_string_equal(ending_heading_of(&s).words,
			    "First to fail: what ran on n1, exit code 3");
	assert_string_equal(s.command, "first");
	done(&s, x);
	x = with_work(2);
	meta_text(x, "job.command", "first");
	meta_text(x, "job.command", "second");
	x->meta[x->run.nmetas - 1].node = 2;
	meta_text(x, "job.scheduler_state", "CANCELLED");
	meta_int(x, 1, "job.exit_code", 0);
	meta_int(x, 2, "job.signal", SIGTERM);
	s = made(x);
	assert_string_equal(ending_heading_of(&s).words, "Cancelled");
	assert_string_equal(s.command, "second");
	done(&s, x);
}

/* Without tasks: who is told is the command of a node. */
static void test_a_nodes_command_may_be_the_first(void **state)
{
	struct synthetic *x = with_work(NODES);
	struct summary s;

	(void)state;
	meta_int(x, 1, "job.signal", SIGTERM);
	meta_int(x, 1, "job.wall_ns", 15 * NS_PER_S);
	meta_int(x, 2, "job.signal", SIGILL);
	meta_int(x, 2, "job.wall_ns", 14 * NS_PER_S);
	s = made(x);
	says(first(&s, "first-failure"), "what ran on n2, killed by SIGILL, 14.0 s");
	done(&s, x);
}

/* A node's control group and what the job held there. */
struct memory {
	int64_t limit, held, peak, kills;
};

static void has(struct synthetic *x, uint32_t node, const struct memory *m)
{
	uint32_t own = x->run.ninstances++;
	uint32_t limit = metric(x, "cgroup.memory_limit_bytes", "cgroup", KIND_GAUGE, UNIT_BYTES);
	uint32_t kills = metric(x, "cgroup.memory_oom_kills", "cgroup", KIND_COUNTER, UNIT_COUNT);
	uint32_t held = metric(x, "job.resident_bytes", NULL, KIND_GAUGE, UNIT_BYTES);
	uint32_t id;

	x->instance[own] =
		(struct run_instance){ .node = node, .domain = "cgroup", .name = "step" };
	put(x, series(x, node, limit, own), 0, m->limit);
	if (m->kills >= 0) {
		id = series(x, node, kills, own);
		put(x, id, 0, 0);
		put(x, id, 9, m->kills);
		meta_int(x, node, "cgroup.memory_oom_kills_before", 0);
	}
	put(x, series(x, node, held, 0), 9, m->held);
	meta_int(x, node, "job.peak_memory_bytes", m->peak);
	meta_int(x, node, "node.memory_bytes", 64 * 1024 * MI);
}

static void test_the_node_with_too_little_memory_is_named(void **state)
{
	enum { LIMIT = 300 };
	static const struct {
		uint32_t node;
		int64_t others_limit, peak; /* in MiB */
		const char *says;           /* NULL: nothing */
	} cases[] = {
		{ 1, 300, 297, "on n1: 297.0 MiB of 300.0 MiB" },
		{ 2, 300, 297, "on n2: 297.0 MiB of 300.0 MiB" },
		{ 3, 300, 297, "on n3: 297.0 MiB of 300.0 MiB" },
		{ 3, 4000, 290, "on n3: 290.0 MiB of 300.0 MiB" },
		{ 1, 4000, 271, "on n1: 271.0 MiB of 300.0 MiB" },
		{ 2, 16000, 300, "on n2: 300.0 MiB of 300.0 MiB" },
		{ 2, 600, 316, "on n2: 316.0 MiB of 300.0 MiB" },
		{ 1, 600, 280, "on n1: 280.0 MiB of 300.0 MiB" },
		{ 3, 301, 299, "on n3: 299.0 MiB of 300.0 MiB" },
		{ 2, 200, 272, "on n2: 272.0 MiB of 300.0 MiB" },
		{ 2, 300, 269, NULL },
		{ 1, 4000, 100, NULL },
	};

	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		struct synthetic *x = with_work(NODES);
		struct summary s;

		for (uint32_t node = 1; node <= NODES; node++) {
			bool it = node == cases[c].node;
			struct memory m = { (it ? LIMIT : cases[c].others_limit) * MI,
					    (it ? cases[c].peak - 5 : 15) * MI,
					    (it ? cases[c].peak : 19) * MI, 0 };

			has(x, node, &m);
		}
		s = made(x);
		if (cases[c].says)
			says(first(&s, "memory-tight"), cases[c].says);
		for (uint32_t i = 0; !cases[c].says && i < s.nverdicts; i++)
			assert_string_not_equal(s.verdicts[i].rule, "memory-tight");
		done(&s, x);
	}
}

static void test_a_kill_for_want_of_memory_comes_first(void **state)
{
	static const struct {
		int rank, signal, code;
		int64_t kills, peak, at_ms; /* kills on its node; -1: not known */
		const char *rule, *says;
	} cases[] = {
		{ 3, SIGKILL, 0, 1, 299, 9000, "out-of-memory-unseen", "Out of memory on n2" },
		{ 0, SIGKILL, 0, 1, 299, 9000, "out-of-memory-unseen", "Out of memory on n1" },
		{ 5, 0, 137, 2, 299, 9000, "out-of-memory-unseen", "Out of memory on n3" },
		{ 4, SIGKILL, 0, 1, 120, 9000, "out-of-memory-unseen", "Out of memory on n3" },
		{ 2, SIGKILL, 0, 0, 299, 4000, "killed-near-limit", "rank 2 of step 0 on n2" },
		{ 5, SIGKILL, 0, 0, 280, 4000, "killed-near-limit", "rank 5 of step 0 on n3" },
		{ 1, 0, 137, 0, 299, 4000, "killed-near-limit", "rank 1 of step 0 on n1" },
		{ 3, SIGKILL, 0, -1, 299, 4000, "killed-near-limit", "rank 3 of step 0 on n2" },
		{ 0, 0, 137, -1, 275, 4000, "killed-near-limit", "rank 0 of step 0 on n1" },
		/* far from its limit, or by another signal, it is not for memory */
		{ 3, SIGKILL, 0, 0, 150, 4000, "first-failure", "rank 3 of step 0 on n2" },
		{ 4, SIGSEGV, 0, 0, 299, 4000, "first-failure", "rank 4 of step 0 on n3" },
	};

	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		struct synthetic *x = with_work(NODES);
		struct ending dies = { cases[c].signal, cases[c].code, cases[c].at_ms };
		struct ending others = { SIGTERM, 0, cases[c].at_ms + 400 };
		struct summary s;

		for (int rank = 0; rank < RANKS; rank++)
			task(x, rank, rank == cases[c].rank ? &dies : &others);
		for (uint32_t node = 1; node <= NODES; node++) {
			bool it = node == 1 + (uint32_t)cases[c].rank / PER_NODE;
			int64_t none = cases[c].kills < 0 ? -1 : 0;
			struct memory m = { 300 * MI, (it ? cases[c].peak : 15) * MI,
					    (it ? cases[c].peak : 19) * MI,
					    it ? cases[c].kills : none };

			has(x, node, &m);
		}
		s = made(x);
		says(first(&s, cases[c].rule), cases[c].says);
		done(&s, x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_failed_first_is_named),
		cmocka_unit_test(test_all_at_once_were_ended_from_outside),
		cmocka_unit_test(test_by_whom_is_said_only_when_it_is_known),
		cmocka_unit_test(test_tasks_that_were_killed_without_a_word_are_named),
		cmocka_unit_test(test_a_task_that_may_live_on_was_not_killed),
		cmocka_unit_test(test_the_heading_is_of_the_recording_that_ended_so),
		cmocka_unit_test(test_a_nodes_command_may_be_the_first),
		cmocka_unit_test(test_the_node_with_too_little_memory_is_named),
		cmocka_unit_test(test_a_kill_for_want_of_memory_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
