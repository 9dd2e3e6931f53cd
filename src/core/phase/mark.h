/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mark.h - a line of the file that a job's scripts write their marks into.
 *
 *     M NAME [KEY=VALUE ...]      a mark
 *     B NAME [KEY=VALUE ...]      a span begins
 *     E NAME [KEY=VALUE ...]      the innermost open span of this name ends
 *
 * A word with blanks is written in double quotes, with \" \\ \n and \t in it. `sonde mark` writes
 * when it was, and how long the rest is, so that a line that is cut or joined with another is
 * known: "M@MONOTONIC_NS,UTC_NS,BYTES NAME ...". Lines are hostile.
 */
#ifndef SONDE_CORE_PHASE_MARK_H
#define SONDE_CORE_PHASE_MARK_H

#include "base/bytes.h"
#include "base/err.h"
#include "core/metric.h"

#include <regex.h>

enum { MARK_LINE_MAX = 4096, MARK_NAME_MAX = 256 };

/* How the track begins of a command that is a span; its process id follows. */
#define MARK_COMMAND "sonde-span."

enum mark_kind { MARK_POINT = 'M', MARK_BEGIN = 'B', MARK_END = 'E' };

struct mark_line {
	enum mark_kind kind;
	bool timed;              /* it says when it was */
	int64_t mono_ns, utc_ns; /* then */
	char name[MARK_NAME_MAX];
	const char *text; /* what follows the name, as it was written; borrowed from the line */
};

/* n bytes without the newline, and a NUL behind them. Whether it is such a line. */
bool mark_line_parse(struct mark_line *out, const char *line, size_t n);
/* With its newline; text: what follows the name. */
void mark_line_write(struct bytes *b, const struct mark_line *m);

/* A word as such a line has it: in quotes where it has to be. */
void mark_word_write(struct bytes *b, const char *word);
/* A word KEY=VALUE behind the *n bytes of words in out, with a blank between and a NUL behind.
 * False: there is no room for it, and nothing has changed. */
bool mark_pair_write(char *out, size_t size, size_t *n, const char *key, const char *value);
/* The word at *p, without its quotes, and *p behind it. False at the end of the text, or when it
 * does not fit. */
bool mark_word_read(const char **p, char *out, size_t size);
/* The value of the first word KEY=VALUE of a text; false when there is none, or it does not fit. */
bool mark_text_find(const char *text, const char *key, char *out, size_t size);

/*
 * Which lines of a program's log are marks: REGEX=MARK, as "epoch ([0-9]+)=epoch
 * n=\1".
 *
 * REGEX is a POSIX extended regular expression, in which \= stands for =. MARK is NAME
 * [KEY=VALUE ...], after B or E of a span that begins or ends (core/phase/mark.h); \0 to \9 in
 * it are what the expression and its parentheses matched. What may take for ever is refused:
 * references back, and repetitions of repetitions. Lines are hostile; a line is looked at up to
 * MARK_LOG_LINE_MAX bytes.
 */
enum { MARK_RULE_MAX = 512, MARK_LOG_LINE_MAX = 1024 };

struct mark_rule {
	regex_t regex;
	enum mark_kind kind;
	char mark[MARK_RULE_MAX]; /* NAME [KEY=VALUE ...] */
};

/* 0, or -EINVAL with a sentence that says what is wrong; free what was read. */
int mark_rule_parse(struct mark_rule *r, const char *text, struct err *e);
void mark_rule_free(struct mark_rule *r);

/* Whether the line is such a mark: then it is in out, of which text is in `text`, which may hold a
 * line; one that does not fit is none. */
bool mark_rule_apply(const struct mark_rule *r, const char *line, struct mark_line *out,
		     struct bytes *text);

/*
 * How a recording holds what Scanner profiled: a node for each worker and one for the
 * master, an instance for each thread, whose intervals are its spans.
 */
/* Of the instances: their domain, and keys of labels. */
#define SCANNER_DOMAIN  "scanner"
#define SCANNER_KIND    "kind"     /* process_job, load, eval, save, master */
#define SCANNER_TAG     "tag"      /* of eval: pre, eval, post */
#define SCANNER_NUMBER  "number"   /* which reader, pipeline, writer */
#define SCANNER_COUNTER "counter." /* and its name, of those that have no metric */
/* Keys of the nodes' metadata. */
#define SCANNER_NODE   "scanner.node" /* its number, SCANNER_MASTER_NODE */
#define SCANNER_BEGIN  "scanner.begin_ns"
#define SCANNER_END    "scanner.end_ns"
#define SCANNER_STAGES "scanner.stages" /* of a pipeline */
#define SCANNER_JOB    "job.id"         /* as text, as batch systems have it */
#define SCANNER_NAME   "job.name"
enum { SCANNER_MASTER_NODE = -1 };

/* The counters that are known; the label is what Scanner calls it. */
enum { SCANNER_METRICS = 7 };
extern const struct metric scanner_metrics[SCANNER_METRICS];

#endif
