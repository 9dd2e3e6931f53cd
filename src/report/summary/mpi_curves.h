/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_curves.h - what ranks had spent until each sample: since MPI began, inside it, and moving
 * data. Between samples in proportion.
 *
 * {0} is empty and safe to free.
 */
#ifndef SONDE_REPORT_SUMMARY_MPI_CURVES_H
#define SONDE_REPORT_SUMMARY_MPI_CURVES_H

#include "report/summary/mpi.h"

/* A counter over time, from 0 when MPI began. */
struct mpi_curve {
	int64_t *at_ns;
	double *value;
	uint32_t n, cap;
	double scale; /* of what is counted to seconds */
	uint32_t rank, seen;
	enum { CURVE_ELAPSED, CURVE_INSIDE, CURVE_TRANSFER } what;
};

struct mpi_curves {
	struct mpi_curve *curve;
	uint32_t n, every; /* each so many rows are kept, and the last */
	uint32_t *of;      /* [nseries] 1 + which; 0: none */
	int64_t *row_ns;   /* [nnodes] of the last row so far */
	uint8_t *wanted;
};

/* Reads the run's chunks. 0 or -errno; with a sentence, but not of -ENOMEM. */
int mpi_curves_make(struct mpi_curves *x, const struct mpi *m, struct run *r, struct err *e);
void mpi_curves_free(struct mpi_curves *x);
/* Its value at an instant; how far apart the samples around it are. */
double mpi_curve_at(const struct mpi_curve *c, int64_t at_ns, int64_t *apart_ns);

#endif
