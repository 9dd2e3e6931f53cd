/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scheduler/row.h"

#include "base/text/number.h"
#include "base/text/textfile.h"
#include "job/scheduler/scheduler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { FILE_MAX = 8 << 20 };

static const char blanks[] = " \t\r\n";

bool slot_word(const char **p, struct listed_slots *out)
{
	*p += strspn(*p, blanks);
	*out = (struct listed_slots){ .name = *p, .len = strcspn(*p, blanks), .n = 1 };
	*p += out->len;
	return out->len > 0;
}

bool slot_pair(const char **p, struct listed_slots *out)
{
	return slot_word(p, out) && number_i64(p, &out->n) && out->n >= 0 && out->n <= INT32_MAX;
}

bool slot_row(const char **p, struct listed_slots *out)
{
	bool good = slot_pair(p, out);

	if (good)
		*p = number_next_line(*p);
	return good;
}

/* The nodes of the text; as it was when they are none. */
static int take(struct hostlist *nodes, const char *text, slot_next next, struct err *e)
{
	struct hostlist found = { 0 };
	const char *p = text;
	uint32_t near = 0;
	struct listed_slots s;
	int bad = 0;

	while (!bad && next(&p, &s))
		bad = hostlist_add_once(&found, s.name, s.len, &near, e);
	if (!bad && p[strspn(p, blanks)])
		bad = err_set(e, -EINVAL, "byte %zu is not the name of a node with its slots",
			      (size_t)(p - text) + 1);
	if (!bad && !found.n)
		bad = err_set(e, -EINVAL, "it names no node");
	if (bad) {
		hostlist_free(&found);
		return bad;
	}
	hostlist_free(nodes);
	*nodes = found;
	return 0;
}

static struct slots count(const struct batch_job *j, const char *text, slot_next next)
{
	bool known = j->number[BATCH_NODE_INDEX] >= 0;
	struct slots n = { .here = known ? 0 : -1 };
	struct listed_slots s;

	while (next(&text, &s)) {
		n.all += s.n;
		if (known && !strncmp(j->node, s.name, s.len) && !j->node[s.len])
			n.here += s.n;
	}
	return n;
}

/* The first that is set and can be read gives the job's nodes, this node's place and its slots. */
static struct slots slots_read(struct batch_job *j, const struct slots_source *from,
			       char *const *environment, const char *host)
{
	size_t most = sizeof from->variable / sizeof from->variable[0];
	struct slots n = { -1, -1 };
	struct bytes file = { 0 };

	for (size_t i = 0; i < most && from->variable[i] && n.all < 0; i++) {
		const char *text = batch_variable(environment, from->variable[i]);
		struct err e = { "" };
		int bad = 0;

		if (!text)
			continue;
		bytes_reset(&file);
		if (from->are_files) {
			bad = textfile_read(text, "file of nodes", FILE_MAX, &file, &e);
			bytes_u8(&file, '\0');
			if (!bad && file.failed)
				bad = err_set(&e, -ENOMEM, "out of memory");
			text = (const char *)file.data;
		}
		if (!bad)
			bad = take(&j->nodes, text, from->next, &e);
		if (bad) {
			batch_fault(j, from->variable[i], &e);
			continue;
		}
		j->why.text[0] = '\0';
		batch_place(j, host);
		n = count(j, text, from->next);
	}
	bytes_free(&file);
	return n;
}

/* Flux: its tasks are told their ranks (job/scheduler/scheduler.c) and the number of
 * nodes, no names. The script of flux-batch is told its id alone, as that of the instance it is in;
 * before flux-core had FLUX_ENCLOSING_ID, nothing. */

static void flux_read(struct batch_job *j, char *const *environment, const char *host)
{
	(void)environment;
	(void)host;
	j->part = BATCH_PART_STEP;
}

static void flux_script_read(struct batch_job *j, char *const *environment, const char *host)
{
	(void)environment;
	(void)host;
	j->part = BATCH_PART_SCRIPT;
}

