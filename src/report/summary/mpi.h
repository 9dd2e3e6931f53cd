/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.h - what the ranks of a job did with MPI (source/program/mpi.c): time, bytes, who was late,
 * and efficiencies as POP (Performance Optimisation and Productivity) defines them.
 *
 * Of the ranks that began together for the longest time; of how many such launches, it says. What
 * is not known is NAN. Texts are the run's.
 */
#ifndef SONDE_REPORT_SUMMARY_MPI_H
#define SONDE_REPORT_SUMMARY_MPI_H

#include "base/bytes.h"
#include "core/phase/phase_rule.h"
#include "report/summary/parts.h"

#include <stdio.h>

/*
 * A rank computes when it is not in MPI. parallel = balance x communication: the mean of what ranks
 * compute over the time that passed; balance: that mean over the most that one computes;
 * communication: the most over the time. communication = serialisation x transfer: what passes
 * without the time that data needs to be moved over the time; that time is, of each kind of calls,
 * their number times the shortest of any rank.
 */
struct mpi_pop {
	double parallel, balance, communication, serialisation, transfer;
};

struct mpi_rank {
	uint32_t instance, rank, node;
	double began_s, elapsed_s, inside_s, transfer_s, calls, bytes;
	double late_s; /* how much later than the first rank it comes to what all do; mean */
	double held_s; /* the others were in MPI while it computed: at least, on average; NAN */
};

/* For a while one rank computed more than each other one. */
struct mpi_stretch {
	uint32_t rank; /* its place in the launch */
	double from_s, to_s, held_s;
};

/* All calls of a function. */
struct mpi_function {
	const char *name;
	double calls, seconds, bytes;
	/* What all ranks do together: from the first to the last rank to come, of their mean times;
	 * and who that is. NAN: it is none of that kind, or ranks do not all do it. */
	double spread_s;
	uint32_t last_rank;
};

/* A kind of calls of a rank. */
struct mpi_call {
	uint32_t instance, rank; /* rank: its place in the launch */
	const char *name;
	uint32_t ranks, size_log2;
	double calls, seconds, bytes;
	double least_s;   /* the shortest of any rank */
	double arrived_s; /* the sum of when they began, since MPI did in that rank */
};

struct mpi_peer {
	uint32_t from, to;
	double messages, bytes;
};

struct mpi_phase {
	char name[PHASE_NAME_MAX];
	uint32_t nranks;  /* that have it */
	double elapsed_s; /* of the rank that has most of it */
	struct mpi_pop pop;
};

struct mpi {
	const char *missing;   /* why there is nothing; else NULL */
	uint32_t nlaunches;    /* of MPI, one after the other or side by side */
	struct mpi_rank *all;  /* of all launches */
	struct mpi_rank *rank; /* [nranks] of the launch, in order */
	struct mpi_call *call; /* of the launch, kind by kind */
	uint32_t ncalls;
	uint32_t nranks, ranks; /* recorded, and of all */
	double elapsed_s;
	struct mpi_pop pop;
	uint32_t late; /* place of the rank that comes last; late_s NAN: not known */
	double late_s;
	struct mpi_function *function; /* by time, the most first */
	uint32_t nfunctions;
	struct mpi_peer *peer; /* by bytes, the most first */
	uint32_t npeers;
	struct mpi_phase *phase; /* in order of their first begin */
	uint32_t nphases;
	/* Of all ranks; of how long that is. NAN: not known, as with clocks that are not. */
	double held_s, held_of_s;
	struct mpi_stretch *stretch; /* those with most, in order of time */
	uint32_t nstretches;
};

/* *m NULL: nobody asked for it. 0 or -errno with a sentence. Free it in either case. */
int mpi_make(struct mpi **m, const struct run *r, const struct series_index *x, struct err *e);
void mpi_free(struct mpi *m); /* NULL is fine */
/* It, and what rules ask for. */
int summary_mpi_make(struct summary *s, const struct run *r, const struct series_index *x,
		     struct err *e);
/* The phases besides (mpi_phases.c), and for whom the others waited: reads the run's chunks. */
int mpi_phases_make(struct mpi *m, struct run *r, struct err *e);
struct mpi_curves;
/* For whom the others waited (mpi_held.c). 0 or -ENOMEM. */
int mpi_held_make(struct mpi *m, const struct mpi_curves *x, const struct run *r);
/* The rank for which they waited longest: its place. */
uint32_t mpi_held_most(const struct mpi *m);
/* The stretch in which they waited longest for it; NULL: none is kept. */
const struct mpi_stretch *mpi_held_longest(const struct mpi *m);

/* Of a rank, or a part of it: its time, in MPI, and moving data. */
struct mpi_share {
	double elapsed_s, inside_s, transfer_s;
};
struct mpi_pop mpi_pop_of(const struct mpi_share *s, uint32_t n);
/* MPI_Init itself is not within the time that ranks have. */
bool mpi_is_begin(const char *name);

/* "rank 2 of 4 comes last, 12 ms after the first": of what all do together; or nothing. */
void mpi_late_words(const struct mpi *m, struct bytes *out);
/* "while rank 2 computed, the others were in MPI for 8.1 s (20 %) on average": or nothing. */
void mpi_held_words(const struct mpi *m, struct bytes *out);
/* A line: efficiencies, the functions of most time, who is late. Escaped for a terminal. */
void mpi_words(const struct mpi *m, unsigned most, struct bytes *out);
void mpi_print(const struct mpi *m, const struct run *r, FILE *out);
/* Schema sonde/mpi/1. m NULL: nobody asked for it. */
void mpi_json(const struct mpi *m, const struct run *r, struct bytes *out);

#endif
