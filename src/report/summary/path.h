/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - the critical path of a job: the chain of processes, one at a time, that is its time.
 *
 * From the end backward: a process waits for the child that ended last before, if one did; before
 * that child was started, for the one that ended last before that, and so on; what is between is
 * the process's own. One that computed for more than half of the time it would have waited is taken
 * not to wait. So the parts add up to the time of the job's first process, to its end.
 *
 * What a process waited while children of it ran that have no instance is theirs: "unknown wait",
 * no name's. It is taken to be as long as these ran (union), less what the process computed.
 *
 * "Half as long": each process of a name takes half of what it took by itself. Others keep the time
 * that they took, and start as long after the end of what they waited for as they did. A process
 * is taken to have waited for the one of its parent's children that ended last before its start
 * (shorter_s), or for all that ended before its start (at_most_s): what it needed nobody has seen.
 * Times are in seconds. Texts are the run's, and hostile. {0} is empty and safe to free.
 */
#ifndef SONDE_REPORT_SUMMARY_PATH_H
#define SONDE_REPORT_SUMMARY_PATH_H

#include "base/bytes.h"
#include "core/frame/run.h"
#include "report/summary/summary.h"

struct path_part {
	uint32_t process;    /* in summary.processes */
	double from_s, to_s; /* since the run began */
};

/* All processes of a name. */
struct path_name {
	const char *name;
	uint32_t longest;   /* of its processes, the one that is longest on the path */
	double on_path_s;   /* without unknown_s */
	double unknown_s;   /* on the path, it may have waited for processes that are not known */
	double cpu_s;       /* of these processes, as much as there is of them on the path; NAN */
	uint32_t processes; /* on the path */
	double shorter_s;   /* the whole, if these were half as long; NAN: not asked */
	double at_most_s;
};

enum { PATH_SIMULATED = 10 };

struct path {
	double wall_s;          /* of the first process */
	uint32_t root;          /* in summary.processes; UINT32_MAX: there is none */
	struct path_part *part; /* from the start to the end */
	uint32_t nparts;
	struct path_name *name; /* most first */
	uint32_t nnames;
	double unknown_s;   /* of all names: with what these are on the path, the whole */
	double known_ratio; /* processes that are known, of those that were started; NAN */
};

/* 0 or -errno with a sentence. */
int path_make(struct path *p, const struct summary *s, const struct run *r, struct err *e);
void path_free(struct path *p);

/* How much of its time on the path they used a core; NAN: it is not known. */
double path_computing_ratio(const struct path_name *n);
/* Is it worth a look? Not where one process is nearly all of it. */
bool path_tells(const struct path *p, const struct summary *s);
/* "cc1 67 %, ld 22 %": the names with most of it; not escaped. */
void path_words(const struct path *p, unsigned most, struct bytes *out);
void path_text(struct bytes *b, const struct path *p, const struct summary *s, bool all);
/* Schema sonde/path/1. */
void path_json(struct bytes *b, const struct path *p, const struct summary *s);

#endif
