/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counterfile.h - devices that tell each of their counters in a file of its own: InfiniBand ports,
 * Slingshot adapters.
 *
 * A file holds one number, "123" or "123@seconds". An adapter is asked for each of them: traffic of
 * all devices is read in the same sample (its files stay open), with many devices not in every one;
 * of the others a few in each sample, in turn.
 * A counter that is full and stands still has failed; it is no rate of 0. A sum of which a part is
 * not there has failed until it is there. Nothing is allocated but by counters_open.
 */
#ifndef SONDE_SOURCE_COUNTERFILE_H
#define SONDE_SOURCE_COUNTERFILE_H

#include "source/device.h"
#include "source/kept.h"
#include "source/period.h"
#include "source/source.h"

enum { COUNTERS_KEPT_MAX = 4, COUNTERS_DIR_SIZE = 192 };

struct counter_file {
	const char *path[2]; /* below the device, the better one first. "%u" stands for 0 ..
				files - 1, which are added up */
	uint8_t files;       /* 0: one */
	uint8_t bits;        /* it stops when these are all set; 0: it never does */
	uint8_t decimals;    /* stored in units of the last one */
};

struct counters;
struct counter_device;
struct counter_kind {
	const struct metric *metrics; /* nrows of them, side by side with the files */
	const struct counter_file *files;
	uint32_t nrows, nkept; /* the first nkept are the traffic */
	/* Whether the row means something now; NULL: it always does. 0, or -errno that tells why
	 * not. */
	int (*means)(const struct counters *c, const struct counter_device *d, uint32_t row);
	/* Meets the devices there are now, between devices_begin and counters_sweep: how many, or
	 * -errno. */
	int (*list)(struct counters *c, struct sample *s);
	const char *folder, *what, *none; /* "class/cxi", "adapters", "Slingshot adapter" */
	uint32_t most, nmetrics;          /* devices; rows, with those that are derived */
};

struct counter_device {
	char dir[COUNTERS_DIR_SIZE];
	int fd[COUNTERS_KEPT_MAX];
	uint64_t asked, second; /* rows that have a file; those that have it at path[1] */
	uint64_t endless;       /* rows that are wider than their bits on this device */
	uint8_t state[EVENT_SET_MAX];
	bool lost;   /* a file went away: they are looked for again with the next listing */
	bool listed; /* that was done: what is still not there has failed */
};

struct counters {
	const struct counter_kind *kind;
	const struct root *root;
	struct devices devices;
	struct counter_device *device; /* side by side with devices.row */
	struct period listing;
	int64_t traffic_ns; /* its next reading, not before */
	uint32_t next_device, next_row;
};

/* What a source does whose state this is. kind is borrowed. */
int counters_open(struct counters *c, const struct counter_kind *kind, const struct source_env *env,
		  struct sample *s, struct err *e);
int counters_read(void *state, struct sample *s);
void counters_close(void *state);

/* The device of this name, which lies in dir; NULL as devices_meet. Not told: call
 * counters_announce.
 */
struct device *counters_meet(struct counters *c, const char *name, const char *dir);
struct counter_device *counters_device(const struct counters *c, const struct device *v);
void counters_announce(struct counters *c, struct device *v, struct sample *s);
void counters_sweep(struct counters *c, struct sample *s);

#endif
