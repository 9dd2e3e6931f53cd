/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans_part.h - a process's file while it is read: rings (spans.c); counters, arguments and names
 * (spans_counters.c). Private to these.
 */
#ifndef SONDE_SOURCE_PROGRAM_SPANS_PART_H
#define SONDE_SOURCE_PROGRAM_SPANS_PART_H

#include "source/program/spans.h"

enum { SPAN_NUMBERS_MAX = RING_NAMES_MAX + RING_TEXTS_MAX };

/* A thread's ring. */
struct reading {
	uint64_t taken, lost;
	int64_t id;     /* the thread's */
	uint32_t track; /* instance; 0: none yet */
	bool broken;    /* there was no sense in it */
};

/* What there is of a counter beside what has been put. */
struct counter {
	uint32_t name, instance, slot;
	int64_t until_ns, width_ns; /* of the interval that is going on */
	uint32_t kept;              /* values of it that were kept as they came */
	uint64_t all;               /* ... of all intervals */
	uint32_t nheld;             /* values behind these, of which there is left: */
	struct event_point least, most, last;
	double value; /* the last one */
};

/* What MPI did; instances of 0 are not there yet. */
struct mpi_reading {
	uint32_t rank, rank_slot, call[RING_CALLS_MAX], call_slot[RING_CALLS_MAX],
		peer[RING_PEERS_MAX], peer_slot[RING_PEERS_MAX];
	int64_t alive_ns; /* when the process was last seen to be there */
	int64_t elapsed_ns, inside_ns;
};

struct span_reader {
	int fd;
	pid_t pid, inner_pid; /* 0: in another namespace; as it is called there */
	uint32_t about;
	char rank[16]; /* "": nobody says one */
	uint64_t lost; /* of threads without a ring */
	uint64_t wrong_order, nameless, args_left;
	uint32_t nthreads;
	struct reading thread[RING_THREADS_MAX];
	uint32_t word[SPAN_NUMBERS_MAX + 1]; /* of the recording; 0: not told yet */
	uint32_t lane_track[RING_LANES_MAX]; /* instances; 0: none yet */
	/* texts: where they lie, from 1; and how far that is known */
	uint32_t text_at[RING_TEXTS_MAX + 1], ntexts, text_chunk, text_used;
	uint16_t counter_of[SPAN_NUMBERS_MAX + 1]; /* 1 + which; 0: none */
	uint32_t ncounters;
	struct counter counter[SPAN_COUNTERS_MAX];
	struct mpi_reading mpi;
};

bool span_file_get(const struct span_reader *r, size_t at, void *out, size_t size);
/* False: it has none. */
bool span_name_get(struct span_reader *r, struct span_intake *in, uint32_t name,
		   char out[RING_TEXT_MAX + 1]);
/* An instance of the process says which that is. */
void span_label_put(const struct span_reader *r, struct sample *s, uint32_t instance);
void span_losses_take(struct span_reader *r, struct span_intake *in);

/* How many slots of arguments follow this one. */
uint32_t span_args_slots(const struct ring_slot *slot);
/* The arguments in n slots as KEY=VALUE words, to in->detail. */
void span_args_text(struct span_reader *r, struct span_intake *in, const struct ring_slot *slot,
		    uint32_t n);

/* The values among n slots of in->apart. */
void span_counters_put(struct span_reader *r, struct span_intake *in, struct sample *s, uint32_t n);
/* What is held back: no more will come. */
void span_counters_flush(struct span_reader *r, struct span_intake *in, struct sample *s);
void span_counters_end(struct span_reader *r, struct sample *s);

/* What MPI did (mpi.c), with a sample. */
void span_mpi_put(struct span_reader *r, struct span_intake *in, struct sample *s);
void span_mpi_end(struct span_reader *r, struct sample *s, int64_t end_ns);

#endif