const struct scheduler scheduler_flux = {
	.name = "flux",
	.title = "Flux",
	.sign = { "FLUX_JOB_ID" },
	.text = {
		[BATCH_RAW_ID] = { "FLUX_JOB_ID" },
		[BATCH_ARRAY_INDEX] = { "FLUX_JOB_CC" },
	},
	.number = {
		[BATCH_NODES] = { "FLUX_JOB_NNODES" },
		[BATCH_TASKS_ASKED] = { "FLUX_JOB_SIZE" },
	},
	.read = flux_read,
};

const struct scheduler scheduler_flux_script = {
	.name = "flux",
	.title = "Flux",
	.sign = { "FLUX_ENCLOSING_ID", "FLUX_URI" },
	.text = {
		[BATCH_RAW_ID] = { "FLUX_ENCLOSING_ID" },
		[BATCH_ARRAY_INDEX] = { "FLUX_JOB_CC" },
	},
	.read = flux_script_read,
};

/* HTCondor. Its variables name files, of which the job's ad has the rest: a
 * line an attribute, NAME = VALUE, where a value that is no number and no text is an expression.
 *
 * Ids are those of a submitting machine (schedd): its name is taken as the cluster's.
 */

enum { AD_MAX = 1 << 20, MIB_SHIFT = 20, PARALLEL_UNIVERSE = 11 };

/* The value of an attribute, up to its line's end; NULL: it has none. */
static const char *attribute(const char *ad, const char *name)
{
	size_t n = strlen(name);

	for (; *ad; ad = number_next_line(ad)) {
		const char *at = ad + strspn(ad, " \t");

		if (strncasecmp(at, name, n) != 0)
			continue;
		at += n + strspn(at + n, " \t");
		if (*at == '=')
			return at + 1 + strspn(at + 1, " \t");
	}
	return NULL;
}

/* -1: it is no number, or below 0. */
static int64_t ad_number(const char *ad, const char *name)
{
	const char *at = attribute(ad, name);
	int64_t v;

	if (!at || !number_i64(&at, &v) || v < 0)
		return -1;
	at += strspn(at, " \t\r");
	return *at && *at != '\n' ? -1 : v;
}

/* A quoted text, without its escapes; NULL: it is none, or there is no more room. */
static const char *ad_text(struct batch_job *j, const char *ad, const char *name)
{
	const char *at = attribute(ad, name);
	char text[512];
	size_t n = 0;

	if (!at || *at++ != '"')
		return NULL;
	for (; *at != '"'; at++) {
		at += *at == '\\';
		if (!*at || *at == '\n' || n + 1 == sizeof text)
			return NULL;
		text[n++] = *at;
	}
	return n ? batch_word(j, "%.*s", (int)n, text) : NULL;
}

static void read_id(struct batch_job *j, const char *ad)
{
	int64_t cluster = ad_number(ad, "ClusterId"), proc = ad_number(ad, "ProcId");
	struct err e;

	if (cluster < 0 || proc < 0) {
		err_set(&e, -EINVAL, "the job's ad has no ClusterId and ProcId");
		batch_fault(j, "_CONDOR_JOB_AD", &e);
		return;
	}
	j->text[BATCH_RAW_ID] = batch_word(j, "%lld.%lld", (long long)cluster, (long long)proc);
	if (ad_number(ad, "TotalSubmitProcs") > 1) {
		j->text[BATCH_ARRAY_ID] = batch_word(j, "%lld", (long long)cluster);
		j->text[BATCH_ARRAY_INDEX] = batch_word(j, "%lld", (long long)proc);
	}
}

/* schedd#id#time */
static void read_submitter(struct batch_job *j, const char *ad)
{
	const char *global = ad_text(j, ad, "GlobalJobId");

	if (!global)
		return;
	j->text[BATCH_CLUSTER] = batch_word(j, "%.*s", (int)strcspn(global, "#"), global);
	j->text[BATCH_SUBMIT_HOST] = j->text[BATCH_CLUSTER];
}

static void read_numbers(struct batch_job *j, const char *ad)
{
	int64_t mib = ad_number(ad, "RequestMemory");

	j->number[BATCH_CORES_ASKED] = ad_number(ad, "RequestCpus");
	j->number[BATCH_GPUS_ASKED] = ad_number(ad, "RequestGPUs");
	j->number[BATCH_TIME_LIMIT] = ad_number(ad, "AllowedExecuteDuration");
	j->number[BATCH_RESTARTS] = ad_number(ad, "NumJobStarts"); /* those before this one */
	if (mib >= 0 && mib <= INT64_MAX >> MIB_SHIFT)
		j->number[BATCH_MEMORY_ASKED] = mib << MIB_SHIFT;
	if (ad_number(ad, "JobUniverse") != PARALLEL_UNIVERSE)
		j->number[BATCH_NODES] = 1;
}

