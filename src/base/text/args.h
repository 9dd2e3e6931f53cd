/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.h - option tables: parsing, help, man pages and completions all come from the same rows.
 *
 * A row says where its value goes by offset in the command's own options struct. Long options are
 * --name VALUE or --name=VALUE, letters may be bundled (-qi 1s); "--" ends the options. An unknown
 * option is an error with the nearest known one. Nothing is printed here.
 */
#ifndef SONDE_BASE_TEXT_ARGS_H
#define SONDE_BASE_TEXT_ARGS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arg_type {
	ARG_FLAG,     /* bool */
	ARG_TEXT,     /* const char *, borrowed from argv */
	ARG_DURATION, /* int64_t ns; "1s" "500ms" "10us" "2m" "1h"; a bare number is seconds */
	ARG_COUNT,    /* int64_t; min..max */
	ARG_REAL,     /* double */
	ARG_LIST,     /* struct option_list: of an option that may be given again and again */
	ARG_CHOICE, /* int64_t: which of the words in value, "auto|always|off", it is; 0: the first
		     */
};

enum { OPTION_LIST_MAX = 64 };

struct option_list {
	const char *text[OPTION_LIST_MAX]; /* borrowed from argv */
	uint32_t n;
};

struct option {
	const char *name; /* without dashes */
	char letter;      /* 0: none */
	enum arg_type type;
	const char *value;    /* what the value is called in help: "DIR"; NULL for flags */
	const char *fallback; /* default, parsed like a given value; NULL: zero */
	const char *bare; /* the value of --name alone; another only as --name=VALUE. NULL: none */
	bool follows;     /* with bare: another also as the next word, unless that begins with - */
	const char *help; /* one sentence, ends with a full stop */
	const char
		*words;   /* those that a text may be, as " csv json", for completions; NULL: any */
	size_t offset;    /* into the options struct */
	int64_t min, max; /* of durations (ns) and counts; both 0: any */
	bool hidden;      /* left out of help */
};

/* May the next word be its value, if none is attached? */
static inline bool option_takes_word(const struct option *o)
{
	return o->type != ARG_FLAG && (!o->bare || o->follows);
}

#define OPTION_OFFSET(type, member) .offset = offsetof(type, member)

/* The words of a command line. */
struct args {
	int argc;
	char **argv;
	bool stop_at_operand; /* the first operand and all behind it are left as they are */
	int first;            /* set: index of the first operand */
};

/* Fill *opts (already zeroed) with defaults, then with what the words say. Operands are moved
 * behind the options unless parsing stops at them. 0, 1 when -h or --help was met, or -EINVAL with
 * a sentence. */
int args_parse(const struct option *rows, size_t n, void *opts, struct args *a, struct err *e);
/* Parse one duration. 0 or -EINVAL. */
int args_duration(const char *text, int64_t *ns);
/* "1s" "500ms" ...: the shortest exact text. */
void args_duration_text(int64_t ns, char *out, size_t size);
/* "1ms to 1h", "at least 1"; "" when any value is taken. */
void args_range_text(const struct option *o, char *out, size_t size);

/* How many edits (insert, delete, replace, swap) lie between a word and a name; a word that begins
 * the name counts as one. For "did you mean ...": see args_near. */
unsigned args_distance(const char *word, const char *name);
/* Whether that many edits may be a typing error in this word. */
bool args_near(const char *word, unsigned distance);

#endif
