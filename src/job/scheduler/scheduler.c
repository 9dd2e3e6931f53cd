/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scheduler/scheduler.h"

#include "base/root.h"
#include "base/text/number.h"
#include "core/sample.h"
#include "job/scheduler/row.h"
#include "job/secret/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void mpi_read(struct batch_job *j, char *const *environment);

#define SCHEDULER(x) extern const struct scheduler scheduler_##x;
#include "schedulers.def"
#undef SCHEDULER

#define SCHEDULER(x) &scheduler_##x,
const struct scheduler *const schedulers[] = {
#include "schedulers.def"
};

const size_t nschedulers = sizeof schedulers / sizeof schedulers[0];

static const char *const text_keys[BATCH_TEXTS] = {
	[BATCH_RAW_ID] = "job.raw_id",
	[BATCH_ARRAY_ID] = "job.array_id",
	[BATCH_ARRAY_INDEX] = "job.array_index",
	[BATCH_STEP] = "job.step",
	[BATCH_NAME] = "job.name",
	[BATCH_USER] = "job.user",
	[BATCH_ACCOUNT] = "job.account",
	[BATCH_QUEUE] = "job.queue",
	[BATCH_QOS] = "job.qos",
	[BATCH_RESERVATION] = "job.reservation",
	[BATCH_CLUSTER] = "job.cluster",
	[BATCH_SUBMIT_DIR] = "job.submit_directory",
	[BATCH_SUBMIT_HOST] = "job.submit_host",
	[BATCH_NODE_TOLD] = NULL,
};

static const char *const number_keys[BATCH_NUMBERS] = {
	[BATCH_NODES] = "job.nodes_count",
	[BATCH_NODE_INDEX] = "job.node_index",
	[BATCH_TASKS_ASKED] = "job.tasks_asked",
	[BATCH_CORES_ASKED] = "job.cores_asked",
	[BATCH_MEMORY_ASKED] = "job.memory_asked_bytes",
	[BATCH_GPUS_ASKED] = "job.gpus_asked",
	[BATCH_TIME_LIMIT] = "job.time_limit_seconds",
	[BATCH_END_UTC] = "job.ends_at_utc_seconds",
	[BATCH_RESTARTS] = "job.restarts_count",
	[BATCH_COMPONENTS] = "job.components_count",
	[BATCH_RANK] = NULL,
	[BATCH_RANKS] = "job.ranks_count",
	[BATCH_LOCAL_RANK] = NULL,
	[BATCH_LOCAL_RANKS] = "job.node_ranks_count",
};

static const char *const part_names[] = {
	[BATCH_PART_UNKNOWN] = NULL,
	[BATCH_PART_SCRIPT] = "script",
	[BATCH_PART_STEP] = "step",
	[BATCH_PART_SUBMIT] = "submitting shell",
};

const char *batch_text_key(enum batch_text t)
{
	return text_keys[t];
}

const char *batch_number_key(enum batch_number n)
{
	return number_keys[n];
}

const char *batch_part_name(enum batch_part p)
{
	return part_names[p];
}

const char *batch_job_system(const struct batch_job *j)
{
	return j->scheduler ? j->scheduler->name : NULL;
}

const char *batch_variable(char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (; environment && *environment; environment++)
		if (**environment == *name && !strncmp(*environment, name, n) &&
		    (*environment)[n] == '=')
			return (*environment)[n + 1] ? *environment + n + 1 : NULL;
	return NULL;
}

int64_t batch_number(const char *text)
{
	int64_t v;

	return text && number_i64(&text, &v) && v >= 0 && !*text ? v : -1;
}

const char *batch_word(struct batch_job *j, const char *format, ...)
{
	char *word = j->words + j->words_len;
	size_t room = sizeof j->words - j->words_len;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(word, room, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room)
		return NULL;
	j->words_len += (size_t)n + 1;
	return word;
}

void batch_fault(struct batch_job *j, const char *what, const struct err *e)
{
	if (!j->why.text[0])
		err_set(&j->why, -EINVAL, "%s: %s", what, e->text);
}

int64_t batch_repeated(const char *text, int64_t n)
{
	int64_t seen = 0;

	while (text && *text) {
		int64_t value, times = 1;

		if (!number_i64(&text, &value) || value < 0)
			return -1;
		if (!strncmp(text, "(x", 2)) {
			text += 2;
			if (!number_i64(&text, &times) || times < 1 || *text++ != ')')
				return -1;
		}
		if (*text && *text != ',')
			return -1;
		if (n < 0 ? !seen && !*text : times > n - seen)
			return value;
		seen = times < INT64_MAX - seen ? seen + times : INT64_MAX;
		text += *text == ',';
	}
	return -1;
}

