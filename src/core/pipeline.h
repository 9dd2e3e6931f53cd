/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.h - which processes are tasks of a workflow tool (Snakemake, make), and what their rules
 * are called, as data: by names and command lines of processes.
 *
 * docs/pipelines.md says how such a file is written. No file is found here: the caller says which.
 */
#ifndef SONDE_CORE_PIPELINE_H
#define SONDE_CORE_PIPELINE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIPELINE_TOOLS_MAX = 64, PIPELINE_WORDS_MAX = 64 };
enum { PIPELINE_RULE_MAX = 128 };

struct pipeline_words {
	char *word[PIPELINE_WORDS_MAX];
	uint32_t n;
};

/* What may come several times in a block. */
enum pipeline_list {
	PIPELINE_DRIVER,     /* names of processes whose children are tasks */
	PIPELINE_TASK,       /* command lines of processes that are tasks; {rule} is the name */
	PIPELINE_RULE,       /* command lines of children of a driver that say it */
	PIPELINE_SKIP,       /* names of children of a driver that are no tasks */
	PIPELINE_SKIP_SHORT, /* likewise where no sample saw them */
	PIPELINE_LINE,       /* lines of the file that say it */
	PIPELINE_OUTPUT,     /* words of a command line before a file that the task writes */
	PIPELINE_BUILDS,     /* programs whose file may have any name, as a linker's */
	PIPELINE_PASTE,      /* the tool's own words for what a rule needs, line by line */
	PIPELINE_PASTE_ALL,  /* and for what all need */
	PIPELINE_LISTS
};

struct pipeline_tool {
	char *name, *label, *about;
	/* A word of the task's command lines, and what the file in its folder is called whose first
	 * lines say the name; or NULL. */
	char *file, *beside;
	bool snakemake; /* names are in .snakemake/metadata */
	struct pipeline_words list[PIPELINE_LISTS];
};

struct pipeline_tools {
	struct pipeline_tool *tool;
	uint32_t n;
};

/* Add those of text[0..len), which need not end in NUL; name is what errors call it. One of a name
 * that is there, from another text, takes its place. 0 or -errno with a sentence. {0} is empty. */
int pipeline_tools_add(struct pipeline_tools *t, const char *name, const char *text, size_t len,
		       struct err *e);
/* Of a file, or of all files *.pipelines of a directory. */
int pipeline_tools_read(struct pipeline_tools *t, const char *path, struct err *e);
void pipeline_tools_free(struct pipeline_tools *t);

/* Whether one of these patterns matches all of text. rule: what {rule} stands for, "" where the
 * pattern has none; PIPELINE_RULE_MAX bytes, or NULL. */
bool pipeline_match(const struct pipeline_words *w, const char *text, char *rule);

/* Whether a rule's name is one that may be pasted: letters, digits and _ . - : alone. */
bool pipeline_is_plain(const char *rule);

#endif
