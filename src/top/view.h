/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - what `sonde top` shows: the nodes as a table or a map, a node's processes and GPUs, all
 * figures of one of them, the stacks of a process, the help. Keys go in, cells come out; it knows
 * no terminal.
 */
#ifndef SONDE_TOP_VIEW_H
#define SONDE_TOP_VIEW_H

#include "top/grid.h"

/* Which instant of an ended recording is shown, and the keys that move it. */
struct replay {
	struct now_span span;
	int64_t at_ns;   /* wall time that is shown */
	int64_t tick_ns; /* monotonic time up to which was played */
	unsigned speed;
	bool plays;
};

enum { REPLAY_SPEED_MOST = 64 };

/* at_ns: since the recording's begin. From 0 it plays at once; a later instant was asked for and
 * stays. */
void replay_init(struct replay *r, const struct now_span *span, int64_t at_ns);
/* Whether the key is one of a replay's: then it is done. */
bool replay_key(struct replay *r, int key, int64_t mono_ns);
/* Play on up to mono_ns; at the last sample it stays. */
void replay_tick(struct replay *r, int64_t mono_ns);
/* "replay 4.00 s of 10.0 s", and how it plays. */
void replay_text(const struct replay *r, char *out, size_t size);

enum { VIEW_TOP = 2 }; /* lines above the tables */
enum { VIEW_ROWS_LEAST = 8, VIEW_COLUMNS_LEAST = 40 };

enum view_screen { VIEW_NODES = 0, VIEW_MAP, VIEW_PROCESSES, VIEW_GPUS, VIEW_DETAIL, VIEW_STACKS };

/* Of what was looked at last, the newest at the end. */
enum { HISTORY = 256 };
struct history {
	uint32_t node_id; /* whose; 0: of all together */
	int64_t mono_ns;  /* of the newest */
	unsigned n;
	float cores[HISTORY], memory[HISTORY];
};

struct view {
	const struct now *now;       /* borrowed */
	const char *title;           /* what is looked at; hostile */
	const struct replay *replay; /* borrowed; NULL: live */
	enum view_screen screen;
	enum view_screen list, behind; /* where the node, and the detail, was opened from */
	uint32_t node_id, thing_id;    /* what was opened */
	bool placed, help, failed;     /* failed: out of memory, something is missing */
	struct grid nodes, processes, gpus;
	struct now_things process, gpu; /* of the node that was opened */
	/* What the threads of a process of this machine do and wait for, as lines; it takes up to a
	 * second. NULL: it cannot be asked. */
	void (*stacks)(struct bytes *out, int64_t pid);
	struct bytes looked; /* of the process that was opened; hostile */
	unsigned detail_first;
	struct history history;
	char search[40];
	bool searching;
};

void view_init(struct view *v, const struct now *now, const char *title);
void view_free(struct view *v);
/* After a look: the rows anew. rows: of the screen, by which the first screen is chosen. */
void view_look(struct view *v, unsigned rows);
/* Go to the node of this name; false when there is none. */
bool view_open_node(struct view *v, const char *name);

static inline bool view_in_node(const struct view *v)
{
	return v->screen >= VIEW_PROCESSES;
}
/* What was opened, or is at the cursor; NULL: none, or it has gone. */
const struct now_node *view_node(const struct view *v);
const struct row *view_thing(const struct view *v);

enum view_answer { VIEW_SAME, VIEW_CHANGED, VIEW_QUIT };
enum view_answer view_key(struct view *v, int key);
/* keys: with the line that names keys. */
void view_draw(struct view *v, struct cells *c, bool keys);

#endif
