/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling.h - runs of one job with more and more cores: how much faster it gets, what of the cores'
 * time is lost, and how many to ask for.
 *
 * Runs are added one by one and not kept; then it is judged, then shown. Amounts are what the runs
 * differ in: cores, nodes, ranks, or a number that the caller knows. The first step is the one with
 * the smallest amount; all is compared with it.
 *
 *   speed-up    T(first) / T(p); weak scaling: times p / first
 *   efficiency  speed-up / (p / first). Its interval is that of a ratio of two means by the delta
 *               method, with the relative spread of all steps together.
 *   lost        of the capacity p x T(p), the part by which the time of each kind (account.h, and
 *               classes of code in user mode) is more than in the first step; in weak scaling, per
 *               unit of p. The parts add up to 1 - efficiency.
 *   Amdahl      T(p) = T(1) (s + (1 - s) / p), G. Amdahl, AFIPS 1967: s is the serial part, 1 / s
 *               the largest speed-up.
 *   USL         T(p) = T(1) (1 + a (p - 1) + b p (p - 1)) / p, N. Gunther, "Guerrilla Capacity
 *               Planning", 2007: a is contention, b crosstalk; fastest at p = sqrt((1 - a) / b).
 *   weak        T(p) = c + d log2 p: d / c is what each doubling adds.
 * Coefficients are fitted to single runs, weighted by 1 / T(p)^2 (core/statistics/stats.h).
 * What is not known is NAN. Texts are hostile. {0} is empty and safe to free.
 */
#ifndef SONDE_REPORT_SCALING_SCALING_H
#define SONDE_REPORT_SCALING_SCALING_H

#include "base/bytes.h"
#include "base/pool.h"
#include "core/statistics/stats.h"
#include "report/summary/summary.h"

enum scaling_by { SCALING_AUTO = 0, SCALING_CORES, SCALING_NODES, SCALING_RANKS, SCALING_OTHER };
enum { SCALING_PARTS = ACCOUNT_PARTS + SUMMARY_SHARES };
/* As POP defines them (report/summary/mpi.h). */
enum { SCALING_PARALLEL, SCALING_BALANCE, SCALING_SERIALISATION, SCALING_TRANSFER, SCALING_POP };

struct scaling_run {
	const char *path, *command;       /* command NULL: not known */
	double amount[SCALING_OTHER + 1]; /* of each kind; NAN: not known */
	double at;                        /* of those, what they are compared by */
	double wall_s, cpu_s, energy_j;
	double cores;                 /* that it could use */
	double part_s[SCALING_PARTS]; /* core-seconds; NAN: not known */
	double pop[SCALING_POP];
};

struct scaling_part {
	const char *key, *label;
	bool is_class; /* of code, a part of what is computed in user mode */
	bool shown;    /* some step has lost a hundredth or more by it */
};

struct scaling_step {
	double amount;
	uint32_t first, n; /* in run[] */
	struct fitted time, speedup, efficiency;
	double core_hours, energy_j;
	double lost[SCALING_PARTS], lost_sum;
	double pop[SCALING_POP];
};

struct scaling {
	enum scaling_by by;
	const char *by_name; /* of SCALING_OTHER */
	bool weak;
	double level, wanted;    /* 0.95; the least efficiency that is worth asking for */
	struct scaling_run *run; /* by amount */
	uint32_t nruns, capacity;
	struct scaling_part part[SCALING_PARTS];
	uint32_t nparts;
	struct scaling_step *step;
	uint32_t nsteps;
	double cores_per_unit;    /* of what they are compared by */
	double spread, spread_df; /* relative, of one run; NAN: no amount has two runs */
	struct fit fit;           /* Amdahl's, or that of weak scaling; n 0: too few steps */
	struct fitted serial, doubling;
	struct fitted contention, crosstalk; /* value NAN: not fitted */
	bool has_crosstalk;                  /* surely */
	double best;     /* the amount at which it is fastest by the USL; NAN: it has none */
	double p_misfit; /* that such steps are off the curve by chance; NAN: not known */
	double next;     /* twice the largest amount ... */
	struct fitted next_time; /* ... and the time that is expected there */
	uint32_t ask;            /* the step to ask for */
	struct pool pool;
	bool failed; /* out of memory */
};

/* amount: of SCALING_OTHER; NAN: none was given. */
void scaling_add(struct scaling *x, const struct summary *s, double amount);
/* 0, or -EINVAL with a sentence: these runs cannot be compared so. */
int scaling_judge(struct scaling *x, struct err *e);
void scaling_free(struct scaling *x);

/* "cores", "nodes", "ranks", or the caller's name, which is hostile. */
const char *scaling_unit(const struct scaling *x);
void scaling_text(struct bytes *b, const struct scaling *x, unsigned columns);
/* Schema sonde/scale/1. */
void scaling_json(struct bytes *b, const struct scaling *x);
/* The speed-up as a chart, a page of shapes. */
void scaling_draw(struct bytes *drawing, const struct scaling *x, double width, double height);

#endif
