/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - things of one kind that come and go (cores, disks, interfaces), found again by name.
 *
 * The kernel lists them in the same order every time, so the next one is looked for where it is
 * expected, and searched for only when it is not there. The rows are reserved at devices_init; a
 * device beyond them is left out.
 */
#ifndef SONDE_SOURCE_DEVICE_H
#define SONDE_SOURCE_DEVICE_H

#include "core/sample.h"

enum {
	DEVICE_NAME_SIZE = 32, /* the kernel's longest, DISK_NAME_LEN */
	DEVICES_LEAVE = 8192,  /* slots of a sample, for the job, its processes and the node */
};

struct device {
	char name[DEVICE_NAME_SIZE];
	uint32_t len;  /* of the name; 0: a free row */
	uint32_t seen; /* the pass that met it last */
	bool told;     /* the sample knows of it */
	uint32_t instance, slot, nslots;
	uint32_t flags;   /* of the instance */
	uint32_t class;   /* the source's own; 0: not known yet */
	int64_t constant; /* the source's own */
	uint64_t lacks;   /* series of which it was told why they have no value */
};

struct devices {
	struct device *row;
	uint32_t n, cap; /* rows used so far, rows reserved */
	uint32_t pass, next;
};

int devices_init(struct devices *d, uint32_t cap); /* 0 or -ENOMEM */
void devices_free(struct devices *d);

/* Start a pass over all of them. */
void devices_begin(struct devices *d);
/* The device of this name, new (all zero but the name) when it was not known. NULL when the name is
 * empty or too long, when this pass has met it already, and when no row is free. */
struct device *devices_meet(struct devices *d, const char *name, size_t len);
/* For names that are longer: FNV-1a of a text, begun with DEVICE_HASH. */
#define DEVICE_HASH UINT64_C(0xcbf29ce484222325)
uint64_t device_hash(uint64_t h, const char *text, size_t len);
/* The device found by a hash of its name. */
struct device *devices_meet_hash(struct devices *d, uint64_t h);
/* Tell the sample that it is there, with count (<= EVENT_SET_MAX) series side by side; without
 * them, and counted as refused, when they would take what is left for others. */
void device_announce(struct device *v, struct sample *s, const struct metric *metrics,
		     uint32_t count);
/* The same under another name than it is found by. */
void device_announce_as(struct device *v, const char *name, struct sample *s,
			const struct metric *metrics, uint32_t count);
/* Series i has no value and why, said once until it has one again. */
void device_lack(struct device *v, struct sample *s, uint32_t i, enum state state,
		 const char *reason);
static inline void device_put(const struct device *v, struct sample *s, uint32_t i, int64_t value)
{
	if (v->slot)
		sample_put(s, v->slot + i, value);
}
/* The same for what device_lack may have been said of: then it has a value again. */
static inline void device_have(struct device *v, struct sample *s, uint32_t i, int64_t value)
{
	if (v->lacks >> i & 1)
		device_lack(v, s, i, STATE_PRESENT, NULL);
	device_put(v, s, i, value);
}
/* A number of a row of counts, as number_count gives it: -1 has failed. */
static inline void device_count(struct device *v, struct sample *s, uint32_t i, int64_t value)
{
	if (value >= 0)
		device_have(v, s, i, value);
	else
		device_lack(v, s, i, STATE_FAILED, "its number is negative or too large");
}
/* In place of a pass, when the list is what it was: all stand as they stood in the previous sample.
 * False, and nothing is done, when one was not in it. */
bool devices_stand(const struct devices *d, struct sample *s);
/* After a pass over a list that was cut, or had a line that is none: what was not told of its first
 * count series has failed. */
void devices_incomplete(struct devices *d, struct sample *s, uint32_t count);
/* The same of one, after what tells of it was read. */
void device_incomplete(struct device *v, struct sample *s, uint32_t count);
/* After a pass over the whole list: what it did not meet is gone. */
void devices_sweep(struct devices *d, struct sample *s);

#endif
