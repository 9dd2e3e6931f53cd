/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - a place numbers come from: one const struct in its own file, one line in sources.def.
 *
 * open() asks the sample for its series and keeps files open; it returns -errno with a sentence
 * when this machine has no such thing (the source is then off, and doctor says why). read()
 * allocates nothing, prints nothing, never blocks on anything but /proc and /sys, and finds fields
 * by name. A source knows no file format and no command line. What people should know of a source
 * that works it says as metadata NAME.note, a sentence, which doctor shows.
 */
#ifndef SONDE_SOURCE_SOURCE_H
#define SONDE_SOURCE_SOURCE_H

#include "base/err.h"
#include "base/root.h"
#include "core/sample.h"

#include <sys/types.h>

struct bytes;
struct perf_options; /* source/perf/perf.h */
struct secret_list;

enum files_by { FILES_OFF, FILES_BY_CALLS, FILES_BY_POSITIONS };

/* Puts a text without what looks like a secret; text NULL: nothing is masked. */
struct source_mask {
	void (*text)(const struct secret_list *secrets, struct bytes *out, const char *text);
	const struct secret_list *secrets;
};

/* The job's processes that are alive, as the root names them. tree is NULL where there is no job
 * (doctor) and until the sources are open; it changes between two reads. */
struct source_job {
	const void *tree;
	size_t (*pids)(const void *tree, pid_t *out, size_t cap); /* how many were given */
	/* Those of them that have used so much CPU time. */
	size_t (*busy)(const void *tree, int64_t cpu_ns, pid_t *out, size_t cap);
	int64_t (*cpu_ns)(const void *tree); /* that the job has used */
	bool (*has)(const void *tree, pid_t pid);
	/* What a process is in the recording, also one that ended a moment ago; 0: nothing. */
	uint32_t (*instance)(const void *tree, pid_t pid);
	/* Does it switch tasks so often that events of each task cost it too much? */
	bool (*switches_often)(const void *tree);
};

/* What every source may know of the target; filled by the sampler. Borrowed: it outlives the
 * source.
 */
struct source_env {
	struct root proc, sys;   /* --procfs, --sysfs: directories everything is read below */
	const char *output_path; /* directory of the recording; NULL = none */
	int64_t interval_ns;
	/* The job is these and their descendants, as proc names them; none: doctor. */
	const pid_t *roots;
	size_t nroots;
	bool launched; /* roots is the launcher: what it starts is the job, itself it is not */
	bool shared;   /* roots is the first of several launchers; joined() tells of the others */
	bool rest_follows; /* rest() will be called */
	bool followed; /* attached to a batch job: adopted() tells of the roots, those to come too
			*/
	const struct perf_options *perf; /* NULL: nobody asks, all is tried */
	int64_t stacks_hz;       /* samples of stacks a second and CPU; 0: as fits; < 0: none */
	int64_t stacks_after_ns; /* of a process that has used so much CPU time, in rounds; 0: all
				  */
	double max_overhead;     /* share of one core that Sonde may take; 0: no limit */
	bool no_paths;           /* of the files in stacks and waits record the names alone */
	int64_t memory_hz;       /* samples of page faults a second; 0: as fits; < 0: none */
	enum files_by files;     /* how the files that the job uses are recorded */
	bool peers;              /* whether its TCP connections are recorded */
	int64_t waits_hz;        /* looks a second at threads that wait; 0: as fits; < 0: none */
	int64_t patience_ns; /* how long open may wait for a helper's first answer; 0: not at all */
	struct source_mask mask;
	struct source_job job;
};

/* What helps against a reason, known by these words in it. */
struct source_fix {
	const char *words, *user, *admin; /* user, admin NULL: nothing */
};

struct source {
	const char *name;
	const char *what; /* a few words for people: "CPU of the node, total and per core" */
	/* What makes it available when it is not: the first row whose words are in the reason, else
	 * fix_user and fix_admin. */
	const struct source_fix *fixes;   /* up to a row without words; NULL: none */
	const char *fix_user, *fix_admin; /* NULL: nothing */
	const char *const *filled_by; /* names of the sources that fill its rows, and declare them,
					 up to NULL; NULL: it does itself, or the sampler */
	const struct metric *metrics; /* measured and derived rows; nmetrics of them */
	size_t nmetrics;
	bool declares_itself; /* open() declares the rows that are here: metrics is all there may be
			       */
	size_t size;          /* of its private state, zeroed before open */
	/* Was it asked for? Of what was not, nothing is said. NULL: always. */
	bool (*wanted)(const struct source_env *env);
	/* Does it tell as much if it is opened when the job has begun? Then the job need not wait
	 * for it. NULL: never, for what it counts is counted from before the job. */
	bool (*can_wait)(const struct source_env *env);
	/* NULL: the rows are filled by the sampler itself (process, job, monitor). */
	int (*open)(void *state, const struct source_env *env, struct sample *s, struct err *e);
	int (*read)(void *state, struct sample *s); /* 0 or -errno: counted, the rest goes on */
	/* What is told once, and need not be known before the job begins, behind the first read().
	 * Called if env says so. NULL: it is all told in open(). */
	void (*rest)(void *state, struct sample *s);
	/* One more launcher, whose children are the job's, too; whether its task runs already.
	 * NULL: the source need not know. */
	int (*joined)(void *state, pid_t launcher, bool runs, struct sample *s);
	/* These are the job's from now on, and what they start; none of them was started by one
	 * that was. NULL: the source need not know. */
	int (*adopted)(void *state, const pid_t *pids, size_t n, struct sample *s);
	void (*close)(void *state);
};

#define SOURCE_METRICS(array) .metrics = (array), .nmetrics = sizeof(array) / sizeof((array)[0])

/* For can_wait: always. */
bool source_can_wait(const struct source_env *env);
/* What is the kernel's own is not asked for where other files stand for its /proc. */
#define SOURCE_NOT_THIS_KERNEL "the files read are not this kernel's /proc"
/* The fix_admin of who reads files of /proc beside those of processes. */
#define SOURCE_FIX_PROC "mount /proc where the job runs, without subset=pid"

/* Nothing helps, nor need it, where "no NFS is mounted". */
extern const struct source_fix source_not_mounted[];

/* All of sources.def, in its order. */
extern const struct source *const sources[];
extern const size_t nsources;

#endif
