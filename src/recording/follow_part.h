/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow_part.h - what the files of recording/follow.h share: a recording as far as it was read.
 * Nobody outside includes this.
 */
#ifndef SONDE_RECORDING_FOLLOW_PART_H
#define SONDE_RECORDING_FOLLOW_PART_H

#include "base/idmap.h"
#include "base/pool.h"
#include "recording/block.h"
#include "recording/chunk.h"
#include "recording/file.h"
#include "recording/follow.h"
#include "recording/record.h"
#include "recording/rows.h"

#include <sys/stat.h>

/* Metrics of all recordings: rows that are equal are kept once. */
struct follow_catalogue {
	struct pool pool;
	const struct metric **metric; /* index 0 means none */
	uint32_t n, cap;
	struct idmap names; /* checksum of the name -> index */
};

struct follow_file {
	struct follow_node node; /* first: follow_instance is handed this */
	char *sonde, *tail, *path;
	bool listed;
	struct head head; /* id and host; node 1's */
	bool have_head;
	struct stat st;      /* of the .sonde, when its blocks were read */
	uint64_t at;         /* of the block that comes next */
	bool closed;         /* the last block is an end */
	uint32_t generation; /* of the tail's slot that is being read */
	uint64_t slot_at;    /* bytes of it that were read */
	uint32_t sealed;     /* the last generation that was found in blocks */
	bool late;           /* a block is read that is older than the tail's slot */
	bool broken;         /* the rest of that slot cannot be read */
	struct rows rows;   /* the open series; places are 1 + index in node.series; 0: not known */
	bool moved;         /* series came or went since places were found */
	bool behind;        /* rows were read that are not in node.series */
	int64_t reached_ns; /* follow_at: the node's instant that was shown last; 0: none */
	struct idmap metrics;             /* ids of the file -> of the catalogue */
	struct follow_instance *instance; /* in order of id; name NULL: it ended */
	uint32_t ninstances, nended;
	struct {
		uint32_t series, metas, instance;
	} cap;
};

struct follow {
	char *path;
	bool single; /* path is one recording, not a directory */
	int dir;     /* descriptor */
	struct timespec listed;
	uint32_t polls;
	struct follow_file **file;
	uint32_t nfiles, cap;
	struct follow_catalogue catalogue;
	/* while a file is read */
	struct pool record;
	struct chunk_reader chunk;
	struct bytes data, events;
};

/* Forget what was read: it begins again. */
void follow_file_reset(struct follow_file *x);
/* Read what was added. 0 or -ENOMEM; all else is said in x->node. */
int follow_file_poll(struct follow *f, struct follow_file *x);

/* Take one record. 0 or -ENOMEM. */
int follow_event(struct follow *f, struct follow_file *x, const struct record *r);
/* Give every open series its place, and forget those that are not open. */
void follow_places(struct follow_file *x);

#endif
