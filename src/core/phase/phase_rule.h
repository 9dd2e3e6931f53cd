/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_rule.h - which marks and spans make phases: rules as data, read from text.
 *
 * docs/phases.md says how such a file is written. No file is found here: the caller says which.
 */
#ifndef SONDE_CORE_PHASE_PHASE_RULE_H
#define SONDE_CORE_PHASE_PHASE_RULE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PHASE_RULES_MAX = 256, PHASE_WORDS = 8 };
enum { PHASE_NAME_MAX = 256, PHASE_VALUE_MAX = 1024 };

/* Which of several starts an end belongs to. FIRST: there is one phase, from the first start to the
 * first end behind it, of those the pattern that is named first. */
enum phase_several { PHASE_NEWEST = 0, PHASE_OLDEST, PHASE_FIRST };
/* A start without an end is a phase that did not end; is not told; ends where the next one starts.
 */
enum phase_no_end { PHASE_OPEN = 0, PHASE_UNTOLD, PHASE_NEXT };
enum phase_no_start { PHASE_START_TOLD = 0, PHASE_START_UNTOLD };
/* Start and end are of one track of a node, or of one node. */
enum phase_within { PHASE_TRACK = 0, PHASE_NODE };
/* How what is said with a mark is written: KEY=VALUE between blanks, or between commas. */
enum phase_fields { PHASE_BLANKS = 0, PHASE_COMMAS };

/* Words of a value, one behind the other in text. */
struct phase_words {
	char *text;
	const char *word[PHASE_WORDS];
	uint32_t n;
};

struct phase_rule {
	char *name, *about;
	char *phase;    /* what its phases are called; a * is what it stood for in the start */
	char *duration; /* the key, in what the end says, of how many seconds it took; or NULL */
	char *size;     /* the key, in what the end or else the start says, of its size; or NULL */
	struct phase_words spans, start, end; /* patterns: names, with at most one * */
	struct phase_words key;               /* keys whose values must be the same in both */
	enum phase_several several;
	enum phase_no_end no_end;
	enum phase_no_start no_start;
	enum phase_within within;
	enum phase_fields fields;
};

struct phase_rules {
	struct phase_rule *rule;
	uint32_t n;
};

/* Add those of text[0..len), which need not end in NUL; name is what errors call it. One of a name
 * that is there, from another text, takes its place. 0 or -errno with a sentence. {0} is empty. */
int phase_rules_add(struct phase_rules *rules, const char *name, const char *text, size_t len,
		    struct err *e);
/* Of a file, or of all files *.phases of a directory. */
int phase_rules_read(struct phase_rules *rules, const char *path, struct err *e);
void phase_rules_free(struct phase_rules *rules);

/* What the * of a pattern stands for, in the name. */
struct phase_star {
	const char *at;
	size_t n;
};
/* The number, from 1, of the first pattern that matches; 0: none does. */
uint32_t phase_words_match(const struct phase_words *w, const char *name, struct phase_star *star);

/* The value of a key in what a mark says; false when there is none, or it does not fit. */
bool phase_field(enum phase_fields f, const char *text, const char *key, char *out, size_t size);
/* "1.2 MB", "512KiB", "123", "ago 1.2MB": what the last number and its unit make; false when there
 * is none. step: how much more each of kB, MB, GB is, 1000 or, as some have it, 1024. */
bool phase_size(const char *text, double step, double *bytes);

#endif
