/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scheduler/mpi.h"

#include "base/root.h"
#include "base/text/number.h"
#include "job/scheduler/row.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ANCESTORS_MAX = 16, COMMAND_LINE = 8192, STAT = 1024 };

static const char *const proxies[] = { "hydra_pmi_proxy", "hydra_bstrap_proxy" };

/* The word at *p, and *p behind it; NULL at the end, where a word may lack its NUL. */
static const char *next_word(const char **p, const char *end)
{
	const char *word = *p, *nul = word < end ? memchr(word, '\0', (size_t)(end - word)) : NULL;

	if (!nul)
		return NULL;
	*p = nul + 1;
	return word;
}

static bool is_proxy(const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

	for (size_t i = 0; i < sizeof proxies / sizeof proxies[0]; i++)
		if (!strcmp(name, proxies[i]))
			return true;
	return false;
}

bool hydra_address(const char *cmdline, size_t n, char out[HYDRA_LAUNCH])
{
	const char *p = cmdline, *end = cmdline + n, *word = next_word(&p, end);
	const char *address = NULL, *host = NULL, *port = NULL;
	int len = -1;

	if (!word || !is_proxy(word))
		return false;
	while ((word = next_word(&p, end))) {
		const char **value = !strcmp(word, "--control-port")    ? &address
				     : !strcmp(word, "--upstream-host") ? &host
				     : !strcmp(word, "--upstream-port") ? &port
									: NULL;

		if (value && !(*value = next_word(&p, end)))
			break;
	}
	if (address)
		len = snprintf(out, HYDRA_LAUNCH, "%s", address);
	else if (host && port)
		len = snprintf(out, HYDRA_LAUNCH, "%s:%s", host, port);
	return len > 0 && len < HYDRA_LAUNCH;
}

static ssize_t read_of(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : file_reread(fd, text, size);
	file_close(&fd);
	return n;
}

/* Field number of stat, counted as proc(5) does; the name, the second, may hold anything. -1: none.
 */
static int64_t stat_field(const char *stat, int number)
{
	const char *p = strrchr(stat, ')');
	int64_t value;

	for (int at = 2; p && at < number; at++)
		p = strchr(p + 1, ' ');
	return p && number_i64(&(const char *){ p + 1 }, &value) ? value : -1;
}

bool hydra_launch(pid_t pid, bool alone, char out[HYDRA_LAUNCH])
{
	enum { PARENT = 4, START = 22 };
	char stat[STAT], cmdline[COMMAND_LINE];

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		ssize_t n = read_of(pid, "cmdline", cmdline, sizeof cmdline);

		if (read_of(pid, "stat", stat, sizeof stat) <= 0)
			return false;
		if (n > 0 && hydra_address(cmdline, (size_t)n, out)) {
			if (alone)
				snprintf(out, HYDRA_LAUNCH, "%d since %lld", (int)pid,
					 (long long)stat_field(stat, START));
			return true;
		}
		pid = (pid_t)stat_field(stat, PARENT);
	}
	return false;
}

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
