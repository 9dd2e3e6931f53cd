/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scanner.h - what Scanner wrote of a job, as it is imported: its profiles, the descriptors of its
 * database, and a node's recording made of a profile.
 */
#ifndef SONDE_IMPORT_SCANNER_H
#define SONDE_IMPORT_SCANNER_H

#include "base/bytes.h"
#include "base/err.h"
#include "core/phase/mark.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A profile, profile_N.bin or profile_master.bin, is read once from begin to end in a window of
 * fixed size.
 *
 * A file has neither magic nor version nor checksum: what is in it is believed where it fits
 * what is around it. What does not is told as a fault with its offset, and what was before stays.
 */

enum {
	SCANNER_BATCH = 16384, /* intervals at a time */
	SCANNER_KEYS = 256,    /* their numbers are bytes */
	SCANNER_TEXT_MAX = 4096,
};

enum scanner_place { SCANNER_EVENT_LOOP, SCANNER_LOAD, SCANNER_EVAL, SCANNER_SAVE, SCANNER_MASTER };

/* One profile in a file: that of a thread. Texts are hostile and last until the next one. */
struct scanner_thread {
	enum scanner_place place;
	int64_t node, number; /* as it says; number: which reader, pipeline, writer */
	const char *type, *tag;
	int group; /* of kernels: which stage of the chain, from 0; else -1 */
	uint32_t nkeys;
	const char *key[SCANNER_KEYS]; /* by number; NULL: none has it */
};

/* key[] are below SCANNER_KEYS, with a name. */
struct scanner_intervals {
	uint32_t n;
	const uint16_t *key;
	const int64_t *begin_ns, *end_ns; /* since the job began, on that node's clock */
};

/* Each is told in the order of the file. thread and intervals: 0, or an errno that ends it. */
struct scanner_visitor {
	void *ctx;
	void (*times)(void *ctx, int64_t begin_utc_ns, int64_t end_utc_ns);
	/* Pipelines, and stages of each; before the first of them. */
	void (*chains)(void *ctx, unsigned pipelines, unsigned stages);
	int (*thread)(void *ctx, const struct scanner_thread *t);
	int (*intervals)(void *ctx, const struct scanner_intervals *i);
	void (*counter)(void *ctx, const char *name, int64_t value);
	int (*thread_end)(void *ctx);
	/* lost: something was left out there; else only wrong. */
	void (*fault)(void *ctx, uint64_t offset, bool lost, const char *what);
};

/* 0, also with faults; -ENOMEM, -errno of reading, or what a visitor returned. */
int scanner_profile_read(int fd, bool master, const struct scanner_visitor *v);

/* One profile of Scanner's becomes the recording of a node: a track for each thread, its intervals
 * as spans, its counters as final values. */

struct scanner_node {
	int64_t number;   /* of the node; SCANNER_MASTER_NODE */
	int64_t base_utc; /* when the job began: intervals count from there */
	const char *host, *from, *job_name;
	int64_t job;
	/* What is known to be wrong; lost: something was left out. */
	void (*fault)(void *ctx, uint64_t offset, bool lost, const char *what);
	void *ctx;
	char name[300]; /* set: of the file that was written; empty: none */
	uint64_t spans; /* set */
};

/* Read the profile, write it into the directory. 0 or -errno. */
int scanner_node_import(struct scanner_node *n, int profile, int dirfd, struct err *e);

/* The two descriptors of Scanner's database that say which jobs there are: DB_PATH/db_metadata.bin
 * and DB_PATH/jobs/ID/descriptor.bin, as protobuf. */

struct scanner_job {
	uint64_t id;
	int64_t nodes;  /* -1: not known */
	char name[256]; /* empty: not known */
};

/* Each job that the database's descriptor names. bad: where it is malformed from; -1: nowhere. */
void scanner_database_jobs(struct scan in, void (*job)(void *ctx, const struct scanner_job *j),
			   void *ctx, int64_t *bad);
/* What a job's own descriptor says; likewise. */
void scanner_database_job(struct scan in, struct scanner_job *j, int64_t *bad);

/*
 * So much of a file as is looked at, from a place that only moves forward.
 */

enum { WINDOW_AHEAD = 64 << 10 }; /* bytes that are read together, where fewer are wanted */

struct window {
	int fd;
	uint8_t *data;
	size_t at, len;  /* what is not yet taken: data[at..len) */
	uint64_t offset; /* of data[0] in the file */
	bool ended;      /* the file has no more behind len */
	int failed;      /* errno of reading */
};

/* cap: at least WINDOW_AHEAD. */
static inline int window_open(struct window *w, int fd, size_t cap)
{
	*w = (struct window){ .fd = fd, .data = malloc(cap) };
	return w->data ? 0 : -ENOMEM;
}

static inline void window_close(struct window *w)
{
	free(w->data);
}

/* How many bytes are there from here on, n wanted; n is at most the window's size. Of what is large
 * no more is read than was wanted, so that nothing behind it must be moved. */
static inline size_t window_fill(struct window *w, size_t n)
{
	size_t wanted = n > WINDOW_AHEAD ? n : WINDOW_AHEAD;

	if (w->len - w->at >= n || w->ended)
		return w->len - w->at;
	memmove(w->data, w->data + w->at, w->len - w->at);
	w->offset += w->at;
	w->len -= w->at;
	w->at = 0;
	while (w->len < wanted && !w->ended) {
		ssize_t got = read(w->fd, w->data + w->len, wanted - w->len);

		if (got < 0 && errno == EINTR)
			continue;
		w->failed = got < 0 ? -errno : 0;
		w->ended = got <= 0;
		w->len += got > 0 ? (size_t)got : 0;
	}
	return w->len;
}

static inline uint64_t window_offset(const struct window *w)
{
	return w->offset + w->at;
}

static inline const uint8_t *window_here(const struct window *w)
{
	return w->data + w->at;
}

#endif
