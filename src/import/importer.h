/* SPDX-License-Identifier: Apache-2.0 */
/*
 * importer.h - what another program measured becomes a recording: one const struct in its own file,
 * one line in import.def.
 *
 * An importer reads hostile files into a store (import/write.h), which writes the recording. What
 * it leaves out, and what it knows to be wrong, is noted; it prints nothing.
 */
#ifndef SONDE_IMPORT_IMPORTER_H
#define SONDE_IMPORT_IMPORTER_H

#include "core/metric.h"
#include "core/table/map.h"
#include "import/protobuf.h"
#include "import/write.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where a timeline goes, and what is known there of time. Of a recording that exists (`into`): of
 * the node that was chosen. */
struct import_place {
	const char *host, *rank; /* NULL: not given */
	bool into;
	int64_t first_utc, last_utc; /* of the node, as its clock has it */
	int64_t utc_of_mono;         /* UTC of 0 of its monotonic clock */
	const char *of;              /* name of its file */
	const char *align;           /* of a mark or span; NULL: not given */
	int64_t align_utc;           /* when the node, or program, set it */
};

struct import {
	const char *path;      /* what is imported */
	const struct map *map; /* perfmon's names */
	/* The catalogue's row of what is called so in public: a rate has become a gauge. False:
	 * there is none. */
	bool (*find)(const char *name, struct metric *out);
	struct store *store;
	/* Of what holds many jobs, and is much: which job, by how many threads it is read, of how
	 * many nodes at most (0: all). */
	const char *job; /* NULL: the newest */
	unsigned threads, subsample;
	/* Who writes by itself does it there, and tells of each file, from any thread but one at a
	 * time. */
	int dirfd;
	/* Of what is not a file: tells of each of its pages, by a name for sentences. NULL: path is
	 * a file or a directory. */
	int (*pages)(void *pages_ctx,
		     int (*take)(void *ctx, const char *name, const char *text, size_t n),
		     void *ctx, struct err *e);
	void *pages_ctx;
	void (*wrote)(void *ctx, const char *name);
	void *ctx;
	struct import_place place; /* of timelines */
};

struct importer {
	const char *name;    /* of the format: "lightgbm-perf" */
	const char *operand; /* "DIR", "FILE" */
	const char *what;    /* a few words for people */
	bool has_jobs;       /* a job, or a pool, may be named behind the path */
	bool has_workers;    /* some of which may be chosen */
	bool is_timeline;    /* of one node, and may go into a recording that exists */
	bool is_profile;     /* samples of stacks of one node */
	int (*run)(const struct import *x, struct err *e); /* 0 or -errno */
};

/* All of import.def, in its order. */
extern const struct importer *const importers[];
extern const size_t nimporters;
const struct importer *importer_find(const char *name); /* NULL when unknown */

/*
 * A file of JSON documents, one after the other, a document at a time: where its
 * outermost brace is closed it ends.
 */
struct documents {
	struct packed *file; /* set, borrowed */
	/* private */
	uint8_t data[65536];
	size_t at, end;
	bool over; /* of the file */
	unsigned depth;
	bool in_text, escaped, begun, done; /* of the document */
};

/* The next document begins; false: there is none. */
bool documents_next(struct documents *d);
/* Bytes of it, for jsondoc_open_from: 0 at its end. */
ssize_t documents_read(void *ctx, void *data, size_t n);

/*
 * The lines of a file that may be compressed, in fixed memory: longer ones are cut.
 */
enum { LINES_MOST = 16384, LINES_AHEAD = 65536 };

struct lines {
	char text[LINES_MOST + 1]; /* the line, without its end */
	uint64_t cut;              /* lines that were */
	bool failed;               /* the file could not be read on: its e says why */

	/* private */
	uint8_t ahead[LINES_AHEAD];
	size_t at, end;
};

/* From the file's begin on. 0 or -errno with a sentence. */
int lines_begin(struct lines *l, struct packed *file, struct err *e);
bool lines_next(struct lines *l, struct packed *file); /* false: there is none */

/*
 * Of which node of a recording, and of which time, an imported timeline is.
 */
struct place_options {
	const char *into, *node, *align; /* options; NULL: not given */
	int64_t rank;                    /* -1: not given */
	/* private */
	char host[256], rank_text[24], of[256];
};

/* Fill p, whose texts are those of x. 0, or -errno with a sentence. */
int import_place_find(struct place_options *x, struct import_place *p, struct err *e);

#endif
