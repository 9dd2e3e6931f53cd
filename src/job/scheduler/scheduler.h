/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.h - the batch job this process is in, as its environment and the files named there
 * tell.
 *
 * No scheduler is asked. One row (src/schedulers.def, job/scheduler/NAME.c) knows one batch system.
 * What is not told is absent: a text is NULL, a number is -1. Texts are borrowed from the
 * environment. The environment is hostile: numbers are bounded, lists are checked.
 */
#ifndef SONDE_JOB_SCHEDULER_SCHEDULER_H
#define SONDE_JOB_SCHEDULER_SCHEDULER_H

#include "core/host/hostlist.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sample;
struct secret_list;

enum batch_text {
	BATCH_RAW_ID,      /* the system's own: of an array job's element, the element's */
	BATCH_ARRAY_ID,    /* of the whole array */
	BATCH_ARRAY_INDEX, /* which element of it */
	BATCH_STEP,        /* "0", "batch", "interactive"; within the job */
	BATCH_NAME,
	BATCH_USER,
	BATCH_ACCOUNT,
	BATCH_QUEUE, /* partition */
	BATCH_QOS,
	BATCH_RESERVATION,
	BATCH_CLUSTER,
	BATCH_SUBMIT_DIR,
	BATCH_SUBMIT_HOST,
	BATCH_NODE_TOLD, /* this node's name as a variable has it, which mpirun may have copied */
	BATCH_TEXTS
};

enum batch_number {
	BATCH_NODES,      /* in the job */
	BATCH_NODE_INDEX, /* of this node in the job's list, never the step's */
	BATCH_TASKS_ASKED,
	BATCH_CORES_ASKED,  /* on this node */
	BATCH_MEMORY_ASKED, /* bytes, on this node */
	BATCH_GPUS_ASKED,   /* on this node */
	BATCH_TIME_LIMIT,   /* seconds, of the whole job */
	BATCH_END_UTC,      /* seconds since 1970: when the time limit ends the job */
	BATCH_RESTARTS,
	BATCH_COMPONENTS, /* of a heterogeneous job */
	BATCH_RANK,       /* of this process, if it is one of the job's tasks */
	BATCH_RANKS,
	BATCH_LOCAL_RANK, /* on this node */
	BATCH_LOCAL_RANKS,
	BATCH_NUMBERS
};

/* Which part of the job this process is. */
enum batch_part { BATCH_PART_UNKNOWN, BATCH_PART_SCRIPT, BATCH_PART_STEP, BATCH_PART_SUBMIT };

struct batch_job {
	const struct scheduler *scheduler; /* NULL: no batch job */
	const char *launcher;              /* "openmpi", ...; NULL: not started by mpirun */
	const char *launch_id;             /* mpirun's own; some are not unique in time */
	enum batch_part part;
	char id[128];             /* as its user knows it: 123_4; "" without a scheduler */
	struct hostlist nodes;    /* in the job's order; n 0: not told, and why says why */
	char node[HOSTLIST_NAME]; /* this node as the job's list has it, else its host name */
	bool node_named;  /* by a variable, not by its host name: others may be on this host, too */
	const char *mark; /* what the system's first variable is set to, where that is not the id */
	const char *text[BATCH_TEXTS];
	int64_t number[BATCH_NUMBERS];
	struct err why;   /* what of it could not be read; "" when nothing is wrong */
	char words[1024]; /* texts that are in no variable as they are */
	size_t words_len;
};

/* host: as gethostname(2) says. Nothing of it fails: what cannot be read is absent. */
void batch_job_find(struct batch_job *j, char *const *environment, const char *host);
void batch_job_free(struct batch_job *j);

const char *batch_job_system(const struct batch_job *j); /* "slurm"; NULL without one */
/* The keys job.NAME of recordings; NULL: it is this process's and not the job's. */
const char *batch_text_key(enum batch_text t);
const char *batch_number_key(enum batch_number n);
const char *batch_part_name(enum batch_part p); /* NULL: not known */

/* As metadata job.NAME. Secrets are masked. */
void batch_job_say(const struct batch_job *j, const struct secret_list *l, struct sample *s);
/* "job 4, step batch, node n1 (1 of 3)"; "no batch job: ..." outside of one. */
void batch_job_sentence(const struct batch_job *j, char *out, size_t size);

/*
 * Which rank this process is, as whoever started it as one says: mpirun, or a step's PMI.
 */

/* Does it give every node a copy of the first one's environment? launcher may be NULL. */
bool mpi_copies_environment(const char *launcher);

/* Which launch a rank of Hydra (the mpiexec of MPICH and Intel MPI) belongs to.
 *
 * Its environment does not tell. Its ancestor does, the proxy that mpiexec starts on each node: by
 * itself where all ranks are on one node, else by the address of mpiexec in its command line. */
enum { HYDRA_LAUNCH = 160 };

/* The address of mpiexec in a proxy's command line of n bytes, each word with its NUL: "host:port".
 * The text is hostile. False when it is not a proxy's, or has none. */
bool hydra_address(const char *cmdline, size_t n, char out[HYDRA_LAUNCH]);
/* The launch of process pid: equal for all its ranks, and for those of no other launch at a time,
 * nor ever on this node when alone says that all ranks are here. False: not told. */
bool hydra_launch(pid_t pid, bool alone, char out[HYDRA_LAUNCH]);

#endif