static void htcondor_read(struct batch_job *j, char *const *environment, const char *host)
{
	struct batch_ranks ranks = {
		.rank = batch_number(batch_variable(environment, "_CONDOR_PROCNO")),
		.ranks = batch_number(batch_variable(environment, "_CONDOR_NPROCS")),
		.local_rank = -1,
		.local_ranks = -1,
	};
	struct bytes file = { 0 };
	struct err e = { "" };
	int rc = textfile_read(batch_variable(environment, "_CONDOR_JOB_AD"), "job's ad", AD_MAX,
			       &file, &e);

	(void)host;
	bytes_u8(&file, '\0');
	if (!rc && file.failed)
		rc = err_set(&e, -ENOMEM, "out of memory");
	j->mark = batch_variable(environment, "_CONDOR_SCRATCH_DIR");
	if (rc) {
		batch_fault(j, "_CONDOR_JOB_AD", &e);
	} else {
		const char *ad = (const char *)file.data;

		read_id(j, ad);
		read_submitter(j, ad);
		read_numbers(j, ad);
		j->text[BATCH_NAME] = ad_text(j, ad, "JobBatchName");
		j->text[BATCH_USER] = ad_text(j, ad, "Owner");
		j->text[BATCH_ACCOUNT] = ad_text(j, ad, "AccountingGroup");
		j->text[BATCH_SUBMIT_DIR] = ad_text(j, ad, "Iwd");
	}
	if (j->number[BATCH_NODES] < 0 && ranks.ranks > 0)
		j->number[BATCH_NODES] = ranks.ranks; /* of the parallel universe: one on each */
	batch_ranks(j, &ranks);
	bytes_free(&file);
}

const struct scheduler scheduler_htcondor = {
	.name = "htcondor",
	.title = "HTCondor",
	.sign = { "_CONDOR_SCRATCH_DIR", "_CONDOR_JOB_AD" },
	.read = htcondor_read,
};

/* LSF. A job that is no element of an array has the index 0.
 *
 * LSB_CG_MEMLIMIT is not read: it is a task's or a host's, as the cluster is configured; the
 * control group itself has the limit.
 */

static void find_element(struct batch_job *j)
{
	const char *index = j->text[BATCH_ARRAY_INDEX], *id = j->text[BATCH_RAW_ID];

	if (!index || !strcmp(index, "0")) {
		j->text[BATCH_ARRAY_INDEX] = NULL;
		return;
	}
	j->text[BATCH_ARRAY_ID] = id;
	snprintf(j->id, sizeof j->id, "%s[%s]", id, index);
}

static void lsf_read(struct batch_job *j, char *const *environment, const char *host)
{
	static const struct slots_source lists[] = {
		{ { "LSB_MCPU_HOSTS" }, false, slot_pair },
		{ { "LSB_DJOB_HOSTFILE" }, true, slot_word },
		{ { "LSB_HOSTS" }, false, slot_word },
	};

	const char *restarted = batch_variable(environment, "LSB_RESTART");

	find_element(j);
	for (size_t i = 0; i < sizeof lists / sizeof lists[0] && !j->nodes.n; i++)
		j->number[BATCH_CORES_ASKED] = slots_read(j, &lists[i], environment, host).here;
	/* Where jsrun starts the tasks, slots are cores. */
	if (batch_variable(environment, "CSM_ALLOCATION_ID") ||
	    batch_variable(environment, "JSM_NAMESPACE_SIZE"))
		j->number[BATCH_TASKS_ASKED] = -1;
	if (restarted && !strcmp(restarted, "Y")) /* how often, it does not say */
		j->number[BATCH_RESTARTS] = 1;
}

