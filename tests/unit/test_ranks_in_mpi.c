/* SPDX-License-Identifier: Apache-2.0 */
/* Of processes with unequal shares in MPI it is told which these are, and in which function the one
 * that waits is. */
#include "kept_rules.h"
#include "report/summary/summary.h"
#include "unit/recording_truth.h"

#include "made_stacks.h"

struct job {
	const char *rank[2]; /* of the one that waits and of the other; NULL: not known */
	const char *call[2]; /* in which the former is for 60 % and for 40 % of its time */
};

static uint32_t process_make(struct made_stacks *m, const char *pid, const char *rank)
{
	uint32_t process;

	if (rank) {
		uint32_t task = sample_instance(&m->s, "task", rank, 0, m->now_ns, 0);

		sample_label(&m->s, task, "rank", rank);
		sample_label(&m->s, task, "command_pid", pid);
	}
	process = sample_instance(&m->s, "process", "heat", 0, m->now_ns, 0);
	sample_label(&m->s, process, "pid", pid);
	return process;
}

static void stacks_make(struct made_stacks *m, const struct job *job)
{
	uint32_t app = made_module(m, "/opt/x/heat"), mpi = made_module(m, "/lib/libmpi.so.40");
	uint32_t main = made_stack(m, 0, made_frame(m, app, "main", "heat.c", 12));
	uint32_t work = made_stack(m, main, made_frame(m, app, "work", "heat.c", 2));
	uint32_t poll = made_frame(m, mpi, "opal_progress", "", 7);
	uint32_t waits = process_make(m, "100", job->rank[0]);
	uint32_t works = process_make(m, "101", job->rank[1]);

	for (int i = 0; i < 2; i++) {
		uint32_t outer = made_stack(m, main, made_frame(m, mpi, job->call[i], "", 9));
		uint32_t inner = made_stack(m, outer, made_frame(m, mpi, "PMPI_Testall", "", 10));

		made_samples(m, waits, "heat",
			     (struct event_item){ 100, made_stack(m, inner, poll), i ? 40 : 60 });
	}
	made_samples(m, works, "heat", (struct event_item){ 101, work, 100 });
}

static void recording_make(int dir, const struct job *job)
{
	struct made_stacks m;
	uint32_t slot;

	made_stacks_open(&m, dir, "n1");
	slot = sample_series(&m.s, &made_cpu, 1, 0);
	sample_put(&m.s, slot, 0);
	made_write(&m);
	stacks_make(&m, job);
	sample_meta_int(&m.s, "job.wall_ns", 2000000000);
	sample_meta_int(&m.s, "job.cpu_ns", 2000000000);
	sample_meta_int(&m.s, "job.cpu_user_ns", 2000000000);
	sample_meta_int(&m.s, "job.cpu_system_ns", 0);
	sample_put(&m.s, slot, 2);
	made_write(&m);
	made_stacks_close(&m);
}

static void check(const struct job *job, const char *waits, const char *in, const char *works)
{
	const struct summary_wish wish = { .all = true, .builtin = kept_rules() };
	char name[] = "sonde_mpi_XXXXXX";
	struct err e = { "" };
	struct summary s;
	struct run *r;

	assert_non_null(mkdtemp(name));
	recording_make(open(name, O_RDONLY | O_DIRECTORY), job);
	if (run_open(&r, name, &e) || summary_make_as(&s, r, &wish, &e))
		fail_msg("%s", e.text);
	assert_true(s.mpi_code_processes == 2 && s.mpi_code_most > 0.9 && s.mpi_code_least < 0.1);
	assert_string_equal(s.mpi_code_most_is, waits);
	assert_string_equal(s.mpi_code_most_in, in);
	assert_string_equal(s.mpi_code_least_is, works);
	summary_free(&s);
	run_close(r);
}

static void ranks_are_named_and_where_one_waits(void **state)
{
	(void)state;
	check(&(struct job){ { "3", "0" }, { "PMPI_Allreduce", "MPI_Bcast" } }, "rank 3",
	      ", mostly in MPI_Allreduce;", "rank 0");
	check(&(struct job){ { "3", "0" }, { "mpi_barrier_", "mpi_wait_" } }, "rank 3",
	      ", mostly in MPI_Barrier;", "rank 0");
}

static void processes_are_named_where_ranks_are_not_known(void **state)
{
	(void)state;
	check(&(struct job){ { NULL, NULL }, { "MPI_Allreduce", "MPI_Bcast" } }, "heat (pid 100)",
	      ", mostly in MPI_Allreduce;", "heat (pid 101)");
	check(&(struct job){ { "0", "0" }, { "MPI_Allreduce", "MPI_Bcast" } }, "heat (pid 100)",
	      ", mostly in MPI_Allreduce;", "heat (pid 101)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_named_and_where_one_waits),
		cmocka_unit_test(processes_are_named_where_ranks_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
