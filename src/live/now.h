/* SPDX-License-Identifier: Apache-2.0 */
/*
 * now.h - what the nodes of a running job do now: their newest samples as figures, with the rates
 * between two looks.
 *
 * A figure that is not known is NAN, never 0: before a counter was seen twice, when it was not read
 * for long, and of a node of which nothing comes. Names are hostile.
 */
#ifndef SONDE_LIVE_NOW_H
#define SONDE_LIVE_NOW_H

#include "recording/follow.h"

/* Of a node, a process or a GPU; each has some of them. The rows are now_figures. */
enum now_figure {
	NOW_CPU = 0,   /* cores in use */
	NOW_CPU_RATIO, /* of the cores it may use */
	NOW_CORES,
	NOW_CPU_TIME,
	NOW_MEMORY, /* a node's: PSS where that is known, else RSS; a process's: RSS */
	NOW_MEMORY_RATIO,
	NOW_MEMORY_LIMIT, /* the least of: its limit, what was asked for, what there is */
	NOW_READ,
	NOW_WRITTEN,
	NOW_PROCESSES,
	NOW_THREADS,
	NOW_GPU,
	NOW_GPU_MEMORY,
	NOW_GPU_MEMORY_RATIO,
	NOW_GPU_MEMORY_TOTAL,
	NOW_POWER,
	NOW_TEMPERATURE,
	NOW_NODE_CPU,   /* cores that work on the node, whoever uses them */
	NOW_OTHERS_CPU, /* those of them that the job does not */
	NOW_NODE_CORES,
	NOW_NODE_MEMORY, /* that programs use on the node */
	NOW_OTHERS_MEMORY,
	NOW_NODE_MEMORY_TOTAL,
	NOW_NODE_MEMORY_FREE,
	NOW_LOAD, /* threads that run or wait, 1 min */
	NOW_FIGURE_NUMBER_OF
};

struct now_figure_row {
	const char *name; /* in JSON */
	enum unit unit;
};
extern const struct now_figure_row now_figures[NOW_FIGURE_NUMBER_OF];

enum now_state {
	NOW_RUNNING = 0,
	NOW_LATE,       /* nothing came for three intervals, and five seconds */
	NOW_SILENT,     /* for ten, and a minute: the recorder, or its node, may be lost */
	NOW_WAITING,    /* no sample yet */
	NOW_ENDED,      /* closed in order */
	NOW_UNREADABLE, /* from->error says why */
	NOW_STATE_NUMBER_OF
};
const char *now_state_name(enum now_state s); /* one word */

struct now_node {
	uint32_t id;                    /* never another's, as long as it is looked at; not 0 */
	const struct follow_node *from; /* until the next look */
	char *path, *name;              /* node-NAME.sonde */
	enum now_state state;
	bool pss;         /* NOW_MEMORY is PSS */
	double age_s;     /* of its newest sample; NAN: there is none */
	double elapsed_s; /* from the recording's begin to its newest sample */
	double figure[NOW_FIGURE_NUMBER_OF];
	uint32_t ngpus;
	/* private */
	struct now_series *series; /* as from->series */
	uint32_t nseries, replaced;
	int64_t mono_ns, seen_ns, changed_ns;
};

struct now {
	struct follow *follow;
	struct now_node *node; /* in order of their files' names */
	uint32_t n;
	double figure[NOW_FIGURE_NUMBER_OF]; /* of all nodes that run or are late */
	uint32_t state[NOW_STATE_NUMBER_OF]; /* how many nodes are in it */
	uint32_t damaged;                    /* and of how many something was left out */
	double elapsed_s;                    /* from the first recording's begin */
	uint32_t last_id;
	bool replays; /* by now_replay: nothing of it is there any more */
};

/* path: a directory or one .sonde file. Nothing is known before the first look. 0 or -errno. */
int now_open(struct now *x, const char *path, struct err *e);
/* Look again. -errno when the directory is gone or memory is out; then what was known stands. */
int now_look(struct now *x, struct err *e);
void now_close(struct now *x);

/* Of a recording that has ended, wall time: its begin, its first and last sample. */
struct now_span {
	int64_t begin_ns, first_ns, last_ns;
	int64_t interval_ns; /* between two samples */
};
/* After a look. False while a node may still record, or when there is no sample. */
bool now_span(const struct now *x, struct now_span *out);
/* Instead of a look: as it was at an instant, with the rates between the two readings before. No
 * look may follow. 0 or -errno. */
int now_replay(struct now *x, int64_t utc_ns, struct err *e);

/* A process or a GPU of a node. */
struct now_thing {
	uint32_t id; /* of its instance */
	const char *name;
	const char *command_line; /* NULL: not known */
	uint32_t parent;          /* instance, or 0 */
	int64_t pid;              /* 0: none */
	double figure[NOW_FIGURE_NUMBER_OF];
};
struct now_things {
	struct now_thing *thing;
	uint32_t n, cap;
};
/* Those of a domain, as "process", that are there, in order of id; until the next look. 0 or
 * -ENOMEM; in either case things_free. */
int now_things(const struct now_node *n, const char *domain, struct now_things *out);
void now_things_free(struct now_things *t);

/* Are its processes those of this machine, by the same numbers? */
bool now_is_here(const struct now_node *n);

/* What series i of the node is now, in *unit: a counter's rate, else its value. */
double now_value(const struct now_node *n, uint32_t i, enum unit *unit);

#endif
