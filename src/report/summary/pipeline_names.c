/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_names.c - what workflow tools themselves write down about their tasks. All of it is
 * hostile, and may be gone. */
#include "base/text/jsontree.h"
#include "base/text/textfile.h"
#include "report/summary/pipeline.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS_MAX = 100000, RECORD_BYTES = 1 << 20, FIRST_BYTES = 4096, LINE_BYTES = 512 };

struct record {
	double start_s, end_s;      /* UTC */
	const char *rule, *command; /* command: its letters alone; NULL: it is no command */
};

struct pipeline_names {
	struct pool pool;
	struct record *record;
	uint32_t n, cap;
};

/* Without blanks, quotes and backslashes, which a command line has more of. */
static size_t squeeze(char *out, size_t size, const char *text)
{
	size_t n = 0;

	for (; *text && n + 1 < size; text++)
		if (!isspace((unsigned char)*text) && !strchr("'\"\\", *text))
			out[n++] = *text;
	out[n] = '\0';
	return n;
}

static int keep(struct pipeline_names *names, const struct jsontree *tree)
{
	const char *rule = jsontree_text(tree, "rule"), *command = jsontree_text(tree, "shellcmd");
	struct record x = { jsontree_number(tree, "starttime"), jsontree_number(tree, "endtime"),
			    NULL, NULL };
	char text[LINE_BYTES];

	if (!rule || !*rule || isnan(x.start_s) || isnan(x.end_s))
		return 0;
	if (names->n == names->cap) {
		uint32_t cap = names->cap ? 2 * names->cap : 64;
		struct record *more = realloc(names->record, cap * sizeof *more);

		if (!more)
			return -ENOMEM;
		names->record = more;
		names->cap = cap;
	}
	x.rule = pool_text(&names->pool, rule, strnlen(rule, PIPELINE_RULE_MAX - 1));
	if (command)
		x.command = pool_text(&names->pool, text, squeeze(text, sizeof text, command));
	if (!x.rule || (command && !x.command))
		return -ENOMEM;
	names->record[names->n++] = x;
	return 0;
}

/* One that cannot be read says nothing. */
static int read_record(struct pipeline_names *names, const char *path)
{
	struct bytes text = { 0 };
	struct pool pool = { 0 };
	struct err e = { "" };
	int rc = 0;

	if (!textfile_read(path, "record", RECORD_BYTES, &text, &e)) {
		const struct jsontree *tree = jsontree_read(&pool, text.data, text.len, &e);

		rc = tree ? keep(names, tree) : 0;
	}
	pool_free(&pool);
	bytes_free(&text);
	return rc;
}

