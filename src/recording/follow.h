/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - a recording, or a directory of them, while it grows: the newest complete sample of
 * each node.
 *
 * A poll reads what was added since the one before. What ended is forgotten, so that memory is that
 * of what lives, however long the job. Every byte is hostile; what is damaged is left out and
 * counted. A recorder writes of one node: an import's further nodes are not followed.
 */
#ifndef SONDE_RECORDING_FOLLOW_H
#define SONDE_RECORDING_FOLLOW_H

#include "base/err.h"
#include "core/phase/event.h"

enum follow_state {
	FOLLOW_WAITING = 0, /* nothing of it can be read yet */
	FOLLOW_OPEN,        /* not closed: still recording, or lost; its age tells which */
	FOLLOW_ENDED,       /* closed in order */
	FOLLOW_UNREADABLE,  /* node.error says why */
};

struct follow_instance {
	uint32_t id;
	char *domain, *name; /* name is hostile text: escape where it goes */
	char *command_line;  /* its label of that name, hostile; NULL: none */
	int64_t pid;         /* its label "pid"; 0: none */
	uint32_t parent;     /* instance, or 0 */
	bool aside;          /* INSTANCE_ASIDE: left out of totals */
};

struct follow_series {
	uint32_t id, instance; /* instance 0: the node itself */
	const struct metric *metric;
	int64_t value;             /* as stored (metric_value) */
	int64_t seen_ns;           /* the node's monotonic time of value; 0: it never had one */
	enum state state;          /* PRESENT, or its last refusal */
	bool present;              /* in the newest sample: seen_ns is that sample's */
	int64_t before, before_ns; /* follow_at only: the reading before value; 0: not known */
};

struct follow_meta {
	char *key, *text; /* hostile; text is cut at FOLLOW_TEXT_MAX */
	enum meta_type type;
	int64_t value;
	double real;
};

enum { FOLLOW_METAS_MAX = 1024, FOLLOW_TEXT_MAX = 4096, FOLLOW_INSTANCES_MAX = 65536 };

struct follow_node {
	const char *host, *path; /* hostile; path of its .sonde file */
	enum follow_state state;
	const char *error;                   /* of UNREADABLE: what the kernel says; else NULL */
	uint32_t replaced;                   /* how often another recording took the file's place */
	uint64_t damages;                    /* places that were left out */
	int64_t made_utc_ns;                 /* when the recording was begun; 0: not known */
	int64_t utc_ns, mono_ns;             /* of its newest sample; 0: none yet */
	int64_t first_utc_ns, first_mono_ns; /* of its first sealed sample; 0: none */
	int64_t last_mono_ns;                /* of its last, once a poll found it ended */
	struct follow_series *series;        /* in order of id */
	uint32_t nseries;
	struct follow_meta *metas; /* the last that was said of each key */
	uint32_t nmetas;
};

struct follow;

/* path: a directory, which may be without a recording yet, or one .sonde file. Nothing is read
 * before the first poll. 0 or -errno. */
int follow_open(struct follow **f, const char *path, struct err *e);
/* Read what is new. 0; -errno when the directory is gone or memory is out, and then what was read
 * before stands. What was handed out before is void. */
int follow_poll(struct follow *f, struct err *e);
/* After a poll that found recordings ended: show each as it was at an instant. What was read for an
 * earlier instant is kept, an earlier one begins anew. A node that had ended by then is ENDED.
 * Polls must not follow. 0 or -ENOMEM. */
int follow_at(struct follow *f, int64_t utc_ns, struct err *e);
void follow_close(struct follow *f); /* NULL is ignored */

uint32_t follow_count(const struct follow *f);
const struct follow_node *follow_node(const struct follow *f, uint32_t i); /* i < count */
/* NULL when it is not known: then a number of it means nothing. */
const struct follow_instance *follow_instance(const struct follow_node *n, uint32_t id);
const struct follow_meta *follow_meta(const struct follow_node *n, const char *key);

#endif
