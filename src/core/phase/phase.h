/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase.h - the phases of a run: its spans, and its marks paired by rules
 * (core/phase/phase_rule.h).
 *
 * A phase is of one node. Where its end carries how long it took, that is its duration, and begin
 * and end stay those of its marks. One that did not end has no duration: it is told, and counts in
 * nothing but the number of those. {0} is empty and safe to free. Strings are borrowed from the
 * run, the rules and the phases themselves.
 */
#ifndef SONDE_CORE_PHASE_PHASE_H
#define SONDE_CORE_PHASE_PHASE_H

#include "base/bytes.h"
#include "core/frame/run.h"
#include "core/phase/phase_rule.h"

struct phase {
	const struct phase_rule *rule;
	const char *name, *key; /* key: "img=ubuntu grtype=docker", or "" */
	const char *text;       /* what its start and its end said */
	uint32_t node, track;   /* track: an instance, or 0 */
	uint32_t depth; /* phases of its node, or, of a program, of its thread, that it lies in */
	bool crosses;   /* it and another of these overlap, and none lies in the other */
	bool told;      /* its end said how long it took */
	int64_t begin_ns, end_ns; /* the node's monotonic clock; end INT64_MAX: it did not end */
	double begin_s, end_s;    /* since the run began; end_s NAN: it did not end */
	double duration_s;        /* never negative; NAN: it did not end, or before it began */
	double uncertain_s;       /* the duration may be wrong by as much: its lines had no time */
	double size_bytes;        /* NAN: not said */
};

enum phase_why { PHASE_NO_START = 0, PHASE_LEFT_OUT };

/* A mark of a rule that made no phase. */
struct phase_loose {
	const struct phase_rule *rule;
	const char *name; /* of the mark */
	uint32_t node;
	double at_s;
	enum phase_why why;
};

struct phases {
	struct phase *phase; /* by begin, then by node */
	struct phase_loose *loose;
	uint32_t n, nloose;
	char *text; /* where names, keys and texts are */
};

/* Phases of spans in bulk are made as long as there are no more than so many phases. */
enum { PHASES_MAX = 250000 };

struct phase_wish {
	const char *names; /* globs, separated by commas; NULL: all */
	double size_step;  /* see phase_size; 0: 1000 */
	bool marks_only;   /* no spans */
};

/* 0 or -errno with a sentence: -E2BIG for too many. The run and the rules are borrowed for as long
 * as the phases are. Not between next_ranges and values of the run. */
int phases_make(struct phases *p, const struct run *r, const struct phase_rules *rules,
		const struct phase_wish *w, struct err *e);
/* The same with phases of marks alone where there are too many spans. */
int phases_make_some(struct phases *p, const struct run *r, const struct phase_rules *rules,
		     struct err *e);
void phases_free(struct phases *p);

#endif
