/* SPDX-License-Identifier: Apache-2.0 */
/*
 * energy.h - the counters of energy that this machine has: for energy.c and who finds them.
 *
 * A zone is one counter (of a package, of memory, of the node), or one meter of power. Zones that
 * lie inside another, or beside it on another way, are aside: what is added up is each joule once.
 */
#ifndef SONDE_SOURCE_ENERGY_H
#define SONDE_SOURCE_ENERGY_H

#include "source/period.h"
#include "source/source.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A counter of few bits that goes round, made one that only grows.
 *
 * A step is believed when it fits only one number of rounds: so much time has passed that the
 * counter cannot have gone round twice, and no more was counted than can be. Else nobody knows what
 * was counted since the last reading, and the step is a break.
 */

struct wrap {
	int64_t range;      /* its largest value; 0: it never goes round */
	int64_t most_per_s; /* it cannot count more than this in a second; > 0 */
	int64_t last, last_ns;
	int64_t total; /* starts as the counter itself stands */
	bool begun;
};

enum wrap_step { WRAP_BEGUN, WRAP_GREW, WRAP_BREAK };

/* A reading, 0 <= value (<= range), at a monotonic time. Only after WRAP_GREW is the difference of
 * total to that of the last step what was counted in between. */
enum wrap_step wrap_step(struct wrap *w, int64_t value, int64_t now_ns);
/* Between readings of this distance it can go round more than once. */
bool wrap_is_lost(const struct wrap *w, int64_t elapsed_ns);

enum { ZONES_MAX = 128, ZONE_NAME_SIZE = 64 };

enum zone_form {
	ZONE_MICROJOULES, /* text: a number */
	ZONE_JOULES,      /* text: "123 J 456 us" */
	ZONE_PERF,        /* a perf event: 8 bytes, times scale joules */
	ZONE_MICROWATTS,  /* text: a number; a gauge */
};

struct zone {
	char name[ZONE_NAME_SIZE];
	const char *by, *kind; /* labels: powercap, perf ...; package, dram ... */
	int64_t package;       /* -1: not told */
	enum zone_form form;
	double scale; /* of ZONE_PERF */
	bool aside;
	int error; /* -errno: why it cannot be opened or was not read last */
	int fd;    /* kept open; 0: none */
	struct wrap counter;
	uint32_t instance, slot, breaks;
	bool failed;                /* it stands still */
	struct period failed_looks; /* when it is read again then */
};

struct energy {
	struct zone zone[ZONES_MAX];
	uint32_t nzones;
	int freshness; /* of pm_counters: kept open; 0: none */
	int64_t fresh; /* its last number */
	struct period period;
	int64_t period_ns;
};

/* A new zone, all zero but its name and way, or NULL when there are too many. name is copied. */
struct zone *energy_add(struct energy *x, const char *by, const char *name);

/* Each adds the zones it finds and can open; those that are there and may not be read with their
 * error. Returns the error of the first of these, 0 when there is none. */
int energy_find_powercap(struct energy *x, const struct root *sys);
int energy_find_perf(struct energy *x, const struct root *sys);
int energy_find_cray(struct energy *x, const struct root *sys);
int energy_find_hwmon(struct energy *x, const struct root *sys);

/* Whether pm_counters have new values since this was asked last. */
bool energy_cray_is_fresh(struct energy *x);

#endif