static void set_absent(int64_t *number, int64_t value)
{
	if (*number < 0)
		*number = value;
}

void batch_ranks(struct batch_job *j, const struct batch_ranks *r)
{
	if (j->launcher)
		return;
	if (r->ranks > 0 && r->rank >= r->ranks && j->number[BATCH_COMPONENTS] <= 1) {
		if (!j->why.text[0])
			err_set(&j->why, -EINVAL,
				"the rank is %lld, but there are %lld ranks: using neither",
				(long long)r->rank, (long long)r->ranks);
		return;
	}
	set_absent(&j->number[BATCH_RANK], r->rank);
	if (j->number[BATCH_RANK] != r->rank || r->rank < 0)
		return;
	set_absent(&j->number[BATCH_RANKS], r->ranks);
	set_absent(&j->number[BATCH_LOCAL_RANK], r->local_rank);
	set_absent(&j->number[BATCH_LOCAL_RANKS], r->local_ranks);
}

void batch_place(struct batch_job *j, const char *host)
{
	const char *told = j->text[BATCH_NODE_TOLD];
	int64_t at = hostlist_find(&j->nodes, host);

	if (at < 0 && told && !mpi_copies_environment(j->launcher)) {
		at = hostlist_find(&j->nodes, told);
		j->node_named = at >= 0;
	}
	j->number[BATCH_NODE_INDEX] = at;
	if (at >= 0)
		snprintf(j->node, sizeof j->node, "%s", hostlist_name(&j->nodes, (uint32_t)at));
	if (!j->nodes.n)
		return;
	if (j->number[BATCH_NODES] > 0 && j->number[BATCH_NODES] != j->nodes.n &&
	    j->number[BATCH_COMPONENTS] <= 1 && !j->why.text[0])
		err_set(&j->why, -EINVAL,
			"the node count is %lld, but the node list has %u: using the list",
			(long long)j->number[BATCH_NODES], j->nodes.n);
	j->number[BATCH_NODES] = j->nodes.n;
}

static bool has_signs(const struct scheduler *s, char *const *environment)
{
	for (size_t i = 0; i < sizeof s->sign / sizeof s->sign[0]; i++)
		if (s->sign[i] && !batch_variable(environment, s->sign[i]))
			return false;
	return true;
}

static const char *first_set(const char *const names[SCHEDULER_NAMES], char *const *environment)
{
	const char *value = NULL;

	for (size_t i = 0; i < SCHEDULER_NAMES && names[i] && !value; i++)
		value = batch_variable(environment, names[i]);
	return value;
}

static void read_variables(struct batch_job *j, char *const *environment)
{
	const struct scheduler *s = j->scheduler;

	for (size_t i = 0; i < BATCH_TEXTS; i++)
		j->text[i] = first_set(s->text[i], environment);
	for (size_t i = 0; i < BATCH_NUMBERS; i++)
		if (s->number[i][0])
			j->number[i] = batch_number(first_set(s->number[i], environment));
}

/* Flux may run within a job of another system. */
static bool is_nested(const struct scheduler *s)
{
	return strcmp(s->name, "flux") == 0;
}

/* Another system's job, too? Its shell may have been left behind, or handed on: said, not believed.
 */
static void find_another(struct batch_job *j, char *const *environment)
{
	for (size_t i = 0; i < nschedulers; i++) {
		const struct scheduler *s = schedulers[i];

		if (s == j->scheduler || is_nested(s) || is_nested(j->scheduler) ||
		    strcmp(s->sign[0], j->scheduler->sign[0]) == 0 || !has_signs(s, environment))
			continue;
		if (!j->why.text[0])
			err_set(&j->why, -EINVAL,
				"%s is set as in a %s job, but this is taken as a %s job",
				s->sign[0], s->title, j->scheduler->title);
	}
}

