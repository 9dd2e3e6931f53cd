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

/* ---- programs ---- */

static bool is_word_of(const char *list, const char *word, size_t n)
{
	const char *at = list;

	while ((at = strstr(at, " ")) && at[1]) {
		at++;
		if (strcspn(at, " ") == n && !memcmp(at, word, n))
			return true;
	}
	return false;
}

static const char shells[] = " sh bash dash ksh zsh ash ";
/* What prepares, and what only starts another program. */
static const char setup[] =
	" set cd mkdir rm rmdir mv cp ln touch echo printf export test [ true : ulimit umask "
	"source . module if then for do while trap exit wait uname chmod ";
static const char starters[] = " exec time command nohup env nice ionice stdbuf setsid ";

bool pipeline_names_setup(const char *name, size_t n)
{
	return is_word_of(setup, name, n);
}

/* A word of letters that ends in c: -c, -euc. */
static bool takes_text(const char *word, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (!islower((unsigned char)word[i]))
			return false;
	return n > 1 && word[0] == '-' && word[n - 1] == 'c';
}

const char *pipeline_names_text(const char *line)
{
	while (line && (line = strchr(line, ' ')) != NULL) {
		size_t n = strcspn(++line, " ");

		if (line[n] && takes_text(line, n))
			return line + n + 1;
	}
	return NULL;
}

/* Blank and quotes of the outer shell are left out. */
bool pipeline_names_program(const char *text, char *out, size_t size)
{
	while (*text) {
		size_t n, base;

		text += strspn(text, " \t\n;&|({'\"\\");
		n = strcspn(text, " \t\n;&|()'\"\\<>");
		if (!n)
			return false;
		if (memchr(text, '=', n) || is_word_of(starters, text, n)) {
			text += n;
			continue;
		}
		if (pipeline_names_setup(text, n)) {
			text += strcspn(text, ";&|\n");
			continue;
		}
		for (base = n; base && text[base - 1] != '/'; base--)
			;
		if (n - base >= size || base == n || memchr(text, '*', n) ||
		    !strncmp(text, "...", 3))
			return false;
		memcpy(out, text + base, n - base);
		out[n - base] = '\0';
		return true;
	}
	return false;
}

bool pipeline_names_shell(const char *name)
{
	size_t n = strcspn(name, " ");

	return is_word_of(shells, name, n) && (!name[n] || name[n + 1] == '.');
}

/* ---- files that a task writes ---- */

enum { WORD_BYTES = 264, OUTPUT_MAX = 96, ENDING_MAX = 9 };

/* A shell's words, one after the other. {0} with at set is the start. */
struct lexer {
	const char *at;
	char word[WORD_BYTES];
	bool inside;    /* a command: the next word is not its program */
	bool redirects; /* the word is a file behind > */
};

/* What is between words: where a command ends, and what is behind >. */
static void skip_between(struct lexer *x)
{
	bool number = x->word[0] && !x->word[strspn(x->word, "023456789")];
	const char *from = x->at;

	x->redirects = false;
	for (; *x->at && strchr(" \t\n;&|()<>", *x->at); x->at++) {
		if (*x->at == '>')
			x->redirects = !number || x->at > from + 1; /* not 2> and 2>> */
		else if (!strchr(" \t", *x->at))
			x->redirects = false;
		x->inside &= !strchr(";&|(\n", *x->at);
	}
}

/* Without its quotes. False: there is none. */
static bool next_word(struct lexer *x)
{
	char quote = 0;
	size_t n = 0;

	skip_between(x);
	if (!*x->at)
		return false;
	for (; *x->at && (quote || !strchr(" \t\n;&|()<>", *x->at)); x->at++) {
		if (quote ? *x->at == quote : *x->at == '\'' || *x->at == '"') {
			quote = quote ? 0 : *x->at;
			continue;
		}
		if (*x->at == '\\' && quote != '\'' && x->at[1])
			x->at++;
		if (n + 1 < sizeof x->word)
			x->word[n++] = *x->at;
	}
	x->word[n] = '\0';
	return true;
}

/* The name of a file that says something: none that the shell makes up, or that is passing. any: it
 * need not look like one. */
static bool is_file(const char *name, bool any)
{
	static const char *const passing[] = { "/dev/", "/tmp/", "/proc/", "/var/tmp/" };
	size_t n = strlen(name);
	bool letter = false;

	for (size_t i = 0; i < n; i++) {
		if (iscntrl((unsigned char)name[i]) ||
		    strchr("$`*?[]{}()=,:;'\"\\ <>|&!#", name[i]))
			return false;
		letter |= isalpha((unsigned char)name[i]) != 0;
	}
	for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
		if (!strncmp(name, passing[i], strlen(passing[i])))
			return false;
	return letter && n < OUTPUT_MAX && name[0] != '-' && name[n - 1] != '/' &&
	       (n < 3 || strcmp(name + n - 3, "...") != 0) && (any || strpbrk(name, "./"));
}

