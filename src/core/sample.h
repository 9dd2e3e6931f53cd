/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - one reading of everything: where sources write and what the recording's writer takes.
 *
 * A slot holds one series' value. A slot that is not put in a sample is absent in it. All memory is
 * reserved at sample_init; nothing is allocated afterwards: what does not fit is refused (slot 0 or
 * instance 0) and counted in `refused`. Slots of ended series are reused; series ids never are.
 * It knows neither /proc nor the file format.
 */
#ifndef SONDE_CORE_SAMPLE_H
#define SONDE_CORE_SAMPLE_H

#include "core/phase/event.h"

#include <stdbool.h>
#include <string.h>

struct slot {
	const struct metric *metric; /* NULL: free */
	uint32_t series;             /* id in the recording; 0: free */
	uint32_t instance;           /* 0: the node itself */
};

/* Things of one domain that there was no room for. */
struct left_out {
	const struct metric *metric; /* the first of their rows */
	char first[32];              /* what the first of them is called */
	uint64_t count;
};
enum { LEFT_OUT_MAX = 16 };

struct sample {
	int64_t utc_ns, mono_ns; /* when this reading was made; set by sample_begin */
	bool last;               /* none follows: what is read rarely is read now */
	uint32_t nslots;         /* slots 1 .. nslots-1 have been used; slot 0 never is */
	uint32_t slot_cap;
	struct slot *slot;
	int64_t *value;
	uint8_t *state;  /* STATE_PRESENT or STATE_ABSENT, of this sample */
	uint8_t *before; /* the states of the previous sample */
	struct event *event;
	uint32_t nevents, event_cap;
	char *text; /* pool for the events' strings and final values, emptied with them */
	size_t text_len, text_cap;
	uint32_t next_series, next_instance, next_word;
	uint64_t refused;
	int64_t told_cpu_ns; /* of children that have ended: what is in series of their own */
	struct left_out left_out[LEFT_OUT_MAX]; /* up to a row without metric */
	/* private */
	uint32_t *free_runs[EVENT_SET_MAX + 1], nfree[EVENT_SET_MAX + 1];
	void *memory; /* all of the above, reserved in one piece */
	size_t memory_size;
};

/* 0 or -ENOMEM. Address space is reserved, memory is used as it is touched. */
int sample_init(struct sample *s, uint32_t slot_cap, uint32_t event_cap);
void sample_free(struct sample *s);

/* Start a reading: everything becomes absent. Events stay: they may have been made in between. */
void sample_begin(struct sample *s, int64_t utc_ns, int64_t mono_ns);
/* Forget the events: the writer calls it when they are on their way to the disk. */
void sample_clear_events(struct sample *s);

/* Something that comes and goes. birth_ns is monotonic; name is copied. Returns its id, or 0. */
uint32_t sample_instance(struct sample *s, const char *domain, const char *name, uint32_t parent,
			 int64_t birth_ns, uint32_t flags);
/* What an instance is called from now on. */
void sample_name(struct sample *s, uint32_t instance, const char *name);
void sample_label(struct sample *s, uint32_t instance, const char *key, const char *value);
/* Counters of an instance at its end: count rows side by side, mask says which are known. */
void sample_final(struct sample *s, uint32_t instance, const struct metric *metrics, uint32_t count,
		  const int64_t *values, uint64_t mask);
/* End its series first: their slots stay taken otherwise. */
void sample_end(struct sample *s, uint32_t instance, int64_t end_ns);

/* Series for count (<= EVENT_SET_MAX) metrics side by side of one instance (0 = the node).
 * Returns the first of count slots in a row, or 0. */
uint32_t sample_series(struct sample *s, const struct metric *metrics, uint32_t count,
		       uint32_t instance);
/* There is no room for the series of this thing, whose first row metric is: counted, and named. */
void sample_leave_out(struct sample *s, const struct metric *metric, const char *name);
void sample_series_end(struct sample *s, uint32_t slot, uint32_t count);
/* The series of this slot is unsupported, forbidden or failed from now on (or present again). */
void sample_refuse(struct sample *s, uint32_t slot, enum state state, const char *reason);

static inline void sample_put(struct sample *s, uint32_t slot, int64_t value)
{
	if (!slot)
		return;
	s->value[slot] = value;
	s->state[slot] = STATE_PRESENT;
}

/* Was it put in the previous sample? */
static inline bool sample_stood(const struct sample *s, uint32_t slot)
{
	return slot && s->before[slot] == STATE_PRESENT;
}

/* These stand as in the previous sample, in which they were put: nothing can have changed them. */
static inline void sample_hold(struct sample *s, uint32_t slot, uint32_t count)
{
	if (slot)
		memcpy(s->state + slot, s->before + slot, count);
}

/* Declare rows without series (derived metrics), so that the recording carries their formulas. */
void sample_catalogue(struct sample *s, const struct metric *metrics, uint32_t count);
/* No series and no formula of them comes, after all: they are not declared. */
void sample_catalogue_drop(struct sample *s, const struct metric *metrics);
void sample_meta_text(struct sample *s, const char *key, const char *value);
void sample_meta_int(struct sample *s, const char *key, int64_t value);
void sample_meta_real(struct sample *s, const char *key, double value);
void sample_meta_bool(struct sample *s, const char *key, bool value);
/* The metadata of another sample, in their order. */
void sample_take_metas(struct sample *s, const struct sample *from);
/* instance: what it is about; 0: the node. */
void sample_mark(struct sample *s, uint32_t instance, int64_t at_ns, const char *name,
		 const char *message);
void sample_span(struct sample *s, uint32_t track, int64_t begin_ns, int64_t end_ns,
		 const char *name, const char *detail);
/* What spans of a set may be called. Its id, or 0. */
uint32_t sample_word(struct sample *s, const char *name);
/* n <= EVENT_SPANS_MAX spans that have ended, in the order of their ends. False: there is no room.
 */
bool sample_spans(struct sample *s, uint32_t track, const struct event_span *spans, uint32_t n);
/* n <= EVENT_SPANS_MAX values of a counter, in order of time. False: there is no room. */
bool sample_points(struct sample *s, uint32_t instance, const struct event_point *points,
		   uint32_t n);
/* Code that ran (core/phase/event.h). False: there is no room; it is said again with the next
 * sample. */
struct frame_row {
	uint32_t id, module, outer, line, flags;
	uint64_t address;
	const char *function, *file;
};

bool sample_module(struct sample *s, uint32_t id, const char *path, const char *build_id);
bool sample_frame(struct sample *s, const struct frame_row *row);
/* n <= EVENT_ITEMS_MAX nodes, ids from first_id. */
bool sample_stacks(struct sample *s, uint32_t first_id, const struct event_item *items, uint32_t n);
/* Of one process; instance, command, kind, unit, t0 and t1 are the head's. */
struct samples_head {
	uint32_t instance;
	enum sample_kind kind;
	const char *command;
	int64_t unit, t0_ns, t1_ns;
};
bool sample_samples(struct sample *s, const struct samples_head *head,
		    const struct event_item *items, uint32_t n);
/* A pair of clocks, and what the kernel says of its own synchronisation (error_ns -1: unknown). */
void sample_clock(struct sample *s, int64_t mono_ns, int64_t utc_ns, int64_t error_ns,
		  bool synchronised);

#endif