const struct scheduler scheduler_lsf = {
	.name = "lsf",
	.title = "LSF",
	.sign = { "LSB_JOBID" },
	.text = {
		[BATCH_RAW_ID] = { "LSB_JOBID" },
		[BATCH_ARRAY_INDEX] = { "LSB_JOBINDEX" },
		[BATCH_NAME] = { "LSB_JOBNAME" },
		[BATCH_USER] = { "LSFUSER" },
		[BATCH_ACCOUNT] = { "LSB_PROJECT_NAME" },
		[BATCH_QUEUE] = { "LSB_QUEUE" },
		[BATCH_CLUSTER] = { "LSB_EXEC_CLUSTER" },
		[BATCH_SUBMIT_DIR] = { "LS_SUBCWD" },
		[BATCH_SUBMIT_HOST] = { "LSB_SUB_HOST" },
	},
	.number = { [BATCH_TASKS_ASKED] = { "LSB_DJOB_NUMPROC" } },
	.read = lsf_read,
};

/* OAR: its file of nodes has a line for each core; it knows no ranks. */

static void oar_read(struct batch_job *j, char *const *environment, const char *host)
{
	/* Not OAR_RESOURCE_FILE: behind oarsh it is another kind of file. */
	static const struct slots_source files = {
		.variable = { "OAR_NODEFILE", "OAR_NODE_FILE", "OAR_FILE_NODES" },
		.are_files = true,
		.next = slot_word,
	};

	j->number[BATCH_CORES_ASKED] = slots_read(j, &files, environment, host).here;
}

const struct scheduler scheduler_oar = {
	.name = "oar",
	.title = "OAR",
	.sign = { "OAR_JOB_ID" },
	.text = {
		[BATCH_RAW_ID] = { "OAR_JOB_ID" },
		[BATCH_ARRAY_ID] = { "OAR_ARRAY_ID" },
		[BATCH_ARRAY_INDEX] = { "OAR_ARRAY_INDEX" },
		[BATCH_NAME] = { "OAR_JOB_NAME" },
		[BATCH_USER] = { "OAR_USER" },
		[BATCH_ACCOUNT] = { "OAR_PROJECT_NAME" },
		[BATCH_SUBMIT_DIR] = { "OAR_WORKDIR", "OAR_WORKING_DIRECTORY" },
	},
	.number = { [BATCH_TIME_LIMIT] = { "OAR_JOB_WALLTIME_SECONDS" } },
	.read = oar_read,
};

/* OpenPBS, PBS Pro and Torque.
 *
 * The file of nodes has a line for each MPI process, not for each core (Torque's: for each core).
 * Tasks on the first node may lack it; PBS_NODEFILE_LOCAL is perfmon's word for a copy that every
 * node can read.
 */

/* Returns the processes that the scheduler was asked for here; -1: not told. */
static int64_t read_tasks(struct batch_job *j, char *const *environment, const char *host)
{
	static const struct slots_source files = {
		.variable = { "PBS_NODEFILE", "PBS_NODEFILE_LOCAL" },
		.are_files = true,
		.next = slot_word,
	};
	int64_t told = batch_number(batch_variable(environment, "PBS_NODENUM"));
	int64_t task = batch_number(batch_variable(environment, "PBS_TASKNUM"));
	struct slots n = slots_read(j, &files, environment, host);

	if (!mpi_copies_environment(j->launcher)) {
		if (!j->nodes.n && told >= 0)
			j->number[BATCH_NODE_INDEX] = told;
		if (task >= 1)
			j->part = task == 1 ? BATCH_PART_SCRIPT : BATCH_PART_STEP;
	}
	j->number[BATCH_TASKS_ASKED] = n.all;
	return n.here;
}

/* Its file has a line for each core; PBS_NUM_PPN and PBS_NUM_NODES are 1 and 0 where nodes were
 * asked for by name, or only cores (procs=8). */
static void torque_read(struct batch_job *j, char *const *environment, const char *host)
{
	int64_t cores = read_tasks(j, environment, host);

	if (cores > 0)
		j->number[BATCH_CORES_ASKED] = cores;
	if (j->number[BATCH_TASKS_ASKED] < 0)
		j->number[BATCH_TASKS_ASKED] = batch_number(batch_variable(environment, "PBS_NP"));
	if (j->number[BATCH_NODES] == 0)
		j->number[BATCH_NODES] = -1;
}

/* NCPUS is what a chunk has, or with ompthreads what a process has: where it is less than there are
 * processes, each has as many. */