static bool is_listed(const struct pipeline_words *w, const char *word)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (!strcmp(w->word[i], word))
			return true;
	return false;
}

/* Of a word such as --output=FILE. */
static const char *value_in(const struct pipeline_words *w, const char *word)
{
	for (uint32_t i = 0; i < w->n; i++) {
		size_t n = strlen(w->word[i]);

		if (w->word[i][n - 1] == '=' && !strncmp(w->word[i], word, n))
			return word + n;
	}
	return NULL;
}

static bool take_file(const char *name, bool any, char *file)
{
	if (!is_file(name, any))
		return false;
	name += 2 * !strncmp(name, "./", 2);
	if (*name == '/')
		name = strrchr(name, '/') + 1;
	snprintf(file, PIPELINE_RULE_MAX, "%s", name);
	return true;
}

static bool output_in(const struct pipeline_tool *t, const char *text, int depth, char *file)
{
	const struct pipeline_words *words = &t->list[PIPELINE_OUTPUT];
	struct lexer x = { .at = text };
	bool shell = false, any = false, next = false;

	while (next_word(&x)) {
		const char *base = strrchr(x.word, '/') ? strrchr(x.word, '/') + 1 : x.word;
		const char *value = value_in(words, x.word);

		if (!x.inside) {
			x.inside = strchr(x.word, '=') == NULL &&
				   !is_word_of(starters, x.word, strlen(x.word));
			shell = is_word_of(shells, base, strlen(base));
			any = t->list[PIPELINE_BUILDS].n &&
			      pipeline_match(&t->list[PIPELINE_BUILDS], base, NULL);
			next = false;
			continue;
		}
		if (shell && depth < 2 && takes_text(x.word, strlen(x.word)) && next_word(&x) &&
		    output_in(t, x.word, depth + 1, file))
			return true;
		if ((next && take_file(x.word, any, file)) ||
		    (x.redirects && is_listed(words, ">") && take_file(x.word, true, file)) ||
		    (value && take_file(value, any, file)))
			return true;
		next = is_listed(words, x.word);
	}
	return false;
}

bool pipeline_names_output(const struct pipeline_tool *tool, const char *command_line, char *file)
{
	return output_in(tool, command_line, 0, file);
}

/* What is behind the folders and names of "lib/x.o: cc": ".o: cc". NULL: nothing. */
static const char *ending_of(const char *rule)
{
	const char *end = strstr(rule, ": "), *dot = end;
	size_t n = 0;

	while (dot && dot > rule && dot[-1] != '/' && *dot != '.')
		dot--;
	if (!dot || *dot != '.' || dot == rule || dot[-1] == '/' || !isalpha((unsigned char)dot[1]))
		return NULL;
	while (isalnum((unsigned char)dot[1 + n]))
		n++;
	return dot + 1 + n == end && n < ENDING_MAX ? dot : NULL;
}

static int by_ending(const void *a, const void *b)
{
	const struct pipeline_task *x = *(struct pipeline_task *const *)a;
	const struct pipeline_task *y = *(struct pipeline_task *const *)b;
	int endings = strcmp(ending_of(x->rule), ending_of(y->rule));

	return endings ? endings : strcmp(x->rule, y->rule);
}

static int join_alike(struct pool *pool, struct pipeline_task **task, uint32_t n)
{
	char rule[PIPELINE_RULE_MAX];
	const char *kept;

	if (!strcmp(task[0]->rule, task[n - 1]->rule))
		return 0;
	snprintf(rule, sizeof rule, "*%s", ending_of(task[0]->rule));
	kept = pool_text(pool, rule, strlen(rule));
	for (uint32_t i = 0; kept && i < n; i++)
		task[i]->rule = kept;
	return kept ? 0 : -ENOMEM;
}

int pipeline_names_join(struct pool *pool, struct pipeline_task *task, uint32_t ntasks)
{
	struct pipeline_task **order = malloc((ntasks + 1u) * sizeof(void *));
	uint32_t n = 0, alike;
	int rc = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; order && i < ntasks; i++)
		if (ending_of(task[i].rule))
			order[n++] = &task[i];
	if (n)
		qsort(order, n, sizeof(void *), by_ending);
	for (uint32_t i = 0; i < n && !rc; i += alike) {
		const char *ending = ending_of(order[i]->rule);

		for (alike = 1; i + alike < n; alike++)
			if (strcmp(ending, ending_of(order[i + alike]->rule)) != 0)
				break;
		rc = join_alike(pool, order + i, alike);
	}
	free(order);
	return rc;
}