static int by_time(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

int pipeline_names_open(struct pipeline_names **out, const struct run *r)
{
	const char *where = run_find_text(r, 0, "job.working_directory");
	struct pipeline_names *names = calloc(1, sizeof *names);
	char path[PATH_MAX];
	struct dirent *d;
	DIR *dir = NULL;
	int rc = 0;

	*out = names;
	if (!names)
		return -ENOMEM;
	if (where && *where == '/' &&
	    snprintf(path, sizeof path, "%s/.snakemake/metadata", where) < (int)sizeof path)
		dir = opendir(path);
	for (uint32_t n = 0; dir && !rc && n < RECORDS_MAX && (d = readdir(dir)); n++)
		if (d->d_name[0] != '.' && snprintf(path, sizeof path, "%s/.snakemake/metadata/%s",
						    where, d->d_name) < (int)sizeof path)
			rc = read_record(names, path);
	if (dir)
		closedir(dir);
	if (names->n)
		qsort(names->record, names->n, sizeof *names->record, by_time);
	return rc;
}

void pipeline_names_close(struct pipeline_names *names)
{
	if (!names)
		return;
	pool_free(&names->pool);
	free(names->record);
	free(names);
}

static bool is_hidden(const char *command_line)
{
	return !command_line || strstr(command_line, "***");
}

/* The command line is of the record's command: of the shell that runs it, or of what this became.
 */
static bool is_of(const struct record *x, const char *command_line)
{
	static const char strict[] = "set-euopipefail;";
	char text[LINE_BYTES], *at;
	size_t n = 0, len;

	if (!x->command)
		return strstr(command_line, "/.snakemake/scripts/") != NULL;
	len = squeeze(text, sizeof text, command_line);
	if (len > 3 && !strcmp(text + len - 3, "..."))
		text[len - 3] = '\0';
	if (strstr(text, strict))
		at = strstr(text, strict) + strlen(strict);
	else
		at = strrchr(text, '/') && !strchr(command_line, ' ') ? strrchr(text, '/') + 1
								      : text;
	if (strstr(x->command, at))
		return true;
	while (at[n] && at[n] == x->command[n])
		n++;
	if (!x->command[n] && n)
		return true;
	/* "/usr/bin/bwa mem": the program's folder is not in the command. */
	at = text;
	for (char *slash = strchr(at, '/'); slash; slash = strchr(at, '/')) {
		at = slash + 1;
		if (*at && strstr(x->command, at))
			return true;
	}
	return false;
}

/* A rule with "run:" has a Snakemake of its own, whose command line may be cut before the rule's
 * name; what it made is written down shortly before its end. */
static const struct record *find_run(const struct pipeline_names *names, double start_s,
				     double end_s)
{
	const double late_s = 2;
	const struct record *found = NULL;

	for (uint32_t i = 0; i < names->n; i++) {
		const struct record *x = &names->record[i];
		double off = fabs(x->end_s - end_s);

		if (!x->command && x->end_s > start_s && off < late_s &&
		    (!found || off < fabs(found->end_s - end_s)))
			found = x;
	}
	return found;
}

bool pipeline_names_snakemake(struct pipeline_names *names, double start_s, double end_s,
			      const char *command_line, char *rule)
{
	const double early_s = 0.1, late_s = 10;
	const struct record *found = NULL;
	uint32_t low = 0, high = names->n;

	while (low < high) { /* the first that began after it */
		uint32_t middle = low + (high - low) / 2;

		if (names->record[middle].start_s <= start_s + early_s)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t i = low; i; i--) {
		const struct record *x = &names->record[i - 1];

		if (x->start_s < start_s - late_s || (found && !is_hidden(command_line)))
			break;
		if (x->end_s + early_s < start_s || end_s > x->end_s + late_s ||
		    (!is_hidden(command_line) && !is_of(x, command_line)))
			continue;
		/* Of a task whose command line is not known only one rule may have run then. */
		if (found && strcmp(found->rule, x->rule) != 0)
			return false;
		found = x;
	}
	if (!found && command_line && strstr(command_line, " -m snakemake "))
		found = find_run(names, start_s, end_s);
	if (found)
		snprintf(rule, PIPELINE_RULE_MAX, "%s", found->rule);
	return found != NULL;
}

/* The path that the pattern is of, with the file in its folder instead. */
static bool path_in(const struct pipeline_tool *tool, const char *line, char *path, size_t size)
{
	struct pipeline_words pattern = { .word = { tool->file }, .n = 1 };

	while (*(line += strspn(line, " '\"\\"))) {
		size_t n = strcspn(line, " '\"\\");
		char *slash;

		if (*line == '/' && n + strlen(tool->beside) < size) {
			memcpy(path, line, n);
			path[n] = '\0';
			slash = strrchr(path, '/');
			if (pipeline_match(&pattern, path, NULL)) {
				snprintf(slash + 1, size - (size_t)(slash + 1 - path), "%s",
					 tool->beside);
				return true;
			}
		}
		line += n;
	}
	return false;
}

/* What the file begins with; never waits. */
static bool read_first(const char *path, char text[FIRST_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, FIRST_BYTES - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool pipeline_names_file(const struct pipeline_tool *tool, const char *command_line, char *rule)
{
	char path[PATH_MAX], text[FIRST_BYTES];

	if (!path_in(tool, command_line, path, sizeof path) || !read_first(path, text))
		return false;
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		end += *end ? (*end = '\0', 1) : 0;
		if (pipeline_match(&tool->list[PIPELINE_LINE], line, rule) && *rule)
			return true;
	}
	return false;
}