static void pbs_read(struct batch_job *j, char *const *environment, const char *host)
{
	int64_t *cores = &j->number[BATCH_CORES_ASKED];
	int64_t tasks = read_tasks(j, environment, host);

	if (*cores > 0 && *cores < tasks && __builtin_mul_overflow(*cores, tasks, cores))
		*cores = -1;
}

#define PBS_TEXT                                                                                   \
	[BATCH_RAW_ID] = { "PBS_JOBID" }, [BATCH_ARRAY_ID] = { "PBS_ARRAY_ID" },                   \
	[BATCH_ARRAY_INDEX] = { "PBS_ARRAY_INDEX", "PBS_ARRAYID" },                                \
	[BATCH_NAME] = { "PBS_JOBNAME" }, [BATCH_USER] = { "PBS_O_LOGNAME" },                      \
	[BATCH_ACCOUNT] = { "PBS_ACCOUNT" }, [BATCH_QUEUE] = { "PBS_QUEUE" },                      \
	[BATCH_SUBMIT_DIR] = { "PBS_O_WORKDIR" }, [BATCH_SUBMIT_HOST] = { "PBS_O_HOST" }

const struct scheduler scheduler_torque = {
	.name = "torque",
	.title = "Torque",
	.sign = { "PBS_JOBID", "PBS_NUM_PPN" },
	.text = { PBS_TEXT },
	.number = {
		[BATCH_NODES] = { "PBS_NUM_NODES" },
		[BATCH_CORES_ASKED] = { "PBS_NUM_PPN" },
		[BATCH_TIME_LIMIT] = { "PBS_WALLTIME" },
	},
	.read = torque_read,
};

const struct scheduler scheduler_pbs = {
	.name = "pbs",
	.title = "PBS",
	.sign = { "PBS_JOBID" },
	.text = { PBS_TEXT },
	.number = { [BATCH_CORES_ASKED] = { "NCPUS", "PBS_NCPUS" } },
	.read = pbs_read,
};

/* Grid Engine. JOB_ID alone is set by many; SGE_TASK_ID is in every job,
 * "undefined" where there is no array. */

static void sge_find_element(struct batch_job *j)
{
	const char *index = j->text[BATCH_ARRAY_INDEX], *id = j->text[BATCH_RAW_ID];

	if (batch_number(index) < 0) {
		j->text[BATCH_ARRAY_INDEX] = NULL;
		return;
	}
	j->text[BATCH_ARRAY_ID] = id;
	snprintf(j->id, sizeof j->id, "%s.%s", id, index);
}

static void sge_read(struct batch_job *j, char *const *environment, const char *host)
{
	static const struct slots_source file = { { "PE_HOSTFILE" }, true, slot_row };
	struct slots n = slots_read(j, &file, environment, host);

	sge_find_element(j);
	if (n.all >= 0)
		j->number[BATCH_CORES_ASKED] = n.here;
	else if (j->number[BATCH_NODES] > 1)
		j->number[BATCH_CORES_ASKED] = -1; /* NSLOTS are those of all nodes */
}

const struct scheduler scheduler_sge = {
	.name = "sge",
	.title = "Grid Engine",
	.sign = { "JOB_ID", "SGE_TASK_ID" },
	.text = {
		[BATCH_RAW_ID] = { "JOB_ID" },
		[BATCH_ARRAY_INDEX] = { "SGE_TASK_ID" },
		[BATCH_NAME] = { "JOB_NAME" },
		[BATCH_USER] = { "SGE_O_LOGNAME" },
		[BATCH_ACCOUNT] = { "SGE_ACCOUNT" },
		[BATCH_QUEUE] = { "QUEUE" },
		[BATCH_CLUSTER] = { "SGE_CLUSTER_NAME" },
		[BATCH_SUBMIT_DIR] = { "SGE_O_WORKDIR" },
		[BATCH_SUBMIT_HOST] = { "SGE_O_HOST" },
	},
	.number = {
		[BATCH_NODES] = { "NHOSTS" },
		[BATCH_CORES_ASKED] = { "NSLOTS" },
		[BATCH_RESTARTS] = { "RESTARTED" },
	},
	.read = sge_read,
};