void batch_job_find(struct batch_job *j, char *const *environment, const char *host)
{
	memset(j, 0, sizeof *j);
	for (size_t i = 0; i < BATCH_NUMBERS; i++)
		j->number[i] = -1;
	snprintf(j->node, sizeof j->node, "%s", host);
	for (size_t i = 0; i < nschedulers && !j->scheduler; i++)
		if (has_signs(schedulers[i], environment))
			j->scheduler = schedulers[i];
	if (j->scheduler)
		read_variables(j, environment);
	mpi_read(j, environment);
	if (!j->scheduler)
		return;
	j->scheduler->read(j, environment, host);
	find_another(j, environment);
	if (!j->id[0])
		snprintf(j->id, sizeof j->id, "%s",
			 j->text[BATCH_RAW_ID] ? j->text[BATCH_RAW_ID] : "");
}

void batch_job_free(struct batch_job *j)
{
	hostlist_free(&j->nodes);
}

/* ---- as metadata, and in a sentence ---- */

enum { NODES_BYTES = 16 * 1024 };

static void say_text(const struct secret_list *l, struct sample *s, const char *key,
		     const char *text)
{
	struct bytes masked = { 0 };

	if (!text || !key)
		return;
	secret_text(l && l->all ? NULL : l, &masked, text); /* a job keeps its number */
	bytes_u8(&masked, '\0');
	if (!masked.failed)
		sample_meta_text(s, key, (const char *)masked.data);
	bytes_free(&masked);
}

/* A list that is cut would be another one. */
static void say_nodes(const struct hostlist *nodes, struct sample *s)
{
	struct bytes list = { 0 };

	hostlist_compress(nodes, &list);
	bytes_u8(&list, '\0');
	if (nodes->n && !list.failed && list.len <= NODES_BYTES)
		sample_meta_text(s, "job.nodes", (const char *)list.data);
	bytes_free(&list);
}

void batch_job_say(const struct batch_job *j, const struct secret_list *l, struct sample *s)
{
	say_text(l, s, "job.id", j->id[0] ? j->id : NULL);
	say_text(l, s, "job.scheduler", batch_job_system(j));
	say_text(l, s, "job.launcher", j->launcher);
	say_text(l, s, "job.part", batch_part_name(j->part));
	for (enum batch_text t = 0; t < BATCH_TEXTS; t++)
		say_text(l, s, batch_text_key(t), j->text[t]);
	for (enum batch_number n = 0; n < BATCH_NUMBERS; n++)
		if (batch_number_key(n) && j->number[n] >= 0)
			sample_meta_int(s, batch_number_key(n), j->number[n]);
	say_nodes(&j->nodes, s);
	if (j->scheduler)
		say_text(l, s, "job.node", j->node);
	say_text(l, s, "job.unread", j->why.text[0] ? j->why.text : NULL);
}

/* Appends to a sentence of size bytes; returns its length. */
static size_t __attribute__((format(printf, 4, 5)))
add(char *out, size_t size, size_t len, const char *format, ...)
{
	va_list args;
	int n;

	if (len >= size)
		return len;
	va_start(args, format);
	n = vsnprintf(out + len, size - len, format, args);
	va_end(args);
	return n > 0 ? len + (size_t)n : len;
}

void batch_job_sentence(const struct batch_job *j, char *out, size_t size)
{
	int64_t index = j->number[BATCH_NODE_INDEX], nodes = j->number[BATCH_NODES];
	size_t len = 0;

	if (!j->scheduler) {
		snprintf(out, size, "%s%s%s",
			 "no variable of a known batch system is set; this is recorded as a plain "
			 "machine",
			 j->launcher ? ", whose ranks are found by " : "",
			 j->launcher ? j->launcher : "");
		return;
	}
	len = add(out, size, len, "%s, found by %s: job %s", j->scheduler->title,
		  j->scheduler->sign[0], j->id);
	if (j->text[BATCH_STEP])
		len = add(out, size, len, ", step %s", j->text[BATCH_STEP]);
	len = add(out, size, len, ", node %s", j->node);
	if (index >= 0 && nodes > index)
		len = add(out, size, len, " (%lld of %lld)", (long long)index + 1,
			  (long long)nodes);
	if (j->number[BATCH_RANK] >= 0)
		len = add(out, size, len, ", rank %lld", (long long)j->number[BATCH_RANK]);
	if (j->launcher)
		len = add(out, size, len, " of %s", j->launcher);
	if (j->why.text[0])
		add(out, size, len, "; %s", j->why.text);
}

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

/* Sets launcher, launch_id and the ranks, those that are told. */
static void mpi_read(struct batch_job *j, char *const *environment)
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
