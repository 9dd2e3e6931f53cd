/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scheduler/mpi.h"

#include "job/scheduler/scheduler_row.h"

#include <string.h>

struct starter {
	const char *name;        /* NULL: a step of the batch system, which is no mpirun */
	const char *rank, *sign; /* sign: must be set, too; NULL: nothing more */
	const char *ranks, *local_rank, *local_ranks;
	const char *id[2];
	bool copies_environment;
};

/* The first whose variables are there: a library's own name before the interface's, which a step
 * around mpirun sets, too. */
static const struct starter starters[] = {
	{ .name = "jsrun",
	  .rank = "JSM_NAMESPACE_RANK",
	  .ranks = "JSM_NAMESPACE_SIZE",
	  .local_rank = "JSM_NAMESPACE_LOCAL_RANK",
	  .local_ranks = "JSM_NAMESPACE_LOCAL_SIZE" },
	{ .name = "openmpi",
	  .rank = "OMPI_COMM_WORLD_RANK",
	  .ranks = "OMPI_COMM_WORLD_SIZE",
	  .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
	  .local_ranks = "OMPI_COMM_WORLD_LOCAL_SIZE",
	  /* the first is a random number of this launch (4.1), the other a number in its family */
	  .id = { "OMPI_MCA_orte_precondition_transports", "PMIX_NAMESPACE" } },
	{ .name = "mvapich",
	  .rank = "MV2_COMM_WORLD_RANK",
	  .ranks = "MV2_COMM_WORLD_SIZE",
	  .local_rank = "MV2_COMM_WORLD_LOCAL_RANK",
	  .local_ranks = "MV2_COMM_WORLD_LOCAL_SIZE",
	  .copies_environment = true },
	{ .name = "pals",
	  .rank = "PALS_RANKID",
	  .ranks = "PMI_SIZE",
	  .local_rank = "PALS_LOCAL_RANKID",
	  .local_ranks = "PMI_LOCAL_SIZE",
	  .id = { "PALS_APID" } },
	{ .name = "intel-mpi",
	  .rank = "PMI_RANK",
	  .sign = "I_MPI_MPIRUN",
	  .ranks = "PMI_SIZE",
	  .local_rank = "MPI_LOCALRANKID",
	  .local_ranks = "MPI_LOCALNRANKS",
	  .id = { "I_MPI_HYDRA_UUID" },
	  .copies_environment = true },
	{ .name = "intel-mpi", /* by mpiexec.hydra itself */
	  .rank = "PMI_RANK",
	  .sign = "I_MPI_HYDRA_UUID",
	  .ranks = "PMI_SIZE",
	  .local_rank = "MPI_LOCALRANKID",
	  .local_ranks = "MPI_LOCALNRANKS",
	  .id = { "I_MPI_HYDRA_UUID" },
	  .copies_environment = true },
	{ .name = "mpich", /* Hydra, which Intel's is a variety of */
	  .rank = "PMI_RANK",
	  .sign = "MPI_LOCALRANKID",
	  .ranks = "PMI_SIZE",
	  .local_rank = "MPI_LOCALRANKID",
	  .local_ranks = "MPI_LOCALNRANKS",
	  .copies_environment = true },
	{ .name = "flux", /* in an instance below another batch system, too */
	  .rank = "FLUX_TASK_RANK",
	  .sign = "FLUX_JOB_ID",
	  .ranks = "FLUX_JOB_SIZE",
	  .local_rank = "FLUX_TASK_LOCAL_ID" },
	{ .rank = "PMIX_RANK", .id = { "PMIX_NAMESPACE" } },
	{ .rank = "PMI_RANK", .ranks = "PMI_SIZE", .id = { "PMI_JOBID" } },
};

enum { STARTERS = sizeof starters / sizeof starters[0] };

static int64_t number_of(char *const *environment, const char *name)
{
	return name ? batch_number(batch_variable(environment, name)) : -1;
}

void mpi_read(struct batch_job *j, char *const *environment)
{
	for (const struct starter *s = starters; s < starters + STARTERS; s++) {
		int64_t rank = number_of(environment, s->rank);

		if (rank < 0 || (s->sign && !batch_variable(environment, s->sign)))
			continue;
		j->launcher = s->name;
		j->number[BATCH_RANK] = rank;
		j->number[BATCH_RANKS] = number_of(environment, s->ranks);
		j->number[BATCH_LOCAL_RANK] = number_of(environment, s->local_rank);
		j->number[BATCH_LOCAL_RANKS] = number_of(environment, s->local_ranks);
		for (size_t i = 0; i < 2 && s->id[i] && !j->launch_id; i++)
			j->launch_id = batch_variable(environment, s->id[i]);
		return;
	}
}

bool mpi_copies_environment(const char *launcher)
{
	for (const struct starter *s = starters; launcher && s < starters + STARTERS; s++)
		if (s->name && !strcmp(s->name, launcher))
			return s->copies_environment;
	return false;
}
