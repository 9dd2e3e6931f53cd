/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.h - which recordings a command reads: the one that is named, or the newest here; all in a
 * directory, each with what a list says of it; and those that are compared, with those from which
 * is learnt how much single runs vary.
 *
 * The latter are like one that is compared: of the same command and number of nodes, and ended
 * well. They are recordings, or what the history (store/history.h) keeps of such. {0} is empty and
 * safe to free. A damaged or unreadable recording is an entry of a list like the others, with its
 * reason. Text is hostile.
 */
#ifndef SONDE_SESSION_FIND_H
#define SONDE_SESSION_FIND_H

#include "console/command.h"
#include "core/frame/run.h"
#include "report/comparison/comparison.h"
#include "report/judging/condition.h"
#include "store/history.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct choice {
	const char *path;
	struct run *run; /* the caller closes it */
	char newest[PATH_MAX];
	struct progress progress;
};

/* Open the only operand, or the newest recording here, and then say which ("showing DIR").
 * Returns EXIT_OK, or EXIT_USAGE or EXIT_FAILED, and then it has said why. */
int choose_recording(struct choice *c, const char *verb, const char *doing, int noperands,
		     char **operands);

/* One recording; figures that are not known are NAN. */
struct recording {
	char *path, *command; /* command NULL: not known */
	char *note;           /* why it is damaged or unreadable; NULL: nothing to say */
	enum condition condition;
	int64_t start_utc_ns;
	double wall_s, exit_code, signal;
	uint32_t nodes;
};

struct listing {
	struct recording *entry;
	size_t n, cap;
	bool failed; /* out of memory, or a path too long: something is missing here */
};

/* Those right below dir, whatever their names, or dir itself when it is one; oldest first. 0,
 * -errno. */
int listing_find(struct listing *l, const char *dir);
void listing_free(struct listing *l);

enum { WANTED_MAX = 1000 };

struct wanted {
	struct {
		char *path;
		enum comparison_group group;
	} run[WANTED_MAX];
	uint32_t n;
	struct history past;
};

/* A,A2,...: recordings, or directories of several. 0, or -errno with a sentence. */
int wanted_list(struct wanted *w, const char *text, enum comparison_group group, struct err *e);
uint32_t wanted_count(const struct wanted *w, enum comparison_group group);
/* Where one run of a group tells no spread: like runs in these directories; of none of them beside
 * A, then in the history as far as it can be read. 0, or -errno with a sentence. */
int wanted_like(struct wanted *w, const struct option_list *directories, struct err *e);
void wanted_free(struct wanted *w);

#endif
