/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aside.h - leaving a step of Slurm that keeps the job's own steps from starting.
 *
 * Since Slurm 20.11 steps share no CPUs unless they are started with --overlap. This is the one
 * place where Sonde runs commands of a scheduler: `scontrol show step`, when an srun of the job is
 * some seconds old, to learn whether it waits; and `srun --overlap`, for a step of perfmon's own in
 * which it goes on. Slurm ends a step with the srun that started it, which runs in the step that is
 * left; so that srun and its shepherd are killed once the new step runs, and it lives on.
 */
#ifndef SONDE_PERFMON_ASIDE_H
#define SONDE_PERFMON_ASIDE_H

#include "base/err.h"
#include "base/process.h"
#include "sampler/tree/members.h"

#include <limits.h>
#include <stdbool.h>

/* Set in the environment of the new step: the id of the one that was left. */
#define ASIDE_VARIABLE "SONDE_PERFMON_LEFT_STEP"

enum { ASIDE_WAITERS = 16 };

/* {0} with the first ones set. */
struct aside {
	const struct batch_job *job;
	const struct members *members;
	const bool *saw;             /* was a process of the job seen that does not only wait? */
	int64_t alone_ns;            /* from then on (clock_mono_ns) it is due if none was */
	bool decides;                /* this copy does, for those of all nodes */
	bool due, blocked;           /* blocked: an srun waits, and for no other step than this */
	struct asking asked;         /* scontrol */
	pid_t waiter[ASIDE_WAITERS]; /* the sruns that it is asked for */
	size_t nwaiters;
	int64_t begun_ns, next_ns; /* of looking for them */
};

/* Once a second: is it time to leave? Never waits. */
bool aside_is_due(void *aside);
/* What `scontrol -o show step` says of the sruns of a->waiter: does one of them wait, and is this
 * step the only one that it may wait for? */
bool aside_blocks(const struct aside *a, const char *steps);
/* The same command goes on in a step that overlaps all others, on all nodes of the job. 0 once its
 * copies record there, or -errno with a sentence. This one has to end then. */
int aside_continue(const struct aside *a, struct err *e);
/* A copy in the new step tells that it records. */
void aside_say_ready(void);
void aside_close(struct aside *a);

/*
 * Where perfmon's files go: below -d, in -p, or for a benchmark test in
 * perfmetrics/{system}/{partition}/{env}/{name}; and the log among them.
 *
 * Of the log: "time | level | host | module:function | line | message", a line and a write each, so
 * that the nodes of a job may share the file. Hostile text is escaped. What cannot be written is
 * not there: logging never fails.
 */
struct perfmon_names {
	const char *save_dir, *prefix;               /* NULL or "": here; none */
	const char *system, *partition, *env, *name; /* all or none of them */
};

struct perfmon_place {
	char save_dir[PATH_MAX];  /* of the log */
	char directory[PATH_MAX]; /* of all else */
	bool benchmark;           /* whose tables of all jobs are in one file */
};

/* Absolute, with ~, $NAME and ${NAME} in -d replaced. 0; -EINVAL when names are missing or are no
 * names, -errno. Nothing is made. */
int perfmon_place_find(struct perfmon_place *p, const struct perfmon_names *n, struct err *e);
/* Make the directories that are not there, for their owner only. 0 or -errno. */
int perfmon_place_make(const struct perfmon_place *p, struct err *e);

enum log_level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARNING, LEVEL_ERROR };

struct logfile {
	int fd; /* 0: not open */
	const char *host;
	bool debug; /* else such lines are left out */
};

/* Appends to ska_sdp_monitoring_metrics.log in the directory; with debug to a file of this host's
 * own, ska_sdp_monitoring_metrics_HOST.log. host is borrowed. 0, or -errno with a sentence. */
int logfile_open(struct logfile *l, const char *directory, const char *host, bool debug,
		 struct err *e);
void logfile_close(struct logfile *l);
void logfile_write(const struct logfile *l, enum log_level level, const char *function, int line,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));

#define log_debug(l, ...)   logfile_write(l, LEVEL_DEBUG, __func__, __LINE__, __VA_ARGS__)
#define log_info(l, ...)    logfile_write(l, LEVEL_INFO, __func__, __LINE__, __VA_ARGS__)
#define log_warning(l, ...) logfile_write(l, LEVEL_WARNING, __func__, __LINE__, __VA_ARGS__)
#define log_error(l, ...)   logfile_write(l, LEVEL_ERROR, __func__, __LINE__, __VA_ARGS__)

#endif
