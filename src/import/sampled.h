/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled.h - samples of stacks that another profiler took, written as a recording of one node.
 *
 * Modules, frames and stacks are told by their contents (frames by a sum of 64 bits), and are each
 * written once. Their number is bounded: what is beyond is of unknown code, and counted.
 */
#ifndef SONDE_IMPORT_SAMPLED_H
#define SONDE_IMPORT_SAMPLED_H

#include "base/pool.h"
#include "import/importer.h"
#include "recording/writer.h"

enum {
	SAMPLED_TEXT_MAX = 1000, /* bytes of a name or path; longer ones are cut */
	SAMPLED_DEEP_MAX = 4096, /* frames of a stack */
	SAMPLED_BATCH = 512
};

/* Ids of 64 bits; {0} is empty. Ids are not 0. */
struct sampled_ids {
	struct sampled_id *id;
	uint32_t n, cap;
};
uint32_t sampled_ids_get(const struct sampled_ids *m, uint64_t key);   /* 0: unknown */
int sampled_ids_put(struct sampled_ids *m, uint64_t key, uint32_t id); /* 0 or -ENOMEM */
void sampled_ids_free(struct sampled_ids *m);

struct sampled {
	struct err *e;
	struct writer *w;
	struct sample sample;
	struct sampled_ids modules, frames, stacks, processes;
	const char *rank; /* of the processes; NULL: not known */
	int64_t begin_utc, last_ns;
	int64_t whole_ns; /* > 0: each sample is of this whole time, from the begin on */
	uint64_t beyond;  /* modules, frames, stacks, processes for which there was no room */
	uint64_t samples;
	const char *name; /* of the file, once it is closed: in the store */

	/* private: samples that wait */
	struct samples_head head;
	char command[64];
	struct event_item item[SAMPLED_BATCH];
	uint32_t n;
};

/* begin_utc is 0 of all its times. 0 or -errno with a sentence. */
int sampled_open(struct sampled *s, const struct import *x, const char *format, int64_t begin_utc,
		 struct err *e);
/* Each gives an id; 0: not known, or beyond what there is room for. */
uint32_t sampled_module(struct sampled *s, const char *path, const char *build_id);
uint32_t sampled_frame(struct sampled *s, const struct frame_row *row); /* its id is not read */
uint32_t sampled_stack(struct sampled *s, uint32_t parent, uint32_t frame);
/* pid 0: it is not known. */
uint32_t sampled_process(struct sampled *s, uint32_t pid, const char *command, int64_t at_ns);
/* So many samples of `unit` ns of CPU time at a time since the begin. 0 or -errno. */
struct sampled_one {
	uint32_t instance, tid, stack;
	const char *command;
	int64_t unit, at_ns;
	uint64_t weight;
};
int sampled_add(struct sampled *s, const struct sampled_one *one);
/* The recording ends there. Whatever rc was, all is freed; 0 or -errno. A file that failed is taken
 * away. */
int sampled_close(struct sampled *s, const struct import *x, int64_t end_ns, int rc);

#endif
